"""Measure extending GPT-2 against training as many merges from scratch."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from benchmarks import corpora
from benchmarks.report import against, middle, table
from bpe_core.adapting import extend
from bpe_core.corpus import Corpus, Layout
from bpe_core.tokenizer import gpt2
from bpe_core.trainers import ContinuedVocabulary, TrainingRun, incremental, train
from bpe_core.types import TrainingConfig

N_TOKENS = 2_000
MAX_RATIO = 1.5
N_PAIRS = {10: 9, 100: 3}
"""How often each is measured, by megabytes."""


def against_training(folder: Path | None) -> list[str]:
    """Extend GPT-2 and train from scratch in turn, after comparing with plain Python."""
    config = TrainingConfig(257 + N_TOKENS)
    rows: list[list[str]] = []
    for megabytes, n_pairs in N_PAIRS.items():
        sample = corpora.mixed(megabytes * 1_000_000, folder)
        corpus = Corpus.from_documents(sample.documents)
        _check(extend(gpt2(), corpus, N_TOKENS))
        train(corpus, config)
        extending: list[float] = []
        training: list[float] = []
        for _ in range(n_pairs):
            training.append(_seconds(lambda: train(corpus, config)))  # noqa: B023
            extending.append(_seconds(lambda: extend(gpt2(), corpus, N_TOKENS)))  # noqa: B023
        ratio = middle([one / other for one, other in zip(extending, training, strict=True)])
        rows.append(
            [
                f"{corpus.n_bytes / 1e6:,.0f} MB",
                f"{middle(training):.2f} s",
                f"{middle(extending):.2f} s",
                against(ratio, MAX_RATIO),
            ]
        )
    return [
        f"Extending GPT-2 by {N_TOKENS:,} tokens, against learning {N_TOKENS:,} merges from bytes, "
        "alternating on the same text. Beforehand, the merges, counts and places are compared with "
        "those of the trainer in plain Python. Times are medians; ratios are medians over adjacent "
        "runs.",
        "",
        table(["text", "training", "extending", "ratio"], rows),
    ]


def _check(run: TrainingRun) -> None:
    """Stop if plain Python learns other merges from the same words."""
    pretokens = run.pretokens
    start = Layout.of_tokens(pretokens, *gpt2().encoder.encode_pretokens(pretokens))
    plain = incremental.learn_merges(
        start,
        ContinuedVocabulary(gpt2().vocab),
        run.config,
        lambda done, saved, count: False,
    )
    same = (
        [(merge.left, merge.right, merge.id) for merge in run.merges] == plain.merges
        and [merge.count for merge in run.merges] == plain.counts
        and bool((run.joined_at == plain.joined_at).all())
    )
    if not same:
        raise SystemExit("Extending with kernels and in plain Python gives different merges.")


def _seconds(do: Callable[[], TrainingRun]) -> float:
    started = time.perf_counter()
    do()
    return time.perf_counter() - started
