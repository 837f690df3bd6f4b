"""Normalize a text to a form of Unicode, the first step before it is cut and merged.

Text is normalized only where that may change something. CodePoints that normalize to themselves,
are not combining marks and are never the second half of a composition stay as they are, whatever
surrounds them (Unicode Standard Annex 15). Only stretches of other characters, each with the
character before it, go to Hugging Face's `tokenizers`: a small part of most texts. Python's tables
decide which characters those are. They are older than the library's, but Unicode guarantees that
the normal forms of assigned characters never change.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from bpe_core.extras import needs_extra
from bpe_core.types import Immutable
from bpe_core.unicode import META

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

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
_META: Final = re.compile(META)
_ASCII: Final = re.compile(r"[\x00-\x7f]")

Prefix = Literal["always", "first", "never"]


class Change(NamedTuple):
    """A part of a text that a normalizer changes, and what it becomes."""

    start: int
    end: int
    normal: str


class Normalizer(Immutable):
    """A normal form of Unicode, as `tokenizers` computes it: a function of a text.

    Parts of a text that the change of one doesn't reach are normalized on their own; ASCII begins
    such a part everywhere.

    >>> get_normalizer("NFC")("cafe\\u0301")
    'café'
    """

    __slots__ = ("_of_stretch", "name")

    def __init__(self, name: str) -> None:
        self.name = name
        self._of_stretch: tuple[Callable[[str], str], Callable[[str], str]] | None = None

    def __call__(self, text: str) -> str:
        """Return the normal form of a text."""
        if text.isascii():
            return text
        parts: list[str] = []
        done = 0
        for start, end in self._stretches(text):
            first = max(done, start - 1)
            parts += text[done:first], self._normal(text[first:end])
            done = end
        return "".join([*parts, text[done:]]) if parts else text

    def each_piece(self, pieces: Iterable[str]) -> Iterator[str]:
        """Yield the normal form of a text that arrives in pieces, as soon as it is known.

        >>> list(get_normalizer("NFC").each_piece(["cafe", "\\u0301", " au lait"]))
        ['caf', 'é au lai', 't']
        """
        rest = ""
        for piece in pieces:
            rest += piece
            # What follows may change the last character, and never what is before ASCII.
            if (found := _ASCII.search(rest[::-1])) and (last := len(rest) - found.end()):
                yield self(rest[:last])
                rest = rest[last:]
        if rest:
            yield self(rest)

    def changes(self, text: str) -> list[Change]:
        """Return the parts of a text that it changes, each as short as possible.

        >>> get_normalizer("NFKC").changes("ﬁne cafe\\u0301")
        [Change(start=0, end=1, normal='fi'), Change(start=7, end=9, normal='é')]
        """
        if text.isascii():
            return []
        found: list[Change] = []
        done = 0
        for start, end in self._stretches(text):
            first = max(done, start - 1)
            begins = [first, *(at for at in range(first + 1, end) if _begins(text[at])), end]
            for a, b in pairwise(begins):
                if (normal := self._normal(text[a:b])) != text[a:b]:
                    found.append(Change(a, b, normal))
            done = end
        return found

    def _normal(self, stretch: str) -> str:
        if self._of_stretch is None:  # loading the library takes longer than most texts
            whole = _load(self.name)
            self._of_stretch = lru_cache(1 << 14)(whole), whole
        return self._of_stretch[len(stretch) > _MAX_CACHED](stretch)

    def _stretches(self, text: str) -> list[tuple[int, int]]:
        """Return where stretches of characters begin and end that the normal form may change."""
        import numpy as np  # here, because importing it takes longer than encoding a short text

        from bpe_core.unicode import CodePoints

        stays = _stays(self.name)
        found: list[NDArray[np.int64]] = []
        for start in range(0, len(text), _BLOCK):
            codes = CodePoints(text[start : start + _BLOCK]).points
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

    def __reduce__(self) -> tuple[object, ...]:
        return get_normalizer, (self.name,)

    def __repr__(self) -> str:
        return f"Normalizer({self.name!r})"


@cache
def get_normalizer(name: str) -> Normalizer:
    """Return the normalizer with one of the names in `NORMALIZERS`.

    >>> get_normalizer("NFKC")("ﬁ")
    'fi'
    """
    return Normalizer(name)


@dataclass(frozen=True, slots=True)
class Spaces:
    """Where a space is put in front of a text, and of each part between added tokens.

    >>> Spaces("always").written("a▁b"), Spaces("first").written("b", at_start=False)
    (' a b', 'b')
    """

    prefix: Prefix = "never"
    """"first" if only of what begins the whole text."""
    if_missing: bool = False
    """True if only of what does not begin with one; this is done after all added tokens are found,
    and otherwise before those that are looked for in the normalized text."""

    def written(self, text: str, *, at_start: bool = True) -> str:
        """Return a text with its spaces; ▁ is one too, because tokens do not tell them apart."""
        text = text.replace(META, " ")
        return f" {text}" if self._puts_one(text, at_start=at_start) else text

    def changes(self, text: str, *, at_start: bool = True) -> list[Change]:
        """Return what `written` changes: the space in front, and each ▁.

        >>> Spaces("always").changes("b▁c")
        [Change(start=0, end=0, normal=' '), Change(start=1, end=2, normal=' ')]
        """
        puts_one = self._puts_one(text.replace(META, " "), at_start=at_start)
        found = [Change(0, 0, " ")] if puts_one else []
        return found + [Change(*match.span(), " ") for match in _META.finditer(text)]

    def _puts_one(self, written: str, *, at_start: bool) -> bool:
        wanted = self.prefix == "always" or (self.prefix == "first" and at_start)
        return bool(written) and wanted and not (self.if_missing and written[0] == " ")


def apply_changes(text: str, changes: Iterable[Change]) -> str:
    """Return a text with its changed parts in their normal form.

    >>> apply_changes("ﬁne", [Change(0, 1, "fi")])
    'fine'
    """
    parts: list[str] = []
    done = 0
    for start, end, normal in changes:
        parts += text[done:start], normal
        done = end
    return "".join([*parts, text[done:]])


class Alignment:
    """Where places in a normalized text are in the text that was given.

    A place within what a changed part became is where that part begins.

    >>> text = "cafe\\u0301s"
    >>> in_characters, in_bytes = align(text, get_normalizer("NFC").changes(text))
    >>> in_characters([3, 4, 5]).tolist(), in_bytes([3, 4, 5, 6]).tolist()
    ([3, 5, 6], [3, 3, 6, 7])
    """

    def __init__(self, spans: NDArray[np.int64], widths: NDArray[np.int64]) -> None:
        """Align the parts at these spans, int64[n, 2], each with what has that width."""
        import numpy as np

        self._begins, self._ends = spans[:, 0], spans[:, 1]
        self._new_ends = self._ends + np.cumsum(widths - (self._ends - self._begins))
        self._new_begins = self._new_ends - widths

    def __call__(self, places: ArrayLike) -> NDArray[np.int64]:
        """Return where places in the normalized text are in the given one."""
        import numpy as np

        at = np.asarray(places, np.int64)
        if not self._begins.size:
            return at
        number = np.searchsorted(self._new_begins, at, side="right") - 1
        after = at - self._new_ends[number] + self._ends[number]
        within = at < self._new_ends[number]
        return np.where(number < 0, at, np.where(within, self._begins[number], after))


def align(text: str, changes: Sequence[Change]) -> tuple[Alignment, Alignment]:
    """Return the alignment of a text with its normal form, in characters and in bytes of UTF-8."""
    import numpy as np

    from bpe_core.unicode import CodePoints

    spans = np.array([(each.start, each.end) for each in changes], np.int64).reshape(-1, 2)
    sizes = [(len(each.normal), len(each.normal.encode())) for each in changes]
    widths = np.array(sizes, np.int64).reshape(-1, 2)
    return (
        Alignment(spans, widths[:, 0]),
        Alignment(CodePoints(text).offsets[spans], widths[:, 1]),
    )


def _load(name: str) -> Callable[[str], str]:
    with needs_extra("formats", "Normalizing with Hugging Face's tokenizers"):
        import tokenizers
    return getattr(tokenizers.normalizers, name)().normalize_str


def _begins(character: str) -> bool:
    """Return True if what is before a character is normalized without it."""
    first = unicodedata.normalize("NFKD", character)[0]
    is_known = unicodedata.category(character) != "Cn"  # unassigned for Python, perhaps not since
    return is_known and not unicodedata.combining(first) and ord(first) not in _seconds()


@cache
def _seconds() -> frozenset[int]:
    """Return the characters that compose with one before them."""
    all_that_compose = range(_LOOKED_AT[-1].stop)
    halves = (unicodedata.decomposition(chr(code)).split() for code in all_that_compose)
    pairs = (each for each in halves if len(each) == 2 and not each[0].startswith("<"))
    return frozenset(int(second, 16) for _, second in pairs).union(_VOWEL_JAMO, _FINAL_JAMO)


@cache
def _stays(form: str) -> NDArray[np.bool_]:
    """Return whether each character stays as it is; the last place, False, is for all others."""
    import numpy as np

    found = np.zeros(_LOOKED_AT[-1].stop + 1, np.bool_)
    found[:_FIRST_LOOKED_AT] = True
    for code in chain.from_iterable(_LOOKED_AT):
        character = chr(code)
        found[code] = (
            unicodedata.category(character) != "Cn"  # unassigned for Python, perhaps not since
            and not unicodedata.combining(character)
            and unicodedata.is_normalized(form, character)  # pyright: ignore[reportArgumentType]
        )
    found[list(_seconds())] = False
    return found
