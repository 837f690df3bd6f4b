"""Choose the text that the verdict is on, and compare on a sample of it first, then on the whole.

The text is the run's held-out text, or the visitor's own. Own files are kept on the server under an
id in the address, as a corpus of documents; text that is typed or pasted is the field that pages
share. The whole text is compared in the background if that takes long.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, NamedTuple

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bpe_core.comparison import (
    Blocks,
    Comparison,
    LanguageCosts,
    LanguageMetrics,
    Measured,
    Newness,
    TokenSaving,
)
from bpe_core.corpus import Corpus, ParallelText, Uploads
from bpe_core.tokenizer import Encoder, find_own
from bpe_core.trainers import TrainingRun
from ui.compare.wording import HELD_OUT, OWN
from ui.corpus import ask_for_files, leave_text_address, text_field
from ui.host import cached
from ui.look import counted, plain_markdown, size_text
from ui.shell import LIMIT, choose_one, show_unread, workspace
from ui.storage import StoredRun
from ui.tokenizers import shelf
from ui.work import (
    Progress,
    Status,
    Task,
    TooMuchWorkError,
    Work,
    WorkKind,
    queue,
    show_work,
    stopper,
)

ShouldStop = Callable[[int, int], bool]
FIRST_TEXT: Final = "Write or paste your own text here, and see where the tokenizers differ."
MAX_BYTES: Final = Uploads.MAX_BYTES_IN_MEMORY
_CHOICES: Final = ("Held-out text", "Your own text")

SAMPLE_BYTES: Final = 100_000
MAX_WAIT: Final = 1.0
"""If the whole text is expected to take this many seconds or less, the page waits for it."""
_QUICK_BYTES: Final = 4_000_000
"""Encoded here in a second, by one tokenizer after another; those of other libraries are slower."""
COMPARE: Final = WorkKind[Progress, Any]("comparing")
"""Of whole texts, by text and tokenizers."""
NEEDS_WHOLE: Final = "Only with the figures of the whole text."


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The text that tokenizers are compared on; it may be empty."""

    corpus: Corpus
    where: str
    """What sentences call it, such as "held-out text"."""
    typed: str = ""
    """The text of the field, if it is that text."""
    is_placeholder: bool = False
    """True if it is the example in the field."""


def choose_evaluation(stored: StoredRun, room: DeltaGenerator) -> Evaluation:
    """Draw the choice of the text to compare on, in `room`, and return the text."""
    if stored.held_out.n_bytes:
        with room:
            first = _CHOICES[1] if workspace.has_query("own") else None
            if choose_one("Compared on", _CHOICES, key="on", first=first) == _CHOICES[0]:
                leave_text_address()
                workspace.set_query(own=None)
                return Evaluation(stored.held_out, HELD_OUT)
    else:
        st.info("This run has no held-out text, so the figures are for your own text.")
    with st.container(horizontal=True, vertical_alignment="center"):
        with st.popover("Open files", width="content"):
            files = ask_for_files(
                "own",
                "Any kind of text, a table or an archive; each file or row is a document",
                MAX_BYTES,
                key="evaluation_files",
                hint=f"Up to {MAX_BYTES // 1_000_000} MB of text. {LIMIT}",
            )
        show_unread("own", files is not None)
        if files is not None:
            title, corpus = files
            size = f"{counted(corpus.n_sources, 'document')}, {size_text(corpus.n_bytes)}"
            st.markdown(f"**{plain_markdown(title, 120)}** :gray[{size}]", width="content")
        st.markdown(
            ":small[:gray[Take text that training has not seen: on other text, the figures flatter "
            f"{shelf.in_sentence(shelf.own_name(stored))}.]]",
            width="content",
        )
    if files is not None:
        return Evaluation(files[1], OWN)
    typed = text_field(FIRST_TEXT, key="compare_text")
    if typed == FIRST_TEXT:
        return Evaluation(Corpus.from_text(typed), "the example text", typed, is_placeholder=True)
    corpus = Corpus.from_text(typed) if typed else Corpus((), ())
    return Evaluation(corpus, OWN, typed)


@dataclass(frozen=True, slots=True)
class Pending:
    """The comparison of a whole text, while figures of a sample are shown."""

    sample_bytes: int
    """The size of the text that the figures are of; 0 without figures."""
    n_bytes: int
    """The size of the whole text."""
    status: Status[Progress, Any] | str
    """How far it is, or why it could not even be queued."""


