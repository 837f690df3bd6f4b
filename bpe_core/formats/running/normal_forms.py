"""Normalize text as Hugging Face's library does, but only where that may change something.

Source: Unicode Standard Annex 15. Characters that normalize to themselves, are not combining marks
and are never the second half of a composition stay as they are, whatever surrounds them. Only
stretches of other characters, each with the character before it, go to the library: a small part of
most texts. Python's tables decide which characters those are. They are older than the library's,
but Unicode guarantees that the normal forms of assigned characters never change.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from itertools import chain
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from bpe_core.errors import FormatError
from bpe_core.extras import needs_extra
from bpe_core.unicode.kinds import code_points

NORMALIZERS: Final = ("NFC", "NFD", "NFKC", "NFKD")
"""Normalizers that leave every part of a normalized text as it is."""
# Emoji and other symbols. Other characters beyond U+FFFF are rare and left to the library.
_FIRST_LOOKED_AT: Final = 0x80
_LOOKED_AT: Final = (
    range(_FIRST_LOOKED_AT, 0xD800),
    range(0xE000, 0x10000),
    range(0x1F000, 0x1FC00),
)
_VOWEL_JAMO: Final = range(0x1161, 0x1176)
_FINAL_JAMO: Final = range(0x11A8, 0x11C3)
_MAX_CACHED: Final = 16  # characters
_BLOCK: Final = 1 << 20  # characters, of 20 bytes each while they are looked at


def normalize_by_library(described: Mapping[str, Any]) -> Callable[[str], str]:
    """Return the function of a normalizer of a tokenizer.json, as `tokenizers` runs it.

    Raises `FormatError` unless it is one of `NORMALIZERS`.

    >>> normalize_by_library({"type": "NFC"})("cafe\\u0301")
    'café'
    """
    form = described.get("type")
    if form not in NORMALIZERS:
        raise FormatError(f"It has a normalizer ({form}) that changes text.")
    with needs_extra("formats", "Normalizing with Hugging Face's tokenizers"):
        import tokenizers

    empty = {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "a"}
    peer = tokenizers.Tokenizer.from_str(
        json.dumps({"version": "1.0", "added_tokens": [], "normalizer": described, "model": empty})
    )
    whole: Callable[[str], str] = peer.normalizer.normalize_str
    short = lru_cache(1 << 14)(whole)

    def normalized(text: str) -> str:
        if text.isascii():
            return text
        parts: list[str] = []
        done = 0
        for start, end in _changing(text, form):
            stretch = text[max(done, start - 1) : end]
            parts.append(text[done : max(done, start - 1)])
            parts.append((short if len(stretch) <= _MAX_CACHED else whole)(stretch))
            done = end
        return "".join([*parts, text[done:]]) if parts else text

    return normalized


def _changing(text: str, form: str) -> list[tuple[int, int]]:
    """Return where stretches of characters begin and end that the normal form may change."""
    stays = _stays(form)
    found: list[NDArray[np.int64]] = []
    for start in range(0, len(text), _BLOCK):
        codes = code_points(text[start : start + _BLOCK])
        places = np.flatnonzero(codes >= _FIRST_LOOKED_AT)  # few, in most texts
        places = places[~stays[np.minimum(codes[places], stays.size - 1)]]
        found.append(start + places)
    changing = np.concatenate(found)
    if not changing.size:
        return []
    gaps = np.flatnonzero(np.diff(changing) > 1)
    starts = changing[np.append(0, gaps + 1)].tolist()
    ends = (changing[np.append(gaps, -1)] + 1).tolist()
    return list(zip(starts, ends, strict=True))


@cache
def _stays(form: str) -> NDArray[np.bool_]:
    """Return whether each character stays as it is; the last place, False, is for all others."""
    found = np.zeros(_LOOKED_AT[-1].stop + 1, np.bool_)
    found[:_FIRST_LOOKED_AT] = True
    seconds = {*_VOWEL_JAMO, *_FINAL_JAMO}
    for code in chain.from_iterable(_LOOKED_AT):
        character = chr(code)
        found[code] = (
            unicodedata.category(character) != "Cn"  # unassigned for Python, perhaps not since
            and not unicodedata.combining(character)
            and unicodedata.is_normalized(form, character)  # pyright: ignore[reportArgumentType]
        )
        halves = unicodedata.decomposition(character).split()
        if len(halves) == 2 and not halves[0].startswith("<"):
            seconds.add(int(halves[1], 16))
    found[list(seconds)] = False
    return found
