"""Judge a vocabulary on another text instead of the held-out text."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from bpe_core.corpus.corpus import Corpus
from bpe_core.runs.pair_statistics import bytes_per_token_after
from ui.corpus.own_files import ask_for_files
from ui.host.sized_cache import cached
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
        files = ask_for_files(
            "other",
            "Files that training has not seen",
            _MAX_BYTES,
            key="held_out_files",
            hint="Text, a table or an archive, up to 20 MB. It replaces the held-out text in this "
            "chart only.",
        )
    if files is None:
        return None
    _, corpus = files
    return _measured(stored.id, corpus.sha256, corpus)


@cached(spinner="Counting tokens after each merge")
def _measured(run_id: str, sha256: str, _corpus: Corpus) -> OtherText:
    tokens = load_run(run_id).run.tokens_after_on(_corpus)
    curve = bytes_per_token_after(_corpus.n_bytes, tokens)
    for array in (tokens, curve):
        array.flags.writeable = False
    return OtherText(_corpus, tokens, curve)
