"""Draw the button “Add a tokenizer”, with every way to add one to the shelf."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import parse_qs, urlsplit

import streamlit as st

from bpe_core.errors import BpeError, IntegrityError
from bpe_core.files import is_id
from bpe_core.pretokenizers import PRETOKENIZER_NAMES, SPACE_ADDING
from bpe_core.published import CATALOGUE, is_hub_name
from ui.host import errors_shown, settings
from ui.look import plain_markdown, plain_text
from ui.shell import LIMIT, submitted_files, upload_files, visitor_run_labels, workspace
from ui.storage import SAMPLE_RUN_ID, StoredRun, load_run
from ui.tokenizers import shelf
from ui.tokenizers.by_name import (
    BY_NAME,
    download_words,
    format_label,
    is_by_name,
    is_here,
    licence_line,
    read_name,
)
from ui.tokenizers.choice import draw_problems
from ui.tokenizers.downloads import begin_download

_WHAT_TO_DO = "Open the run that you want to add, copy the address of its page, and paste it here."
_BUTTONS = ("gpt2", "gpt4", "gpt4o")
"""The published tokenizers that have a button; the others are in a list."""
_FROM_FILE = "as in the file"
_UPLOAD_KEY = "add_upload_"
_WIDTH_OF_ADDITIONS = 440


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
    if is_id(text) or text == SAMPLE_RUN_ID:
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
        raise RunAddressError("This is the open run. It is on the shelf as “Your tokenizer”.")
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
    if not is_here(key) or is_hub_name(key):
        return True
    try:
        shelf.open_member(key)
    except IntegrityError:
        return True
    return False
