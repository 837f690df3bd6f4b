"""Measure what progress reports cost in a run, and the time for the counts at any step."""

from __future__ import annotations

import gc
import random
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks import corpora
from benchmarks.encoding import timed
from benchmarks.report import middle, seconds_against, table
from bpe_core.corpus import Corpus, Layout, count_pretokens
from bpe_core.pretokenizers import get_pretokenizer
from bpe_core.trainers import GrowingVocabulary, TrainingRun, train
from bpe_core.trainers import compiled as compiled_training
from bpe_core.types import PretokenCounts, TrainingConfig

CONFIG = TrainingConfig(32_000)
N_PAIRS = 101  # the times of two runs in a row differ by 5 %, whichever reports
N_STEPS = 40
MAX_SECONDS = 0.3
MAX_SLOWDOWN = 1.02


def watched_and_asked(folder: Path | None) -> list[str]:
    """Measure the merge loop with and without progress reports, and counts at random steps."""
    corpus = Corpus.from_documents(corpora.mixed(10_000_000, folder).documents)
    pretokens = count_pretokens(corpus, get_pretokenizer("gpt2"))
    return [*_watched(pretokens), "", *_asked(train(corpus, CONFIG))]


def _watched(pretokens: PretokenCounts) -> list[str]:
    looks = 0

    def look(done: int, saved: int, count: int) -> bool:
        nonlocal looks
        looks += 1
        return False

    def with_looks() -> float:
        return _learn(pretokens, look)

    with_looks()
    looks = 0
    # Each comes first as often as second, so that neither has an advantage.
    pairs = [
        (with_looks(), _without_looks(pretokens))
        if i % 2
        else tuple(reversed((_without_looks(pretokens), with_looks())))
        for i in range(N_PAIRS)
    ]
    ratio = middle([watched / alone for watched, alone in pairs])
    missed = "" if ratio <= MAX_SLOWDOWN else f" (**more than {MAX_SLOWDOWN:g}**)"
    return [
        f"Progress and cancel in the merge loop, 10 MB to 32,000, {looks // N_PAIRS} reports: "
        f"{ratio:.3f} times the time without them{missed}, the median of {N_PAIRS} adjacent pairs "
        "of runs. Processor time is compared."
    ]


def _learn(pretokens: PretokenCounts, look: Callable[[int, int, int], bool]) -> float:
    vocabulary = GrowingVocabulary(CONFIG, ())
    layout = Layout.of_symbols(pretokens, "bytes", vocabulary.base_ids)
    gc.collect()
    gc.disable()  # otherwise it would run in every second run, always in the same one of each pair
    started = time.process_time()
    compiled_training.learn_merges(layout, vocabulary, CONFIG, look)
    seconds = time.process_time() - started
    gc.enable()
    return seconds


def _without_looks(pretokens: PretokenCounts) -> float:
    """Time the merge loop with kernel calls that stop for lack of room only, not to report."""
    kept = compiled_training.MIN_PER_CALL
    compiled_training.MIN_PER_CALL = CONFIG.vocab_size
    try:
        return _learn(pretokens, lambda done, saved, count: False)
    finally:
        compiled_training.MIN_PER_CALL = kept


def _asked(run: TrainingRun) -> list[str]:
    steps = random.Random(0).sample(range(len(run.merges)), N_STEPS)
    for step in steps:
        merge, counts = run.merges[step], run.pair_counts(step)
        if counts[merge.left, merge.right] != merge.count or merge.count != max(counts.values()):
            raise SystemExit(f"The counts before merge {step} differ from those that chose it.")
    rows: list[list[str]] = []
    for name, ask in (
        ("`pair_counts(step)`", run.pair_counts),
        ("`top_pairs(step, 20)`", lambda step: run.top_pairs(step, 20)),
    ):
        times = [timed(lambda: ask(step)) for step in steps]  # noqa: B023
        rows.append(
            [
                name,
                f"{middle(times):.3f} s",
                f"{max(times):.3f} s",
                seconds_against(max(times), MAX_SECONDS),
            ]
        )
    return [
        f"At {N_STEPS} distinct random steps of that run of {len(run.merges):,} merges; the counts "
        "agree with the chosen merges:",
        "",
        table(["call", "median", "maximum", "goal"], rows),
    ]
