"""Parts of documents, and the strata and folders in which documents are alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat, takewhile
from typing import Final, NamedTuple

from bpe_core.corpus.composition import file_name, file_type
from bpe_core.unicode.kinds import find_group

_MAX_CHARACTERS_READ: Final = 32
_LETTERS: Final = (" letters", " characters")


class Span(NamedTuple):
    """A part of a document, in characters; half-open."""

    start: int
    end: int


class Place(NamedTuple):
    """The position of a document in the one it was cut from."""

    start: int
    """In characters."""
    line: int
    """From 1."""


class Stratum(NamedTuple):
    """What documents of one stratum have in common."""

    file_type: str
    script: str


def stratum(text: str, name: str) -> Stratum:
    """Return the stratum of a document: its file type and its most frequent script.

    >>> stratum("да", "a/b.txt")
    Stratum(file_type='.txt', script='Cyrillic letters')
    """
    return Stratum(file_type(name), main_script(text))


def folder(name: str) -> str:
    """Return the folder in a document's name, which may be empty.

    >>> folder("talks.zip/2024/a.csv row 12"), folder("chapter 1")
    ('talks.zip/2024', '')
    """
    return file_name(name).rpartition("/")[0]


def folder_levels(names: Iterable[str]) -> list[list[str]]:
    """Return the folders that each document is in, without those that all are in.

    >>> folder_levels(["a.zip/en/one/1.txt", "a.zip/de/2.txt"])
    [['en', 'one'], ['de']]
    """
    parts = [folder(name).split("/") for name in names]
    levels = takewhile(lambda level: len(set(level)) == 1, zip(*parts, strict=False))
    n_common = sum(1 for _ in levels)
    return [each[n_common:] for each in parts]


def folder_depth(names: Iterable[str]) -> int:
    """Return how many levels of folders there are below the folder that all documents are in.

    >>> folder_depth(["a.zip/en/one/1.txt", "a.zip/de/2.txt"]), folder_depth(["a.zip/1.txt"])
    (2, 0)
    """
    return max(map(len, folder_levels(names)), default=0)


def main_script(text: str) -> str:
    """Return the most frequent script of a text, judged by characters evenly spread over it.

    >>> main_script("αβγ"), main_script("123")
    ('Greek letters', 'Latin letters')
    """
    if text.isascii():
        return "Latin letters"
    sample = text[:: max(1, len(text) // _MAX_CHARACTERS_READ)]
    groups = Counter(group for group in map(find_group, sample) if group.endswith(_LETTERS))
    return groups.most_common(1)[0][0] if groups else ""


def rest(size: int, spans: Sequence[Span]) -> Sequence[Span]:
    """Return the spans of a document between others, which must be from left to right.

    >>> rest(7, [Span(3, 5)])
    [Span(start=0, end=3), Span(start=5, end=7)]
    """
    if not spans:
        return [Span(0, size)]
    starts = [0, *(end for _, end in spans)]
    ends = [*(start for start, _ in spans), size]
    between = [Span(start, end) for start, end in zip(starts, ends, strict=True)]
    return [span for span in between if span.end > span.start]


def locate_spans(
    documents: Sequence[str], spans: Iterable[Sequence[Span]], places: Sequence[Place] = ()
) -> Iterator[Place]:
    """Yield the place of each span in the source of its document.

    `places` are those of the documents; without them, each document is a source.

    >>> list(locate_spans(["one\\ntwo\\n"], [[Span(0, 4), Span(4, 8)]]))
    [Place(start=0, line=1), Place(start=4, line=2)]
    """
    for i, (place, found) in enumerate(zip(places or repeat(Place(0, 1)), spans, strict=False)):
        counted = n_lines = 0
        for start, _ in found:
            if start:
                n_lines += documents[i].count("\n", counted, start)
                counted = start
            yield Place(place.start + start, place.line + n_lines) if start else place
