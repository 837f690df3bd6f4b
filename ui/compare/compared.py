"""Compare on a sample first, and on the whole text in the background if that takes long."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass
from functools import partial
from typing import Final, NamedTuple

import streamlit as st

from bpe_core.comparison.blocks import Blocks, divide_units
from bpe_core.comparison.comparison import Comparison, ShouldStop, combine, measure_on
from bpe_core.comparison.measurement import Measured
from bpe_core.corpus.corpus import Corpus
from bpe_core.tokenizer.protocol import Encoder
from bpe_core.tokenizer.tokenizer import Tokenizer
from ui.host.sized_cache import cached
from ui.look.labels import plain_markdown, size_text
from ui.work.background import Background, TooMuchWorkError, stopper
from ui.work.background_card import show_ended, watch_work
from ui.work.task import Progress, Status, Task

SAMPLE_BYTES: Final = 100_000
MAX_WAIT: Final = 1.0
"""If the whole text is expected to take this many seconds or less, the page waits for it."""
_QUICK_BYTES: Final = 4_000_000
"""Encoded here in a second, by one tokenizer after another; those of other libraries are slower."""
NEEDS_WHOLE: Final = "Only with the figures of the whole text."


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


class _Timed(NamedTuple):
    """One tokenizer measured on a text, and the time that it took."""

    measured: Measured
    seconds: float


def compare_on(corpus: Corpus, encoders: Sequence[Encoder]) -> ComparedText:
    """Compare tokenizers on a corpus, or on a sample of it while the whole is compared.

    Each tokenizer is measured once on a text, so adding one to the others measures only that one.
    Results are shared by all visitors. Raises EmptyCorpusError if the corpus has no text, and
    TokenizationError if another library fails on the sample.
    """
    digest, fingerprints = hash_corpus(corpus), tuple(each.fingerprint for each in encoders)
    missing = _missing(digest, corpus, encoders)
    whole = partial(_compared, digest, fingerprints, corpus, encoders)
    if _is_quick(corpus, missing):
        return ComparedText(whole(), corpus, corpus.n_bytes)
    sample = _sample(digest, corpus)
    first = None
    if sample.n_bytes:
        of_sample = hash_corpus(sample)
        first = _compared(of_sample, fingerprints, sample, encoders)
        timed = (_measured(of_sample, each.fingerprint, sample, each) for each in missing)
        seconds = sum(each.seconds for each in timed)
        if seconds * corpus.n_bytes / sample.n_bytes <= MAX_WAIT:
            return ComparedText(whole(), corpus, corpus.n_bytes)
    id = f"{digest} {' '.join(fingerprints)}"
    try:
        works().begin(id, partial(_compare_whole, digest, corpus, encoders))
    except TooMuchWorkError as error:
        return ComparedText(first, sample, corpus.n_bytes, problem=str(error))
    status = works().status(id)
    if status.result is not None:
        return ComparedText(status.result, corpus, corpus.n_bytes)
    return ComparedText(first, sample, corpus.n_bytes, status)


def hash_corpus(corpus: Corpus) -> str:
    """Return a digest of a corpus with its names: two visitors' files may have the same text."""
    digest = hashlib.sha256(corpus.sha256.encode())
    digest.update(repr((corpus.how, bool(corpus.places), corpus.units)).encode())
    for name in corpus.names:
        encoded = name.encode("utf-8", "surrogatepass")
        digest.update(b"%d:" % len(encoded))
        digest.update(encoded)
    return digest.hexdigest()


@st.cache_resource(show_spinner=False)
def works() -> Background[Progress, Comparison]:
    """Return the server's comparisons in the background, by text and tokenizers."""
    # Few are remembered: `server_cache` keeps the results.
    return Background("comparing", max_waiting=16, max_cached=4)


@cached()
def _sample(digest: str, _corpus: Corpus) -> Corpus:
    return _corpus.sample(SAMPLE_BYTES)


@cached()
def _blocks(digest: str, _corpus: Corpus) -> Blocks:
    return divide_units(_corpus)


@cached()
def _measured(
    digest: str,
    fingerprint: str,
    _corpus: Corpus,
    _encoder: Encoder,
    _should_stop: ShouldStop | None = None,
) -> _Timed:
    """Measure one tokenizer on a text; raises CancelledError if it is asked to stop."""
    blocks = _blocks(digest, _corpus)
    began = time.perf_counter()
    measured = measure_on(_corpus, _encoder, blocks, _should_stop)
    if measured is None:
        raise CancelledError
    return _Timed(measured, time.perf_counter() - began)


@cached(spinner="Comparing the tokenizers")
def _compared(
    digest: str, fingerprints: tuple[str, ...], _corpus: Corpus, _encoders: Sequence[Encoder]
) -> Comparison:
    measured = [_measured(digest, each.fingerprint, _corpus, each).measured for each in _encoders]
    return combine(_corpus, _encoders, measured, _blocks(digest, _corpus))


def _missing(digest: str, corpus: Corpus, encoders: Sequence[Encoder]) -> list[Encoder]:
    """Return the tokenizers that were not measured on the text yet."""
    return [
        each for each in encoders if _measured.find(digest, each.fingerprint, corpus, each) is None
    ]


def _is_quick(corpus: Corpus, missing: Sequence[Encoder]) -> bool:
    are_own = all(isinstance(each, Tokenizer) for each in missing)
    return corpus.n_bytes * len(missing) <= (_QUICK_BYTES if are_own else 2 * SAMPLE_BYTES)


def _compare_whole(
    digest: str, corpus: Corpus, encoders: Sequence[Encoder], task: Task[Progress]
) -> Comparison | None:
    stop, missing = stopper(task), _missing(digest, corpus, encoders)
    for n_done, each in enumerate(missing):

        def should_stop(done: int, of: int, n_done: int = n_done) -> bool:
            return stop((n_done * of + done) // len(missing), of)

        try:
            _measured(digest, each.fingerprint, corpus, each, should_stop)
        except CancelledError:
            return None
    return _compared(digest, tuple(each.fingerprint for each in encoders), corpus, encoders)


def whole_text_card(compared: ComparedText) -> None:
    """Mark the figures as those of a sample, and show the progress of the whole text."""
    with st.container(border=True, key="compare_whole"):
        status = compared.status
        if compared.comparison is not None:
            st.markdown(f"**First figure, {sample_words(compared)}.**")
        if status is None:
            st.markdown(f":gray[{plain_markdown(compared.problem, 600)}]")
        elif status.is_live:
            watch_work(works(), status.id, "Whole text", key="compare_whole", written=size_text)
        else:
            show_ended(works(), status, "comparison of the whole text", key="compare_whole")


def sample_words(compared: ComparedText) -> str:
    """Return the size of the sample and of the whole text."""
    return f"from a sample of {size_text(compared.corpus.n_bytes)} of {size_text(compared.n_bytes)}"
