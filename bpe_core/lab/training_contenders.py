"""Wrap the trainers that are measured against each other, each as a `Contender`."""

from __future__ import annotations

import json
from collections.abc import Callable

from bpe_core.extras import needs_extra
from bpe_core.lab.measuring import Contender
from bpe_core.lab.usual_times import UsualTime
from bpe_core.types import TrainingConfig


def trainers(n_merges: int) -> list[Contender]:
    """Return the trainers: bytes as the alphabet, GPT-2's pre-tokenizer, `n_merges` merges.

    Each returns the merges as pairs of tokens.

    >>> reference, engine, theirs = (trainer.prepare() for trainer in trainers(3))
    >>> reference("hug hugs") == engine("hug hugs") == theirs("hug hugs")
    True
    """
    config = TrainingConfig(256 + n_merges, special_tokens=())
    return [
        Contender(
            "reference",
            lambda: _reference_trainer(config),
            usual=UsualTime(0.0, 4e-7 * n_merges, power=0.9),
        ),
        Contender("engine", lambda: _engine_trainer(config), usual=UsualTime(0.01, 5e-8)),
        Contender("tokenizers", lambda: _tokenizers_trainer(config), usual=UsualTime(0.012, 9e-7)),
    ]


def _reference_trainer(config: TrainingConfig) -> Callable[[str], list[tuple[bytes, bytes]]]:
    from bpe_core.corpus.corpus import Corpus
    from bpe_core.counting.words import count_pretokens
    from bpe_core.pretokenizers.pretokenizers import get_pretokenizer
    from bpe_core.trainers.reference import train_reference

    pretokenizer = get_pretokenizer(config.pretokenizer)

    def train(text: str) -> list[tuple[bytes, bytes]]:
        run = train_reference(count_pretokens(Corpus.from_text(text), pretokenizer), config)
        return [(run.vocab[merge.left], run.vocab[merge.right]) for merge in run.merges]

    return train


def _engine_trainer(config: TrainingConfig) -> Callable[[str], list[tuple[bytes, bytes]]]:
    from bpe_core.corpus.corpus import Corpus
    from bpe_core.kernels.compiling.choose import kernels_are_ready
    from bpe_core.runs.train import train as train_by_engine

    if kernels_are_ready():
        # Load them now, so that the first timed text doesn't pay for it.
        import bpe_core.trainers.compiled  # noqa: F401  # pyright: ignore[reportUnusedImport]

        train_by_engine(Corpus.from_text("hug " * 20_000), config)

    def train(text: str) -> list[tuple[bytes, bytes]]:
        run = train_by_engine(Corpus.from_text(text), config)
        vocab = run.tokenizer.vocab
        return [(vocab[merge.left], vocab[merge.right]) for merge in run.merges]

    return train


def _tokenizers_trainer(config: TrainingConfig) -> Callable[[str], list[tuple[bytes, bytes]]]:
    with needs_extra("formats", "Measuring tokenizers"):
        import tokenizers
        from tokenizers import models, pre_tokenizers
        from tokenizers.trainers import BpeTrainer

    from bpe_core.unicode.byte_alphabet import from_printable

    def train(text: str) -> list[tuple[bytes, bytes]]:
        theirs = tokenizers.Tokenizer(models.BPE())
        theirs.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        trainer = BpeTrainer(
            vocab_size=config.vocab_size,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        )
        theirs.train_from_iterator([text], trainer)
        merges = json.loads(theirs.to_str())["model"]["merges"]
        return [(from_printable(left), from_printable(right)) for left, right in merges]

    return train
