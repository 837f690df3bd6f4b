"""Train small tokenizers on the samples, and pack their merges for the player."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bpe_core.corpus import load_sample
from bpe_core.trainers import TrainingRun, train
from bpe_core.types import TrainingConfig
from bpe_core.views import (
    PlayedRun,
    Ribbon,
)

_RIBBON_BYTES: Final = 1_800


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """A run that the site plays: the sample it was trained on, and its name in the choice."""

    id: str
    """The id of the sample."""
    language: str
    text: str
    vocab_size: int
    """The largest; training may stop earlier, when no pair occurs twice."""


RECORDED: Final = (
    RecordedRun("alice", "English", "Alice’s Adventures in Wonderland", 2_048),
    RecordedRun("rotkaeppchen", "German", "Rotkäppchen", 1_024),
    RecordedRun("chaperon-rouge", "French", "Le Petit Chaperon rouge", 1_024),
    RecordedRun("kong-yiji", "Chinese", "孔乙己, by Lu Xun", 1_024),
    RecordedRun("multilingual", "25 languages", "Everyday sentences in 15 scripts", 1_024),
)


def train_recorded(recorded: RecordedRun) -> TrainingRun:
    """Train a run: bytes, cut as GPT-2 cuts, pairs that occur at least twice."""
    config = TrainingConfig(recorded.vocab_size, min_frequency=2)
    return train(load_sample(recorded.id), config)


def stored_run(recorded: RecordedRun, run: TrainingRun) -> list[bytes]:
    """Return the two messages that the merge player plays: the run, and all its merges."""
    player = PlayedRun(run, f"run-{recorded.id}")
    beginning = Ribbon.beginnings(load_sample(recorded.id).documents[:1], _RIBBON_BYTES)
    end = {"ribbon": Ribbon.pack(run.tokenizer, *beginning)}
    return [
        player.pack(opening=run.opening_step, starts=[0], end=end),
        player.pack_merges(0, len(run.merges)),
    ]
