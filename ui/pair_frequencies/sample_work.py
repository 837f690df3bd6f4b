"""Check in the background whether a run's text is large enough, and keep the latest results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

import streamlit as st

from bpe_core.corpus.corpus import Corpus
from bpe_core.corpus.filed_corpus import FiledCorpus
from bpe_core.errors import BpeError
from bpe_core.runs.sample_check import SampleFigures, check_parts
from ui.look.labels import size_text
from ui.storage.held_out_text import divide
from ui.storage.run_store import StoredRun, run_corpus, training_text
from ui.work.background import Background
from ui.work.task import Progress, Status, Task

MAX_BYTES: Final = 64_000_000
"""A larger text is checked on the command line: training on it takes gigabytes of this process."""

Checked = tuple[SampleFigures, ...]


@dataclass(frozen=True, slots=True)
class Divisible:
    """The text of a run, to be divided into parts."""

    read: Callable[[], tuple[Corpus, Corpus]]
    """Returns the training text and the held-out text; raises BpeError."""


def stored_text(stored: StoredRun, uploaded: Corpus | FiledCorpus | None) -> Divisible | str:
    """Return the text that a run was trained on, or a sentence on why there is none.

    Only the beginning of a long text is kept with its run; the rest is at hand if it is the corpus
    that this visitor has `uploaded`.
    """
    run = stored.run
    if run.base is not None:
        return "This run extends a tokenizer, and only training from scratch can be checked."
    try:
        kept, corpus = training_text(stored.id), run_corpus(stored.id)
    except BpeError as error:
        return str(error)
    if kept is not None and kept.is_whole:
        if not kept.corpus.n_bytes:
            return (
                "This run was trained on words with their counts, and only text can be divided "
                "into parts."
            )
        return Divisible(lambda: (kept.corpus, stored.held_out))
    if uploaded is None or corpus is None or uploaded.sha256 != corpus.sha256:
        return (
            f"The text of this run, {size_text(run.corpus_bytes)}, is not kept whole. Upload it on "
            f"Train and come back, or run {_command(stored)}."
        )
    if uploaded.n_bytes > MAX_BYTES:
        return (
            f"The corpus of this run has {size_text(uploaded.n_bytes)}; the limit here is "
            f"{size_text(MAX_BYTES)}. Run {_command(stored)}."
        )
    share = corpus.origin.held_out_percent / 100

    def read() -> tuple[Corpus, Corpus]:
        whole = uploaded.read() if isinstance(uploaded, FiledCorpus) else uploaded
        return divide(whole, share, corpus.origin.held_out_by)

    return Divisible(read)


def _command(stored: StoredRun) -> str:
    size = stored.run.tokenizer.vocab_size
    return f"`bpe sample-check FILE --vocab-size {size}` on your computer"


def checking(stored: StoredRun) -> Status[Progress, Checked] | None:
    """Return the status of the check of a run's text; None if it was not begun."""
    return checks().find(_work_id(stored))


def begin_checking(stored: StoredRun, text: Divisible, visitor: str) -> None:
    """Begin to train on parts of a run's text, with its settings. Raises TooMuchWorkError."""

    def work(task: Task[Progress]) -> Checked | None:
        training, held_out = text.read()
        run = stored.run
        # A training that was cancelled has fewer tokens than were wanted.
        config = replace(run.config, vocab_size=run.tokenizer.vocab_size)
        found = check_parts(
            training,
            held_out,
            config,
            trained=run if training.sha256 == run.corpus_sha256 else None,
            on_progress=lambda done, of: task.report(Progress(done, of)),
            should_stop=lambda: task.is_cancelled,
        )
        return None if found is None else tuple(found)

    checks().begin(_work_id(stored), work, visitor=visitor)


def _work_id(stored: StoredRun) -> str:
    return f"{stored.id} {stored.run.corpus_sha256}"


@st.cache_resource(show_spinner=False)
def checks() -> Background[Progress, Checked]:
    """Return the server's checks of samples, by run and training text."""
    return Background("sample-check", max_waiting=16, max_cached=64, max_per_visitor=2)
