"""Compute the figures of a corpus that Train shows before training, cached by digest."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from pathlib import Path

from bpe_core.corpus import (
    Composition,
    Corpus,
    DecodingErrors,
    TableColumns,
    Upload,
    choose_characters,
    count_corpus,
    divide_in_process,
    find_symbols,
)
from bpe_core.errors import BpeError
from bpe_core.pretokenizers import get_pretokenizer
from bpe_core.trainers import LargestSize
from bpe_core.types import Base, Characters, PretokenCounts, TrainingConfig
from ui.host import cached
from ui.storage import divide, load_uploaded, upload_held_out
from ui.work import describe_tables

# Counting the pre-tokens of 20 MB takes a few seconds; a page should not wait longer for a figure.
MAX_BYTES_COUNTED = 20_000_000
MAX_TABLES_DESCRIBED = 20
"""Each is opened once more to be described."""


@dataclass(frozen=True, slots=True)
class PretokenFigures:
    """The number of pre-tokens in a corpus, and of distinct ones."""

    total: int
    distinct: int


def divided(corpus: Corpus, held_out_share: float, by: str | None = None) -> tuple[Corpus, Corpus]:
    """Return the training text and the held-out text, split as in training.

    Of a corpus that is too large to be in memory, they are figures.
    """
    if corpus.folder is not None:
        return _divided_apart(str(corpus.folder), held_out_share, by)
    # Equal texts can be in other folders; and both parts have notes and columns, too.
    labels = corpus.names, corpus.file_notes, corpus.encodings, tuple(corpus.columns.items())
    return _divided(corpus, labels, held_out_share, by)


@cached()
def _divided(
    corpus: Corpus, labels: Hashable, held_out_share: float, by: str | None
) -> tuple[Corpus, Corpus]:
    return divide(corpus, held_out_share, by)


@cached()
def _divided_apart(folder: str, held_out_share: float, by: str | None) -> tuple[Corpus, Corpus]:
    upload_id = upload_held_out(by)
    text = None if upload_id is None else load_uploaded(upload_id)[0]
    return divide_in_process(Path(folder), held_out_share, by, text)


@cached()
def composition(corpus: Corpus) -> Composition:
    """Return the files, file types and scripts of a corpus."""
    return corpus.composition()


# Cached for a short time, because a pattern that timed out on a busy server may succeed later.
@cached(seconds=600)
def pretoken_figures(corpus: Corpus, pretokenizer: str) -> PretokenFigures | str:
    """Return the number of pre-tokens, or the reason why they cannot be counted.

    The reason is cached too, because a runaway pattern takes seconds to time out.
    """
    found = _pretokens(corpus, pretokenizer)
    return found if isinstance(found, str) else PretokenFigures(found.total, len(found.words))


# Kept for the largest size, which is asked for next.
@cached(seconds=600)
def _pretokens(corpus: Corpus, pretokenizer: str) -> PretokenCounts | str:
    try:
        return count_corpus(corpus, get_pretokenizer(pretokenizer)).pretokens
    except BpeError as error:
        return str(error)


def largest_size(training: Corpus, config: TrainingConfig) -> LargestSize | None:
    """Return the largest vocabulary that a training text reaches with some settings, or a bound.

    Returns None if its pre-tokens are not counted, because there are too many or counting fails.
    """
    at_hand = text_to_count(training)
    return None if at_hand is None else _largest_size(at_hand, replace(config, vocab_size=1))


# Cached for a short time, because a bound becomes exact once the kernels are compiled.
@cached(seconds=600)
def _largest_size(corpus: Corpus, config: TrainingConfig) -> LargestSize | None:
    pretokens = _pretokens(corpus, config.pretokenizer)
    if isinstance(pretokens, str):
        return None
    return LargestSize.of(pretokens, config, symbols_seen(corpus, config.base))


def text_to_count(training: Corpus) -> Corpus | None:
    """Return a text if its pre-tokens are counted for the page; None if that would take long."""
    is_small = training.word_counts is not None or training.n_bytes <= MAX_BYTES_COUNTED
    return training if training.known is None and is_small else None


def find_alphabet(training: Corpus, config: TrainingConfig) -> frozenset[bytes]:
    """Return the alphabet that a training text gives, or all its symbols if that is not known."""
    at_hand = text_to_count(training)
    if at_hand is None or not isinstance(config.alphabet, Characters):
        return symbols_seen(training, config.base)
    return _covering(at_hand, config.pretokenizer, config.alphabet)


@cached(seconds=600)
def _covering(corpus: Corpus, cut: str, alphabet: Characters) -> frozenset[bytes]:
    pretokens = _pretokens(corpus, cut)
    if isinstance(pretokens, str):
        return frozenset()
    return choose_characters(pretokens, alphabet.coverage)[1]


def symbols_seen(corpus: Corpus, base: Base) -> frozenset[bytes]:
    """Return the base symbols that occur in a corpus."""
    return find_symbols(_characters(corpus), base)


_characters = cached()(Corpus.characters)


@dataclass(frozen=True, slots=True)
class AlikeTables:
    """Uploaded tables that have the same columns that can be read."""

    names: tuple[str, ...]
    """As the notes of a corpus have them: `archive.zip/a.csv` in an archive."""
    columns: tuple[TableColumns, ...]


@cached()
def uploaded_tables(
    _uploads: list[Upload],
    file_ids: tuple[str, ...],
    encodings: tuple[tuple[str, str], ...],
    errors: DecodingErrors,
    _on_wait: Callable[[], object],
) -> tuple[AlikeTables, ...]:
    """Return the first tables among the uploads, those in zip archives too, by their columns.

    `_on_wait` is called regularly while others' files are read.
    """
    alike: dict[frozenset[str], dict[str, TableColumns]] = {}
    for name, found in describe_tables(
        _uploads, dict(encodings), MAX_TABLES_DESCRIBED, errors=errors, on_wait=_on_wait
    ):
        if found.readable:
            alike.setdefault(frozenset(text.name for text in found.readable), {})[name] = found
    return tuple(AlikeTables(tuple(group), tuple(group.values())) for group in alike.values())
