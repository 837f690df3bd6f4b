"""Texts as tokenizers read them, packed for the browser: computed once, kept by text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import numpy as np
import streamlit as st

from bpe_core.comparison.alignment import Stretches, differing_columns
from bpe_core.comparison.comparison import Comparison, compare
from bpe_core.corpus.corpus import Corpus
from bpe_core.tokenizer.protocol import Encoder
from bpe_core.tokenizer.segment_arrays import boundaries
from ui.components.token_view.packing import PackedSpans, PackedTokens, pack_boundaries, pack_spans

MOST_CHARACTERS = 4_000_000
"""A longer text is shown up to here: the browser would hold it, but not gladly."""
LONGEST_WORD = 40
_EXCERPT_CHARACTERS = 1_500
_LONG_ENOUGH = 400
_MOST_EXCERPTS = 16


@dataclass(frozen=True, slots=True)
class Readings:
    """One text as several tokenizers read it."""

    packed: tuple[PackedTokens, ...]
    n_tokens: tuple[int, ...]
    spans: PackedSpans
    """Where not all of them cut alike."""
    longest: str
    """The longest word, or piece of one, that not all of them cut alike; may be empty."""


def read_by_all(text: str, encoders: Sequence[Encoder]) -> Readings:
    """A text under several tokenizers and where they disagree; special tokens are ordinary text.

    Raises InvalidTextError for a lone surrogate, and TokenizationError where a library that encodes
    for one of them fails.
    """
    return _read_by_all(text, tuple(each.fingerprint for each in encoders), encoders)


@st.cache_resource(max_entries=8, show_spinner="Encoding the text")
def _read_by_all(
    text: str, fingerprints: tuple[str, ...], _encoders: Sequence[Encoder]
) -> Readings:
    found = [boundaries(text, encoder) for encoder in _encoders]
    differing = differing_columns([each.byte_ends for each in found], text)
    return Readings(
        packed=tuple(
            pack_boundaries(own, encoder) for own, encoder in zip(found, _encoders, strict=True)
        ),
        n_tokens=tuple(int(np.count_nonzero(own.ids >= 0)) for own in found),
        spans=pack_spans(text, differing),
        longest=_longest_word(text, differing),
    )


def _longest_word(text: str, differing: Stretches) -> str:
    lengths = differing.ends - differing.starts
    lengths[~differing.has_word | (lengths > LONGEST_WORD)] = 0
    if not lengths.any():
        return ""
    place = int(np.argmax(lengths))
    return text[differing.starts[place] : differing.ends[place]]


def compare_on(corpus: Corpus, encoders: Sequence[Encoder]) -> Comparison:
    """The figures of tokenizers on a whole corpus; raises EmptyCorpusError without text."""
    fingerprints = tuple(each.fingerprint for each in encoders)
    return _compare_on(corpus.sha256, fingerprints, corpus, encoders)


@st.cache_resource(max_entries=16, show_spinner="Comparing the tokenizers")
def _compare_on(
    sha256: str,
    fingerprints: tuple[str, ...],
    _corpus: Corpus,
    _encoders: Sequence[Encoder],
) -> Comparison:
    return compare(_corpus, _encoders)


class Excerpt(NamedTuple):
    """A passage of a corpus, to be looked at closely."""

    document: str
    text: str
    is_whole: bool
    """True where it is all of its document."""


def typical_excerpt(
    corpus: Corpus, encoders: Sequence[Encoder], percent_fewer_tokens: float
) -> Excerpt:
    """The excerpt that tells most nearly what the whole corpus does of the first two tokenizers.

    `percent_fewer_tokens` is the first's gain over the second on all of it. A passage that speaks
    against that figure, as every fifth document may, would be what a visitor believes.
    """
    first, second = encoders[:2]
    fingerprints = first.fingerprint, second.fingerprint
    return _typical_excerpt(
        corpus.sha256, fingerprints, percent_fewer_tokens, corpus, first, second
    )


@st.cache_resource(max_entries=16, show_spinner=False)
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
    """The beginnings of the first documents that are long enough, up to the end of a line each.

    One where none is; it is empty where the corpus holds no documents.
    """
    long = (i for i, text in enumerate(corpus.documents) if len(text) >= _LONG_ENOUGH)
    chosen = list(islice(long, _MOST_EXCERPTS)) or [0]
    if not corpus.documents:
        return [Excerpt("", "", is_whole=True)]
    return [_beginning(corpus.names[i], corpus.documents[i]) for i in chosen]


def _beginning(name: str, text: str) -> Excerpt:
    if len(text) <= _EXCERPT_CHARACTERS:
        return Excerpt(name, text, is_whole=True)
    line_end = text.rfind("\n", 0, _EXCERPT_CHARACTERS) + 1
    return Excerpt(name, text[: line_end or _EXCERPT_CHARACTERS], is_whole=False)
