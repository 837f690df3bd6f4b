"""The text to train on or to measure: documents, or words with their counts."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections import defaultdict
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import repeat
from math import gcd, inf, lcm
from numbers import Real
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, TypeVar, cast

import numpy as np

from bpe_core.checks import describe, has_columns, is_a, is_whole, several
from bpe_core.corpus.composition import (
    CharacterSet,
    Composition,
    Place,
    ScriptShare,
    Span,
    file_name,
    folder_levels,
    locate_spans,
    measure_composition,
    sample_spans,
    script_shares,
)
from bpe_core.corpus.copies import copied
from bpe_core.corpus.filed_texts import CutTexts, FiledTexts, FileTexts
from bpe_core.corpus.held_out import HeldOut, Split, held_out_words, hold_out
from bpe_core.corpus.notes import Note, NoteGroup
from bpe_core.corpus.word_counts import (
    MAX_SUM,
    CountsSummary,
    WordCounts,
    check_total,
    check_word_counts,
)
from bpe_core.errors import (
    ArgumentTypeError,
    BpeError,
    ConfigError,
    CorpusError,
    EmptyCorpusError,
    FormatError,
    InvalidTextError,
)
from bpe_core.files import ARRAY_DAMAGE, open_regular, read_regular
from bpe_core.lazy import from_above
from bpe_core.types import Immutable


def check_no_table(given: object) -> None:
    """Raise ArgumentTypeError for a DataFrame, another table or a dict, which iterate over names.

    >>> check_no_table({"text": ["hug"]})
    Traceback (most recent call last):
    bpe_core.errors.ArgumentTypeError: Expected a list of texts, got a value of type dict: pass \
