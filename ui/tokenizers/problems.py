"""Draw why tokenizers are not on the shelf."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from ui.look.labels import plain_markdown
from ui.shell import workspace
from ui.tokenizers.shelf import Shelf


def draw_shelf_problems() -> None:
    """Draw why tokenizers are no longer on the shelf."""
    draw_problems(workspace.get(Shelf).problems)


def draw_problems(problems: Sequence[str]) -> None:
    """Draw what went wrong with tokenizers as one message, or nothing."""
    if problems:
        st.error("\n\n".join(plain_markdown(problem, 600) for problem in problems))
