"""Start the measurements that the page needs, and find those named in its address."""

from __future__ import annotations

from typing import Final

import streamlit as st

from bpe_core.errors import BpeError
from bpe_core.lab.measurements import Kind, LabOrder, small_order
from bpe_core.tokenizer.tokenizer import Tokenizer
from ui.lab import measurements
from ui.lab.measurements import MeasurementStatus
from ui.look.labels import plain_markdown
from ui.shell import address
from ui.work.background import TooMuchWorkError, UnknownWorkError

MAX_SMALL_SIZE: Final = 60_000
"""Tokens; building the tables of a larger vocabulary takes too long for a small measurement."""


def read_measurements(*kinds: Kind) -> list[MeasurementStatus | None]:
    """Return the measurements named in the address, with one warning if some are unknown."""
    found: list[MeasurementStatus | None] = []
    problems: list[str] = []
    for kind in kinds:
        id = address.query_text(kind)
        try:
            found.append(None if id is None else measurements.manager().status(id))
        except UnknownWorkError as error:
            address.set_query(**{kind: None})
            problems.append(str(error))
            found.append(None)
    for problem in dict.fromkeys(problems):
        st.warning(plain_markdown(problem, 600))
    return found


def start_measurement(order: LabOrder, about: str) -> None:
    """Queue a measurement and name it in the address; draw an error if the queue is full."""
    try:
        id = measurements.manager().submit(order, about=about)
    except BpeError as error:
        st.error(plain_markdown(str(error), 600))
        return
    address.set_query(**{order.kind: id})
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
        return measurements.manager().shared(small_order(text, tokenizer), about=about)
    except TooMuchWorkError:
        return None
