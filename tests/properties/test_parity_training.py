"""Parity-aware training learns what `tokenizers`' trainer learns, in the same order."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

import bpe_core as bpe
from bpe_core.types import TrainingConfig
from bpe_core.unicode import to_printable

Texts = dict[str, list[str]]
ALPHABETS = ("ab", "abc", "bcd", "xy", "aé")


def draw(rng: random.Random) -> Texts:
    texts: Texts = {}
    for name in "pqr":
        letters = rng.choice(ALPHABETS)
        words = [
            "".join(rng.choice(letters) for _ in range(rng.randint(1, 6)))
            for _ in range(rng.randint(1, 4))
        ]
        texts[name] = [" ".join(rng.choice(words) for _ in range(rng.randint(1, 8)))]
    return texts


def by_tokenizers(
    texts: Texts, development: Texts | None, n_merges: int, **settings: Any
) -> list[tuple[str, str]]:
    tokenizer: Any = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer: Any = trainers.ParityBpeTrainer(num_merges=n_merges, show_progress=False, **settings)
    measured = (
        {} if development is None else {"dev_iterators": list(map(iter, development.values()))}
    )
    trainer.train_from_iterator(
        tokenizer, train_iterators=[iter(each) for each in texts.values()], **measured
    )
    merges = json.loads(tokenizer.to_str())["model"]["merges"]
    return [tuple(pair) for pair in merges]


@pytest.mark.parametrize(
    ("ours", "theirs", "measures"),
    [
        ({}, {}, True),
        ({}, {}, False),
        ({"hybrid_merges": 4}, {"global_merges": 4}, True),
        ({"min_frequency": 2}, {"min_frequency": 2}, True),
    ],
)
def test_merges_are_those_of_tokenizers(
    ours: dict[str, Any], theirs: dict[str, int], *, measures: bool
) -> None:
    rng = random.Random(5)
    for _ in range(125):
        texts, development = draw(rng), draw(rng) if measures else None
        expected = by_tokenizers(texts, development, 10, **theirs)
        settings = dict(ours)
        config = TrainingConfig(
            266, special_tokens=(), min_frequency=settings.pop("min_frequency", 0)
        )
        run = bpe.train_parity(texts, config, development, **settings)
        vocab = run.tokenizer.vocab
        merges = [
            (to_printable(vocab[m.left]), to_printable(vocab[m.right]))
            for m in run.tokenizer.merges
        ]
        assert merges == expected, (texts, development)
        assert len(run.picked_by) == len(merges)
        measured = texts if development is None else development
        for name, lengths in run.lengths.items():
            assert len(lengths) == len(merges) + 1
            assert lengths[-1] == sum(len(run.tokenizer.encode(text)) for text in measured[name])


def test_wrong_settings_are_refused() -> None:
    texts = {"a": ["hug"], "b": ["pug"]}
    config = TrainingConfig(260)
    with pytest.raises(bpe.BpeError, match="two or more"):
        bpe.train_parity({"a": ["hug"]}, config)
    with pytest.raises(bpe.BpeError, match="in only one"):
        bpe.train_parity(texts, config, {"a": ["hug"]})
    with pytest.raises(bpe.BpeError, match="own tie rule"):
        bpe.train_parity(texts, TrainingConfig(260, tie_break="first-seen"))
    with pytest.raises(bpe.BpeError, match="is empty"):
        bpe.train_parity({"a": ["hug"], "b": [""]}, config)
