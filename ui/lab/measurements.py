"""Choose a text to measure on, and run measurements in the background, each in its own process.

The address names those of the visitor.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from functools import partial
from typing import Final

import streamlit as st

from bpe_core.corpus import load_sample, samples
from bpe_core.errors import BpeError, ProcessError, UnforeseenError
from bpe_core.lab import Kind, LabOrder, LabProgress, Results
from bpe_core.processes import Limits
from bpe_core.tokenizer import Tokenizer
from ui.corpus import leave_text_address, text_field
from ui.host import errors_shown
from ui.look import counted, plain_markdown
from ui.shell import address
from ui.work import Status, Task, TooMuchWorkError, UnknownWorkError, WorkKind, queue

MAX_SECONDS: Final = 180.0
MAX_SMALL_SIZE: Final = 60_000
"""Tokens; building the tables of a larger vocabulary takes too long for a small measurement."""


@dataclass(frozen=True, slots=True)
class FinishedMeasurement:
    """The results of a measurement, and the fingerprint of its order."""

    results: Results
    order: str


MeasurementStatus = Status[LabProgress, FinishedMeasurement]


class MeasurementError(BpeError):
    """The measuring process exceeded its limit of time, was killed or crashed."""


MEASURE: Final = WorkKind[LabProgress, FinishedMeasurement]("measuring", max_waiting=8)
"""One at a time, since two at once would slow each other down."""


def begin_measurement(order: LabOrder, *, about: str) -> str:
    """Queue a measurement and return its id; raises `TooMuchWorkError`."""
    id = secrets.token_urlsafe(16)
    queue.begin(MEASURE, id, partial(_measure, order), about=about)
    return id


def shared_measurement(order: LabOrder, *, about: str) -> MeasurementStatus:
    """Return the status of an order's shared measurement, queueing it if it isn't known.

    Callers with equal orders share one measurement. Raises `TooMuchWorkError`.
    """
    return queue.begin(MEASURE, order.fingerprint, partial(_measure, order), about=about)


def _measure(order: LabOrder, task: Task[LabProgress]) -> FinishedMeasurement:
    try:
        results = order.run_in_process(
            limits=Limits(MAX_SECONDS),
            on_progress=task.report,
            should_stop=lambda: task.is_cancelled,
        )
    except UnforeseenError:
        raise
    except ProcessError as error:
        raise MeasurementError(f"{error} Try a shorter text.") from None
    return FinishedMeasurement(results, order.fingerprint)


def read_measurements(*kinds: Kind) -> list[MeasurementStatus | None]:
    """Return the measurements named in the address, with one warning if some are unknown."""
    found: list[MeasurementStatus | None] = []
    problems: list[str] = []
    for kind in kinds:
        id = address.query_text(kind)
        try:
            found.append(None if id is None else queue.status(MEASURE, id))
        except UnknownWorkError as error:
            address.set_query(**{kind: None})
            problems.append(str(error))
            found.append(None)
    for problem in dict.fromkeys(problems):
        st.warning(plain_markdown(problem, 600))
    return found


def start_measurement(order: LabOrder, about: str) -> None:
    """Queue a measurement and name it in the address; draw an error if the queue is full."""
    with errors_shown():
        address.set_query(**{order.kind: begin_measurement(order, about=about)})
        st.rerun()


def small_measurement(
    text: str, tokenizer: Tokenizer | None, about: str
) -> MeasurementStatus | None:
    """Return the small measurement of a text, starting it if needed; None if it can't be run now.

    It is of encoders with a tokenizer, else of trainers. All visitors with the same text and
    tokenizer share it.
    """
    if tokenizer is not None and tokenizer.vocab_size > MAX_SMALL_SIZE:
        return None
    try:
        return shared_measurement(LabOrder.small(text, tokenizer), about=about)
    except TooMuchWorkError:
        return None


OWN_TEXT = "Your text"
_SAMPLES = ("python-help", "python-library", "multilingual")
FIRST_TEXT = "Write or paste a text here. Unbelievably, the longest match overwrites other tokens."


@dataclass(frozen=True, slots=True)
class MeasuredText:
    """The text to measure on."""

    text: str
    name: str
    """As used in a sentence."""
    is_sample: bool

    @property
    def about(self) -> str:
        """Its name and length."""
        return f"{self.name}, {counted(len(self.text.encode()), 'byte')}"


def choose_text(max_characters: int) -> MeasuredText:
    """Draw the choice of text and return the text, cut to `max_characters` with a warning."""
    titles = {sample.title: sample.id for sample in samples() if sample.id in _SAMPLES}
    chosen = st.selectbox(
        "Text",
        options=[*titles, OWN_TEXT],
        label_visibility="collapsed",
        key="lab_text",
        bind="query-params",
        width=280,
    )
    if chosen in titles:
        leave_text_address()
        sample = "\n".join(load_sample(titles[chosen]).documents)
        text = MeasuredText(sample, chosen, is_sample=True)
    else:
        own = text_field(FIRST_TEXT, key="lab_own_text")
        text = MeasuredText(own, "your text", is_sample=False)
    if len(text.text) <= max_characters:
        return text
    st.warning(f"Only the first {max_characters:,} characters are measured.")
    return MeasuredText(text.text[:max_characters], text.name, text.is_sample)
