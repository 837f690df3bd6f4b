"""Open published tokenizers by name, and say before a click what it takes to add one."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from bpe_core.errors import UnavailableError
from bpe_core.formats.opening.open_encoder import open_published
from bpe_core.published.cache import cached_state
from bpe_core.published.catalogue import CATALOGUE, Published
from bpe_core.published.fetch import FetchProgress, fetch
from bpe_core.tokenizer.protocol import NamedEncoder
from ui.look.labels import size_text

BY_NAME: tuple[str, ...] = tuple(name for name in CATALOGUE if name != "gpt2")
"""The names of the published tokenizers that are fetched; GPT-2's comes with the app."""


def format_label(name: str) -> str:
    """Return a name's line in the list: title, publisher, and whether it is here.

    >>> format_label("llama3").split(" (")[0]
    'Llama 3'
    """
    found = CATALOGUE[name]
    return f"{found.title} ({found.publisher}): {_state(found)}"


def licence_line(name: str) -> str:
    """Return the sentence on publisher, licence and download that is shown next to a choice.

    >>> licence_line("llama3").split(".")[0]
    'Published by Meta under the Llama 3 Community License'
    """
    found = CATALOGUE[name]
    kind = found.licence if found.licence.endswith("License") else f"{found.licence} license"
    line = f"Published by {found.publisher} under the {kind}."
    if cached_state(found) == "missing" and found.package is not None:
        size = size_text(found.download_bytes)
        line += f" Adding it downloads {size}, once; then it needs no network."
    return line


def download_words(names: Sequence[str]) -> str:
    """Return which of the tokenizers are on this server, and which a click downloads.

    >>> download_words(["gpt2"])
    'GPT-2: on this server.'
    """
    here = [CATALOGUE[name].title for name in names if cached_state(CATALOGUE[name]) != "missing"]
    sentences = [f"{', '.join(here)}: on this server."] if here else []
    for name in names:
        found = CATALOGUE[name]
        if found.title not in here and found.package is not None:
            size = size_text(found.download_bytes)
            sentences.append(f"{found.title} needs a download ({size}, once).")
    return " ".join(sentences)


def fetch_with_bar(name: str) -> None:
    """Fetch a tokenizer that is not here, under a progress bar; raises what `fetch` raises."""
    found = CATALOGUE[name]
    bar = st.progress(0.0, text=f"Fetching {found.title}")

    def show(progress: FetchProgress) -> None:
        done, total = size_text(progress.done_bytes), size_text(progress.total_bytes)
        share = progress.done_bytes / max(1, progress.total_bytes)
        bar.progress(share, text=f"Fetching {found.title}: {done} of {total}")

    try:
        fetch(name, show)
    except UnavailableError as error:
        # The error names the package, which the visitor does not know.
        raise UnavailableError(f"{found.title} could not be added. {error}") from error
    finally:
        bar.empty()


def open_by_name(name: str) -> NamedEncoder:
    """Open a tokenizer that was fetched; raise UnavailableError if it was not."""
    found = CATALOGUE[name]
    # Checked every time: the file of a cached tokenizer may have been deleted since.
    if cached_state(found) == "missing":
        raise UnavailableError(
            f"{found.title} is not on this server yet. Press “Add a tokenizer” to download it, or "
            f"run: bpe fetch {name}"
        )
    return _opened(name)


@st.cache_resource(max_entries=16, show_spinner="Opening a tokenizer")
def _opened(name: str) -> NamedEncoder:
    return open_published(CATALOGUE[name])


def _state(found: Published) -> str:
    if found.package is None:
        return "installed"
    if cached_state(found) == "here":
        return "downloaded"
    return f"not downloaded, {size_text(found.download_bytes)}"
