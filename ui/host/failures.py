"""Contain an error in the part of a page that raised it.

Each page has a boundary, set in `run_page`, and so do each fragment and the run picker. The
exceptions with which Streamlit stops or reruns a script pass through: they derive from
BaseException.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import wraps
from typing import ParamSpec

import streamlit as st

from bpe_core.errors import BpeError
from ui.host.logs import log_unforeseen
from ui.look import plain_markdown

Params = ParamSpec("Params")


@contextmanager
def error_boundary(what: str, draw_failure: Callable[[str], None]) -> Generator[None]:
    """Pass a message in Markdown to `draw_failure` if the block raises an error.

    `what` is the subject of the message, such as "This page".
    """
    try:
        yield
    except BpeError as error:
        draw_failure(plain_markdown(str(error), 600))
    except Exception as error:
        draw_failure(log_unforeseen(error, what))


@contextmanager
def errors_shown() -> Generator[None]:
    """Show an error of the package that the block raises, and go on after the block."""
    try:
        yield
    except BpeError as error:
        st.error(plain_markdown(str(error), 1_000))


def fragment(
    *, run_every: float | None = None
) -> Callable[[Callable[Params, None]], Callable[Params, None]]:
    """Return a decorator that makes a function a Streamlit fragment with its own boundary."""

    def decorate(function: Callable[Params, None]) -> Callable[Params, None]:
        def draw_failure(message: str) -> None:
            st.error(f"{message} The rest of the page is not affected.")
            # A fragment that runs on a timer retries by itself.
            if run_every is None:
                st.button("Try again", key=f"try_again_{function.__qualname__}")

        @st.fragment(run_every=run_every)
        @wraps(function)
        def contained(*args: Params.args, **kwargs: Params.kwargs) -> None:
            with error_boundary("This part of the page", draw_failure):
                function(*args, **kwargs)

        return contained

    return decorate
