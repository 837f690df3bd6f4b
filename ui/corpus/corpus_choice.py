"""Keep the choice of a corpus in the address, for a reload, and draw what of it is held out.

That is documents, folders, the values of a column, or files of the visitor's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import streamlit as st

from bpe_core.corpus import (
    MAX_BYTES_IN_MEMORY,
    MIN_UNITS,
    Corpus,
    folder,
    folder_depth,
    samples,
)
from ui.corpus.address_text import KeptTexts, leave_address
from ui.corpus.own_files import OwnFiles, ask_for_files
from ui.corpus.uploads import USUAL, ReadUploads
from ui.look import plain_text
from ui.shell import OpenRun, address, note_given, workspace
from ui.storage import UPLOAD_HELD_OUT, CorpusOrigin, Source, upload_held_out

HELD_OUT_PERCENT: Final = 8
SOURCE: Final = "corpus"
SAMPLE: Final = "sample"
UPLOAD: Final = "upload"
HELD_OUT: Final = "held_out"
HELD_BY: Final = "held_by"
OWN_FILES: Final = "file"
"""The choice to hold out the visitor's own files; the others are as `Corpus.split` takes them."""
HELD_FILE: Final = "held_file"
"""The use of these files, as `own_files` takes it."""
TEXTS: Final = {"paste": "pasted", "words": "weighted"}
"""The names that typed text has in the address, by its source."""
KEPT_UNDER: Final = {"upload": UPLOAD, "paste": "pasted_id", "words": "weighted_id"}
"""The names that the id of a kept corpus has in the address, by its source."""


def choice_to_address(source: Source) -> None:
    """Put the choice of a corpus in the address, except what the form shows without it."""
    sample = workspace.widget_text("corpus_sample")
    percent = workspace.widget_number("corpus_held_out")
    has_own_corpus = address.query_text("run") == workspace.get(OpenRun).id
    is_usual = source != "sample" or sample == samples()[0].id
    by = workspace.widget_text("corpus_held_by")
    address.set_query(
        **{
            SOURCE: None if source == "sample" and not has_own_corpus else source,
            SAMPLE: None if is_usual else sample,
            UPLOAD: (workspace.get(ReadUploads).id or None) if source == "upload" else None,
            HELD_BY: by if by not in ("", USUAL) else None,
            HELD_FILE: (upload_held_out(held_out_by()) or None) if by == OWN_FILES else None,
            HELD_OUT: None if percent in (None, HELD_OUT_PERCENT) else round(percent or 0),
        }
    )
    for other, name in TEXTS.items():
        if other != source:
            leave_address(name)
    kept_id = address.query_text(KEPT_UNDER[source]) if source in KEPT_UNDER else None
    note_given(source, kept_id)


def chosen_origin(
    source: Source, held_out_percent: int, held_out_by: str | None = None
) -> CorpusOrigin:
    """Return where the chosen corpus comes from, and what it is kept under."""
    sample_id = workspace.widget_text("corpus_sample") if source == "sample" else ""
    kept_text = workspace.get(KeptTexts).by_name.get(TEXTS.get(source, ""))
    upload_id = workspace.get(ReadUploads).id if source == "upload" else ""
    if kept_text is not None:
        upload_id = kept_text.id
    return CorpusOrigin(source, sample_id, held_out_percent, upload_id, held_out_by)


def held_out_by() -> str | None:
    """Return what is held out, as `divide` takes it; no text has an empty id."""
    by = workspace.widget_text("corpus_held_by") or USUAL
    if by == OWN_FILES:
        return UPLOAD_HELD_OUT + workspace.get(OwnFiles).ids.get(HELD_FILE, "")
    return None if by == USUAL else by


def held_out_widgets(percent: int, by: str | None) -> dict[str, str | float]:
    """Return the values of the widgets that stand for a division, as `divide` takes it."""
    if (upload_id := upload_held_out(by)) is not None:
        workspace.update(OwnFiles, ids={**workspace.get(OwnFiles).ids, HELD_FILE: upload_id})
        by = OWN_FILES
    return {"corpus_held_out": percent, "corpus_held_by": by or USUAL}


_MAX_DEPTH: Final = 3
_MAX_NAME: Final = 42


def choose_held_out(corpus: Corpus, columns: Sequence[str]) -> tuple[int, str | None]:
    """Draw the choice; return the share in percent, and what is held out, as `divide` takes it."""
    by = USUAL
    if corpus.word_counts is None:
        choices = _choices(corpus.files, columns)
        by = st.selectbox(
            "What is held out",
            list(choices),
            format_func=choices.__getitem__,
            key="corpus_held_by",
            help="Whole folders, or the values of a column, say what text of other projects, "
            "sources or authors will take. If nothing is chosen, folders are held out if there are "
            f"at least {MIN_UNITS} and they come near the share, and otherwise documents.",
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
    return percent, None if by == USUAL else by


def _choices(names: Sequence[str], columns: Sequence[str]) -> dict[str, str]:
    """Return the choices with their labels, the usual one first."""
    n_folders = len(set(map(folder, names)))
    found = {USUAL: "Documents"}
    if n_folders >= MIN_UNITS:
        found = {USUAL: "Folders or documents", "document": "Documents"}
    if n_folders > 1:
        found["folder"] = "Folders"
        for depth in range(1, min(folder_depth(names), _MAX_DEPTH + 1)):
            found[f"folder:{depth}"] = f"Folders, {depth} level{'s' * (depth > 1)} deep"
    for name in columns:
        found[f"column:{name}"] = f"Values of “{plain_text(name, _MAX_NAME)}”"
    return {**found, OWN_FILES: "Your own files"}
