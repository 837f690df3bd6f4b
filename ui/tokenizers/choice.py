"""Draw the choice of one tokenizer, and why some are no longer on the shelf."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import streamlit as st

from bpe_core.published import is_hub_name
from bpe_core.tokenizer import gpt2
from ui.host import errors_shown
from ui.look import plain_markdown
from ui.shell import address, choose_one, workspace
from ui.storage import StoredRun
from ui.tokenizers import shelf
from ui.tokenizers.by_name import licence_line, pinned, short_name
from ui.tokenizers.downloads import begin_download, draw_downloads
from ui.tokenizers.shelf import Member, Shelf

YOURS: Final = "Your tokenizer"
GPT2: Final = "GPT-2"


@dataclass(frozen=True, slots=True)
class LinkedChoices:
    """The tokenizers that a link chose by name, until each can be chosen."""

    key_of: Mapping[str, str] = field(default_factory=dict[str, str])
    """By the name of the parameter."""


def draw_shelf_problems() -> None:
    """Draw why tokenizers are no longer on the shelf, and which must be fetched for it."""
    draw_problems(workspace.get(Shelf).problems)
    draw_downloads()
    for key in shelf.missing_keys():
        name = plain_markdown(short_name(key))
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f":gray[{name} is not on this server yet.]", width="content")
            if st.button(f"Fetch {name}", key=f"fetch_{key}", help=_what_is_fetched(key)):
                with errors_shown():
                    begin_download(key)
                    st.rerun()
            if st.button("Remove", key=f"unwanted_{key}", type="tertiary"):
                shelf.remove(key)
                st.rerun()


def draw_problems(problems: Sequence[str]) -> None:
    """Draw what went wrong with tokenizers as one message, or nothing."""
    if problems:
        st.error("\n\n".join(plain_markdown(problem, 600) for problem in problems))


def choose_tokenizer(stored: StoredRun, *, key: str) -> Member:
    """Draw the choice of a tokenizer, kept in the address under `key`; return the chosen one."""
    known = _by_name(stored)
    if _read_link(key, known):
        known = _by_name(stored)
    _choose_linked(key, known)
    chosen = choose_one(
        "Tokenizer",
        list(known),
        key=key,
        help="Tokenizers that you add on any page are listed on all of them.",
    )
    return known[chosen]


def _what_is_fetched(key: str) -> str:
    if is_hub_name(key):
        return "Downloads the files of its tokenizer from Hugging Face’s hub, and nothing else."
    return licence_line(key)


def _read_link(parameter: str, known: Iterable[str]) -> bool:
    """Put a tokenizer that the address names by its key, such as hf:org/model@COMMIT, on the shelf.

    Returns whether it did; the tokenizer is to be chosen, now or once it is fetched.
    """
    linked = address.query_text(parameter) or ""
    # Once it is drawn, the parameter is the widget's, and has a name that is listed.
    if linked in known or workspace.has_widget(parameter):
        return False
    if (key := shelf.read_key(linked)) is None:
        return False
    address.set_query(**{parameter: None})
    shelf.add([key])
    keys = workspace.get(LinkedChoices).key_of
    workspace.update(LinkedChoices, key_of={**keys, parameter: key})
    return True


def _choose_linked(parameter: str, known: Mapping[str, Member]) -> None:
    """Choose the tokenizer that a link named, once it is on the shelf and here."""
    keys = dict(workspace.get(LinkedChoices).key_of)
    wanted = keys.pop(parameter, None)
    for name, member in known.items():
        if _is_same(wanted, member.key):
            workspace.set_widget(parameter, name)
            workspace.update(LinkedChoices, key_of=keys)


def _is_same(wanted: str | None, key: str) -> bool:
    """Return whether a key is the wanted one, or pins the branch or tag of the wanted one."""
    if wanted is None or not is_hub_name(wanted) or not is_hub_name(key):
        return wanted == key
    return wanted == key or pinned(wanted) == key


def _by_name(stored: StoredRun) -> dict[str, Member]:
    """Return the run's own tokenizer, GPT-2's, and the others on the shelf."""
    every = shelf.members(stored)
    others = [member for member in every if member.key not in (shelf.OWN, shelf.GPT2)]
    found = [every[0], Member(shelf.GPT2, GPT2, gpt2(), shelf.GPT2_NOTE), *others]
    names = shelf.distinct([YOURS, GPT2, *(member.name for member in others)])
    return {name: replace(member, name=name) for name, member in zip(names, found, strict=True)}
