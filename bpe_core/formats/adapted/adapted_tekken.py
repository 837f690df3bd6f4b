"""Write an adapted tokenizer into Mistral's Tekken JSON, with nothing else in it changed.

The file lists more ranks than its model uses. Those are left out, because the new tokens take their
places.
"""

from __future__ import annotations

from base64 import b64encode
from typing import Any, cast

from bpe_core.adapting.adapted import NO_OLD_ID, Adapted
from bpe_core.errors import ConfigError
from bpe_core.formats import tiktoken_file
from bpe_core.formats.adapted.json_places import members, replace_spans, write_like
from bpe_core.formats.json_files import parse_json, parse_text
from bpe_core.formats.tekken import read_tekken


def tekken_json(adapted: Adapted, data: bytes, name: str) -> bytes:
    """Return a Tekken file with the adapted vocabulary; `name` names it in errors.

    Raises `ConfigError` if the ranks would not imply the merges, or if a special token is missing.
    """
    described, mark, text = parse_text(data, name)
    before, tokenizer = read_tekken(described), adapted.tokenizer
    n_special = len(before.special_tokens)
    if dict(tokenizer.special_tokens) != dict(before.special_tokens):
        raise ConfigError(f"{name} needs every special token under its id. Pin them all.")
    ids = range(n_special, max(tokenizer.vocab) + 1)
    if len(ids) + n_special != tokenizer.vocab_size:
        raise ConfigError(
            f"{name} lists a token for every id, and the adapted tokenizer leaves some out. Save "
            f"it in the huggingface or native format."
        )
    tiktoken_file.write_tiktoken(tokenizer)  # raises if ranks don't imply the merges
    listed = cast("list[dict[str, Any]]", described["vocab"])
    old_ids = adapted.old_ids
    vocab = [
        _new_entry(id - n_special, tokenizer.vocab[id])
        if old_ids[id] == NO_OLD_ID
        else {**listed[int(old_ids[id]) - n_special], "rank": id - n_special}
        for id in ids
    ]
    sizes = {"num_vocab_tokens": len(vocab), "default_vocab_size": tokenizer.vocab_size}
    changes: list[tuple[int, int, str]] = []
    for each in members(text):
        if each.key == "vocab":
            changes.append((each.start, each.end, write_like(vocab, text, each)))
        elif each.key == "config":
            changes += [
                (size.start, size.end, str(sizes[str(size.key)]))
                for size in members(text, each.start)
                if size.key in sizes
            ]
    written = (mark + replace_spans(text, changes)).encode()
    again = read_tekken(parse_json(written, name))
    expected = {tokenizer.vocab[id]: id for id in ids}
    if again.ids != expected or again.pattern != before.pattern:
        raise ConfigError(
            f"The adapted {name} would encode differently. Save the adapted tokenizer in the "
            f"huggingface or native format."
        )
    return written


def _new_entry(rank: int, token: bytes) -> dict[str, Any]:
    try:
        text = token.decode()
    except UnicodeDecodeError:
        text = None
    return {"rank": rank, "token_bytes": b64encode(token).decode(), "token_str": text}
