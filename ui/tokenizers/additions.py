"""Draw the button “Add a tokenizer”, with every way to add one, and the choice of one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final
from urllib.parse import parse_qs, urlsplit

import streamlit as st

from bpe_core.errors import BpeError, IntegrityError
from bpe_core.files import Entry
from bpe_core.formats import CATALOGUE, HubName
from bpe_core.pretokenizers import PRETOKENIZER_NAMES, SPACE_ADDING
from bpe_core.tokenizer import gpt2
from ui.host import errors_shown, settings
from ui.look import plain_markdown, plain_text
from ui.shell import (
    LIMIT,
    choose_one,
    submitted_files,
    upload_files,
    visitor_run_labels,
    workspace,
)
from ui.storage import SAMPLE_RUN_ID, StoredRun, load_run
from ui.tokenizers import shelf
from ui.tokenizers.by_name import (
    BY_NAME,
    begin_download,
    download_words,
    draw_downloads,
    format_label,
    is_by_name,
    is_here,
    licence_line,
    pinned,
    read_name,
    short_name,
)
from ui.tokenizers.shelf import Member, Shelf

_WHAT_TO_DO = "Open the run that you want to add, copy the address of its page, and paste it here."
_BUTTONS = ("gpt2", "gpt4", "gpt4o")
"""The published tokenizers that have a button; the others are in a list."""
_FROM_FILE = "as in the file"
_UPLOAD_KEY = "add_upload_"
_WIDTH_OF_ADDITIONS = 440

GPT2: Final = "GPT-2"


class RunAddressError(BpeError):
    """A text that does not name a run to add."""


def parse_run_address(text: str) -> str:
    """Return the id of the run in an address of this app, or in a text that is an id by itself.

    Raises RunAddressError if there is none. Does not check whether the run is stored.

    >>> parse_run_address(f"https://example.org/compare?run={'a' * 32}&with=gpt4") == "a" * 32
    True
    """
    text = text.strip()
    if not text:
        raise RunAddressError(f"Expected the address of a run, got nothing. {_WHAT_TO_DO}")
    if Entry.is_id(text) or text == SAMPLE_RUN_ID:
        return text
    try:
        query = urlsplit(text).query
        named = parse_qs(query, max_num_fields=100).get("run")
    except ValueError:  # malformed brackets, or too many parameters
        named, query = None, ""
    if named is not None:
        return named[-1]
    if query:
        raise RunAddressError(f"This address has no “run=”. {_WHAT_TO_DO}")
    raise RunAddressError(
        f"Expected the address of a run, got “{plain_text(text, 60)}”. {_WHAT_TO_DO}"
    )


def add_button(stored: StoredRun) -> None:
    """Draw the button that opens the ways to add a tokenizer to the shelf."""
    with (
        st.popover("Add a tokenizer", width="content"),
        st.container(width=_WIDTH_OF_ADDITIONS),
    ):
        _additions(stored)


def _additions(stored: StoredRun) -> None:
    on_shelf = shelf.wanted_keys()
    with st.container(horizontal=True):
        for key in _BUTTONS:
            if st.button(CATALOGUE[key].title, disabled=key in on_shelf, key=f"add_{key}"):
                _add(key)
        _runs(stored, on_shelf)
    st.markdown(f":small[:gray[{download_words(_BUTTONS)}]]")
    _by_name(on_shelf)
    _model()
    _address(stored, on_shelf)
    _files()


def _by_name(on_shelf: Sequence[str]) -> None:
    names = [name for name in BY_NAME if name not in (*_BUTTONS, *on_shelf)]
    if not names:
        return
    name = st.selectbox(
        "Published tokenizer",
        names,
        index=None,
        placeholder="Llama 3, Qwen 2, Gemma…",
        format_func=format_label,
        key="add_by_name",
    )
    if name is not None:
        st.markdown(f":small[:gray[{plain_markdown(licence_line(name), 300)}]]")
    if st.button("Add by name", key="add_by_name_button", disabled=name is None) and name:
        _add(name)


def _model() -> None:
    if not settings().hub:
        return
    with st.form("add_model", border=False):
        text = st.text_input(
            "A model on Hugging Face’s hub",
            placeholder="Qwen/Qwen3-8B",
            key="add_model_name",
            help="Its name, with @ and a branch, tag or commit if you like, or the address of its "
            "page. Only the files of its tokenizer are downloaded. OpenAI’s names, such as "
            "gpt-4o, work too.",
        )
        if st.form_submit_button("Add model"):
            with errors_shown():
                _add(read_name(text))


def _runs(stored: StoredRun, on_shelf: Sequence[str]) -> None:
    labels = visitor_run_labels(stored)
    others = [id for id in labels if id != stored.id and shelf.run_key(id) not in on_shelf]
    if not others:
        return
    chosen = st.menu_button("Another run", others, format_func=lambda id: labels[id], key="add_run")
    if chosen is not None:
        _add(shelf.run_key(chosen))


def _address(stored: StoredRun, on_shelf: Sequence[str]) -> None:
    with st.form("add_address", border=False, clear_on_submit=True):
        text = st.text_input(
            "A run by its address",
            placeholder="https://…?run=…",
            key="add_address_text",
            help="For a run that is not in the list, such as another person’s. Its id works too.",
        )
        if st.form_submit_button("Add run"):
            with errors_shown():
                _add(_read_key(text, stored, on_shelf))


def _read_key(text: str, stored: StoredRun, on_shelf: Sequence[str]) -> str:
    """Return the key of the run at an address; raises BpeError if it cannot be added."""
    run_id = parse_run_address(text)
    key = shelf.run_key(run_id)
    if run_id == stored.id:
        raise RunAddressError(
            f"This is the open run. It is on the shelf as “{shelf.own_name(stored)}”."
        )
    if key in on_shelf:
        raise RunAddressError("This run is already on the shelf.")
    load_run(run_id)
    return key


def _files() -> None:
    # Not a form: its button would work while the files are still on their way, and send none.
    uploads = upload_files(
        "Files: tokenizer.json, .tiktoken, GGUF, SentencePiece’s .model, Tekken, vocab.json with "
        "merges.txt, the small files next to these, such as a chat template, a zip of all, or "
        "BPE Explorer’s JSON",
        key=_UPLOAD_KEY + str(workspace.get(shelf.Shelf).files_added),
    )
    st.markdown(f":gray[:small[{LIMIT}]]")
    pretokenizer = st.selectbox(
        "Pre-tokenizer",
        [_FROM_FILE, *(name for name in PRETOKENIZER_NAMES if name not in SPACE_ADDING)],
        key="add_pretokenizer",
        help="Needed for a .tiktoken file, unless it is a published one, and for a GGUF file that "
        "does not name its own.",
    )
    # Above the button, because below it the popover's end would hide them.
    draw_problems(workspace.get(shelf.Shelf).addition_problems)
    is_pressed = st.button("Add from files", key="add_files", disabled=not uploads)
    if is_pressed and (files := submitted_files(uploads)):
        shelf.add_files(files, None if pretokenizer == _FROM_FILE else pretokenizer)
        # Under the next key the uploader is empty, so no file is added or refused twice.
        workspace.update(shelf.Shelf, files_added=workspace.get(shelf.Shelf).files_added + 1)
        st.rerun()


def _add(key: str) -> None:
    """Put a tokenizer on the shelf, or say next to the buttons why it cannot be opened."""
    with errors_shown():
        if _must_fetch(key):
            begin_download(key)
        else:
            shelf.add([shelf.open_member(key).key])
        st.rerun()


def _must_fetch(key: str) -> bool:
    """Return whether a tokenizer is missing or damaged, or may have newer or more files."""
    if not is_by_name(key):
        return False
    if not is_here(key) or HubName.fits(key):
        return True
    try:
        shelf.open_member(key)
    except IntegrityError:
        return True
    return False


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
    known = _known_members(stored)
    if _read_link(key, known):
        known = _known_members(stored)
    _choose_linked(key, known)
    chosen = choose_one(
        "Tokenizer",
        list(known),
        key=key,
        help="Tokenizers that you add on any page are listed on all of them.",
    )
    return known[chosen]


def _what_is_fetched(key: str) -> str:
    if HubName.fits(key):
        return "Downloads the files of its tokenizer from Hugging Face’s hub, and nothing else."
    return licence_line(key)


def _read_link(parameter: str, known: Iterable[str]) -> bool:
    """Put a tokenizer that the address names by its key, such as hf:org/model@COMMIT, on the shelf.

    Returns whether it did; the tokenizer is to be chosen, now or once it is fetched.
    """
    linked = workspace.query_text(parameter) or ""
    # Once it is drawn, the parameter is the widget's, and has a name that is listed.
    if linked in known or workspace.has_widget(parameter):
        return False
    if linked in shelf.OWN_NAMES:  # the first choice, under its name for another run
        workspace.set_query(**{parameter: None})
    if (key := shelf.read_key(linked)) is None:
        return False
    workspace.set_query(**{parameter: None})
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
    if wanted is None or not HubName.fits(wanted) or not HubName.fits(key):
        return wanted == key
    return wanted == key or pinned(wanted) == key


def _known_members(stored: StoredRun) -> dict[str, Member]:
    """Return the run's own tokenizer, GPT-2's, and the others on the shelf."""
    every = shelf.members(stored)
    others = [member for member in every if member.key not in (shelf.OWN, shelf.GPT2)]
    found = [every[0], Member(shelf.GPT2, GPT2, gpt2(), shelf.GPT2_NOTE), *others]
    names = shelf.distinct([every[0].name, GPT2, *(member.name for member in others)])
    return {name: replace(member, name=name) for name, member in zip(names, found, strict=True)}
