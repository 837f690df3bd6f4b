"""Label runs in lists to choose from, so that no two labels are alike."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from bpe_core.types import TrainingConfig
from ui.look.labels import counted, escape_markdown, plain_text

MAX_TITLE_LENGTH: Final = 44
_MAX_SETTING_LENGTH: Final = 24


@dataclass(frozen=True, slots=True)
class RunName:
    """The data for a run's label, available without loading the run."""

    id: str
    title: str
    """Typed by a visitor: any text of any length."""
    vocab_size: int
    """The number of tokens at the end of the run."""
    config: TrainingConfig
    trained_at: datetime | None = None
    """When it was stored, with a time zone; None for the sample."""


def run_labels(runs: Sequence[RunName], now: datetime) -> list[str]:
    r"""Return a Markdown label for each run, each different from all others.

    A label has the title and the size. If two would be alike, it adds what differs: a setting, else
    the time of training in the time zone of `now`, else a number.

    >>> runs = [RunName(preset, "Hugs", 300, TrainingConfig(pretokenizer=preset))
    ...         for preset in ("gpt2", "cl100k")]
    >>> run_labels(runs, datetime.now())[0]
    'Hugs :gray[300 tokens, pre\\-tokenizer gpt2]'
    """
    titles = [plain_text(run.title, MAX_TITLE_LENGTH).strip() or "Untitled" for run in runs]
    details = [[counted(run.vocab_size, "token")] for run in runs]
    for describe in (*_SETTINGS, _times):
        for alike in _alike(list(map(_label, titles, details))):
            words = describe([runs[at] for at in alike], now)
            if len(set(words)) > 1:
                for at, word in zip(alike, words, strict=True):
                    details[at] += [word] if word else []
    return _numbered(runs, titles, details)


def _label(title: str, details: Sequence[str]) -> str:
    return f"{escape_markdown(title)} :gray[{', '.join(map(escape_markdown, details))}]"


def _alike(labels: Sequence[str]) -> list[list[int]]:
    """Return the places of labels that look the same, one list per group."""
    places: defaultdict[str, list[int]] = defaultdict(list)
    for at, label in enumerate(labels):
        places[_look(label)].append(at)
    return [alike for alike in places.values() if len(alike) > 1]


def _look(label: str) -> str:
    """Return a label reduced to what a reader can see.

    A browser shows several spaces as one, and hides a joiner that joins nothing.
    """
    return " ".join(unicodedata.normalize("NFC", label).replace("\u200d", "").split())


def _numbered(
    runs: Sequence[RunName], titles: Sequence[str], details: Sequence[Sequence[str]]
) -> list[str]:
    # Numbered by time of training: opening a run moves it in the list but must not rename it.
    order = sorted(range(len(runs)), key=lambda at: (_seconds(runs[at].trained_at), runs[at].id))
    labels = list(map(_label, titles, details))
    taken: set[str] = set()
    for at in order:
        number = 1
        while _look(labels[at]) in taken:
            number += 1
            labels[at] = _label(titles[at], (*details[at], f"no. {number}"))
        taken.add(_look(labels[at]))
    return labels


def _seconds(time: datetime | None) -> float:
    return time.timestamp() if time is not None else 0.0


_Describe = Callable[[Sequence[RunName], datetime], list[str]]
"""Return a few words about each run; empty if there is nothing to add."""


def _setting(words: Callable[[TrainingConfig], str]) -> _Describe:
    return lambda runs, now: [words(run.config) for run in runs]


def _end_of_word(config: TrainingConfig) -> str:
    if config.end_of_word is None:
        return "no end-of-word marker"
    return f"marker {_short(config.end_of_word)}"


def _special_tokens(config: TrainingConfig) -> str:
    if not config.special_tokens:
        return "no special tokens"
    return f"special tokens {_short(' '.join(config.special_tokens))}"


def _longest_token(config: TrainingConfig) -> str:
    if config.max_token_bytes is None:
        return "tokens of any length"
    return f"tokens up to {counted(config.max_token_bytes, 'byte')}"


def _short(text: str) -> str:
    return plain_text(text, _MAX_SETTING_LENGTH)


# The most telling settings come first.
_SETTINGS: Final[tuple[_Describe, ...]] = (
    _setting(lambda config: f"pre-tokenizer {_short(config.pretokenizer)}"),
    _setting(lambda config: f"base {config.base}"),
    _setting(lambda config: f"alphabet {config.alphabet}"),
    _setting(_end_of_word),
    _setting(_special_tokens),
    _setting(lambda config: f"ties {config.tie_break}"),
    _setting(lambda config: f"minimum count {config.min_frequency:,}"),
    _setting(_longest_token),
    _setting(lambda config: f"coverage {config.character_coverage:.6g}"),
    _setting(lambda config: f"{config.vocab_size:,} asked for"),
)


def _times(runs: Sequence[RunName], now: datetime) -> list[str]:
    """Return when each run was trained, to the second if two share a minute."""
    known = [run.trained_at.astimezone(now.tzinfo) for run in runs if run.trained_at is not None]
    minutes = {time.replace(second=0, microsecond=0) for time in known}
    clock = "%H:%M" if len(minutes) == len(known) else "%H:%M:%S"
    return [_time(run.trained_at, now, clock) if run.trained_at is not None else "" for run in runs]


def _time(time: datetime, now: datetime, clock: str) -> str:
    local = time.astimezone(now.tzinfo)
    at = f"at {local:{clock}}"
    if local.date() == now.date():
        return f"trained {at}"
    year = f" {local.year}" if local.year != now.year else ""
    return f"trained on {local.day} {local:%B}{year} {at}"
