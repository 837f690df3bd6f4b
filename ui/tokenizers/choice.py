"""Draw the choice of one tokenizer, and why some are no longer on the shelf."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import streamlit as st

from bpe_core.tokenizer.gpt2 import gpt2
from ui.look.labels import plain_markdown
from ui.shell import workspace
from ui.shell.choices import choose_one
from ui.storage.run_store import StoredRun
from ui.tokenizers import shelf
from ui.tokenizers.shelf import Member, Shelf

YOURS: Final = "Your tokenizer"
GPT2: Final = "GPT-2"


def draw_shelf_problems() -> None:
    """Draw why tokenizers are no longer on the shelf."""
    draw_problems(workspace.get(Shelf).problems)


def draw_problems(problems: Sequence[str]) -> None:
    """Draw what went wrong with tokenizers as one message, or nothing."""
    if problems:
        st.error("\n\n".join(plain_markdown(problem, 600) for problem in problems))


def choose_tokenizer(stored: StoredRun, *, key: str) -> Member:
    """Draw the choice of a tokenizer, kept in the address under `key`; return the chosen one."""
    known = _by_name(stored)
    chosen = choose_one(
        "Tokenizer",
        list(known),
        key=key,
        help="Tokenizers that you add on any page are listed on all of them.",
    )
    return known[chosen]


def _by_name(stored: StoredRun) -> dict[str, Member]:
    """Return the run's own tokenizer, GPT-2's, and the others on the shelf."""
    every = shelf.members(stored)
    others = [member for member in every if member.key not in (shelf.OWN, shelf.GPT2)]
    found = [every[0], Member(shelf.GPT2, GPT2, gpt2(), shelf.GPT2_NOTE), *others]
    names = shelf.distinct([YOURS, GPT2, *(member.name for member in others)])
    return {name: replace(member, name=name) for name, member in zip(names, found, strict=True)}
