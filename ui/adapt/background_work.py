"""Shrink tokenizers and replace tokens in the background, and keep the latest results."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TypeVar

import streamlit as st

from bpe_core.adapting.adapted import Adapted, count_with_missing
from bpe_core.adapting.replace import replace
from bpe_core.adapting.shrink import RemovalOrder, Removals, remove_leaves
from bpe_core.corpus.corpus import Corpus
from bpe_core.tokenizer.tokenizer import Tokenizer
from ui.adapt.judged import judged
from ui.work.background import Background, Progress, Status, Task, UnknownWorkError

_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class Removable:
    """Which tokens may be removed, and which goes first."""

    order: RemovalOrder = "fewest-uses"
    scripts: tuple[str, ...] = ()
    """Only tokens of these may go, if there are any here."""
    pinned: tuple[int, ...] = ()
    """The ids of tokens that stay."""

    @property
    def is_limited(self) -> bool:
        """Whether more stays than the alphabet and special tokens."""
        return bool(self.scripts or self.pinned)


@dataclass(frozen=True, slots=True)
class Order:
    """What to reduce: a tokenizer, on a training text, judged on a held-out text."""

    tokenizer: Tokenizer
    training: Corpus
    held_out: Corpus
    removable: Removable = Removable()

    @property
    def id(self) -> str:
        """The same for the same tokenizer, texts and choices, whoever asks."""
        may_go = self.removable
        choices = json.dumps([may_go.order, may_go.scripts, may_go.pinned])
        return (
            f"{self.tokenizer.fingerprint} {self.training.sha256} {self.held_out.sha256} "
            f"{hashlib.sha256(choices.encode()).hexdigest()}"
        )


@dataclass(frozen=True, slots=True)
class Swapped:
    """A tokenizer with some tokens replaced, and the tokens of the judged text before and after."""

    adapted: Adapted
    n_tokens: int
    where: str
    before: int
    after: int


def shrinking(order: Order) -> Status[Progress, Removals] | None:
    """Return the status of shrinking; None if it was not begun."""
    return _known(shrinkings(), order.id)


def begin_shrinking(order: Order, visitor: str) -> None:
    """Begin to shrink a tokenizer as far as possible. Raises TooMuchWorkError."""

    def work(task: Task[Progress]) -> Removals | None:
        return remove_leaves(
            order.tokenizer,
            order.training,
            held_out=order.held_out if order.held_out.n_bytes else None,
            pinned=order.removable.pinned,
            order=order.removable.order,
            scripts=order.removable.scripts or None,
            on_progress=lambda done, of: task.report(Progress(done, of)),
            should_stop=lambda: task.is_cancelled,
        )

    shrinkings().begin(order.id, work, visitor=visitor)


def replacing(order: Order, n_tokens: int) -> Status[Progress, Swapped] | None:
    """Return the status of replacing `n_tokens` tokens; None if it was not begun."""
    return _known(replacings(), f"{order.id} {n_tokens}")


def begin_replacing(order: Order, n_tokens: int, visitor: str) -> None:
    """Begin to replace `n_tokens` tokens. Raises TooMuchWorkError."""

    def work(task: Task[Progress]) -> Swapped | None:
        of = 2 * n_tokens
        adapted = replace(
            order.tokenizer,
            order.training,
            n_tokens,
            lambda progress: task.report(Progress(n_tokens + progress.merges_done, of)),
            pinned=order.removable.pinned,
            on_removal=lambda done, _: task.report(Progress(done, of)),
            should_stop=lambda: task.is_cancelled,
        )
        if adapted is None:
            return None
        where, text = judged(order.held_out, order.training)
        return Swapped(
            adapted,
            n_tokens,
            where,
            count_with_missing(order.tokenizer, text),
            count_with_missing(adapted.tokenizer, text),
        )

    replacings().begin(f"{order.id} {n_tokens}", work, visitor=visitor)


@st.cache_resource(show_spinner=False)
def shrinkings() -> Background[Progress, Removals]:
    """Return the server's shrinkings, by tokenizer and texts."""
    return Background("shrinking", most_waiting=16, most_remembered=16, most_of_visitor=2)


@st.cache_resource(show_spinner=False)
def replacings() -> Background[Progress, Swapped]:
    """Return the server's replacings, by tokenizer, texts and number of tokens."""
    return Background("replacing", most_waiting=16, most_remembered=16, most_of_visitor=2)


def _known(background: Background[Progress, _Result], id: str) -> Status[Progress, _Result] | None:
    try:
        return background.status(id)
    except UnknownWorkError:
        return None
