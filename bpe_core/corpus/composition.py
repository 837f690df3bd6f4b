"""What a corpus is made of: its files, their types, its scripts, and documents that are alike.

By these strata and folders, parts of documents are chosen that are like the whole corpus, and cut
where a sentence or a line ends.
"""

from __future__ import annotations

import random
import re
import sys
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, repeat, takewhile
from posixpath import splitext
from typing import Final, NamedTuple

import numpy as np
import regex

from bpe_core.corpus.file_kinds import TABLE_KINDS
from bpe_core.unicode import CodePoints, find_group

_PIECE: Final = 1 << 20
_ROW: Final = re.compile(
    rf"(.*(?:{'|'.join(map(re.escape, TABLE_KINDS))}))(?: .*)?", re.IGNORECASE | re.DOTALL
)
_EXTENSION: Final = re.compile(r"\.[^\W_]{1,12}")


class FileShare(NamedTuple):
    """The bytes of one file, or of all files of one type, and their share."""

    name: str
    n_bytes: int
    share: float
    """From 0 to 1."""


class ScriptShare(NamedTuple):
    """The characters of one script, or white space, punctuation or others, and their share."""

    name: str
    characters: int
    share: float
    """From 0 to 1."""


class Composition(NamedTuple):
    """The composition of a corpus by file, file type and script; the largest share comes first."""

    WITHOUT_TYPE = "no file type"

    files: tuple[FileShare, ...]
    """Empty for words with counts, as are the types."""
    types: tuple[FileShare, ...]
    scripts: tuple[ScriptShare, ...]


class CharacterSet:
    """The distinct characters of texts that are looked at one after another.

    >>> seen = CharacterSet()
    >>> seen.add("hugs"), seen.add("ugg"), seen.listed()
    (None, None, 'ghsu')
    """

    def __init__(self) -> None:
        self._seen = np.zeros(sys.maxunicode + 1, np.bool_)

    def add(self, text: str) -> None:
        """Look at a text without lone surrogates."""
        for start in range(0, len(text), _PIECE):
            self._seen[CodePoints(text[start : start + _PIECE]).points] = True

    def listed(self) -> str:
        """Return the characters, sorted."""
        return "".join(map(chr, np.flatnonzero(self._seen).tolist()))


def file_name(name: str) -> str:
    """Return the file that a document comes from: rows of a table share one.

    >>> file_name("talks.zip/a.csv row 12"), file_name("chapter 1")
    ('talks.zip/a.csv', 'chapter 1')
    """
    # The pattern takes long, and only a row's name has a space after the file's.
    row = _ROW.fullmatch(name) if " " in name else None
    return row[1] if row else name


def file_type(name: str) -> str:
    """Return the type of a document's file by its extension.

    What follows a dot in a title is none: an extension is short, and has only letters and digits.

    >>> file_type("project.zip/src/Main.PY"), file_type("a.csv row 12"), file_type("LICENSE")
    ('.py', '.csv', 'no file type')
    >>> file_type("urllib.parse: quote"), file_type("1. Down the Rabbit-Hole")
    ('no file type', 'no file type')
    """
    extension = _after_dot(name)
    return extension if _EXTENSION.fullmatch(extension) else Composition.WITHOUT_TYPE


def _after_dot(name: str) -> str:
    return splitext(file_name(name).lower())[1]


def measure_composition(
    documents: Sequence[str], names: Sequence[str], word_counts: Mapping[str, int] | None
) -> Composition:
    """Return the shares of each file, file type and script.

    >>> found = measure_composition(["да", "x = 1"], ["a.txt", "b.py"], None)
    >>> [(share.name, share.n_bytes) for share in found.types]
    [('.py', 5), ('.txt', 4)]
    """
    by_file: Counter[str] = Counter()
    by_type: Counter[str] = Counter()
    for text, name in zip(documents, names, strict=True):
        n_bytes = len(text) if text.isascii() else len(text.encode())
        by_file[file_name(name)] += n_bytes
        by_type[file_type(name)] += n_bytes
    return Composition(
        tuple(FileShare(*share) for share in _shares(by_file)),
        tuple(FileShare(*share) for share in _shares(by_type)),
        script_shares(documents, word_counts),
    )


def script_shares(
    documents: Sequence[str], word_counts: Mapping[str, int] | None
) -> tuple[ScriptShare, ...]:
    """Return the share of each script, white space, punctuation and the rest, the largest first.

    >>> [(share.name, share.characters) for share in script_shares(["hug да"], None)]
    [('Latin letters', 3), ('Cyrillic letters', 2), ('white space', 1)]
    """
    points = np.zeros(sys.maxunicode + 1, np.int64)
    for text in _joined_to_pieces(documents):
        counts = np.bincount(CodePoints(text).points)
        points[: len(counts)] += counts
    for word, count in (word_counts or {}).items():
        for character in word:
            points[ord(character)] += count
    groups: Counter[str] = Counter()
    for point in np.flatnonzero(points).tolist():
        groups[find_group(chr(point))] += int(points[point])
    return tuple(ScriptShare(*share) for share in _shares(groups))


def _shares(sizes: Counter[str]) -> Iterator[tuple[str, int, float]]:
    total = sizes.total() or 1
    for name, size in sorted(sizes.items(), key=lambda item: (-item[1], item[0])):
        yield name, size, size / total


