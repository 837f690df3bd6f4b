"""The text to train on or to measure: documents, or words with their counts."""

from __future__ import annotations

import hashlib
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple, cast

import numpy as np

from bpe_core.checks import describe, is_a, is_whole, several
from bpe_core.corpus.held_out import draw, line_blocks
from bpe_core.corpus.readers import Budget, Document, Source, read_source, size_of, table_columns
from bpe_core.corpus.word_counts import check_total
from bpe_core.errors import (
    ConfigError,
    CorpusError,
    EmptyCorpusError,
    InvalidTextError,
    UnsupportedFileError,
)
from bpe_core.immutable import Immutable
from bpe_core.unicode.kinds import code_points, group_of

_PIECE = 1 << 20


class ScriptShare(NamedTuple):
    """The characters of one script, or white space, punctuation or others, and their share."""

    name: str
    characters: int
    share: float
    """From 0 to 1."""


@dataclass(frozen=True, slots=True, eq=False)
class Corpus(Immutable):
    """Documents, each pre-tokenized on its own, or words with their counts.

    Make one with `from_text`, `from_documents`, `from_word_counts` or `read_corpus`.

    >>> corpus = Corpus.from_documents(["ab", "c"])
    >>> corpus.n_bytes, corpus.names
    (3, ('document 1', 'document 2'))
    """

    documents: tuple[str, ...] = field(repr=False)
    names: tuple[str, ...] = field(repr=False)
    """One for each document."""
    word_counts: Mapping[str, int] | None = field(default=None, repr=False)
    """Ready-made pre-tokens with their counts; if given, `documents` is empty."""
    notes: tuple[str, ...] = ()
    """What was skipped or guessed while reading, and why."""
    encodings: tuple[str, ...] = field(default=(), repr=False)
    """One for each document; empty if the text was not read from bytes."""
    n_bytes: int = field(init=False)
    """The size in UTF-8; each of `word_counts` is counted as often as it occurs."""
    n_characters: int = field(init=False)
    sha256: str = field(init=False)
    """Hexadecimal digest of the texts and their lengths; names and notes are left out."""

    def __post_init__(self) -> None:
        digest = hashlib.sha256(b"documents" if self.word_counts is None else b"word counts")
        n_bytes = n_characters = 0
        weighted: Iterable[tuple[str, str, int]]
        if self.word_counts is None:
            weighted = (
                (text, name, 1) for text, name in zip(self.documents, self.names, strict=True)
            )
        else:
            object.__setattr__(self, "word_counts", MappingProxyType(dict(self.word_counts)))
            weighted = ((word, "the word counts", n) for word, n in self.word_counts.items())
        for text, name, count in weighted:
            data = _utf8(text, name)
            digest.update(b"%d %d:" % (count, len(data)))
            digest.update(data)
            n_bytes += len(data) * count
            n_characters += len(text) * count
        object.__setattr__(self, "n_bytes", n_bytes)
        object.__setattr__(self, "n_characters", n_characters)
        object.__setattr__(self, "sha256", digest.hexdigest())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Corpus) and self.sha256 == other.sha256

    def __hash__(self) -> int:
        return hash(self.sha256)

    def __reduce__(self) -> tuple[object, ...]:
        words = None if self.word_counts is None else dict(self.word_counts)
        return Corpus, (self.documents, self.names, words, self.notes, self.encodings)

    @classmethod
    def from_text(cls, text: str, name: str = "text") -> Corpus:
        """Make a corpus of one document; raises EmptyCorpusError and InvalidTextError.

        >>> Corpus.from_text("hug hugs").documents
        ('hug hugs',)
        """
        return cls.from_documents([text], names=[name])

    @classmethod
    def from_documents(cls, documents: Iterable[str], names: Sequence[str] | None = None) -> Corpus:
        """Make a corpus of several documents; some may be empty, but not all.

        Raises EmptyCorpusError, InvalidTextError for a lone surrogate or a document that is not a
        str, CorpusError for a single text, a dict or a set, and ConfigError unless `names` has one
        str for each document.

        >>> Corpus.from_documents(["ab", "c"], names=["first", "second"]).names
        ('first', 'second')
        """
        remedy = "give a list of str, or call from_text for one"
        texts: tuple[str, ...] = tuple(several(documents, "documents", remedy, CorpusError))
        if names is None:
            names = [f"document {number}" for number in range(1, len(texts) + 1)]
        names = several(names, "names", "give a list of str, one for each document", ConfigError)
        if len(names) != len(texts):
            raise ConfigError(
                f"Expected {len(texts)} names, one for each document, got {len(names)}."
            )
        for number, name in enumerate(names, 1):
            if not is_a(name, str):
                raise ConfigError(
                    f"Expected a str as name of document {number}, got {describe(name)}."
                )
        corpus = cls(texts, tuple(names))
        if not corpus.n_bytes:
            raise EmptyCorpusError("The corpus is empty: give at least one character.")
        return corpus

    @classmethod
    def from_word_counts(cls, word_counts: Mapping[str, int]) -> Corpus:
        """Make a corpus of ready-made pre-tokens with their counts.

        Raises EmptyCorpusError, and CorpusError for an empty word, a count below 1, and counts
        whose sum exceeds 64 bits.

        >>> Corpus.from_word_counts({"hug": 10, "ugg": 5}).n_bytes
        45
        """
        if not is_a(word_counts, Mapping):
            raise CorpusError(
                f"Expected a dict of word counts, such as {{'hug': 10}}, got "
                f"{describe(word_counts)}."
            )
        for word, count in word_counts.items():
            if not word:
                raise CorpusError("One of the words is empty. Leave it out.")
            if not is_whole(count) or count < 1:
                raise CorpusError(
                    f"Expected a whole number from 1 as count of {word!r}, got {count!r}."
                )
        if not word_counts:
            raise EmptyCorpusError("There are no words: give at least one, such as {'hug': 10}.")
        corpus = cls((), (), {word: int(count) for word, count in word_counts.items()})
        check_total(corpus.word_counts or {})
        return corpus

    def split(self, held_out_share: float, seed: int = 0) -> tuple[Corpus, Corpus]:
        """Divide into what to train on and what to hold back, about `held_out_share` of the bytes.

        Documents are drawn at random, and one that would overfill the share is passed over. Where
        those that fit fill less than half of it, as with a single document, each is divided by
        blocks of whole lines of about 1 % of its length; the blocks of a side stay in order.
        Weighted words are drawn as documents are. Every document, block or word goes to one side.
        A corpus too small to divide gives an empty held-out corpus (`n_bytes == 0`). The same seed
        gives the same parts.

        Raises ConfigError for a share outside 0 <= share < 1, and for a seed that is no whole
        number.

        >>> training, held_out = Corpus.from_text("a line\\n" * 100).split(0.08)
        >>> training.n_bytes, held_out.n_bytes
        (644, 56)
        """
        if not is_a(held_out_share, int, float) or not 0 <= held_out_share < 1:
            raise ConfigError(
                "Expected a held-out share of at least 0 and less than 1, got "
                f"{describe(held_out_share)}."
            )
        if not is_whole(seed):
            raise ConfigError(f"Expected a whole number as seed, got {describe(seed)}.")
        room = int(held_out_share * self.n_bytes)
        if self.word_counts is not None:
            items = list(self.word_counts.items())
            drawn = draw([len(word.encode()) * count for word, count in items], room, seed)
            sides = [
                {word: n for i, (word, n) in enumerate(items) if (i in drawn) is held_out}
                for held_out in (False, True)
            ]
            training, held_out = (Corpus((), (), side, self.notes) for side in sides)
            return training, held_out
        sizes = [len(text.encode()) for text in self.documents]
        drawn = draw(sizes, room, seed)
        if 2 * sum(sizes[i] for i in drawn) < room:
            by_lines = self._split_by_lines(room, seed)
            if by_lines is not None:
                return by_lines
        return self._part(drawn, inside=False), self._part(drawn, inside=True)

    def scripts(self) -> tuple[ScriptShare, ...]:
        """Return the share of each script, of white space, of punctuation, and of the rest.

        The largest comes first; marks count with the letters of their script.

        >>> [(s.name, s.characters) for s in Corpus.from_text("да, ok").scripts()]
        [('Cyrillic letters', 2), ('Latin letters', 2), ('punctuation', 1), ('white space', 1)]
        """
        points = np.zeros(sys.maxunicode + 1, np.int64)
        for text in _joined_to_pieces(self.documents):
            counts = np.bincount(code_points(text))
            points[: len(counts)] += counts
        for word, count in (self.word_counts or {}).items():
            for character in word:
                points[ord(character)] += count
        groups: Counter[str] = Counter()
        for point in np.flatnonzero(points).tolist():
            groups[group_of(chr(point))] += int(points[point])
        return tuple(
            ScriptShare(name, count, count / self.n_characters)
            for name, count in sorted(groups.items(), key=lambda item: (-item[1], item[0]))
        )

    def _part(self, drawn: set[int], *, inside: bool) -> Corpus:
        kept = [i for i in range(len(self.documents)) if (i in drawn) is inside]
        return Corpus(
            tuple(self.documents[i] for i in kept),
            tuple(self.names[i] for i in kept),
            notes=self.notes,
            encodings=tuple(self.encodings[i] for i in kept) if self.encodings else (),
        )

    def _split_by_lines(self, room: int, seed: int) -> tuple[Corpus, Corpus] | None:
        blocks = [
            (number, block)
            for number, text in enumerate(self.documents)
            for block in line_blocks(text)
        ]
        drawn = draw([len(block.encode()) for _, block in blocks], room, seed)
        if not drawn:
            return None
        sides: list[Corpus] = []
        for held_out in (False, True):
            parts: dict[int, list[str]] = {}
            for i, (number, block) in enumerate(blocks):
                if (i in drawn) is held_out:
                    parts.setdefault(number, []).append(block)
            sides.append(
                Corpus(
                    tuple("".join(part) for part in parts.values()),
                    tuple(self.names[number] for number in parts),
                    notes=self.notes,
                    encodings=tuple(self.encodings[i] for i in parts) if self.encodings else (),
                )
            )
        return sides[0], sides[1]


