"""Keep the choice of a corpus in the address, for a reload, and draw what of it is held out.

That is documents, folders, the values of a column, or files of the visitor's own, which pages
measure on, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, cast

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from bpe_core.corpus import (
    Corpus,
    HeldOut,
    Upload,
    Uploads,
    folder,
    folder_depth,
    samples,
)
from bpe_core.errors import BpeError, CorpusError
from ui.corpus.own_texts import KeptTexts, leave_address
from ui.corpus.uploads import USUAL, ReadUploads, joined
from ui.host import cached
from ui.look import plain_markdown, plain_text
from ui.shell import (
    OpenRun,
    check_uploaded,
    counted_as_kept,
    note_given,
    note_unread,
    upload_files,
    workspace,
)
from ui.storage import (
    UPLOAD_HELD_OUT,
    CorpusOrigin,
    Source,
    keep_uploaded,
    load_uploaded,
    upload_held_out,
)
from ui.work import ReadingBar, read_files, show_reading_notes

Use = Literal["own", "other", "held_file"]
"""The files compared on, those in place of the held-out text in a chart, and those held out; also
names in the address."""


@dataclass(frozen=True, slots=True)
class OwnFiles:
    """The files that the visitor measures on."""

    ids: Mapping[Use, str] = field(default_factory=dict[Use, str])
    """Their ids, by their use; empty ids without files."""


def _find_files(use: Use, max_bytes: int) -> tuple[str, Corpus] | None:
    """Return the name and the text of the visitor's files; at first, those that the address names.

    Files that cannot be opened are reported and forgotten.
    """
    kept_id = workspace.get(OwnFiles).ids.get(use)
    if kept_id is None:
        kept_id = workspace.query_text(use) or ""
    found = None
    if kept_id:
        try:
            found = _opened(kept_id, max_bytes)
        except BpeError as error:
            note_unread(use, str(error))
            kept_id = ""
    _note(use, kept_id)
    return found


def ask_for_files(
    use: Use, label: str, max_bytes: int, *, key: str, hint: str
) -> tuple[str, Corpus] | None:
    """Draw an uploader, and return the name and the text of its files or of those kept before.

    `hint` is shown without files. The field may be folded, so the caller says with `show_unread`
    what the address names for this use and cannot be opened.
    """
    uploads = upload_files(label, key=key, on_change=lambda: close_own_files(use))
    files = _find_files(use, max_bytes)
    if uploads and files is None and _keep_files(use, uploads, max_bytes):
        files = _find_files(use, max_bytes)
    if files is None:
        st.markdown(f":small[:gray[{hint}]]")
        return None
    title, corpus = files
    if not uploads:
        st.markdown(f"Uploaded before: **{plain_markdown(title, 120)}**")
        st.button("Close", key=f"{key}_close", on_click=close_own_files, args=(use,))
    show_reading_notes(corpus.file_notes)
    return files


def _keep_files(use: Use, uploads: list[UploadedFile], max_bytes: int) -> bool:
    """Read and keep files, and return True; if that fails, show why and return False."""
    bar = ReadingBar(st.empty(), cast("list[Upload]", uploads))
    try:
        check_uploaded()
        bar.announce()
        corpus = read_files(
            cast("list[Upload]", uploads),
            {},
            encoding={},
            held_out_share=0.0,
            on_progress=bar.progress,
            on_wait=bar.wait,
        )
        title = joined([upload.name for upload in uploads], "files")
        checked = _checked(corpus, max_bytes)
        with counted_as_kept(corpus.n_bytes):
            _note(use, keep_uploaded(checked, title))
    except BpeError as error:
        st.error(plain_markdown(str(error), 600))
        return False
    finally:
        bar.close()
    return True


def close_own_files(use: Use) -> None:
    """Measure on these files no longer."""
    _note(use, "")


def _note(use: Use, kept_id: str) -> None:
    workspace.update(OwnFiles, ids={**workspace.get(OwnFiles).ids, use: kept_id})
    workspace.set_query(**{use: kept_id or None})


def _checked(corpus: Corpus, max_bytes: int) -> Corpus:
    if corpus.n_bytes > max_bytes:
        raise CorpusError(
            f"These files have {corpus.n_bytes:,} bytes of text; the limit here is "
            f"{max_bytes:,}. Use a part of them."
        )
    return corpus.read()


@cached(spinner="Opening the text")
def _opened(kept_id: str, max_bytes: int) -> tuple[str, Corpus]:
    corpus, title = load_uploaded(kept_id)
    if corpus.is_counted:
        raise CorpusError("The file at this address holds counts. Choose files of text.")
    return title, _checked(corpus, max_bytes)


KEYS: Final = "corpus_"
"""The prefix of the form's widget keys, those of the uploads included."""
HELD_OUT_PERCENT: Final = 8
SOURCE: Final = "corpus"
SAMPLE: Final = "sample"
UPLOAD: Final = "upload"
HELD_OUT: Final = "held_out"
HELD_BY: Final = "held_by"
OWN_FILES: Final = "file"
"""The choice to hold out the visitor's own files; the others are as `Corpus.split` takes them."""
HELD_FILE: Final = "held_file"
"""The use of these files, as `ask_for_files` takes it."""
TEXTS: Final = {"paste": "pasted", "words": "weighted"}
"""The names that typed text has in the address, by its source."""
KEPT_UNDER: Final = {"upload": UPLOAD, "paste": "pasted_id", "words": "weighted_id"}
"""The names that the id of a kept corpus has in the address, by its source."""


def choice_to_address(source: Source) -> None:
    """Put the choice of a corpus in the address, except what the form shows without it."""
    sample = workspace.widget_text("corpus_sample")
    percent = workspace.widget_number("corpus_held_out")
    has_own_corpus = workspace.query_text("run") == workspace.get(OpenRun).id
    is_usual = source != "sample" or sample == samples()[0].id
    by = workspace.widget_text("corpus_held_by")
    workspace.set_query(
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
    kept_id = workspace.query_text(KEPT_UNDER[source]) if source in KEPT_UNDER else None
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
        asked = workspace.widget_text("corpus_held_by")
        if asked not in ("", *choices):
            named = plain_text(asked, _MAX_NAME)
            note_unread(KEYS, f"This text has nothing to hold out by “{named}”.")
            workspace.set_widget("corpus_held_by", USUAL)
        by = st.selectbox(
            "What is held out",
            list(choices),
            format_func=choices.__getitem__,
            key="corpus_held_by",
            help="Whole folders, or the values of a column, say what text of other projects, "
            "sources or authors will take. If nothing is chosen, folders are held out if there are "
            f"at least {HeldOut.MIN_UNITS} and they come near the share, and otherwise documents.",
            persist_state="session",
        )
    if by == OWN_FILES:
        ask_for_files(
            "held_file",
            "Files that training will not see",
            Uploads.MAX_BYTES_IN_MEMORY,
            key="corpus_held_files",
            hint="Text, a table or an archive, up to "
            f"{Uploads.MAX_BYTES_IN_MEMORY // 1_000_000} MB. "
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
    if n_folders >= HeldOut.MIN_UNITS:
        found = {USUAL: "Folders or documents", "document": "Documents"}
    if n_folders > 1:
        found["folder"] = "Folders"
        for depth in range(1, min(folder_depth(names), _MAX_DEPTH + 1)):
            found[f"folder:{depth}"] = f"Folders, {depth} level{'s' * (depth > 1)} deep"
    for name in columns:
        found[f"column:{name}"] = f"Values of “{plain_text(name, _MAX_NAME)}”"
    return {**found, OWN_FILES: "Your own files"}