@dataclass(frozen=True, slots=True)
class ComparedText:
    """A comparison to show, and of which text it is."""

    comparison: Comparison | None
    """None if there is no sample either: the text cannot be cut."""
    corpus: Corpus
    """The text that the comparison is of."""
    pending: Pending | None = None
    """The comparison of the whole text, if this one is of a sample."""


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
    digest = _hash_corpus(corpus)
    missing = _missing(digest, corpus, encoders)
    whole = partial(_compared, digest, corpus, encoders)
    if _is_quick(corpus, missing):
        return ComparedText(whole(), corpus)
    sample = _sample(digest, corpus)
    first = None
    if sample.n_bytes:
        of_sample = _hash_corpus(sample)
        first = _compared(of_sample, sample, encoders)
        timed = (_measured(of_sample, sample, each) for each in missing)
        seconds = sum(each.seconds for each in timed)
        if seconds * corpus.n_bytes / sample.n_bytes <= MAX_WAIT:
            return ComparedText(whole(), corpus)
    status = _begin(digest, encoders, partial(_compare_whole, digest, corpus, encoders))
    if isinstance(status, Status) and status.result is not None:
        return ComparedText(status.result, corpus)
    sample_bytes = 0 if first is None else sample.n_bytes
    return ComparedText(first, sample, Pending(sample_bytes, corpus.n_bytes, status))


def _begin(
    digest: str, encoders: Sequence[Encoder], work: Work[Progress, Any]
) -> Status[Progress, Any] | str:
    """Begin to compare a whole text; return the status, or why it could not even be queued."""
    id = f"{digest} {' '.join(each.fingerprint for each in encoders)}"
    try:
        return queue.begin(COMPARE, id, work)
    except TooMuchWorkError as error:
        return str(error)


def _hash_corpus(corpus: Corpus) -> str:
    """Return a digest of a corpus with its names: two visitors' files may have the same text."""
    digest = hashlib.sha256(corpus.sha256.encode())
    digest.update(repr((corpus.how, bool(corpus.places), corpus.units)).encode())
    for name in corpus.names:
        encoded = name.encode("utf-8", "surrogatepass")
        digest.update(b"%d:" % len(encoded))
        digest.update(encoded)
    return digest.hexdigest()


@cached()
def _sample(digest: str, _corpus: Corpus) -> Corpus:
    return _corpus.sample(SAMPLE_BYTES)


@cached()
def _blocks(digest: str, _corpus: Corpus) -> Blocks:
    return Blocks.of(_corpus)


@cached()
def _measured(
    digest: str, _corpus: Corpus, encoder: Encoder, _should_stop: ShouldStop | None = None
) -> _Timed:
    """Measure one tokenizer on a text; raises CancelledError if it is asked to stop."""
    blocks = _blocks(digest, _corpus)
    began = time.perf_counter()
    measured = Measured.of(_corpus, encoder, blocks, _should_stop)
    return _Timed(measured, time.perf_counter() - began)


@cached(spinner="Comparing the tokenizers")
def _compared(digest: str, _corpus: Corpus, encoders: Sequence[Encoder]) -> Comparison:
    measured = [_measured(digest, _corpus, each).measured for each in encoders]
    return Comparison.combine(_corpus, encoders, measured, _blocks(digest, _corpus))


def _missing(digest: str, corpus: Corpus, encoders: Sequence[Encoder]) -> list[Encoder]:
    """Return the tokenizers that were not measured on the text yet."""
    return [each for each in encoders if _measured.find(digest, corpus, each) is None]


def _is_quick(corpus: Corpus, missing: Sequence[Encoder]) -> bool:
    are_own = all(find_own(each) is not None for each in missing)
    most = _QUICK_BYTES if are_own else 2 * SAMPLE_BYTES
    # The sample of a shorter text would be all of it.
    return corpus.n_bytes <= SAMPLE_BYTES or corpus.n_bytes * len(missing) <= most


def _compare_whole(
    digest: str, corpus: Corpus, encoders: Sequence[Encoder], task: Task[Progress]
) -> Comparison:
    measure = partial(_measured, digest, corpus)
    _measure_each(measure, _missing(digest, corpus, encoders), corpus.n_bytes, task)
    return _compared(digest, corpus, encoders)