def _joined_to_pieces(documents: Iterable[str]) -> Iterator[str]:
    """Yield all text in pieces of about a million characters: join short ones, cut long ones."""
    short: list[str] = []
    size = 0
    for text in documents:
        for start in range(0, len(text), _PIECE):
            short.append(text[start : start + _PIECE])
            size += len(short[-1])
            if size >= _PIECE:
                yield "".join(short)
                short, size = [], 0
    if short:
        yield "".join(short)


_MAX_CHARACTERS_READ: Final = 32
_LETTERS: Final = (" letters", " characters")

# Every named pre-tokenizer starts a pre-token at a single space before a word.
_WORD_STARTS: Final = regex.compile(r"(?<=\S)(?= \S)")
# Scripts that write no spaces have punctuation.
_WORD_ENDS: Final = regex.compile(r"(?<=\S)(?=\s)|(?<=[\p{Po}\p{Pe}\p{Pf}])(?=[\p{L}\p{N}])")


_N_BLOCKS: Final = 1_024
"""Blocks have a size within the limits below that makes them about this many."""
_MIN_BLOCK: Final = 16
_MAX_BLOCK: Final = 4_096
_MAX_LINE: Final = 2_000
_MIN_REACH: Final = 200
_GOLDEN: Final = 0.618_033_988_749_894_9


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
    # Whatever follows the dot: titles that begin alike are alike, and a text is divided as before.
    return Stratum(_after_dot(name) or Composition.WITHOUT_TYPE, main_script(text))


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


def border_near(text: str, near: int, reach: int) -> int | None:
    """Return the line boundary nearest to a position in a text, or else a word boundary.

    Lines end with LF, CR or CRLF; the start and the end of the text are also boundaries. Returns
    None if there is no boundary within `reach` characters.

    >>> border_near("one\\ntwo three", 5, 4), border_near("one two three four", 9, 4)
    (4, 13)
    >>> border_near("one\\ntwo", 5, 1)
    4
    """
    near = min(max(near, 0), len(text))
    before, after = _border_before(text, near, reach), _border_after(text, near, reach)
    if before is not None and after is not None:
        return before if near - before <= after - near else after
    if before is not None or after is not None:
        return before if after is None else after
    # A pattern also needs one character on either side of the boundary.
    last = near + reach + 1
    found = _WORD_STARTS.search(text, near, last) or _WORD_ENDS.search(text, near, last)
    return found.start() if found else None


def _border_before(text: str, near: int, reach: int) -> int | None:
    first = max(0, near - reach)
    # Include the character before, since `first` may be a boundary itself.
    start, end = max(0, first - 1), near
    while True:
        end = max(text.rfind("\n", start, end), text.rfind("\r", start, end)) + 1
        if not end:
            return 0 if first == 0 else None
        if not _is_within_line_end(text, end):
            return end
        end -= 1


def _border_after(text: str, near: int, reach: int) -> int | None:
    last = min(len(text), near + reach)
    # Include the character before, since `near` may be a boundary itself.
    found = [text.find(end, max(0, near - 1), last) for end in "\n\r"]
    ends = [place + 1 for place in found if place >= 0]
    if ends:
        end = min(ends)
        return end + 1 if _is_within_line_end(text, end) else end
    return len(text) if last == len(text) else None


def _is_within_line_end(text: str, place: int) -> bool:
    return text[place - 1 : place + 1] == "\r\n"


def sample_spans(
    documents: Sequence[str], names: Sequence[str], share: float, seed: int
) -> list[list[Span]]:
    """Return the sampled spans of each document, from left to right.

    Documents of one file type, script and folder follow one another, and one block is taken from
    each of equal parts of all text. Its position within its part follows the golden ratio, so
    blocks cannot coincide with a period of the text.

    >>> sample_spans(["a line\\n" * 20, "b"], ["a.txt", "b.txt"], share=0.2, seed=0)
    [[Span(start=49, end=63), Span(start=98, end=112)], []]
    """
    order = sorted(
        (i for i, text in enumerate(documents) if text),
        key=lambda i: (stratum(documents[i], names[i]), folder(names[i]), i),
    )
    starts = list(accumulate((len(documents[i]) for i in order), initial=0))
    wanted = share * starts[-1]
    size = min(max(wanted / _N_BLOCKS, _MIN_BLOCK), _MAX_BLOCK)
    n_blocks = max(1, round(wanted / size))
    part = starts[-1] / n_blocks
    offset = random.Random(seed).random()
    spans: list[list[Span]] = [[] for _ in documents]
    taken = end = 0
    for n in range(n_blocks):
        left = wanted * (n + 1) / n_blocks - taken
        free = max(0.0, part - left)
        start = max(round(n * part + (offset + n * _GOLDEN) % 1 * free), end)
        place = bisect_right(starts, start) - 1
        while place < len(order):
            i, text_start = order[place], starts[place]
            found = _cut(documents[i], max(0, start - text_start), left, max(0, end - text_start))
            if found is not None:
                spans[i].append(found)
                taken += found.end - found.start
                left -= found.end - found.start
                end = text_start + found.end
            # A block goes on in the next document; what is less than half of one is made up for.
            place += 1
            if left < size / 2 or start + left < starts[place]:
                break
    return spans


def _cut(text: str, start: int, n_wanted: float, least: int) -> Span | None:
    """Return a span near a place, from `least` on; None if there are no borders."""
    reach = round(max(min(n_wanted, _MAX_LINE), _MIN_REACH))
    first = border_near(text, start, reach)
    last = border_near(text, round(start + n_wanted), reach)
    if first is None or last is None:
        return None
    first = max(first, least)
    return Span(first, last) if first < last else None
