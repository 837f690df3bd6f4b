"""The compiled trainers: the merges of `incremental` and of `parity`, learned by kernels."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from itertools import product
from typing import Final, cast

import numpy as np

from bpe_core.corpus import Layout
from bpe_core.kernels import (
    PairLearning,
    ParityLearning,
    PickyLearning,
    Words,
    without_garbage_collection,
)
from bpe_core.trainers.base_vocabulary import GrowingVocabulary
from bpe_core.trainers.continued import ContinuedVocabulary, hash_tokens
from bpe_core.trainers.incremental import LearnedMerges
from bpe_core.trainers.incremental import learn_merges as learn_merges_incrementally
from bpe_core.trainers.pair_tables import goes_by_slot
from bpe_core.trainers.parity import LearnedParity, ParityRule
from bpe_core.types import StopReason, TrainingConfig

# Calling the kernel and reporting cost 10 microseconds, 0.05 % of this.
_SECONDS_A_CALL: Final = 0.02
MIN_PER_CALL, _MAX_PER_CALL = 16, 1 << 14
# Later merges are faster, so calls grow; but no call's time says much about the next one's.
_MAX_GROWTH: Final = 2
_SHORTEST: Final = 1e-6  # seconds, where a coarse clock shows 0


def learn_merges(
    layout: Layout,
    vocabulary: GrowingVocabulary | ContinuedVocabulary,
    config: TrainingConfig,
    should_stop: Callable[[int, int, int], bool],
    done: list[tuple[int, int, int]] | None = None,
) -> LearnedMerges:
    """Learn the same merges as `incremental.learn_merges`, from the same arguments.

    The layout is used up, and its memory becomes the result's `joined_at`. `should_stop` is called
    about every 20 ms with the number of merges done, the tokens saved since its last call, and the
    last pair's count, and the merges are added to `done` before, if it is given.

    >>> from bpe_core.corpus import Layout
    >>> config = TrainingConfig(258, special_tokens=())
    >>> vocabulary = GrowingVocabulary(config, ())
    >>> layout = Layout.of_words([vocabulary.start(b"abab")], [1])
    >>> learn_merges(layout, vocabulary, config, lambda done, saved, count: False).merges
    [(64, 65, 256), (256, 256, 257)]
    """
    before = None if isinstance(vocabulary, ContinuedVocabulary) else vocabulary.copy()
    # Each merge uses up at least one slot, so there can be no more merges than slots.
    n_merges = min(config.vocab_size - len(vocabulary), len(layout.ids))
    work = PairLearning(_words(layout, config), vocabulary, n_merges)
    stop_reason = _learn(work, should_stop, done)
    with without_garbage_collection():
        work.name_new_tokens()
    if isinstance(before, GrowingVocabulary) and len(vocabulary) < len(before) + work.n_done:
        # A token with the bytes of an older one takes its id, which changes every later count.
        # Training from single symbols never gets here: see GrowingVocabulary.join.
        cast("GrowingVocabulary", vocabulary).take_over(before)
        first = Layout(work.first_ids(), layout.counts)
        return learn_merges_incrementally(first, vocabulary, config, should_stop)
    with without_garbage_collection():
        merges, counts = work.new_merges(), work.counts.tolist()
    return LearnedMerges(merges, counts, work.saved, work.ranks(), stop_reason)


def learn_parity(
    training: Sequence[Layout],
    measured: Sequence[Layout] | None,
    vocabulary: GrowingVocabulary,
    config: TrainingConfig,
    rule: ParityRule,
    should_stop: Callable[[int, int, int], bool],
) -> LearnedParity:
    """Learn the same merges as `learn_parity_reference`, from the same arguments.

    `should_stop` is called about every 20 ms, as by `learn_merges`.

    >>> from bpe_core.corpus import Layout
    >>> config = TrainingConfig(258, special_tokens=())
    >>> vocabulary = GrowingVocabulary(config, ())
    >>> words = [Layout.of_words([vocabulary.start(each)], [1]) for each in (b"hug", b"abab")]
    >>> never = lambda done, saved, count: False
    >>> learn_parity(words, None, vocabulary, config, ParityRule(), never).picked.tolist()
    [1, 0]
    """
    n = len(training)
    texts = [*training, *(measured or ())]
    ends = 1 + np.cumsum([each.ids.size - 1 for each in texts])
    # Each merge uses up at least one slot.
    n_merges = min(config.vocab_size - len(vocabulary), int(ends[n - 1]))
    if rule.hybrid_merges:
        texts = [Layout.joined(each) for each in (training, measured) if each]
    work = ParityLearning(
        _words(Layout.joined(texts, vocabulary.next_id + n_merges), config),
        vocabulary.tokens,
        n_merges=n_merges,
        n_languages=n,
        ends=ends,
        n_symbols=[each.n_symbols for each in measured or training],
        n_together=rule.hybrid_merges,
        window=rule.window or 0,
        most_recent=rule.most_recent(n),
    )
    stop_reason = _learn(work, should_stop)
    with without_garbage_collection():
        vocabulary.join_new(zip(*work.merged(), strict=True))
        merges, counts = work.new_merges(), work.counts.tolist()
        found = LearnedMerges(merges, counts, work.saved, work.ranks(), stop_reason)
        return LearnedParity(found, work.picked.copy(), work.lengths())


def learn_picky(
    layout: Layout,
    vocabulary: GrowingVocabulary | ContinuedVocabulary,
    config: TrainingConfig,
    should_stop: Callable[[int, int, int], bool],
    done: list[tuple[int, int, int]] | None = None,
) -> LearnedMerges:
    """Learn the same merges and removals as in plain Python, from the same arguments.

    `should_stop` is called about every 20 ms, as by `learn_merges`.

    >>> from bpe_core.corpus import Layout
    >>> config = TrainingConfig(6, base="characters", special_tokens=(), picky=0.9)
    >>> vocabulary = GrowingVocabulary(config, [b"a", b"b", b"c", b"d"])
    >>> layout = Layout.of_words([[0, 1, 2], [0, 1], [3, 2]], [20, 1, 3])
    >>> found = learn_picky(layout, vocabulary, config, lambda done, saved, count: False)
    >>> found.merges, found.removals
    ([(0, 1, 4), (4, 2, 5), (3, 2, 6)], [(2, 4)])
    """
    work = PickyLearning(
        _words(layout, config),
        layout.weights().astype(np.int64),
        vocabulary,
        *hash_tokens(vocabulary.tokens),
        vocab_size=config.vocab_size,
        most=config.picky or 0.0,
    )
    stop_reason = _learn(work, should_stop, done)
    with without_garbage_collection():
        work.name_new_tokens()
        return LearnedMerges(
            work.new_merges(),
            work.counts.tolist(),
            work.saved,
            work.ranks(),
            stop_reason,
            work.removals,
            work.undone(),
        )


def _words(layout: Layout, config: TrainingConfig) -> Words:
    return Words(
        layout.ids,
        layout.counts,
        first_seen=goes_by_slot(config.tie_break),
        max_token_bytes=config.max_token_bytes,
        min_frequency=config.min_frequency,
    )


def _learn(
    work: PairLearning | ParityLearning | PickyLearning,
    should_stop: Callable[[int, int, int], bool],
    merges: list[tuple[int, int, int]] | None = None,
) -> StopReason:
    """Learn until a stop condition is met or `should_stop` returns True."""
    reported = 0
    a_call = MIN_PER_CALL
    while True:
        done = work.n_done
        if done == work.n_wanted:
            return "vocab-size"
        last_count = int(work.counts[-1]) if done else 0
        if merges is not None:
            merges += work.new_merges(reported)
        if should_stop(done, int(work.saved[reported:].sum()), last_count):
            return "cancelled"
        reported = done
        started = time.perf_counter()
        outcome = work.learn(min(work.n_wanted, done + a_call))
        if outcome == "learned":
            took = max(time.perf_counter() - started, _SHORTEST)
            a_call = int(a_call * min(_MAX_GROWTH, _SECONDS_A_CALL / took))
            a_call = max(MIN_PER_CALL, min(_MAX_PER_CALL, a_call))
        elif outcome != "interrupted":
            return outcome


def compile_all() -> None:
    """Compile every kernel that these trainers use by using it."""
    config = TrainingConfig(258, special_tokens=())
    vocabulary = GrowingVocabulary(config, ())
    # More pairs than a new table holds, so that enlarging it is compiled too.
    every_pair = bytes(byte for pair in product(range(64), repeat=2) for byte in pair)
    layout = Layout.of_words([vocabulary.start(every_pair)], [1])
    PairLearning(_words(layout, config), vocabulary, 1).sketch_pairs()
    learn_merges(layout, vocabulary, config, lambda done, saved, count: False)
    vocabulary = GrowingVocabulary(config, ())
    words: list[Layout] = [
        Layout.of_words([vocabulary.start(each)], [1]) for each in (b"hug", b"abab")
    ]
    picky = TrainingConfig(6, base="characters", special_tokens=(), picky=0.9)
    letters = GrowingVocabulary(picky, [b"a", b"b", b"c", b"d"])
    layout = Layout.of_words([[0, 1, 2], [0, 1], [3, 2]], [20, 1, 3])
    learn_picky(layout, letters, picky, lambda done, saved, count: False)
    rule = ParityRule(hybrid_merges=1, window=2)
    learn_parity(words, words, vocabulary, config, rule, lambda done, saved, count: False)
