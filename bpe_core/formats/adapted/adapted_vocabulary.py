"""The vocabulary and merges of an adapted tokenizer in the order of its base's files, and its GGUF.

A GGUF file is written without tensors. Every key stays in its place with its type. Tokens, types,
scores and merges get the adapted vocabulary, ids of tokens are renumbered, and `vocab_size` is set.
All other values stay to the byte. The tensors are left out, because the model's embedding has no
rows for the new tokens.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Final, cast

import numpy as np

from bpe_core.adapting import Adapted
from bpe_core.errors import ConfigError, FormatError
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
from bpe_core.formats.gguf.gguf_vocabulary import check_gguf
from bpe_core.formats.sentencepiece_model import NORMAL
from bpe_core.tokenizer import Tokenizer
from bpe_core.unicode import META, to_printable


def _new_ids(adapted: Adapted) -> dict[int, int]:
    """Return the new id of each of the base's ids that are left."""
    return {
        int(old): new
        for new, old in enumerate(adapted.old_ids.tolist())
        if old != Adapted.NO_OLD_ID
    }


def renumbered(adapted: Adapted, what: str) -> Callable[[int], int]:
    """Return a function from the base's id of a token to its new one.

    The function raises `ConfigError`, which names the file `what`, for a removed token.

    >>> import bpe_core as bpe
    >>> shrunk = bpe.shrink(bpe.gpt2(), bpe.Corpus.from_text("hug"), vocab_size=300)
    >>> renumbered(shrunk, "tokenizer.json")(50256)
    299
    """
    new_ids = _new_ids(adapted)

    def new_id(old: int) -> int:
        if old not in new_ids:
            token = adapted.base.vocab.get(old, b"")
            raise ConfigError(
                f"{what} uses the token {old} ({token!r:.60}), which was removed. Pin it."
            )
        return new_ids[old]

    return new_id


def build_vocabulary(adapted: Adapted, ids: Mapping[str, int]) -> dict[str, int]:
    """Return the vocabulary of texts, in the old order with the new tokens last.

    Raises `ConfigError` if a new token would be written as another one is.

    >>> import bpe_core as bpe
    >>> shrunk = bpe.shrink(bpe.gpt2(), bpe.Corpus.from_text("hug"), vocab_size=300)
    >>> build_vocabulary(shrunk, {"!": 0, "Ġthe": 262})["!"]
    0
    """
    tokenizer, new_ids = adapted.tokenizer, _new_ids(adapted)
    made_again = {id for id in adapted.removed if id in new_ids}
    vocabulary = {
        text: new_ids[id] for text, id in ids.items() if id in new_ids and id not in made_again
    }
    known = {*vocabulary.values(), *tokenizer.special_tokens.values()}
    for id in sorted(tokenizer.vocab):
        if id in known:
            continue
        text = token_text(tokenizer, id)
        if text in vocabulary:
            raise ConfigError(
                f"The new token {id} would be written {text!r}, as the token {vocabulary[text]} "
                f"is. Adapt without it."
            )
        vocabulary[text] = id
    return vocabulary


def unlisted(vocabulary: Mapping[str, int], special: Mapping[str, int]) -> dict[str, int]:
    """Return the added tokens that the vocabulary has to list from now on.

    An added token that is not in the vocabulary gets the next free id in `tokenizers`, whatever the
    file says. That is its own id only as long as all ids of the vocabulary come before it.

    >>> unlisted({"a": 0, "aa": 2}, {"<s>": 1}), unlisted({"a": 0}, {"<s>": 1})
    ({'<s>': 1}, {})
    """
    missing = {text: id for text, id in special.items() if text not in vocabulary}
    if max(vocabulary.values(), default=0) < min(missing.values(), default=0):
        return {}
    return missing


def token_text(tokenizer: Tokenizer, id: int) -> str:
    """Return how the files write an ordinary token."""
    token = tokenizer.vocab[id]
    if tokenizer.base == "bytes":
        return to_printable(token)
    return token.decode().replace(" ", META) if tokenizer.table.byte_ids else token.decode()


def continue_scores(adapted: Adapted, scores: Sequence[float]) -> list[float]:
    """Return the scores of the adapted tokenizer's ids, those of new tokens below all others.

    The first new one is 1 less than the lowest of the base, and each further one 1 less again, as
    SentencePiece numbers merges. Of very low scores it is the next number that float32 has.

    >>> import bpe_core as bpe
    >>> run = bpe.extend(bpe.gpt2(), bpe.Corpus.from_text("hugging hugging"), n_tokens=2)
    >>> adapted = Adapted.of(bpe.gpt2(), run.tokenizer)
    >>> [continue_scores(adapted, [lowest] * 50_257)[-2:] for lowest in (0.0, -1e9)]
    [[-1.0, -2.0], [-1000000064.0, -1000000128.0]]
    """
    made_again = set(adapted.removed)
    lowest = min(scores, default=0.0)
    continued: list[float] = []
    old_ids: list[int] = adapted.old_ids.tolist()
    for old in old_ids:
        if old != Adapted.NO_OLD_ID and old not in made_again:
            continued.append(scores[old])
            continue
        below = float(np.nextafter(np.float32(lowest), np.float32(-np.inf)))
        lowest = min(float(np.float32(lowest - 1)), below)
        continued.append(lowest)
    return continued


def kept_merges(
    adapted: Adapted, old: Mapping[str, int], pairs: list[tuple[str, str]]
) -> list[int]:
    """Return the places of the base's merges that are left.

    Once tokens are removed, no merge is left to one that the base never makes: without the tokens
    that prevented it, it might be made.

    >>> import bpe_core as bpe
    >>> shrunk = bpe.shrink(bpe.gpt2(), bpe.Corpus.from_text("hug"), vocab_size=300)
    >>> kept_merges(shrunk, {"u": 84, "g": 70, "ug": 1018}, [("u", "g")])
    [0]
    """
    new_ids = _new_ids(adapted)
    removed = set(adapted.removed)
    left = {text for text, id in old.items() if id in new_ids and id not in removed}
    made = {text for text in left if not removed or old[text] in adapted.base.table.parts}
    return [
        place
        for place, (first, second) in enumerate(pairs)
        if first in left and second in left and first + second in made
    ]


def new_merges(adapted: Adapted) -> list[tuple[str, str]]:
    """Return the merges of new tokens as texts.

    >>> import bpe_core as bpe
    >>> shrunk = bpe.shrink(bpe.gpt2(), bpe.Corpus.from_text("hug"), vocab_size=300)
    >>> new_merges(shrunk)
    []
    """
    tokenizer, base = adapted.tokenizer, adapted.base
    removed = set(adapted.removed)
    n_base = sum(id not in removed for id in base.table.made)
    return [
        (token_text(tokenizer, left), token_text(tokenizer, right))
        for left, right, _ in tokenizer.table.triples[n_base:]
    ]


def check_same(name: str, *, is_equal: bool) -> None:
    """Raise `ConfigError` unless an adapted file, read again, is the adapted tokenizer."""
    if not is_equal:
        raise ConfigError(
            f"The adapted {name} would encode differently. Save the adapted tokenizer in the "
            "native format."
        )


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
    is_new = [old == Adapted.NO_OLD_ID or old in again for old in old_ids]
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
            token_text(tokenizer, id) if old == Adapted.NO_OLD_ID else tokens[old]
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
