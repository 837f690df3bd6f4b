"""Open a tokenizer's downloads in other libraries, in the background, and keep the results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

import streamlit as st

from bpe_core.errors import BpeError
from bpe_core.formats.checking.opened_elsewhere import Opened, check_opens
from bpe_core.formats.checking.probe import make_probe
from bpe_core.formats.checking.readers import READERS, find_reader
from bpe_core.formats.load_save import Format
from bpe_core.tokenizer.tokenizer import Tokenizer
from ui.storage.run_store import StoredRun, training_text
from ui.work.background import Background
from ui.work.task import Status, Task

# The other libraries take seconds to import, most of all transformers.
_SLOWEST_LAST: Final[tuple[Format, ...]] = (
    "huggingface",
    "gpt2",
    "tiktoken",
    "native",
    "sentencepiece",
    "gguf",
    "transformers",
)


@dataclass(frozen=True, slots=True)
class Checked:
    """The results of the checks so far, by format and library."""

    of: int
    """The number of checks to do."""
    by_library: Mapping[tuple[Format, str], Opened] = field(
        default_factory=dict[tuple[Format, str], Opened]
    )

    @property
    def done(self) -> int:
        """The number of checks done."""
        return len(self.by_library)

    @property
    def results(self) -> Mapping[Format, Opened]:
        """The result for each format in the library that it is meant for."""
        return {
            format: opened
            for (format, library), opened in self.by_library.items()
            if library == find_reader(format).library
        }


def check_formats(
    tokenizer: Tokenizer, formats: Sequence[Format], stored: StoredRun
) -> Status[Checked, Checked]:
    """Return the status of the checks of a tokenizer's formats, starting them if needed.

    The text is the held-out text of a run, then its training text. Raises `TooMuchWorkError`.
    """
    id = f"{tokenizer.fingerprint} {stored.id}"
    texts = partial(_iterate_texts, stored)
    return checks().begin(id, partial(check_all, tokenizer, tuple(formats), texts))


def check_all(
    tokenizer: Tokenizer,
    formats: Sequence[Format],
    texts: Callable[[], Iterator[str]],
    task: Task[Checked],
) -> Checked | None:
    """Check each format in its own library, then in the others, and report each check.

    Returns None or raises CancelledError if cancelled.
    """
    pairs = _pairs(formats)
    checked = Checked(len(pairs))
    task.report(checked)
    probe = make_probe(tokenizer, texts())
    for format, library in pairs:
        if task.is_cancelled:
            return None
        opened = check_opens(tokenizer, format, probe, lambda: task.is_cancelled, library)
        checked = replace(checked, by_library={**checked.by_library, (format, library): opened})
        task.report(checked)
    return None if task.is_cancelled else checked


def _pairs(formats: Sequence[Format]) -> list[tuple[Format, str]]:
    """Return formats with the libraries that they are for, then with others that read them."""
    own: list[tuple[Format, str]] = [
        (format, find_reader(format).library) for format in sorted(formats, key=_SLOWEST_LAST.index)
    ]
    others: list[tuple[Format, str]] = [
        (format, reader.library) for format in formats for reader in READERS[format][1:]
    ]
    return [*own, *sorted(others, key=lambda pair: pair[1] == "transformers")]


def _iterate_texts(stored: StoredRun) -> Iterator[str]:
    yield from stored.held_out.documents
    # The text of a run may be missing or damaged; other texts take its place.
    with suppress(BpeError):
        kept = training_text(stored.id)
        if kept is not None:
            yield from kept.corpus.documents


@st.cache_resource(show_spinner=False)
def checks() -> Background[Checked, Checked]:
    """Return the server's checks, by tokenizer and run."""
    return Background("opened", max_waiting=32, max_cached=64)
