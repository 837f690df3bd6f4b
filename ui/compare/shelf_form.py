"""Draw the shelf: a card per tokenizer, and the button that adds more."""

from __future__ import annotations

import streamlit as st

from ui.components.shelf import Card
from ui.components.shelf import shelf as draw_shelf
from ui.look.labels import plain_text
from ui.shell import workspace
from ui.storage.run_store import StoredRun
from ui.tokenizers import shelf
from ui.tokenizers.additions import add_button
from ui.tokenizers.choice import draw_shelf_problems
from ui.tokenizers.shelf import Member

_KEY = "compare_shelf"


def choose_tokenizers(stored: StoredRun) -> tuple[Member, ...]:
    """Draw the shelf and the ways to add to it; return its tokenizers, the run's own first."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.header("Tokenizers", anchor=False, width="content")
        st.space("stretch")
        add_button(stored)
    on_shelf = shelf.members(stored)
    draw_shelf([_card(member) for member in on_shelf], key=_KEY, on_removed=_remove)
    draw_shelf_problems()
    return on_shelf


def describe_member(member: Member) -> str:
    """Return the kind of model and the engine that encodes with it."""
    return f"{member.encoder.model}, encoded by {member.encoder.engine}"


def _card(member: Member) -> Card:
    return Card(
        key=member.key,
        name=member.name,
        size=f"{member.encoder.vocab_size:,} tokens",
        facts=describe_member(member),
        note=plain_text(member.note, 600),
        removable=member.key != shelf.OWN,
    )


def _remove() -> None:
    key = workspace.component_value(_KEY, "removed")
    if isinstance(key, str):
        shelf.remove(key)
