"""Compare on a sample at once, and on the whole text in the background if that takes long."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Final, NamedTuple

import streamlit as st

from bpe_core.comparison.blocks import Blocks, divide
from bpe_core.comparison.comparison import Comparison, combine, measure_on
from bpe_core.comparison.measurement import Measured
from bpe_core.corpus.corpus import Corpus
from bpe_core.tokenizer.protocol import Encoder
from bpe_core.tokenizer.tokenizer import Tokenizer
from ui.look.labels import plain_markdown, size_text
from ui.memory.sized_cache import cached, server_cache
from ui.work.background import Background, TooMuchWorkError, stop_of
from ui.work.background_card import show_ended, watch_work
from ui.work.task import Progress, Status, Task

SAMPLE_BYTES: Final = 100_000
LONGEST_WAIT: Final = 1.0
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


class _First(NamedTuple):
    """One tokenizer on a sample, and the time it took."""

    measured: Measured
    seconds: float


def compare_on(corpus: Corpus, encoders: Sequence[Encoder]) -> ComparedText:
    """Compare tokenizers on a corpus, or on a sample of it while the whole is compared.

    Each tokenizer is measured once on a text, so adding one to the others measures only that one.
    Results are shared by all visitors. Raises EmptyCorpusError if the corpus has no text, and
    TokenizationError if another library fails on the sample.
    """
    digest, fingerprints = digest_of(corpus), tuple(each.fingerprint for each in encoders)
    missing = _missing(digest, encoders)
    if _is_quick(corpus, missing):
        return ComparedText(_whole(digest, corpus, encoders), corpus, corpus.n_bytes)
    sample = _sample(digest, corpus)
    first = None
    if sample.n_bytes:
        of_sample = digest_of(sample)
        firsts = {each.fingerprint: _first(of_sample, each, sample) for each in encoders}
        measured = [firsts[fingerprint].measured for fingerprint in fingerprints]
        first = _combined(of_sample, fingerprints, sample, encoders, measured)
        seconds = sum(firsts[each.fingerprint].seconds for each in missing)
        if seconds * corpus.n_bytes / sample.n_bytes <= LONGEST_WAIT:
            return ComparedText(_whole(digest, corpus, encoders), corpus, corpus.n_bytes)
    id = f"{digest} {' '.join(fingerprints)}"
    try:
        works().begin(id, partial(_compare_whole, digest, corpus, encoders))
    except TooMuchWorkError as error:
        return ComparedText(first, sample, corpus.n_bytes, problem=str(error))
    status = works().status(id)
    if status.result is not None:
        return ComparedText(status.result, corpus, corpus.n_bytes)
    return ComparedText(first, sample, corpus.n_bytes, status)


def digest_of(corpus: Corpus) -> str:
    """Return a digest of a corpus with its names: two visitors' files may have the same text."""
    digest = hashlib.sha256(corpus.sha256.encode())
    digest.update(repr((corpus.how, bool(corpus.places), corpus.units)).encode())
    for name in corpus.names:
        encoded = name.encode("utf-8", "surrogatepass")
        digest.update(b"%d:" % len(encoded))
        digest.update(encoded)
    return digest.hexdigest()


def _key(digest: str, encoder: Encoder) -> tuple[str, str, str]:
    return "a tokenizer on a whole text", digest, encoder.fingerprint


def _missing(digest: str, encoders: Sequence[Encoder]) -> list[Encoder]:
    """Return the tokenizers that were not measured on the text yet."""
    return [each for each in encoders if server_cache.find(_key(digest, each)) is None]


@st.cache_resource(show_spinner=False)
def works() -> Background[Progress, Comparison]:
    """Return the server's comparisons in the background, by text and tokenizers."""
    # Few are remembered: `server_cache` keeps the results.
    return Background("comparing", most_waiting=16, most_remembered=4)


@cached()
def _sample(digest: str, _corpus: Corpus) -> Corpus:
    return _corpus.sample(SAMPLE_BYTES)


@cached()
def _blocks(digest: str, _corpus: Corpus) -> Blocks:
    return divide(_corpus)


def _first(digest: str, encoder: Encoder, sample: Corpus) -> _First:
    return _measured_first(digest, encoder.fingerprint, encoder, sample)


@cached(spinner="Comparing the tokenizers on a sample")
def _measured_first(digest: str, fingerprint: str, _encoder: Encoder, _sample: Corpus) -> _First:
    blocks = _blocks(digest, _sample)
    began = time.perf_counter()
    return _First(measure_on(_sample, _encoder, blocks), time.perf_counter() - began)


@cached()
def _combined(
    digest: str,
    fingerprints: tuple[str, ...],
    _corpus: Corpus,
    _encoders: Sequence[Encoder],
    _measured: Sequence[Measured],
) -> Comparison:
    return combine(_corpus, _encoders, _measured, _blocks(digest, _corpus))


def _is_quick(corpus: Corpus, missing: Sequence[Encoder]) -> bool:
    are_own = all(isinstance(each, Tokenizer) for each in missing)
    return corpus.n_bytes * len(missing) <= (_QUICK_BYTES if are_own else 2 * SAMPLE_BYTES)


def _whole(digest: str, corpus: Corpus, encoders: Sequence[Encoder]) -> Comparison:
    """Return the comparison of the whole text; measure the tokenizers that were not yet."""
    measured: list[Measured] = []
    with st.spinner("Comparing the tokenizers") if _missing(digest, encoders) else nullcontext():
        for each in encoders:
            make = partial(measure_on, corpus, each, _blocks(digest, corpus))
            measured.append(server_cache.get(_key(digest, each), make))
    fingerprints = tuple(each.fingerprint for each in encoders)
    return _combined(digest, fingerprints, corpus, encoders, measured)


def _compare_whole(
    digest: str, corpus: Corpus, encoders: Sequence[Encoder], task: Task[Progress]
) -> Comparison | None:
    stop, blocks = stop_of(task), _blocks(digest, corpus)
    n_missing = len(_missing(digest, encoders))
    measured: list[Measured] = []
    n_done = 0
    for each in encoders:
        found = server_cache.find(_key(digest, each))
        if not isinstance(found, Measured):

            def should_stop(done: int, of: int, n_done: int = n_done) -> bool:
                return stop((n_done * of + done) // n_missing, of)

            found = measure_on(corpus, each, blocks, should_stop)
            if found is None:
                return None
            n_done += 1
            # Here rather than when a page asks: the visitor may have left.
            server_cache.keep(_key(digest, each), found)
        measured.append(found)
    fingerprints = tuple(each.fingerprint for each in encoders)
    return _combined(digest, fingerprints, corpus, encoders, measured)


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
