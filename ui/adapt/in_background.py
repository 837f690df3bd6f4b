"""Shrink tokenizers and replace tokens in the background, and keep the latest results."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Final, NamedTuple, TypeVar

from bpe_core.adapting import Removals
from bpe_core.comparison import IntervalWords
from bpe_core.corpus import Corpus
from bpe_core.tokenizer import Tokenizer
from ui.adapt.adapting_process import (
    GENERAL_TEXTS,
    Removable,
    Swapped,
    TextSplit,
    replace_here,
    shrink_here,
)
from ui.storage import HELD_OUT_SEED, upload_held_out
from ui.work import Progress, Status, Task, WorkKind, call_apart, files_for_process, queue

_Result = TypeVar("_Result")

REPLACE: Final = WorkKind[Progress, Swapped]("replacing", max_per_visitor=2)
"""By the id of the order and the number of tokens."""


@dataclass(frozen=True, slots=True)
class Order:
    """A tokenizer to reduce on the training part of a text, and to judge on the held-out part."""

    tokenizer: Tokenizer
    corpus: Corpus
    held_out_share: float = 0.0
    removable: Removable = field(default_factory=Removable)
    general_id: str = GENERAL_TEXTS[0]
    """The sample that is shown as a general text at first."""
    held_out_by: str | None = None
    """As `divide` takes it."""

    @property
    def id(self) -> str:
        """A key that is the same for the same tokenizer, texts and choices, no matter who asks."""
        may_go = self.removable
        choices = json.dumps(
            [self.held_out_share, self.held_out_by, self.general_id, *asdict(may_go).values()]
        )
        return (
            f"{self.tokenizer.fingerprint} {self.corpus.sha256} "
            f"{hashlib.sha256(choices.encode()).hexdigest()}"
        )


class ShrinkResult(NamedTuple):
    """The result of shrinking."""

    removals: Removals
    how_sure: IntervalWords
    """How sure the verdict on the held-out text is, if there is any."""


SHRINK: Final = WorkKind[Progress, ShrinkResult]("shrinking", max_per_visitor=2)
"""By the id of the order."""


def begin_shrinking(order: Order) -> None:
    """Begin to shrink a tokenizer as far as possible. Raises TooMuchWorkError."""
    queue.begin(SHRINK, order.id, partial(shrink_in_process, order))


def shrinking(order: Order) -> Status[Progress, ShrinkResult] | None:
    """Return the status of shrinking a tokenizer; None if it was not begun."""
    return queue.find(SHRINK, order.id)


def replacing(order: Order, n_tokens: int) -> Status[Progress, Swapped] | None:
    """Return the status of replacing `n_tokens` tokens; None if it was not begun."""
    return queue.find(REPLACE, f"{order.id} {n_tokens}")


def begin_replacing(order: Order, n_tokens: int) -> None:
    """Begin to replace `n_tokens` tokens. Raises TooMuchWorkError."""
    queue.begin(REPLACE, f"{order.id} {n_tokens}", partial(replace_in_process, order, n_tokens))


def shrink_in_process(order: Order, task: Task[Progress]) -> ShrinkResult:
    """Shrink a tokenizer as far as possible; raises CancelledError if the task is cancelled."""
    found = _called(shrink_here, order, task)
    removals = Removals(
        order.tokenizer,
        tuple(found.order.tolist()),
        found.uses,
        found.tokens_after,
        found.held_out_tokens_after,
    )
    return ShrinkResult(removals, found.how_sure)


def replace_in_process(order: Order, n_tokens: int, task: Task[Progress]) -> Swapped:
    """Replace `n_tokens` tokens; raises CancelledError if the task is cancelled."""
    found = _called(replace_here, order, task, n_tokens)
    return Swapped(
        order.tokenizer,
        tuple(found.removed.tolist()),
        found.sizes,
        found.where,
        found.judged,
        order.general_id,
        found.general,
        found.how_sure,
    )


def _called(
    function: Callable[..., _Result], order: Order, task: Task[Progress], *arguments: object
) -> _Result:
    """Call a function in a process with an order's files and choices.

    Raises CancelledError if the task is cancelled, the BpeError that the function raises,
    NotKeptError if there is no room for the files, and WorkProcessError if the process was ended
    without a result.
    """
    split = TextSplit(order.held_out_share, HELD_OUT_SEED, order.held_out_by)
    own = upload_held_out(order.held_out_by)
    with files_for_process(order.corpus, order.tokenizer, own) as folder:
        return call_apart(
            function,
            folder,
            split,
            order.removable,
            *arguments,
            n_bytes=order.corpus.n_bytes,
            on_progress=task.report,
            should_stop=lambda: task.is_cancelled,
        )