its column of text, such as table['text'], or its values; Corpus.from_word_counts takes words with \
their counts.
    """
    if not has_columns(given) and not is_a(given, Mapping):
        return
    remedy = "pass its column of text, such as table['text']"
    if not has_columns(given):
        remedy += ", or its values; Corpus.from_word_counts takes words with their counts"
    raise ArgumentTypeError(
        f"Expected a list of texts, got a value of type {type(given).__name__}: {remedy}."
    )


def check_texts(given: object) -> None:
    """Raise ArgumentTypeError for what is not a list of texts, but a table, a text or no list.

    >>> check_texts(b"hug")
    Traceback (most recent call last):
    bpe_core.errors.ArgumentTypeError: Expected a text, got b'hug' (bytes). Decode bytes first.
    """
    check_no_table(given)
    if is_a(given, bytes):
        raise ArgumentTypeError(f"Expected a text, got {describe(given)}. Decode bytes first.")
    if is_a(given, str) or not is_a(given, Iterable):
        raise ArgumentTypeError(
            f"Expected a Corpus or a list of texts, got {describe(given)}: make one with "
            "Corpus.from_text or read_corpus."
        )


def remedy_for(given: object) -> str:
    """Return what to do about a value that should have been a str.

    >>> remedy_for(b"hug"), remedy_for(None)
    ('Decode bytes first.', 'Leave missing values out, as dropna does.')
    """
    if has_columns(given):
        return "Pass its column of text, such as table['text'], to Corpus.from_documents."
    if is_a(given, PathLike):
        return "Call read_corpus for a file."
    if hasattr(given, "as_py"):
        return "Call to_pylist on the column, which makes Python's strings of Arrow's."
    if given is None or is_a(given, float) or type(given).__name__ == "NAType":
        return "Leave missing values out, as dropna does."
    if is_a(given, list, tuple, Mapping):
        return "Give one str for each document."
    return "Decode bytes first."


def check_one_for_each(values: Sequence[object], what: str, n_documents: int) -> None:
    """Raise ConfigError unless there is a str for each document.

    >>> check_one_for_each(["a.txt"], "name", 2)
    Traceback (most recent call last):
    bpe_core.errors.ConfigError: Expected 2 values as name, one for each document, got 1.
    """
    if len(values) != n_documents:
        raise ConfigError(
            f"Expected {n_documents} values as {what}, one for each document, got {len(values)}."
        )
    for number, value in enumerate(values, 1):
        if not is_a(value, str):
            raise ArgumentTypeError(
                f"Expected a str as {what} of document {number}, got {describe(value)}."
            )


def utf8_length(text: str, name: str) -> int:
    """Return the size of a text in UTF-8; `name` begins the errors.

    Raises ArgumentTypeError for anything but a str, and InvalidTextError for a lone surrogate.

    >>> utf8_length("né", "text")
    3
    """
    if not is_a(text, str):
        raise ArgumentTypeError(
            f"Expected a str as {name}, got {describe(text)}. {remedy_for(text)}"
        )
    try:
        return len(text) if text.isascii() else len(text.encode())
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1
        raise InvalidTextError(
            f"{name} has a lone surrogate, U+{ord(text[error.start]):04X}, at character "
            f"{error.start} (line {line}), which UTF-8 cannot encode. Remove it, or read the text "
            "again from its source."
        ) from None


_PIECE: Final = 1 << 16  # characters
_TEXT: Final = "text"
_LENGTHS: Final = "lengths.npy"
_HEAD: Final = "corpus.json"
_SAMPLE: Final = "sample"
"""The folder of the text that comes with words and counts."""
FIGURES: Final = "figures.json"
"""The figures of a large corpus, which no corpus in memory needs."""
CORPUS_FILES: Final = (_TEXT, _LENGTHS, _HEAD)
"""The files of a saved corpus; they are never changed, so they can be linked to."""
_BEGINNINGS: Final = 100
_BEGINNING: Final = 10_000  # characters
_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of a text that is not in memory, named as those of a `Corpus`."""

    n_bytes: int
    n_characters: int
    sha256: str
    fingerprint: str
    n_sources: int
    files: tuple[str, ...]
    composition: Composition
    characters: str
    beginnings: tuple[str, ...]
    how: HeldOut | None


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Corpus(Immutable):
    """Documents, each pre-tokenized on its own, or words with their counts.

    A large one can stay in a folder on disk, of which only figures are in memory.

    Make one with `from_text`, `from_documents`, `from_word_counts` or `read_corpus`.

    >>> corpus = Corpus.from_documents(["ab", "c"])
    >>> corpus.n_bytes, corpus.names
    (3, ('document 1', 'document 2'))
    """

    documents: Sequence[str] = field(repr=False)
    names: tuple[str, ...] = field(repr=False)
    """One for each document."""
    word_counts: Mapping[str, int] | None = field(default=None, repr=False)
    """Ready-made pre-tokens with their counts; if given, `documents` is empty."""
    file_notes: tuple[Note, ...] = field(default=(), repr=False)
    """Notes on what was chosen, guessed or skipped in each file while reading."""
    encodings: tuple[str, ...] = field(default=(), repr=False)
    """One for each document; empty if the text was not read from bytes."""
    places: tuple[Place, ...] = field(default=(), repr=False)
    """The position of each document in the one it was cut from; empty before any split."""
    divided: Split | None = field(default=None, repr=False, compare=False)
    """How it was divided from a whole corpus; None if it is one."""
    units: tuple[int, ...] = field(default=(), repr=False)
    """The unit that each held-out document is of, such as its folder; empty before any split, when
    each document is a unit of its own."""
    columns: Mapping[str, tuple[str, ...]] = field(
        default_factory=dict[str, "tuple[str, ...]"], repr=False
    )
    """Other columns of the table that it was read from: by name, a value for each document."""
    how: HeldOut | None = field(default=None, repr=False)
    """How a held-out part was chosen; None for any other corpus."""
    summary: CountsSummary | None = field(default=None, repr=False)
    """What is known of a text of which there are only counts; None for any other corpus."""
    text: Corpus | None = field(default=None, repr=False)
    """Text to measure on that came with such counts; it is not trained on."""
    known: Figures | None = field(default=None, repr=False)
    """The figures of a text that is not in memory; None for any other corpus."""
    folder: Path | None = field(default=None, repr=False)
    """The folder that `read` reads such a text from; None for a part, of which figures are all."""
    weights: tuple[int, ...] = field(default=(), repr=False)
    """How often each document counts in training; empty if each counts once. See `weighted`."""
    ends: tuple[str, ...] = field(default=(), repr=False)
    """Of a part, the first and the last name of the whole corpus, sorted; empty for a whole one."""
    n_bytes: int = field(init=False)
    """The size in UTF-8; each of `word_counts` is counted as often as it occurs."""
    _n_characters: int | None = field(init=False, repr=False, default=None)
    _sha256: str | None = field(init=False, repr=False, default=None)
    _fingerprint: str | None = field(init=False, repr=False, default=None)

    def __post_init__(self) -> None:
        if self.word_counts is not None:
            object.__setattr__(self, "word_counts", MappingProxyType(dict(self.word_counts)))
        if self.known is not None:
            for name in ("n_bytes", "_n_characters", "_sha256", "_fingerprint"):
                object.__setattr__(self, name, getattr(self.known, name.removeprefix("_")))
            return
        if isinstance(self.documents, FileTexts):
            object.__setattr__(self, "n_bytes", self.documents.n_bytes)
            return
        n_bytes = n_characters = 0
        names = self.names if self.word_counts is None else repeat("the word counts")
        for (text, count), name in zip(self._counted(), names, strict=self.word_counts is None):
            n_bytes += utf8_length(text, name) * count
            n_characters += len(text) * count
        if self.summary is not None:
            n_bytes = max(n_bytes, self.summary.n_bytes)
        object.__setattr__(self, "n_bytes", n_bytes)
        object.__setattr__(self, "_n_characters", n_characters)

    @property
    def n_characters(self) -> int:
        """The number of characters; each of `word_counts` is counted as often as it occurs."""
        if self._n_characters is None:
            files = cast("FileTexts", self.documents)
            n = sum(len(text) for place in range(len(files)) for _, text in files.pieces(place))
            object.__setattr__(self, "_n_characters", n)
        return cast("int", self._n_characters)

    @property
    def sha256(self) -> str:
        """Hexadecimal digest of the texts and their lengths; names and notes are left out.

        Computed on first use: 100 MB takes 0.1 to 0.3 s.
        """
        if self._sha256 is None:
            object.__setattr__(self, "_sha256", self._digest())
        return cast("str", self._sha256)

    @property
    def fingerprint(self) -> str:
        """Hexadecimal digest of the texts and of the documents' names; computed on first use.

        >>> Corpus.from_text("hug", "a").fingerprint == Corpus.from_text("hug", "b").fingerprint
        False
        """
        if self._fingerprint is None:
            # The representation of a text spells lone surrogates, which may be in a file's name.
            named = f"{self.sha256} {self.names!r}".encode()
            object.__setattr__(self, "_fingerprint", hashlib.sha256(named).hexdigest())
        return cast("str", self._fingerprint)

    def _digest(self) -> str:
        digest = hashlib.sha256(b"documents" if self.word_counts is None else b"word counts")
        if isinstance(self.documents, FileTexts):
            for place, size in enumerate(self.documents.sizes):
                digest.update(b"1 %d:" % size)
                for piece, _ in self.documents.pieces(place):
                    digest.update(piece)
            return digest.hexdigest()
        weighted = zip(self.documents, self.weights, strict=True)
        for text, count in weighted if self.weights else self._counted():
            if len(text) <= _PIECE:
                data = text.encode()
                digest.update(b"%d %d:" % (count, len(data)))
                digest.update(data)
                continue
            # Going through a long text twice takes less memory than holding all of its bytes.
            digest.update(b"%d %d:" % (count, sum(map(len, in_pieces(text)))))
            for piece in in_pieces(text):
                digest.update(piece)
        if self.summary is not None:
            described = json.dumps([digest.hexdigest(), *self.summary]).encode()
            return hashlib.sha256(described).hexdigest()
        return digest.hexdigest()

    def _counted(self) -> Iterable[tuple[str, int]]:
        """Return each text, and how often it counts."""
        if self.word_counts is not None:
            return self.word_counts.items()
        return zip(self.documents, repeat(1))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Corpus) and self.sha256 == other.sha256

    def __hash__(self) -> int:
        return hash(self.sha256)

    def __reduce__(self) -> tuple[object, ...]:
        if self.folder is not None:
            return self.read().__reduce__()
        words = None if self.word_counts is None else dict(self.word_counts)
        notes = self.file_notes
        parts = (self.documents, self.names, words, notes, self.encodings, self.places)
        further = self.divided, self.units, dict(self.columns), self.how, self.summary, self.text
        return Corpus, (*parts, *further, self.known, None, self.weights, self.ends)

    @classmethod
    def from_text(cls, text: str, name: str = "text") -> Corpus:
        """Make a corpus of one document; raises EmptyCorpusError and InvalidTextError.

        >>> Corpus.from_text("hug hugs").documents
        ('hug hugs',)
        """
        return cls.from_documents([text], names=[name])

    @classmethod
    def from_documents(
        cls,
        documents: Iterable[str],
        names: Sequence[str] | None = None,
        columns: Mapping[str, Sequence[str]] | None = None,
    ) -> Corpus:
        """Make a corpus of several documents; some may be empty, but not all.

        `columns` has further values of each document, such as {"author": [...]}, by which `split`
        can hold out.

        Raises EmptyCorpusError, InvalidTextError for a lone surrogate, ArgumentTypeError for a
        document that is not a str, a single text, a dict or a table, and ConfigError unless
        `names`, and each of `columns`, has one str for each document.

        >>> Corpus.from_documents(["ab", "c"], names=["first", "second"]).names
        ('first', 'second')
        """
        check_no_table(documents)
        remedy = "give a list of str, or call from_text for one"
        if is_a(documents, PathLike):
            remedy = "call read_corpus for a file"
        texts: tuple[str, ...] = tuple(several(documents, "documents", remedy))
        if names is None:
            names = [f"document {number}" for number in range(1, len(texts) + 1)]
        names = several(names, "names", "give a list of str, one for each document")
        for what, given in {"name": names, **(columns or {})}.items():
            check_one_for_each(given, what, len(texts))
        kept = {name: tuple(values) for name, values in (columns or {}).items()}
        corpus = cls(texts, tuple(names), columns=kept)
        if not corpus.n_bytes:
            raise EmptyCorpusError("The corpus is empty: give at least one character.")
        return corpus

    @classmethod
    def from_word_counts(
        cls, word_counts: Mapping[str, int] | WordCounts, text: Corpus | None = None
    ) -> Corpus:
        """Make a corpus of ready-made pre-tokens with their counts.

        Of counts that `read_counts` or `count_words` returned, it has the size of the text that was
        counted, and its hash covers all that is known of that text; `text` is a sample to measure
        on, which is not trained on.

        Raises EmptyCorpusError, and CorpusError for an empty word, a count below 1, and counts
        whose sum exceeds 64 bits.

        >>> Corpus.from_word_counts({"hug": 10, "ugg": 5}).n_bytes
        45
        """
        if isinstance(word_counts, WordCounts):
            summary = word_counts.summary
            if summary.n_bytes > MAX_SUM:
                raise CorpusError(
                    f"The words are said to come from {summary.n_bytes:,} bytes of text, more than "
                    "64 bits can count. Count again."
                )
            words = map(bytes.decode, word_counts.pretokens.words)
            counts = dict(zip(words, word_counts.pretokens.counts.tolist(), strict=True))
            return cls((), (), counts, summary=summary, text=text)
        check_word_counts(word_counts)
        corpus = cls((), (), {word: int(count) for word, count in word_counts.items()})
        check_total(corpus.word_counts or {})
        return corpus

    def split(
        self, held_out_share: float, seed: int = 0, by: str | None = None
    ) -> tuple[Corpus, Corpus]:
        """Split into training text and held-out text of about `held_out_share` of the characters.

        Whole documents are held out, so that figures on them answer for documents that training
        never saw; if there are at least 20 folders, whole folders of the first level that has as
        many, because text from other places is newer than another document of the same folder.
        `by="document"` or "folder" chooses one of the two. With "folder:2", all documents that
        share the first two folders of their path are in the same part; with "column:author", all
        with the same author, if the corpus was read with that column. Documents that share most of
        their lines are in the same part, too.

        Each file type and script has about the same share of the held-out part as of the corpus,
        as far as whole units allow; see `composition`. Where a file type and script has fewer than
        20 documents, or one that is larger than its share, the two ends of documents are held out
        instead, as they are of all documents with `by="stretch"`. A margin between them and the
        training text is in neither part. The parts of a document become separate documents with
        the name of their source: joined, they would spell text that never occurred.

        Part of the count of frequent words is held out, and rare words whole. The `how` of the
        held-out part says what was held out. If the corpus is too small to divide, the held-out
        part is empty (`n_bytes == 0`). The same seed gives the same parts. Counts of a text that is
        not at hand are not divided: the held-out part is the text that came with them.

        Raises ConfigError for a share outside 0 <= share < 1, a seed that is not a whole number, an
        unknown `by`, and text that is all in one folder or under one value of the column.

        >>> training, held_out = Corpus.from_text("a line\\n" * 100).split(0.08)
        >>> training.n_bytes, held_out.n_bytes, held_out.how.share_within
        (616, 56, 1.0)
        """
        if not is_a(held_out_share, int, float) or not 0 <= held_out_share < 1:
            raise ConfigError(
                "Expected a held-out share of at least 0 and less than 1, got "
                f"{describe(held_out_share)}."
            )
        if not is_whole(seed):
            raise ArgumentTypeError(f"Expected a whole number as seed, got {describe(seed)}.")
        if by is not None:
            Split.check_by(by)
        if self.folder is not None:
            return self.read().split(held_out_share, seed, by)
        if self.summary is not None:
            return self, self.text or Corpus((), ())
        if self.word_counts is not None:
            part = held_out_words(self.word_counts, held_out_share, int(seed))
            rest = {word: n - part.get(word, 0) for word, n in self.word_counts.items()}
            rest = {word: n for word, n in rest.items() if n}
            how = HeldOut("word", len(part), 0.0)
            divided = Split(self.sha256, float(held_out_share), int(seed), by or "document")
            return (
                Corpus((), (), rest, self.file_notes, divided=divided),
                Corpus((), (), part, self.file_notes, divided=divided, how=how),
            )
        found = hold_out(self.documents, self.names, held_out_share, int(seed), by, self.columns)
        divided = Split(self.sha256, float(held_out_share), int(seed), found.how.by)
        held_out = self._part(found.held_out, divided, found.units, found.how)
        return self._part(found.training, divided), replace(held_out, weights=())

    def hold_out(self, text: Corpus) -> tuple[Corpus, Corpus]:
        """Hold out a separate text; return the training text and the held-out text.

        Documents of this corpus that share most of their lines with one of `text` are left out of
        the training text. Raises ConfigError if that leaves none.

        >>> corpus = Corpus.from_documents(["hug hugs", "pug", "a pun"])
        >>> training, held_out = corpus.hold_out(Corpus.from_documents(["a bun", "pug"]))
        >>> training.documents, held_out.documents
        (('hug hugs', 'a pun'), ('a bun', 'pug'))
        """
        if self.folder is not None or text.folder is not None:
            return self.read().hold_out(text.read())
        divided = Split(self.sha256, 0.0, 0, f"file:{text.sha256}")
        are_copies = copied(self.documents, text.documents)
        spans = [
            [] if is_copy else [Span(0, len(document))]
            for document, is_copy in zip(self.documents, are_copies, strict=True)
        ]
        training = self._part(spans, divided) if any(are_copies) else replace(self, divided=divided)
        if not training.n_bytes:
            raise ConfigError(
                "All documents of the corpus are also in the held-out text, so none is left to "
                "train on. Hold out other text."
            )
        how = HeldOut("file", text.n_sources, 0.0)
        return training, replace(text, divided=divided, how=how)

    def by_language(self) -> dict[str, Corpus]:
        """Return a corpus for each folder of the first level that has several.

        Documents outside these folders, and all if there are no folders, are divided by the name of
        their file. So a folder, or a file, for each language gives what `train_parity` takes. A
        part of a corpus, such as its training text, is divided by the folders of the whole.

        >>> names = ["a.zip/texts/en/1.txt", "a.zip/texts/en/2.txt", "a.zip/texts/de/1.txt"]
        >>> corpus = Corpus.from_documents(["hug", "hugs", "Zug"], names)
        >>> {name: each.documents for name, each in corpus.by_language().items()}
        {'en': ('hug', 'hugs'), 'de': ('Zug',)}
        """
        if self.folder is not None:
            return self.read().by_language()
        # A part may have lost all other folders. Folders that the ends share are shared by all.
        whole = (*self.names, *self.ends)
        places = defaultdict[str, list[int]](list)
        for place, (name, within) in enumerate(zip(self.names, folder_levels(whole), strict=False)):
            places[within[0] if any(within[:1]) else _stem(name)].append(place)
        return {label: self._chosen(chosen) for label, chosen in places.items()}

    def weighted(self, weights: Mapping[str, float | Fraction]) -> Corpus:
        """Return the corpus with documents that count more or less than others in training.

        A name is that of a document, or of a file or folder in its path; a file's may be without
        its ending, so "de" is for de/news.txt and for de.txt. Of several, the one nearest to the
        end of the path holds. All other documents have a weight of 1. Counts stay exact: weights
        such as 0.5 are scaled up until all are whole numbers. Held-out text has no weights.

        Raises ConfigError for a name that no document has, a weight that is not above 0, weights
        too fine for 64 bits, and words that are counted already.

        >>> corpus = Corpus.from_documents(["ein Hut", "a hat"], ["de/a.txt", "en/a.txt"])
        >>> corpus.weighted({"de": 1.5}).weights
        (3, 2)
        >>> corpus.weighted({"de": 1.5}).count("whitespace").pretokens.counts.tolist()
        [3, 3, 2, 2]
        """
        if self.folder is not None:
            return self.read().weighted(weights)
        if self.word_counts is not None:
            raise ConfigError("Words with counts have no documents to weigh. Change their counts.")
        if not is_a(weights, Mapping):
            raise ArgumentTypeError(
                "Expected weights as a dict from names to numbers, such as {'de': 2.0}, got "
                f"{describe(weights)}."
            )
        exact = {name: _exact_weight(name, weight) for name, weight in weights.items()}
        labels = [*map(_labels, self.names)]
        known = {label for each in labels for label in each}
        if missing := sorted(exact.keys() - known):
            some = ", ".join(sorted(known)[:8])
            raise ConfigError(
                f"No document, file or folder of the corpus is called {missing[0]!r}, whose weight "
                f"is given. It has {some}."
            )
        named = (next(filter(exact.__contains__, each), None) for each in labels)
        each = [Fraction(1) if name is None else exact[name] for name in named]
        scale = lcm(*(weight.denominator for weight in each))
        whole = [int(weight * scale) for weight in each]
        divisor = gcd(*whole)
        if max(whole) // divisor * max(1, self.n_bytes) > MAX_SUM:
            raise ConfigError(
                "The weights differ too much, or too finely, for exact counts in 64 bits. Round "
                "them, as in 0.33 for 1/3."
            )
        return replace(
            self,
            documents=tuple(self.documents),
            weights=() if len(set(whole)) == 1 else tuple(weight // divisor for weight in whole),
        )

    def sample(self, n_bytes: int, seed: int = 0) -> Corpus:
        """Return about `n_bytes` of the corpus: blocks of whole lines spread over all of it.

        Each file type, script and large file keeps its share. A corpus of that size or less is
        returned as it is, and an empty one if the text has no place to be cut, such as a single
        line without spaces.

        >>> corpus = Corpus.from_text("a line\\n" * 100)
        >>> corpus.sample(70).n_bytes, corpus.sample(1_000) is corpus
        (70, True)
        """
        if n_bytes >= self.n_bytes:
            return self
        if self.folder is not None:
            return self.read().sample(n_bytes, seed)
        share = n_bytes / self.n_bytes
        if self.word_counts is not None:
            part = held_out_words(self.word_counts, share, seed)
            return Corpus((), (), part, self.file_notes, how=self.how)
        spans = sample_spans(self.documents, self.names, share, seed)
        units = self.units or range(len(self.documents))
        return self._part(spans, None, units, self.how)

    @property
    def is_counted(self) -> bool:
        """Whether it was counted elsewhere, so only its words and a sample are known.

        >>> Corpus.from_word_counts({"hug": 10}).is_counted
        False
        """
        return self.summary is not None

    @property
    def cut_by(self) -> str | None:
        """The pre-tokenizer that cut its words; None if it is yet to be chosen, or unknown.

        >>> Corpus.from_text("hug").cut_by is None
        True
        """
        return None if self.summary is None else self.summary.pretokenizer

    def characters(self) -> str:
        """Return the distinct characters, sorted; all of the text if only counts are known.

        >>> Corpus.from_documents(["hugs", "ugg"]).characters()
        'ghsu'
        """
        if self.known is not None:
            return self.known.characters
        if self.summary is not None:
            return self.summary.characters
        seen = CharacterSet()
        for text, _ in self._counted():
            seen.add(text)
        return seen.listed()

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about what was chosen, guessed or skipped while reading, one of each kind.

        >>> Corpus.from_text("hug").notes
        ()
        """
        return tuple(group.sentence for group in NoteGroup.of(self.file_notes))

    def count(self, pretokenizer: str = "gpt2") -> WordCounts:
        """Count its words, as `count_words` does and raising what that raises.

        >>> Corpus.from_text("hug hugs hug").count("whitespace").pretokens.words
        (b'hug', b'hugs')
        """
        return from_above("bpe_core", "count_words")(self, pretokenizer)

    def save(self, to: Path) -> None:
        """Write a corpus that was not split to an existing folder, as plain files. Raises OSError.

        `text` has the documents one after another in UTF-8, `lengths.npy` the bytes of each, and
        `corpus.json` their names and the rest. The files of one that is in a folder are linked.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     Corpus.from_documents(["hug", "hugs"]).save(Path(folder))
        ...     Corpus.open(Path(folder)).documents
        ('hug', 'hugs')
        """
        if self.folder is not None:
            link_corpus(self.folder, to)
            return
        words = self.word_counts
        texts: Sequence[str] = self.documents if words is None else tuple(words)
        lengths = np.zeros(len(texts), np.int64)
        with (to / _TEXT).open("wb") as file:
            for number, text in enumerate(texts):
                lengths[number] = file.write(text.encode())
        np.save(to / _LENGTHS, lengths, allow_pickle=False)
        head: dict[str, Any] = {
            "names": self.names,
            "counts": None if words is None else list(words.values()),
            **({"weights": self.weights} if self.weights else {}),
            "notes": self.file_notes,
            # A single one if they are all the same.
            "encodings": self.encodings[: 1 if len(set(self.encodings)) == 1 else None],
            "columns": dict(self.columns),
            "sha256": self.sha256,
            "summary": None if self.summary is None else self.summary._asdict(),
        }
        if self.text is not None:
            (to / _SAMPLE).mkdir()
            self.text.save(to / _SAMPLE)
        (to / _HEAD).write_text(json.dumps(head, ensure_ascii=False), "utf-8", newline="")

    @classmethod
    def open(cls, folder: Path, *, stays_on_disk: bool = False) -> Corpus:
        """Return the corpus in a folder; its documents can stay there until they are needed.

        Raises FormatError if the files are damaged or missing.
        """
        with damage_as_format_error():
            head: dict[str, Any] = json.loads(read_regular(folder / _HEAD))
            filed = open_texts(folder)
            texts = filed if stays_on_disk else filed[:]
            counts = head["counts"]
            found = head["encodings"]
            corpus = cls(
                texts if counts is None else (),
                tuple(map(str, head["names"])),
                None if counts is None else dict(zip(texts, map(int, counts), strict=True)),
                tuple(Note(*note) for note in head["notes"]),
                tuple(found) * (len(texts) if len(found) == 1 else 1),
                columns={name: tuple(values) for name, values in head["columns"].items()},
                summary=None if head["summary"] is None else CountsSummary(**head["summary"]),
                weights=tuple(map(int, head.get("weights", ()))),
                text=cls.open(folder / _SAMPLE) if (folder / _SAMPLE).is_dir() else None,
            )
            expected = str(head["sha256"])
        if corpus.sha256 != expected:
            raise FormatError("A corpus kept on disk is not the one that was written.")
        return corpus

    @property
    def files(self) -> tuple[str, ...]:
        """The names of the files that the documents are from; all rows of a table are from one.

        >>> Corpus.from_documents(["a", "b"], ["t.csv row 1", "t.csv row 2"]).files
        ('t.csv',)
        """
        if self.known is not None:
            return self.known.files
        return tuple(dict.fromkeys(map(file_name, self.names)))

    @property
    def excerpts(self) -> Corpus:
        """The documents by which guesses of their encoding can be judged."""
        return self.text or self

    @property
    def beginnings(self) -> tuple[str, ...]:
        """The first hundred documents, cut to 10,000 characters each."""
        if self.known is not None:
            return self.known.beginnings
        return tuple(text[:_BEGINNING] for text in self.documents[:_BEGINNINGS])

    @property
    def n_sources(self) -> int:
        """The number of documents, counting one that was cut into several only once.

        >>> training, _ = Corpus.from_text("a line\\n" * 100).split(0.08)
        >>> len(training.documents), training.n_sources
        (1, 1)
        """
        if self.known is not None:
            return self.known.n_sources
        if not self.places:
            return len(self.documents)
        pieces = list(zip(self.names, (start for start, _ in self.places), strict=True))
        return sum(
            n == 0 or pieces[n - 1][0] != name or pieces[n - 1][1] >= start
            for n, (name, start) in enumerate(pieces)
        )

    def read(self) -> Corpus:
        """Return the corpus itself, in memory. Raises FormatError if its folder was deleted."""
        return self if self.folder is None else Corpus.open(self.folder)

    def composition(self) -> Composition:
        """Return the shares of each file, file type and script, the largest first.

        >>> corpus = Corpus.from_documents(["hugs", "x = 1 "], ["a.txt", "b.py"])
        >>> [(kind.name, kind.share) for kind in corpus.composition().types]
        [('.py', 0.6), ('.txt', 0.4)]
        """
        if self.known is not None:
            return self.known.composition
        return measure_composition(self.documents, self.names, self.word_counts)

    def scripts(self) -> tuple[ScriptShare, ...]:
        """Return the share of each script, of white space, of punctuation, and of the rest.

        The largest comes first; marks count with the letters of their script.

        >>> [(s.name, s.characters) for s in Corpus.from_text("да, ok").scripts()]
        [('Cyrillic letters', 2), ('Latin letters', 2), ('punctuation', 1), ('white space', 1)]
        """
        return script_shares(self.documents, self.word_counts)

    def _chosen(self, places: Sequence[int]) -> Corpus:
        """Return the corpus of some documents."""

        def of_each(values: Sequence[_Value]) -> tuple[_Value, ...]:
            return tuple(values[place] for place in places) if values else ()

        return replace(
            self,
            documents=of_each(self.documents),
            names=of_each(self.names),
            encodings=of_each(self.encodings),
            places=of_each(self.places),
            units=(),
            columns={name: of_each(values) for name, values in self.columns.items()},
            how=None,
            weights=of_each(self.weights),
            ends=self._ends(),
        )

    def _ends(self) -> tuple[str, ...]:
        return self.ends or (min(self.names, default=""), max(self.names, default=""))

    def _part(
        self,
        spans: Sequence[Sequence[Span]],
        divided: Split | None = None,
        units: Sequence[int] = (),
        how: HeldOut | None = None,
    ) -> Corpus:
        """Return the corpus of some spans of each document."""

        def for_each_span(values: Iterable[_Value]) -> tuple[_Value, ...]:
            return tuple(value for value, found in zip(values, spans, strict=True) for _ in found)

        documents = CutTexts(self.documents, spans)
        return Corpus(
            # Text on disk stays there.
            documents[:] if isinstance(self.documents, tuple) else documents,
            for_each_span(self.names),
            file_notes=self.file_notes,
            encodings=for_each_span(self.encodings) if self.encodings else (),
            places=tuple(locate_spans(self.documents, spans, self.places)),
            divided=divided,
            units=for_each_span(units) if units else (),
            columns={name: for_each_span(values) for name, values in self.columns.items()},
            how=how,
            weights=for_each_span(self.weights) if self.weights else (),
            ends=self._ends(),
        )


def _stem(name: str) -> str:
    """Return the name of a document's file without folders and endings."""
    file = file_name(name).rpartition("/")[2]
    return file.partition(".")[0] or file


def _exact_weight(name: object, weight: object) -> Fraction:
    if not is_a(name, str) or not is_a(weight, Real) or is_a(weight, bool):
        raise ArgumentTypeError(
            f"Expected weights as a dict from names to numbers, such as {{'de': 2.0}}, got "
            f"{describe(name)}: {describe(weight)}."
        )
    number = cast("float", weight)
    if not 0 < number < inf:
        raise ConfigError(f"The weight of {name!r} is {number}. Use a number above 0.")
    if is_whole(weight):
        return Fraction(int(number))
    # The decimal number that was written: 0.1 is not exactly so much in binary.
    return Fraction(number) if isinstance(number, Fraction) else Fraction(repr(float(number)))


def _labels(name: str) -> list[str]:
    """Return what a document may be called by, from its own name to its first folder.

    >>> _labels("de/news.csv row 3")
    ['de/news.csv row 3', 'de/news.csv', 'news.csv', 'news', 'de']
    """
    file = file_name(name)
    *folders, last = re.split(r"[/\\]", file)
    return list(dict.fromkeys([name, file, last, _stem(name), *reversed(folders)]))


def to_corpus(given: Corpus | Iterable[str]) -> Corpus:
    """Return a corpus as it is, and a list of texts as a corpus with a document for each.

    Raises what `from_documents` raises, and ArgumentTypeError for anything else.

    >>> to_corpus(["hug", "hugs"]).n_bytes
    7
    >>> to_corpus("hug")
    Traceback (most recent call last):
    bpe_core.errors.ArgumentTypeError: Expected a Corpus or a list of texts, got 'hug' (str): make \
one with Corpus.from_text or read_corpus.
    """
    if isinstance(given, Corpus):
        return given
    check_texts(given)
    return Corpus.from_documents(given)


def corpus_or_counts(given: Corpus | WordCounts | Iterable[str]) -> Corpus | WordCounts:
    """Return what can be trained on: word counts as they are, anything else as `to_corpus` does."""
    return given if isinstance(given, WordCounts) else to_corpus(given)


@contextmanager
def damage_as_format_error() -> Generator[None]:
    """Raise a FormatError for damage in the files of a saved corpus."""
    try:
        yield
    except (*ARRAY_DAMAGE, BpeError) as error:
        raise FormatError("A corpus kept on disk is damaged. Give its files again.") from error


def open_texts(folder: Path) -> FiledTexts:
    """Return the texts of a saved corpus, which stay on disk; raises one of ARRAY_DAMAGE."""
    with open_regular(folder / _LENGTHS) as file:
        lengths = np.lib.format.read_array(file, allow_pickle=False)
    return FiledTexts(folder / _TEXT, lengths)


def link_corpus(source: Path, folder: Path) -> None:
    """Put the corpus of one folder into another too; the files are linked, or else copied.

    Raises OSError.
    """
    for name in (*CORPUS_FILES, FIGURES):
        try:
            os.link(source / name, folder / name)
        except FileNotFoundError:
            raise
        except OSError:
            # Not on every file system.
            shutil.copyfile(source / name, folder / name)


def in_pieces(text: str) -> Iterator[bytes]:
    """Return a text as UTF-8, piece by piece."""
    for start in range(0, len(text), _PIECE):
        yield text[start : start + _PIECE].encode()
