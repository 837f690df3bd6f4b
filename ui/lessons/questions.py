"""Ask before showing: questions with a few answers to choose from, and what was answered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from bpe_core.types import Pair
from bpe_core.views.token_packing import token_for_browser
from ui.components.lesson import Option, Question, question
from ui.lessons.walk import Walk
from ui.shell import workspace

MAX_OPTIONS = 4


@dataclass(frozen=True, slots=True)
class Answers:
    """The steps whose questions were answered, with the place of the answer; -1 if it was shown."""

    by_step: Mapping[str, int] = field(default_factory=dict[str, int])


def ask(asked: Question, *, step: str) -> bool:
    """Draw a question, and return whether it was answered."""
    key = f"question_{step}"
    answer = workspace.get(Answers).by_step.get(step)
    question(asked, answer=answer, on_answer=partial(_keep, step, key), key=key)
    return answer is not None


def _keep(step: str, key: str) -> None:
    answer = workspace.component_value(key, "answer")
    if isinstance(answer, int):
        workspace.update(Answers, by_step={**workspace.get(Answers).by_step, step: answer})


def choose_number(text: str, right: int, others: Iterable[int], because: str) -> Question:
    """Ask for a number, next to other numbers that one might come to.

    >>> choose_number("How many?", 3, [0, 3, 9, 7, 8], "").options
    (Option(text='0', tiles=()), Option(text='3', tiles=()), Option(text='7', tiles=()), \
Option(text='9', tiles=()))
    """
    wrong = [n for n in dict.fromkeys(others) if n != right and n >= 0]
    wrong += [n for n in (right + 1, right + 2) if n not in wrong]
    numbers = sorted([right, *wrong[: MAX_OPTIONS - 1]])
    return Question(
        text, tuple(Option(f"{n:,}") for n in numbers), (numbers.index(right),), because
    )


def choose_text(text: str, options: Sequence[str], right: int, because: str) -> Question:
    """Ask for one of several answers in words."""
    return Question(text, tuple(map(Option, options)), (right,), because)


def choose_most_frequent(text: str, walk: Walk, because: str) -> Question | None:
    """Ask which pair is joined first; None if there are not two pairs.

    All pairs that are as frequent as the winner are right.
    """
    counts = walk.pair_counts_at(0)
    winner = walk.next_pair_at(0)
    if winner is None or len(counts) < 2:
        return None
    ordered = sorted(counts, key=lambda pair: (pair != winner, -counts[pair]))
    shown = sorted(ordered[:MAX_OPTIONS])
    right = tuple(i for i, pair in enumerate(shown) if counts[pair] == counts[winner])
    return Question(text, tuple(pair_option(pair, walk) for pair in shown), right, because)


def pair_option(ids: Sequence[int] | Pair, walk: Walk) -> Option:
    """Return an answer that shows tokens of a training run as tiles."""
    return Option(
        tiles=tuple(
            (token_for_browser(walk.run.vocab[id]), id if id >= walk.n_start else -1) for id in ids
        )
    )
