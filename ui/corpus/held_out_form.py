"""Draw the choice of what is held out: documents, folders, the values of a column, or own files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import streamlit as st

from bpe_core.corpus.corpus import Corpus
from bpe_core.corpus.corpus_files import FiledCorpus
from bpe_core.corpus.reading_process import MAX_BYTES_IN_MEMORY
from bpe_core.corpus.spans import folder, folder_depth
from ui.corpus.corpus_address import HELD_OUT_PERCENT, OWN_FILES, held_out_by
from ui.corpus.own_files import ask_for_files
from ui.look.labels import plain_text

_MAX_DEPTH: Final = 3
_MAX_NAME: Final = 42


def choose_held_out(corpus: Corpus | FiledCorpus, columns: Sequence[str]) -> tuple[int, str]:
    """Draw the choice; return the share in percent, and what is held out, as `divide` takes it."""
    by = "document"
    if corpus.word_counts is None:
        names = corpus.files if isinstance(corpus, FiledCorpus) else corpus.names
        by = st.selectbox(
            "What is held out",
            _choices(names, columns),
            format_func=_label,
            key="corpus_held_by",
            help="Folders, or the values of a column, say what text of other projects, sources "
            "or authors will take.",
            persist_state="session",
        )
    if by == OWN_FILES:
        ask_for_files(
            "held_file",
            "Files that training will not see",
            MAX_BYTES_IN_MEMORY,
            key="corpus_held_files",
            hint=f"Text, a table or an archive, up to {MAX_BYTES_IN_MEMORY // 1_000_000} MB. "
            "All of the corpus is trained on, except documents that are in these files too.",
        )
        return HELD_OUT_PERCENT, held_out_by()
    percent = st.slider(
        "Held out, in percent",
        0,
        50,
        HELD_OUT_PERCENT,
        key="corpus_held_out",
        help="Of each file type and script. Where there are few documents, their ends are "
        "held out instead.",
        persist_state="session",
    )
    return percent, by


def _choices(names: Sequence[str], columns: Sequence[str]) -> list[str]:
    folders: list[str] = []
    if len(set(map(folder, names))) > 1:
        depths = range(1, min(folder_depth(names), _MAX_DEPTH + 1))
        folders = ["folder", *(f"folder:{depth}" for depth in depths)]
    return ["document", *folders, *(f"column:{name}" for name in columns), OWN_FILES]


def _label(by: str) -> str:
    kind, _, which = by.partition(":")
    if kind == "column":
        return f"Values of “{plain_text(which, _MAX_NAME)}”"
    if kind == "folder" and which:
        return f"Folders, {which} level{'' if which == '1' else 's'} deep"
    return {"document": "Documents", "folder": "Folders", OWN_FILES: "Your own files"}[kind]
