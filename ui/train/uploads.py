"""Draw the choice of files to train on, and read them into a corpus with a progress bar."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import cast

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bpe_core.corpus.corpus import Corpus, read_corpus
from bpe_core.corpus.readers import Upload
from ui.look.labels import plain_markdown
from ui.run import corpus_summary
from ui.shell import workspace
from ui.shell.file_upload import LIMIT, check_uploaded, upload_files
from ui.train.pace import duration

_MOST_NAMES = 3
_SECONDS_BEFORE_BAR = 0.5
_SECONDS_BETWEEN_DRAWINGS = 0.1


def read_uploads() -> tuple[Corpus, str] | None:
    """Draw the choice of files; return their corpus and its title, None without files.

    Raises what reading them raises.
    """
    uploads = upload_files(
        "Files to train on",
        key="corpus_uploads",
        label_visibility="collapsed",
        # Streamlit calls this when files are added or removed, but not when the page is left.
        on_change=_forget,
    )
    st.markdown(
        ":gray[:small[Any kind of text: txt, md, csv, tsv, jsonl, json, parquet, source code; also "
        f"gz and zip. {LIMIT}]]"
    )
    check_uploaded()
    kept = workspace.current()
    if not uploads:
        # Streamlit empties the uploader when the page is left; the corpus is kept.
        if kept.corpus is None:
            return None
        st.markdown(f"Uploaded before: **{plain_markdown(kept.corpus_title)}**")
        return kept.corpus, kept.corpus_title
    file_ids = tuple(upload.file_id for upload in uploads)
    files = cast("list[Upload]", uploads)
    columns = corpus_summary.uploaded_columns(files, file_ids)
    column = None
    if len(columns) > 1:
        column = st.selectbox(
            "Column with the text", columns, key="corpus_column", persist_state="session"
        )
    source = (*file_ids, column or "")
    if kept.corpus is not None and kept.corpus_source == source:
        return kept.corpus, kept.corpus_title
    bar = st.empty()
    corpus = read_corpus(
        files, column, on_progress=progress_on(bar, sum(upload.size for upload in uploads))
    )
    bar.empty()
    title = joined(_names_read([upload.name for upload in uploads], corpus), "files")
    workspace.update(corpus=corpus, corpus_title=title, corpus_source=source)
    return corpus, title


def joined(names: list[str], noun: str) -> str:
    """Join a few names, or name the first and count the rest.

    >>> joined(["a.txt", "b.txt"], "files"), joined(["a", "b", "c", "d"], "files")
    ('a.txt, b.txt', 'a and 3 more files')
    """
    if len(names) <= _MOST_NAMES:
        return ", ".join(names)
    return f"{names[0]} and {len(names) - 1} more {noun}"


def _forget() -> None:
    workspace.update(corpus=None, corpus_title="", corpus_source=())


def progress_on(bar: DeltaGenerator, n_bytes: int) -> Callable[[float], None]:
    """Return a function that draws the progress of a reading that takes longer than a moment.

    Drawing also lets the visitor stop it: if they have removed a file or used another widget,
    Streamlit stops the script there and runs the page again.
    """
    started = drawn_at = time.monotonic()

    def draw(part: float) -> None:
        nonlocal drawn_at
        now = time.monotonic()
        seconds = now - started
        if not part or seconds < _SECONDS_BEFORE_BAR or now - drawn_at < _SECONDS_BETWEEN_DRAWINGS:
            return
        drawn_at = now
        megabytes = n_bytes / 1e6
        bar.progress(
            min(1.0, part),
            f"Reading {part * megabytes:,.0f} of {megabytes:,.0f} MB, "
            f"{part * megabytes / seconds:,.0f} MB a second, "
            f"{duration(seconds * (1 - part) / part)} left. To stop, remove the file.",
        )

    return draw


def _names_read(names: list[str], corpus: Corpus) -> list[str]:
    """Return the names of uploads with documents; a document's name starts with its file's."""
    read = [name for name in names if any(d.startswith(name) for d in corpus.names)]
    return read or names
