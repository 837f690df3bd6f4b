"""Judge a vocabulary on another text instead of the held-out text."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from bpe_core.corpus.corpus import Corpus
from bpe_core.runs.pair_statistics import bytes_per_token_after
from ui.corpus.own_files import close_own_files, keep_own_files, own_files
from ui.look.labels import plain_markdown
from ui.memory.sized_cache import cached
from ui.run.reading_notes import show_reading_notes
from ui.shell.file_upload import upload_files
from ui.storage.run_store import StoredRun, load_run

# Each word goes through every merge of the run: 10 MB and 32,000 merges take 6 seconds.
_MAX_BYTES = 20_000_000


@dataclass(frozen=True, slots=True)
class OtherText:
    """A text and its curve."""

    corpus: Corpus
    tokens_after: NDArray[np.int64]
    """int64[n_merges + 1], read-only: its tokens after each merge."""
    bytes_per_token: NDArray[np.float64]
    """float64[n_merges + 1], read-only."""


def ask_for_other_text(stored: StoredRun) -> OtherText | None:
    """Draw an upload in a popover; return the text's curve on this run, if there is one."""
    with st.popover("Another held-out text", width="content"):
        uploads = upload_files(
            "Files that training has not seen",
            key="held_out_files",
            on_change=lambda: close_own_files("other"),
        )
        files = own_files("other", _MAX_BYTES)
        if uploads and files is None and keep_own_files("other", uploads, _MAX_BYTES):
            files = own_files("other", _MAX_BYTES)
        if files is None:
            st.markdown(
                ":small[:gray[Text, a table or an archive, up to 20 MB. It replaces the held-out "
                "text in this chart only.]]"
            )
            return None
        title, corpus = files
        if not uploads:
            st.markdown(f"Uploaded before: **{plain_markdown(title, 120)}**")
            st.button("Close", key="held_out_close", on_click=close_own_files, args=("other",))
        show_reading_notes(corpus.file_notes)
        return _measured(stored.id, corpus.sha256, corpus)


@cached(spinner="Counting tokens after each merge")
def _measured(run_id: str, sha256: str, _corpus: Corpus) -> OtherText:
    tokens = load_run(run_id).run.tokens_after_on(_corpus)
    curve = bytes_per_token_after(_corpus.n_bytes, tokens)
    for array in (tokens, curve):
        array.flags.writeable = False
    return OtherText(_corpus, tokens, curve)