def no_corpus(given: object) -> CorpusError:
    """Return the error for something that is not a corpus.

    >>> str(no_corpus("hug"))
    "Expected a Corpus, got 'hug' (str): make one with Corpus.from_text or read_corpus."
    """
    return CorpusError(
        f"Expected a Corpus, got {describe(given)}: make one with Corpus.from_text or read_corpus."
    )


def read_corpus(
    paths_or_uploads: Source | Iterable[Source],
    text_column: str | None = None,
    *,
    on_progress: Callable[[float], None] | None = None,
) -> Corpus:
    """Read files into a corpus: any text, tables, JSON, and gzip or zip archives of these.

    A source is a path, or an object with a `name` and `getvalue()` or `read()`, such as an upload.
    A text file is one document. In csv, tsv, jsonl and parquet, each row of `text_column` is one;
    None chooses the first column of text. JSON may be a list of strings or objects, or an object
    of strings or lists.

    `on_progress` is called from time to time with the fraction read so far; an exception it raises
    ends the reading. An archive may unpack to 16 MB or a hundred times its size, whichever is more,
    and all archives together to 512 MB.

    A file that is empty or cannot be read is skipped and named in `notes`. If no file can be read,
    an error is raised: EmptyCorpusError, TextDecodingError, UnsupportedFileError, or CorpusError
    for a path that cannot be opened.

    >>> import io
    >>> class Upload(io.BytesIO):
    ...     name = "words.csv"
    >>> read_corpus([Upload(b"id,text\\n1,hug\\n2,hugs\\n")], text_column="text").documents
    ('hug', 'hugs')
    """
    sources: list[Source]
    if isinstance(paths_or_uploads, Iterable) and not isinstance(paths_or_uploads, (str, bytes)):
        # An io.BytesIO is iterable as well, by lines, but it is one source.
        readable = hasattr(paths_or_uploads, "read") or hasattr(paths_or_uploads, "getvalue")
        remedy = "give a list of paths or uploads"
        sources = (
            [cast("Source", paths_or_uploads)]
            if readable
            else several(paths_or_uploads, "files", remedy, CorpusError)
        )
    else:
        sources = [paths_or_uploads]
    if not sources:
        raise EmptyCorpusError("No file given: name at least one.")
    budget = Budget()
    documents: list[Document] = []
    notes: list[str] = []
    failures: list[CorpusError] = []
    report = on_progress or _ignore
    sizes = [size_of(source) for source in sources]
    total = sum(sizes) or 1
    for number, source in enumerate(sources):
        before, own = sum(sizes[:number]) / total, sizes[number] / total
        try:
            found, new_notes = read_source(
                source, text_column, budget, lambda part, at=before, of=own: report(at + part * of)
            )
        except CorpusError as error:
            failures.append(error)
            notes.append(f"Skipped. {error}")
            continue
        documents.extend(found)
        notes.extend(new_notes)
    if not documents:
        if len(failures) == 1:
            raise failures[0]
        kind = type(failures[0]) if len({type(f) for f in failures}) == 1 else UnsupportedFileError
        raise kind("None of the files could be read. " + " ".join(map(str, failures)))
    return Corpus(
        tuple(document.text for document in documents),
        tuple(document.name for document in documents),
        notes=tuple(notes),
        encodings=tuple(document.encoding for document in documents),
    )


def columns_of(upload: Source) -> list[str]:
    """Return the names of a table's text columns, in order; none if the file is not a table.

    >>> import io
    >>> class Upload(io.BytesIO):
    ...     name = "words.csv"
    >>> columns_of(Upload(b"id,text,note\\n1,hug,a\\n2,hugs,b\\n"))
    ['text', 'note']
    """
    return table_columns(upload)


def _ignore(_: float) -> None:
    pass


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


def _utf8(text: str, name: str) -> bytes:
    if not is_a(text, str):
        raise InvalidTextError(
            f"Expected a str as {name}, got {describe(text)}. Decode bytes first."
        )
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1
        raise InvalidTextError(
            f"{name} has a lone surrogate, U+{ord(text[error.start]):04X}, at character "
            f"{error.start} (line {line}), which UTF-8 cannot encode. Remove it, or read the text "
            "again from its source."
        ) from None
