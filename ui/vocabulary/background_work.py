"""Run the Vocabulary page's long computations in the background.

They count uses, search for unreachable tokens and preview pruned vocabularies. Each is identified
by its inputs, so visitors who need the same one share it. Short ones finish while the page waits.
"""

from __future__ import annotations

from functools import partial
from typing import Final

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from bpe_core.tokenizer.protocol import Encoder
from bpe_core.tokenizer.tokenizer import Tokenizer
from bpe_core.vocabulary.audit import uses_in_corpus, uses_in_run
from bpe_core.vocabulary.reachability import Reachability, find_unreachable
from ui.storage.run_store import StoredRun
from ui.vocabulary.previews import PruningPreview, make_preview
from ui.vocabulary.texts import CountedText
from ui.work.background import Background, stop_of
from ui.work.task import Progress, Status, Task

Uses = NDArray[np.int64]
FEW_TOKENS: Final = 5_000
"""A vocabulary of this size is searched for unreachable tokens in a quarter of a second."""
FEW_BYTES: Final = 500_000
"""A text of this size is encoded in a quarter of a second."""
_MOST_BYTES_OF_PREVIEWS: Final = 20_000_000
"""A preview holds a tokenizer, and is made in a second."""


def search(tokenizer: Tokenizer) -> Status[Progress, Reachability]:
    """Return the status of the search for unreachable tokens, starting it if needed."""
    id = tokenizer.fingerprint
    is_short = tokenizer.vocab_size <= FEW_TOKENS
    searches().begin(id, partial(_search, tokenizer), is_short=is_short)
    return searches().status(id)


def count(encoder: Encoder, text: CountedText) -> Status[Progress, Uses]:
    """Return the status of counting the uses in a text, starting it if needed."""
    id = f"{encoder.fingerprint} {text.id}"
    is_short = text.corpus is None or text.corpus.n_bytes <= FEW_BYTES
    counts().begin(id, partial(_count, encoder, text), is_short=is_short)
    return counts().status(id)


def preview(
    tokenizer: Tokenizer, uses: Uses, text: CountedText, stored: StoredRun, min_uses: int
) -> Status[Progress, PruningPreview]:
    """Return the status of the preview of a pruned vocabulary, starting it if needed."""
    id = f"{tokenizer.fingerprint} {text.id} {stored.id} {min_uses}"
    corpora = [stored.held_out, *([text.corpus] if text.corpus is not None else [])]
    is_short = sum(corpus.n_bytes for corpus in corpora) <= FEW_BYTES
    make = partial(make_preview, tokenizer, uses, text, stored, min_uses)
    previews().begin(id, make, is_short=is_short)
    return previews().status(id)


def _search(tokenizer: Tokenizer, task: Task[Progress]) -> Reachability | None:
    return find_unreachable(tokenizer, (), stop_of(task))


def _count(encoder: Encoder, text: CountedText, task: Task[Progress]) -> Uses | None:
    if text.corpus is not None:
        return uses_in_corpus(encoder, text.corpus, stop_of(task))
    if text.run is not None:
        return uses_in_run(text.run.run)
    return np.zeros(max(encoder.vocab) + 1, np.int64)


@st.cache_resource(show_spinner=False)
def searches() -> Background[Progress, Reachability]:
    """Return the server's searches for unreachable tokens, by the tokenizer's fingerprint."""
    return Background("unreachable", most_waiting=16, most_remembered=12)


@st.cache_resource(show_spinner=False)
def counts() -> Background[Progress, Uses]:
    """Return the server's counts of uses, by tokenizer and text."""
    return Background("uses", most_waiting=16, most_remembered=12)


@st.cache_resource(show_spinner=False)
def previews() -> Background[Progress, PruningPreview]:
    """Return the server's previews of pruned vocabularies, by all their inputs."""
    return Background(
        "pruning", most_waiting=16, most_remembered=12, most_bytes=_MOST_BYTES_OF_PREVIEWS
    )
