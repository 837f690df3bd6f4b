"""Mistral's Tekken JSON: ranks like tiktoken's, behind a block of special tokens.

Ids are ranks plus the number of special tokens. The file lists more ranks than the model uses;
`default_vocab_size` says where they end.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Mapping
from typing import Any, Final, cast

from bpe_core.errors import FormatError
from bpe_core.formats.description import Description, Given, Ranks
from bpe_core.formats.json_files import MAX_TOKENS, as_list, as_object, is_token_id
from bpe_core.formats.patterns import find_pretokenizer
from bpe_core.formats.tiktoken_file import describe_ranks

# Mistral's files have 1,000. They need not be listed, so a small file could claim millions.
MAX_SPECIAL: Final = 10_000
# Files without a list of special tokens have these (mistral_common.tokens.tokenizers.tekken).
_UNLISTED: Final = (
    "<unk>",
    "<s>",
    "</s>",
    "[INST]",
    "[/INST]",
    "[AVAILABLE_TOOLS]",
    "[/AVAILABLE_TOOLS]",
    "[TOOL_RESULTS]",
    "[/TOOL_RESULTS]",
    "[TOOL_CALLS]",
    "[IMG]",
    "<pad>",
    "[IMG_BREAK]",
    "[IMG_END]",
    "[PREFIX]",
    "[MIDDLE]",
    "[SUFFIX]",
    "[SYSTEM_PROMPT]",
    "[/SYSTEM_PROMPT]",
    "[TOOL_CONTENT]",
)


def looks_like_tekken(described: Mapping[str, Any]) -> bool:
    """Return True if a parsed JSON file is a Tekken file.

    >>> looks_like_tekken({"config": {"pattern": "."}, "vocab": []}), looks_like_tekken({})
    (True, False)
    """
    config = described.get("config")
    return (
        isinstance(config, dict)
        and "pattern" in config
        and isinstance(described.get("vocab"), list)
    )


def describe_tekken(given: Given, described: Mapping[str, Any]) -> Description:
    """Describe the tokenizer of a parsed Tekken file; raises what `read_tekken` raises."""
    ranks = read_tekken(described)
    pretokenizer, origin = find_pretokenizer(ranks.pattern), "A Tekken file."
    if not pretokenizer.startswith("regex:"):
        return describe_ranks(given.name, ranks, pretokenizer, origin=origin, names_cut=True)
    return Description(
        name=given.name,
        origin=origin,
        why_not="Its pattern is not one that bpe_core knows by name.",
        library="tiktoken",
        ranks=ranks,
        names_cut=True,
    )


def read_tekken(described: Mapping[str, Any]) -> Ranks:
    """Return the ranks, pattern and special tokens of a parsed Tekken file.

    Raises `FormatError` for sizes that contradict each other, for tokens that are damaged or occur
    twice, and for ranks with holes.

    >>> vocab = [{"rank": byte, "token_bytes": text} for byte, text in enumerate(["AA==", "AQ=="])]
    >>> config = {"pattern": ".", "default_vocab_size": 5, "default_num_special_tokens": 3}
    >>> ranks = read_tekken({"config": config, "vocab": vocab})
    >>> ranks.ids, list(ranks.special_tokens)
    ({b'\\x00': 3, b'\\x01': 4}, ['<unk>', '<s>', '</s>'])
    """
    config = cast("dict[str, Any]", described["config"])
    pattern = config["pattern"]
    size, n_special = config.get("default_vocab_size"), config.get("default_num_special_tokens")
    if not isinstance(pattern, str):
        raise FormatError(
            f"Expected a regular expression as the Tekken file's pattern, got {pattern!r:.60}."
        )
    for key, number in (("default_vocab_size", size), ("default_num_special_tokens", n_special)):
        if not is_token_id(number):
            raise FormatError(
                f"Expected a whole number as {key} in the config of the Tekken file, got "
                f"{number!r:.60}."
            )
    size, n_special = cast("int", size), cast("int", n_special)
    vocab = cast("list[Any]", described["vocab"])
    n_tokens = size - n_special
    if n_special > MAX_SPECIAL:
        raise FormatError(
            f"The Tekken file announces {n_special:,} special tokens "
            f"(default_num_special_tokens); at most {MAX_SPECIAL:,} are read."
        )
    if not 0 < n_tokens <= min(len(vocab), MAX_TOKENS):
        raise FormatError(
            f"The Tekken file announces {size:,} tokens, {n_special:,} of them special, and lists "
            f"{len(vocab):,}."
        )
    ids: dict[bytes, int] = {}
    for place, entry in enumerate(vocab[:n_tokens]):
        described_token = as_object(entry)
        rank, written = described_token.get("rank"), described_token.get("token_bytes")
        try:
            token = b64decode(written, validate=True) if isinstance(written, str) else b""
        except ValueError:
            token = b""
        if rank != place or not token:
            raise FormatError(
                f"Expected rank {place:,} and a token in base 64 at entry {place:,} of the Tekken "
                f"file, got {entry!r:.80}."
            )
        if ids.setdefault(token, n_special + place) != n_special + place:
            raise FormatError(
                f"Entry {place:,} of the Tekken file repeats the token {token!r:.60}."
            )
    return Ranks(ids, pattern, _special_tokens(described.get("special_tokens"), n_special))


def _special_tokens(listed: object, n_special: int) -> dict[str, int]:
    names: list[str] = []
    if listed is None:
        names += _UNLISTED[:n_special]
    else:
        for place, entry in enumerate(as_list(listed)):
            name = as_object(entry).get("token_str")
            if not isinstance(name, str) or not name or as_object(entry).get("rank") != place:
                raise FormatError(
                    f"Expected rank {place:,} and a name at special token {place:,} of the Tekken "
                    f"file, got {entry!r:.80}."
                )
            names.append(name)
    names += [f"<SPECIAL_{id}>" for id in range(len(names), n_special)]
    if len(set(names)) != len(names) or len(names) != n_special:
        raise FormatError(
            f"Expected {n_special:,} different special tokens in the Tekken file, got "
            f"{len(set(names)):,}."
        )
    return {name: id for id, name in enumerate(names)}