def _measure_each(
    measure: Callable[[Encoder, ShouldStop], object],
    encoders: Sequence[Encoder],
    n_bytes: int,
    task: Task[Progress],
) -> None:
    """Measure tokenizers on a text of `n_bytes`; raises CancelledError.

    `measure` keeps the figures of one, and raises CancelledError if it is asked to stop.
    """
    stop = stopper(task)
    for n_done, each in enumerate(encoders):

        def should_stop(done: int, of: int, n_done: int = n_done) -> bool:
            return stop(int((n_done + done / of) * n_bytes) // len(encoders), n_bytes)

        measure(each, should_stop)


def gain_on(
    corpus: Corpus, encoders: Sequence[Encoder], comparison: Comparison, place: int = 1
) -> TokenSaving:
    """Return the gain of the first tokenizer over the one at a place, given their comparison."""
    pair = encoders[0], encoders[place]
    return _gain_on(_hash_corpus(corpus), pair, comparison, place)


@cached()
def _gain_on(
    digest: str, pair: tuple[Encoder, Encoder], _comparison: Comparison, _place: int
) -> TokenSaving:
    return _comparison.gain(0, _place)


def unseen_on(stored: StoredRun, corpus: Corpus) -> float | None:
    """Return the share of a text's words that training never saw; None for words without text."""
    if corpus.word_counts is not None:
        return None
    found = _unseen_on(stored.run.corpus_sha256, corpus.sha256, stored.run, corpus)
    return None if math.isnan(found) else found


@cached(spinner="Looking for words that training never saw")
def _unseen_on(training: str, sha256: str, _run: TrainingRun, _corpus: Corpus) -> float:
    return Newness.measure(_run.pretokens, _corpus, _run.config.pretokenizer).unseen


@dataclass(frozen=True, slots=True)
class ComparedLanguages:
    """What the same sentences cost in each language, of all sentences or of the first ones."""

    texts: Sequence[ParallelText]
    """The sentences that the costs are of."""
    costs: tuple[LanguageCosts, ...]
    pending: Pending | None = None
    """The comparison of all sentences, if these costs are of the first ones."""


def compare_languages_on(
    texts: Sequence[ParallelText], encoders: Sequence[Encoder], reference: str
) -> ComparedLanguages:
    """Compare languages, or the first sentences of each while all of them are compared.

    Raises what `LanguageMetrics.costs` raises.
    """
    digest, n_bytes = hash_sentences(texts), _size(texts)
    found = [_measured_languages.find(digest, texts, each) for each in encoders]
    missing = [each for each, one in zip(encoders, found, strict=True) if one is None]
    if n_bytes <= SAMPLE_BYTES or n_bytes * len(missing) <= 2 * SAMPLE_BYTES:
        return ComparedLanguages(texts, cached_language_costs(texts, encoders, reference))
    n = max(1, len(texts[0].sentences) * SAMPLE_BYTES // (2 * n_bytes))
    first = [replace(text, sentences=text.sentences[:n]) for text in texts]
    costs = cached_language_costs(first, encoders, reference)
    status = _begin(digest, encoders, partial(_measure_all_sentences, digest, texts, missing))
    if isinstance(status, Status) and status.result is not None:
        return ComparedLanguages(texts, cached_language_costs(texts, encoders, reference))
    return ComparedLanguages(first, costs, Pending(_size(first), n_bytes, status))


def cached_language_costs(
    texts: Sequence[ParallelText], encoders: Sequence[Encoder], reference: str
) -> tuple[LanguageCosts, ...]:
    """Return the costs of each language under each tokenizer.

    Each tokenizer is measured once on these sentences.
    """
    digest, names = hash_sentences(texts), [text.name for text in texts]
    return tuple(
        _measured_languages(digest, texts, each).costs(names, reference) for each in encoders
    )


@cached(spinner="Comparing languages")
def _measured_languages(
    digest: str,
    _texts: Sequence[ParallelText],
    encoder: Encoder,
    _should_stop: ShouldStop | None = None,
) -> LanguageMetrics:
    """Measure one tokenizer on sentences; raises CancelledError if it is asked to stop."""
    return LanguageMetrics.measure(_texts, encoder, _should_stop)


def _measure_all_sentences(
    digest: str,
    texts: Sequence[ParallelText],
    encoders: Sequence[Encoder],
    task: Task[Progress],
) -> bool:
    """Measure each tokenizer, so that its figures are kept; raises CancelledError."""
    _measure_each(partial(_measured_languages, digest, texts), encoders, _size(texts), task)
    return True


def hash_sentences(texts: Sequence[ParallelText]) -> str:
    """Return a hash of the names and sentences."""
    digest = hashlib.sha256()
    for text in texts:
        for part in (text.name, *text.sentences):
            data = part.encode("utf-8", "surrogatepass")
            digest.update(b"%d:" % len(data))
            digest.update(data)
        digest.update(b";")
    return digest.hexdigest()


def _size(texts: Sequence[ParallelText]) -> int:
    return sum(len(sentence.encode()) for text in texts for sentence in text.sentences)


def whole_text_card(pending: Pending) -> None:
    """Mark the figures as those of a sample, and show the progress of the whole text."""
    with st.container(border=True, key="compare_whole"):
        status = pending.status
        if pending.sample_bytes:
            of = f"{size_text(pending.sample_bytes)} of {size_text(pending.n_bytes)}"
            st.markdown(f"**First figure, from a sample of {of}.**")
        if isinstance(status, str):
            st.markdown(f":gray[{plain_markdown(status, 600)}]")
        else:
            show_work(
                status,
                unit="Whole text",
                what="comparison of the whole text",
                key="compare_whole",
                written=size_text,
            )
