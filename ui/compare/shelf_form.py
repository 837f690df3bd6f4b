"""Draw the shelf: a card per tokenizer, and the ways to add more."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from bpe_core.errors import BpeError
from bpe_core.pretokenizers.pretokenizers import PRETOKENIZER_NAMES
from ui.compare.pasted_address import RunAddressError, run_of_address
from ui.compare.submitted_files import submitted_files
from ui.components.shelf import Card
from ui.components.shelf import shelf as draw_shelf
from ui.look.labels import plain_markdown, plain_text
from ui.shell import workspace
from ui.shell.file_upload import LIMIT, upload_files
from ui.shell.run_picker import labels_of_runs
from ui.storage.run_store import StoredRun, load_run
from ui.tokenizers import shelf
from ui.tokenizers.shelf import PUBLISHED, Member

_KEY = "compare_shelf"
_FROM_FILE = "as in the file"
_WIDTH_OF_ADDITIONS = 440


def choose_tokenizers(stored: StoredRun) -> tuple[Member, ...]:
    """Draw the shelf and the ways to add to it; return its tokenizers, the run's own first."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.header("Tokenizers", anchor=False, width="content")
        st.space("stretch")
        with (
            st.popover("Add a tokenizer", width="content"),
            st.container(width=_WIDTH_OF_ADDITIONS),
        ):
            _additions(stored)
    on_shelf = shelf.members(stored)
    draw_shelf([_card(member) for member in on_shelf], key=_KEY, on_removed=_remove)
    problems = workspace.current().shelf_problems
    if problems:
        st.error("\n\n".join(plain_markdown(problem, 600) for problem in problems))
    return on_shelf


def facts_of(member: Member) -> str:
    """Return the kind of model and the engine that encodes with it."""
    return f"{member.encoder.model}, encoded by {member.encoder.engine}"


def _card(member: Member) -> Card:
    return Card(
        key=member.key,
        name=member.name,
        size=f"{member.encoder.vocab_size:,} tokens",
        facts=facts_of(member),
        note=plain_text(member.note, 600),
        removable=member.key != shelf.OWN,
    )


def _remove() -> None:
    key = workspace.component_value(_KEY, "removed")
    if isinstance(key, str):
        shelf.remove(key)


def _additions(stored: StoredRun) -> None:
    on_shelf = shelf.wanted_keys()
    published = {shelf.GPT2: "GPT-2", **{key: name for key, (name, _) in PUBLISHED.items()}}
    with st.container(horizontal=True):
        for key, name in published.items():
            if st.button(name, disabled=key in on_shelf, key=f"add_{key}"):
                _add(key)
        _runs(stored, on_shelf)
    _address(stored, on_shelf)
    _files()


def _runs(stored: StoredRun, on_shelf: Sequence[str]) -> None:
    labels = labels_of_runs(stored)
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
            try:
                key = _key_of_address(text, stored, on_shelf)
            except BpeError as error:
                st.error(plain_markdown(str(error), 600))
            else:
                _add(key)


def _key_of_address(text: str, stored: StoredRun, on_shelf: Sequence[str]) -> str:
    """Return the key of the run at an address; raises BpeError if it cannot be added."""
    run_id = run_of_address(text)
    key = shelf.run_key(run_id)
    if run_id == stored.id:
        raise RunAddressError("This is the open run. It is on the shelf as “Yours”.")
    if key in on_shelf:
        raise RunAddressError("This run is already on the shelf.")
    load_run(run_id)
    return key


def _files() -> None:
    # Cleared on submit, or the next submit would add removed files again and retry failed ones.
    with st.form("add_files", border=False, clear_on_submit=True):
        uploads = upload_files(
            "Files: tokenizer.json, .tiktoken, vocab.json with merges.txt, or BPE Explorer’s JSON",
            key="add_upload",
        )
        st.markdown(f":gray[:small[{LIMIT}]]")
        pretokenizer = st.selectbox(
            "Pre-tokenizer",
            [_FROM_FILE, *PRETOKENIZER_NAMES],
            key="add_pretokenizer",
            help="Needed for a .tiktoken file, unless it is one of OpenAI’s.",
        )
        if st.form_submit_button("Add from files"):
            files = submitted_files(uploads)
            if files:
                shelf.add_files(files, None if pretokenizer == _FROM_FILE else pretokenizer)


def _add(key: str) -> None:
    shelf.add([key])
    st.rerun()
