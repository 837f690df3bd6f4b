"""Keep files that a page measures on, under an id in its address, so that a reload keeps them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, cast

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from bpe_core.corpus import Corpus, Upload
from bpe_core.errors import BpeError, CorpusError
from ui.corpus.uploads import joined
from ui.host import cached
from ui.look import plain_markdown
from ui.shell import address, check_uploaded, counted_as_kept, upload_files, workspace
from ui.storage import keep_uploaded, load_uploaded
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
        kept_id = address.query_text(use) or ""
    found = None
    if kept_id:
        try:
            found = _opened(kept_id, max_bytes)
        except BpeError as error:
            # The field may be folded.
            st.toast(plain_markdown(str(error), 600), duration="long")
            kept_id = ""
    _note(use, kept_id)
    return found


def ask_for_files(
    use: Use, label: str, max_bytes: int, *, key: str, hint: str
) -> tuple[str, Corpus] | None:
    """Draw an uploader, and return the name and the text of its files or of those kept before.

    `hint` is shown without files.
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
    address.set_query(**{use: kept_id or None})


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
