"""Shrink tokenizers and replace tokens in the background, and keep the latest results."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import streamlit as st

from bpe_core.adapting.shrink import RemovalOrder, Removals
from bpe_core.corpus.corpus import Corpus
from bpe_core.corpus.corpus_files import link_corpus, write_corpus
from bpe_core.corpus.filed_corpus import FiledCorpus
from bpe_core.store.place import make_store_folder
from bpe_core.tokenizer.tokenizer import Tokenizer
from bpe_core.types import read_only
from ui.adapt.adapting_process import CHOICES, arrays_in, ask_process
from ui.adapt.general_texts import GENERAL_TEXTS
from ui.adapt.swapped import Swapped, swapped_of
from ui.storage.base_tokenizer import write_base
from ui.storage.new_entries import UNFINISHED, os_errors_as_not_kept
from ui.work.background import Background, UnknownWorkError
from ui.work.task import Progress, Status, Task
from ui.work.training import HELD_OUT_SEED

_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class Removable:
    """Which tokens may be removed, and which goes first."""

    order: RemovalOrder = "fewest-uses"
    scripts: tuple[str, ...] = ()
    """Only tokens of these may go, if there are any here."""
    pinned: tuple[int, ...] = ()
    """The ids of tokens that stay."""
    terms: tuple[str, ...] = ()
    """The terms to make tokens before others are learned, if tokens are replaced; user input."""
    made_again: tuple[str, ...] = ()
    """New tokens to make after the terms, as hexadecimal bytes."""
    left_out: tuple[str, ...] = ()
    """New tokens not to make, as hexadecimal bytes."""

    @property
    def is_limited(self) -> bool:
        """Whether more stays than the alphabet and special tokens."""
        return bool(self.scripts or self.pinned)


@dataclass(frozen=True, slots=True)
class Order:
    """A tokenizer to reduce on the training part of a text, and to judge on the held-out part."""

    tokenizer: Tokenizer
    corpus: Corpus | FiledCorpus
    held_out_share: float = 0.0
    removable: Removable = Removable()
    general_id: str = GENERAL_TEXTS[0]
    """The sample that is shown as a general text at first."""
    held_out_by: str = "document"
    """As `Corpus.split` takes it."""

    @property
    def id(self) -> str:
        """A key that is the same for the same tokenizer, texts and choices, whoever asks."""
        may_go = self.removable
        choices = json.dumps(
            [self.held_out_share, self.held_out_by, self.general_id, *asdict(may_go).values()]
        )
        return (
            f"{self.tokenizer.fingerprint} {self.corpus.sha256} "
            f"{hashlib.sha256(choices.encode()).hexdigest()}"
        )


def shrinking(order: Order) -> Status[Progress, Removals] | None:
    """Return the status of shrinking; None if it was not begun."""
    return _known(shrinkings(), order.id)


def begin_shrinking(order: Order, visitor: str) -> None:
    """Begin to shrink a tokenizer as far as possible. Raises TooMuchWorkError."""

    def work(task: Task[Progress]) -> Removals | None:
        return shrink_in_process(order, task)

    shrinkings().begin(order.id, work, visitor=visitor)


def replacing(order: Order, n_tokens: int) -> Status[Progress, Swapped] | None:
    """Return the status of replacing `n_tokens` tokens; None if it was not begun."""
    return _known(replacings(), f"{order.id} {n_tokens}")


def begin_replacing(order: Order, n_tokens: int, visitor: str) -> None:
    """Begin to replace `n_tokens` tokens. Raises TooMuchWorkError."""

    def work(task: Task[Progress]) -> Swapped | None:
        return replace_in_process(order, n_tokens, task)

    replacings().begin(f"{order.id} {n_tokens}", work, visitor=visitor)


@st.cache_resource(show_spinner=False)
def shrinkings() -> Background[Progress, Removals]:
    """Return the server's shrinkings, by tokenizer and texts."""
    return Background("shrinking", most_waiting=16, most_remembered=16, most_of_visitor=2)


@st.cache_resource(show_spinner=False)
def replacings() -> Background[Progress, Swapped]:
    """Return the server's replacings, by tokenizer, texts and number of tokens."""
    return Background("replacing", most_waiting=16, most_remembered=16, most_of_visitor=2)


def shrink_in_process(order: Order, task: Task[Progress]) -> Removals | None:
    """Shrink a tokenizer as far as possible; return None if the task is cancelled."""
    with _folder_for(order, None) as folder:
        if _asked(folder, task) is None:
            return None
        arrays = arrays_in(folder)
    return Removals(
        order.tokenizer,
        tuple(arrays["result-order"].tolist()),
        read_only(arrays["result-uses"]),
        read_only(arrays["result-tokens"]),
        read_only(arrays["result-held_out"]) if "result-held_out" in arrays else None,
    )


def replace_in_process(order: Order, n_tokens: int, task: Task[Progress]) -> Swapped | None:
    """Replace `n_tokens` tokens; return None if the task is cancelled."""
    with _folder_for(order, n_tokens) as folder:
        found = _asked(folder, task)
        if found is None:
            return None
        return swapped_of(order.tokenizer, found, arrays_in(folder))


def _asked(folder: Path, task: Task[Progress]) -> dict[str, Any] | None:
    return ask_process(folder, task, lambda done, of: task.report(Progress(done, of)))


@contextmanager
def _folder_for(order: Order, n_tokens: int | None) -> Generator[Path]:
    """Write an order to a folder that is deleted with the block. Raises NotKeptError."""
    with os_errors_as_not_kept():
        place = TemporaryDirectory(
            prefix=UNFINISHED, dir=make_store_folder(), ignore_cleanup_errors=True
        )
    with place as name:
        folder = Path(name)
        with os_errors_as_not_kept():
            if isinstance(order.corpus, FiledCorpus):
                link_corpus(order.corpus.folder, folder)
            else:
                write_corpus(folder, order.corpus)
            write_base(folder, order.tokenizer)
            choices = {
                **asdict(order.removable),
                "share": order.held_out_share,
                "by": order.held_out_by,
                "general_id": order.general_id,
                "seed": HELD_OUT_SEED,
                "n_tokens": n_tokens,
                "n_bytes": order.corpus.n_bytes,
            }
            (folder / CHOICES).write_text(json.dumps(choices), "utf-8")
        yield folder


def _known(background: Background[Progress, _Result], id: str) -> Status[Progress, _Result] | None:
    try:
        return background.status(id)
    except UnknownWorkError:
        return None
