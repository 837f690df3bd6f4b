"""Write an adapted tokenizer into its base's GGUF file, without tensors.

Every key stays in its place with its type. Tokens, types, scores and merges get the adapted
vocabulary, ids of tokens are renumbered, and `vocab_size` is set. All other values stay to the
byte. The tensors are left out, because the model's embedding has no rows for the new tokens.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Final, cast

from bpe_core.adapting import NO_OLD_ID, Adapted
from bpe_core.errors import ConfigError, FormatError
from bpe_core.formats.adapted.adapted_vocabulary import (
    continue_scores,
    kept_merges,
    new_merges,
    renumbered,
    token_text,
)
from bpe_core.formats.gguf.gguf_file import check_gguf
from bpe_core.formats.gguf.gguf_header import (
    ARRAY,
    HEADER,
    GgufValue,
    KeyPlace,
    key_places,
    pack_value,
    value_at,
    without_tensors,
)
from bpe_core.formats.sentencepiece_model import NORMAL

_KEY: Final = "tokenizer.ggml."
_ENDING: Final = ".gguf"
# The other files of a split model, and a second copy of the tokenizer.
_LEFT_OUT: Final = re.compile(rb"split\..*|tokenizer\.huggingface\.json")

_Values = str | int | Sequence[str] | Sequence[int] | Sequence[float]


def vocabulary_alone(data: bytes | memoryview, name: str) -> tuple[str, bytes]:
    """Return a GGUF file without its tensors, and a name for it.

    If there are tensors, the name is a different one, so the file never replaces the model. Raises
    `FormatError` for a damaged file, and for more than 256 MB of keys.

    >>> vocabulary_alone(b"GGUF" + bytes([3, 0, 0, 0, 1]) + bytes(15) + b"tensors", "llama.gguf")
    ('llama-vocab.gguf', b'GGUF\\x03\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\
\\x00\\x00\\x00\\x00\\x00\\x00\\x00')
    """
    alone = without_tensors(data)
    if HEADER.unpack_from(data)[2]:  # the number of tensors
        name = f"{name.removesuffix(_ENDING)}-vocab{_ENDING}"
    return name, alone


def adapted_gguf(adapted: Adapted, data: bytes, name: str) -> bytes:
    """Return a GGUF file with the adapted vocabulary and without tensors; errors give its `name`.

    A new token has the type NORMAL, and a score below all others if the base has scores. The keys
    of a split model and `tokenizer.huggingface.json`, a second copy of the tokenizer, are left out.
    Raises `FormatError` for a damaged file, and `ConfigError` if a key uses a removed token or if
    the file would encode differently.
    """
    _, places = key_places(data)
    kept = [place for place in places if not _LEFT_OUT.fullmatch(place.name)]
    by_name = {str(place.name, "utf-8", "replace"): place for place in kept}
    new_values = _vocabulary(adapted, data, by_name)
    new_id = _renumbering(adapted, name)
    parts: list[bytes] = []
    for key, place in by_name.items():
        if key in new_values:
            value = new_values[key]
        elif key.endswith("_token_id"):
            value = new_id(_integer(value_at(data, place), key))
        elif key.endswith("_token_ids"):
            ids = value_at(data, place)
            if not isinstance(ids, list):
                raise FormatError(f"Expected a list of ids as {key:.80}, got {ids!r:.60}.")
            value = [new_id(_integer(id, key)) for id in ids]
        elif key.endswith(".vocab_size"):
            _integer(value_at(data, place), key)
            value = len(adapted.old_ids)
        else:
            parts.append(data[place.start : place.end])
            continue
        parts += [data[place.start : place.kind_at], _packed(data, place, value, key)]
    magic, version, _, _ = HEADER.unpack_from(data)
    written = HEADER.pack(magic, version, 0, len(by_name)) + b"".join(parts)
    check_gguf(adapted.tokenizer, written)
    return written


def _vocabulary(
    adapted: Adapted, data: bytes, places: Mapping[str, KeyPlace]
) -> dict[str, _Values]:
    """Return the new values of the keys that list the vocabulary, as far as the file has them."""
    listed = {
        name: cast("list[str]", value_at(data, places[_KEY + name]))
        for name in ("tokens", "merges", "token_type", "scores")
        if _KEY + name in places
    }
    tokenizer, tokens = adapted.tokenizer, listed["tokens"]
    old_ids: list[int] = adapted.old_ids.tolist()
    again = set(adapted.removed)
    is_new = [old == NO_OLD_ID or old in again for old in old_ids]
    missing = next(
        (id for id, old in enumerate(old_ids) if old < 0 and id not in tokenizer.vocab), None
    )
    if missing is not None:
        raise ConfigError(
            f"GGUF lists a token for every id, and the adapted tokenizer has none for id "
            f"{missing:,}. Save it in the huggingface or native format."
        )
    found: dict[str, _Values] = {
        "tokens": [
            token_text(tokenizer, id) if old == NO_OLD_ID else tokens[old]
            for id, old in enumerate(old_ids)
        ]
    }
    if "merges" in listed:
        merges = listed["merges"]
        pairs: list[tuple[str, str]] = []
        for merge in merges:
            # The first space after the first character, which may itself be a space.
            cut = merge.find(" ", 1)
            pairs.append((merge[:cut], merge[cut + 1 :]))
        ids = {token: id for id, token in enumerate(tokens)}
        kept = [merges[place] for place in kept_merges(adapted, ids, pairs)]
        found["merges"] = kept + [" ".join(pair) for pair in new_merges(adapted)]
    if "token_type" in listed:
        types = cast("list[int]", listed["token_type"])
        found["token_type"] = [
            NORMAL if new else types[old] for old, new in zip(old_ids, is_new, strict=True)
        ]
    if "scores" in listed:
        found["scores"] = continue_scores(adapted, cast("list[float]", listed["scores"]))
    return {_KEY + name: value for name, value in found.items()}


def _renumbering(adapted: Adapted, name: str) -> Callable[[int], int]:
    new_id = renumbered(adapted, name)

    def checked(old: int) -> int:
        if old in adapted.base.vocab:
            return new_id(old)
        if old in adapted.tokenizer.vocab:
            raise ConfigError(
                f"{name} names the id {old:,}, which no token of the base has and which a new one "
                f"would get. Correct that key."
            )
        return old  # such as -1 for none

    return checked


def _integer(value: GgufValue, key: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise FormatError(f"Expected an integer as {key:.80}, got {value!r:.60}.")
    return value


def _packed(data: bytes, place: KeyPlace, value: _Values, key: str) -> bytes:
    """Return a value in the type that the file has for its key."""
    (kind,) = struct.unpack_from("<I", data, place.kind_at)
    (element,) = struct.unpack_from("<I", data, place.kind_at + 4) if kind == ARRAY else (0,)
    try:
        return pack_value(kind, element, value)
    except struct.error:
        raise ConfigError(
            f"The new value of {key:.80} does not fit its type in the file."
        ) from None
