"""Where an error that nobody foresaw ends: what failed says so, and all around it works on.

A page has a boundary, in app.py; so has each part of it that is drawn again on its own, and the run
picker. Streamlit's own way to stop or rerun a script passes through: it is no Exception.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import ParamSpec

import streamlit as st

from bpe_core.errors import BpeError
from ui.failures.unforeseen import told_of_unforeseen
from ui.look.labels import plain_markdown

Given = ParamSpec("Given")


@contextmanager
def error_boundary(what: str, draw_failure: Callable[[str], None]) -> Iterator[None]:
    """Have `draw_failure` draw what is told of an error, where the block raises one.

    `what` is the subject of that sentence, such as "This page".
    """
    try:
        yield
    except BpeError as error:
        draw_failure(plain_markdown(str(error), 600))
    except Exception as error:
        draw_failure(told_of_unforeseen(error, what))


def fragment(
    *, run_every: float | None = None
) -> Callable[[Callable[Given, None]], Callable[Given, None]]:
    """Make a function a fragment of its page, with a boundary of its own."""

    def make(function: Callable[Given, None]) -> Callable[Given, None]:
        def draw_failure(told: str) -> None:
            st.error(f"{told} The rest of the page is not affected.")
            # What runs every so often tries again by itself.
            if run_every is None:
                st.button("Try again", key=f"try_again_{function.__qualname__}")

        @st.fragment(run_every=run_every)
        @wraps(function)
        def contained(*args: Given.args, **kwargs: Given.kwargs) -> None:
            with error_boundary("This part of the page", draw_failure):
                function(*args, **kwargs)

        return contained

    return make
