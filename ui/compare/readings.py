"""Encode texts with several tokenizers and pack them for the browser, once per text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import numpy as np

from bpe_core.comparison.alignment import Stretches, differing_columns
from bpe_core.comparison.comparison import Comparison
from bpe_core.comparison.newness import unseen_share
from bpe_core.comparison.parts import TokenSaving, compute_gain
from bpe_core.corpus.corpus import Corpus
from bpe_core.counting.words import count_pretokens
from bpe_core.pretokenizers.pretokenizers import get_pretokenizer
from bpe_core.runs.run import TrainingRun
from bpe_core.tokenizer.protocol import Encoder
from bpe_core.tokenizer.segment_arrays import Boundaries, boundaries
from ui.compare.compared import hash_corpus
from ui.components.token_view.packing import PackedSpans, PackedTokens, pack_boundaries, pack_spans
from ui.host.sized_cache import cached
from ui.storage.run_store import StoredRun

MAX_CHARACTERS = 4_000_000
"""Longer texts are cut here, because browsers become slow."""
MAX_WORD_LENGTH = 40
_EXCERPT_CHARACTERS = 1_500
_LONG_ENOUGH = 400
_MAX_EXCERPTS = 16


@dataclass(frozen=True, slots=True)
class Readings:
    """One text under several tokenizers."""

    packed: tuple[PackedTokens, ...]
    n_tokens: tuple[int, ...]
    spans: PackedSpans
    """Where they do not all agree."""
    longest: str
    """The longest word, or part of one, on which they disagree; may be empty."""


def read_by_all(text: str, encoders: Sequence[Encoder]) -> Readings:
    """Encode a text with several tokenizers and find where they disagree.

    Special tokens are ordinary text. Raises InvalidTextError for a lone surrogate, and
    TokenizationError if another library fails.
    """
    return _read_by_all(text, tuple(each.fingerprint for each in encoders), encoders)


@cached(spinner="Encoding the text")
def _read_by_all(
    text: str, fingerprints: tuple[str, ...], _encoders: Sequence[Encoder]
) -> Readings:
    found = [_read_by_one(text, encoder.fingerprint, encoder) for encoder in _encoders]
    differing = differing_columns([each.found.byte_ends for each in found], text)
    return Readings(
        packed=tuple(each.packed for each in found),
        n_tokens=tuple(int(np.count_nonzero(each.found.ids >= 0)) for each in found),
        spans=pack_spans(text, differing),
        longest=_longest_word(text, differing),
    )


class _ReadByOne(NamedTuple):
    found: Boundaries
    packed: PackedTokens


@cached()
def _read_by_one(text: str, fingerprint: str, _encoder: Encoder) -> _ReadByOne:
    found = boundaries(text, _encoder)
    return _ReadByOne(found, pack_boundaries(found, _encoder))


def _longest_word(text: str, differing: Stretches) -> str:
    lengths = differing.ends - differing.starts
    lengths[~differing.has_word | (lengths > MAX_WORD_LENGTH)] = 0
    if not lengths.any():
        return ""
    place = int(np.argmax(lengths))
    return text[differing.starts[place] : differing.ends[place]]


def gain_on(
    corpus: Corpus, encoders: Sequence[Encoder], comparison: Comparison, place: int = 1
) -> TokenSaving:
    """Return the gain of the first tokenizer over the one at a place, given their comparison."""
    pair = encoders[0].fingerprint, encoders[place].fingerprint
    return _gain_on(hash_corpus(corpus), pair, comparison, place)


@cached()
def _gain_on(
    digest: str, pair: tuple[str, str], _comparison: Comparison, _place: int
) -> TokenSaving:
    return compute_gain(_comparison, 0, _place)


def unseen_on(stored: StoredRun, corpus: Corpus) -> float | None:
    """Return the share of a text's words that training never saw; None for words without text."""
    if corpus.word_counts is not None:
        return None
    found = _unseen_on(stored.run.corpus_sha256, corpus.sha256, stored.run, corpus)
    return None if math.isnan(found) else found


@cached(spinner="Looking for words that training never saw")
def _unseen_on(training: str, sha256: str, _run: TrainingRun, _corpus: Corpus) -> float:
    cut = get_pretokenizer(_run.config.pretokenizer)
    return unseen_share(_run.pretokens, count_pretokens(_corpus, cut))


class Excerpt(NamedTuple):
    """A passage of a corpus to show in detail."""

    document: str
    text: str
    is_whole: bool
    """True if it is a whole document."""


def typical_excerpt(
    corpus: Corpus, encoders: Sequence[Encoder], percent_fewer_tokens: float
) -> Excerpt:
    """Return the excerpt whose figure is closest to that of the whole corpus.

    `percent_fewer_tokens` is the gain of the first tokenizer over the second on the whole corpus.
    One document in five may contradict it, and visitors believe what they see.
    """
    first, second = encoders[:2]
    fingerprints = first.fingerprint, second.fingerprint
    return _typical_excerpt(
        corpus.sha256, fingerprints, percent_fewer_tokens, corpus, first, second
    )


@cached()
def _typical_excerpt(
    sha256: str,
    fingerprints: tuple[str, str],
    percent_fewer_tokens: float,
    _corpus: Corpus,
    _first: Encoder,
    _second: Encoder,
) -> Excerpt:
    def distance(candidate: Excerpt) -> float:
        n_first, n_second = (
            np.count_nonzero(boundaries(candidate.text, each).ids >= 0)
            for each in (_first, _second)
        )
        return abs(100 * (1 - n_first / max(n_second, 1)) - percent_fewer_tokens)

    return min(excerpts(_corpus), key=distance)


def excerpts(corpus: Corpus) -> list[Excerpt]:
    """Return the beginnings of the first long documents, each up to the end of a line.

    Returns one excerpt if none is long, and an empty one if the corpus has no documents.
    """
    long = (i for i, text in enumerate(corpus.documents) if len(text) >= _LONG_ENOUGH)
    chosen = list(islice(long, _MAX_EXCERPTS)) or [0]
    if not corpus.documents:
        return [Excerpt("", "", is_whole=True)]
    return [_beginning(corpus.names[i], corpus.documents[i]) for i in chosen]


def _beginning(name: str, text: str) -> Excerpt:
    if len(text) <= _EXCERPT_CHARACTERS:
        return Excerpt(name, text, is_whole=True)
    line_end = text.rfind("\n", 0, _EXCERPT_CHARACTERS) + 1
    return Excerpt(name, text[: line_end or _EXCERPT_CHARACTERS], is_whole=False)
