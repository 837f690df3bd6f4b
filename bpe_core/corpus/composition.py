"""Describe the composition of a corpus: its files, their types, and its scripts."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from posixpath import splitext
from typing import Final, NamedTuple

import numpy as np

from bpe_core.corpus.file_kinds import TABLE_KINDS
from bpe_core.unicode import code_points, find_group

_PIECE: Final = 1 << 20
_ROW: Final = re.compile(
    rf"(.*(?:{'|'.join(map(re.escape, TABLE_KINDS))}))(?: .*)?", re.IGNORECASE | re.DOTALL
)
WITHOUT_TYPE: Final = "no file type"


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
            self._seen[code_points(text[start : start + _PIECE])] = True

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

    >>> file_type("project.zip/src/Main.PY"), file_type("a.csv row 12"), file_type("LICENSE")
    ('.py', '.csv', 'no file type')
    """
    return splitext(file_name(name).lower())[1] or WITHOUT_TYPE


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
        counts = np.bincount(code_points(text))
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
