"""Compare on a sample at once, and on the whole text in the background if that takes long."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, NamedTuple

import streamlit as st

from bpe_core.comparison.comparison import Comparison, compare
from bpe_core.corpus.corpus import Corpus
from bpe_core.tokenizer.protocol import Encoder
from bpe_core.tokenizer.tokenizer import Tokenizer
from ui.memory.sized_cache import cached, server_cache, visitor_of_script
from ui.work.background import Background, TooMuchWorkError, stop_of
from ui.work.task import Progress, Status, Task

SAMPLE_BYTES: Final = 100_000
LONGEST_WAIT: Final = 1.0
"""If the whole text is expected to take this many seconds or less, the page waits for it."""
_QUICK_BYTES: Final = 4_000_000
"""Encoded here in a second, by one tokenizer after another; those of other libraries are slower."""


@dataclass(frozen=True, slots=True)
class ComparedText:
    """A comparison to show, and of which text it is."""

    comparison: Comparison | None
    """None if there is no sample either: the text cannot be cut."""
    corpus: Corpus
    """The text that the comparison is of."""
    n_bytes: int
    """The size of the whole text."""
    status: Status[Progress, Comparison] | None = None
    """The comparison of the whole text, if this one is of a sample."""
    problem: str = ""
    """Why the comparison of the whole text could not even be queued."""

    @property
    def is_whole(self) -> bool:
        """Whether it is of the whole text."""
        return self.corpus.n_bytes == self.n_bytes


class _First(NamedTuple):
    """The comparison of a sample, and the time it took."""

    sample: Corpus
    comparison: Comparison | None
    seconds: float


def compare_on(corpus: Corpus, encoders: Sequence[Encoder]) -> ComparedText:
    """Compare tokenizers on a corpus, or on a sample of it while the whole is compared.

    Results are shared by all visitors. Raises EmptyCorpusError if the corpus has no text, and
    TokenizationError if another library fails on the sample.
    """
    digest, fingerprints = digest_of(corpus), tuple(each.fingerprint for each in encoders)
    id = f"{digest} {' '.join(fingerprints)}"
    kept = _kept_comparison(id)
    if kept is None and _is_quick(corpus, encoders):
        kept = _now(id, corpus, encoders)
    if kept is not None:
        return ComparedText(kept, corpus, corpus.n_bytes)
    first = _first(digest, fingerprints, corpus, encoders)
    seconds = first.seconds * corpus.n_bytes / max(first.sample.n_bytes, 1)
    if first.comparison is not None and seconds <= LONGEST_WAIT:
        return ComparedText(_now(id, corpus, encoders), corpus, corpus.n_bytes)
    try:
        works().begin(id, partial(_compare_whole, id, corpus, encoders))
    except TooMuchWorkError as error:
        return ComparedText(first.comparison, first.sample, corpus.n_bytes, problem=str(error))
    status = works().status(id)
    if status.result is not None:
        return ComparedText(status.result, corpus, corpus.n_bytes)
    return ComparedText(first.comparison, first.sample, corpus.n_bytes, status)


def digest_of(corpus: Corpus) -> str:
    """Return a digest of a corpus with its names: two visitors' files may have the same text."""
    digest = hashlib.sha256(corpus.sha256.encode())
    digest.update(b"held out" if corpus.places else b"whole")
    for name in corpus.names:
        encoded = name.encode("utf-8", "surrogatepass")
        digest.update(b"%d:" % len(encoded))
        digest.update(encoded)
    return digest.hexdigest()


def _key(id: str) -> tuple[str, str]:
    return "comparison of a whole text", id


def _kept_comparison(id: str) -> Comparison | None:
    return server_cache.find(_key(id), visitor=visitor_of_script())


@st.cache_resource(show_spinner=False)
def works() -> Background[Progress, Comparison]:
    """Return the server's comparisons in the background, by text and tokenizers."""
    # Few are remembered: `server_cache` keeps the results.
    return Background("comparing", most_waiting=16, most_remembered=4)


@cached(spinner="Comparing the tokenizers on a sample")
def _first(
    digest: str, fingerprints: tuple[str, ...], _corpus: Corpus, _encoders: Sequence[Encoder]
) -> _First:
    sample = _corpus.sample(SAMPLE_BYTES)
    if not sample.n_bytes:
        return _First(sample, None, 0.0)
    began = time.perf_counter()
    found = compare(sample, _encoders)
    return _First(sample, found, time.perf_counter() - began)


def _is_quick(corpus: Corpus, encoders: Sequence[Encoder]) -> bool:
    are_own = all(isinstance(each, Tokenizer) for each in encoders)
    return corpus.n_bytes * len(encoders) <= (_QUICK_BYTES if are_own else 2 * SAMPLE_BYTES)


def _now(id: str, corpus: Corpus, encoders: Sequence[Encoder]) -> Comparison:
    with st.spinner("Comparing the tokenizers"):
        visitor = visitor_of_script()
        return server_cache.get(_key(id), lambda: compare(corpus, encoders), visitor=visitor)


def _compare_whole(
    id: str,
    corpus: Corpus,
    encoders: Sequence[Encoder],
    task: Task[Progress],
) -> Comparison | None:
    found = compare(corpus, encoders, stop_of(task))
    if found is not None:
        # Here rather than when a page asks: the visitor may have left.
        server_cache.keep(_key(id), found)
    return found
