"""Open published tokenizers by name, and say before a click what it takes to add one."""

from __future__ import annotations

import streamlit as st

from bpe_core.formats.open_encoder import open_published
from bpe_core.published.cache import state_of
from bpe_core.published.catalogue import CATALOGUE, Published
from bpe_core.published.fetch import FetchProgress, fetch
from bpe_core.tokenizer.protocol import NamedEncoder
from ui.look.labels import size_text

BY_NAME: tuple[str, ...] = tuple(
    name for name in CATALOGUE if name not in ("gpt2", "gpt4", "gpt4o")
)
"""The names beside those that have buttons of their own."""


def label_of(name: str) -> str:
    """Return a name's line in the list: title, publisher, and whether it is here.

    >>> label_of("llama3").split(" (")[0]
    'Llama 3'
    """
    found = CATALOGUE[name]
    return f"{found.title} ({found.publisher}): {_state(found)}"


def licence_line(name: str) -> str:
    """Return the sentence on publisher, licence and download that is shown beside a choice.

    >>> licence_line("llama3").split(".")[0]
    'Published by Meta under the Llama 3 Community License'
    """
    found = CATALOGUE[name]
    kind = found.licence if found.licence.endswith("License") else f"{found.licence} license"
    line = f"Published by {found.publisher} under the {kind}."
    if state_of(found) == "missing" and found.package is not None:
        size = size_text(found.package.n_bytes)
        line += f" Adding it downloads {size}, once; then it needs no network."
    return line


def fetch_with_bar(name: str) -> None:
    """Fetch a tokenizer that is not here, under a progress bar; raise what `fetch` raises."""
    found = CATALOGUE[name]
    if state_of(found) != "missing":
        return
    bar = st.progress(0.0, text=f"Fetching {found.title}")

    def show(progress: FetchProgress) -> None:
        done, total = size_text(progress.done_bytes), size_text(progress.total_bytes)
        share = progress.done_bytes / max(1, progress.total_bytes)
        bar.progress(share, text=f"Fetching {found.title}: {done} of {total}")

    try:
        fetch([name], show)
    finally:
        bar.empty()


def open_by_name(name: str) -> NamedEncoder:
    """Open a tokenizer that was fetched; raise UnavailableError if it was not."""
    found = CATALOGUE[name]
    if state_of(found) == "missing":
        # Raised here, because what is cached may have been removed from the disk since.
        return open_published(found)
    return _opened(name)


@st.cache_resource(max_entries=16, show_spinner="Opening a tokenizer")
def _opened(name: str) -> NamedEncoder:
    return open_published(CATALOGUE[name])


def _state(found: Published) -> str:
    if found.package is None:
        return "installed"
    if state_of(found) == "here":
        return "downloaded"
    return f"not downloaded, {size_text(found.package.n_bytes)}"
