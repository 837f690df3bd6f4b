"""Judge a vocabulary on another text instead of the held-out text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from bpe_core.corpus.corpus import Corpus
from bpe_core.corpus.filed_corpus import FiledCorpus
from bpe_core.corpus.readers import Upload
from bpe_core.errors import BpeError
from bpe_core.runs.pair_statistics import bytes_per_token_after
from ui.look.labels import plain_markdown
from ui.memory.sized_cache import cached
from ui.run.reading_bar import waiting_on
from ui.run.reading_notes import show_reading_notes
from ui.shell.file_upload import check_uploaded, upload_files
from ui.storage.run_store import StoredRun, load_run
from ui.work.reading import read_files

# Each word goes through every merge of the run: 10 MB and 32,000 merges take 6 seconds.
_MOST_BYTES = 20_000_000


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
        uploads = upload_files("Files that training has not seen", key="held_out_files")
        if not uploads:
            st.markdown(
                ":small[:gray[Text, a table or an archive, up to 20 MB. It replaces the held-out "
                "text in this chart only.]]"
            )
            return None
        try:
            check_uploaded()
            files = cast("list[Upload]", uploads)
            bar = st.empty()
            corpus = _read(files, tuple(file.file_id for file in uploads), waiting_on(bar))
            bar.empty()
        except BpeError as error:
            st.error(plain_markdown(str(error), 400))
            return None
        n_bytes = corpus if isinstance(corpus, int) else corpus.n_bytes
        if isinstance(corpus, int) or n_bytes > _MOST_BYTES:
            st.error(
                f"These files have {n_bytes:,} bytes of text; the limit here is "
                f"{_MOST_BYTES:,}. Use a part of them."
            )
            return None
        show_reading_notes(corpus.file_notes)
        return _measured(stored.id, corpus.sha256, corpus)


@cached(spinner="Reading the files")
def _read(
    _uploads: list[Upload], file_ids: tuple[str, ...], _on_wait: Callable[[], object]
) -> Corpus | int:
    """Return the text, or only its size in bytes if it is too large to be in memory."""
    found = read_files(
        _uploads,
        {},
        encoding={},
        held_out_share=0.0,
        on_progress=lambda _: None,
        on_wait=_on_wait,
    )
    return found.n_bytes if isinstance(found, FiledCorpus) else found


@cached(spinner="Counting tokens after each merge")
def _measured(run_id: str, sha256: str, _corpus: Corpus) -> OtherText:
    tokens = load_run(run_id).run.tokens_after_on(_corpus)
    curve = bytes_per_token_after(_corpus.n_bytes, tokens)
    for array in (tokens, curve):
        array.flags.writeable = False
    return OtherText(_corpus, tokens, curve)
