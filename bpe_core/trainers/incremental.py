"""The incremental trainer: after each merge, it updates only the places that the merge touched.

It learns exactly the same merges as `reference`. All words lie in one row of slots, separated by
-1. A token keeps the slot of its first symbol and frees those of its other symbols, so an
occurrence of a pair is a slot number that stays valid until one of its two symbols is merged.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bpe_core.corpus import NEVER, Layout
from bpe_core.trainers.base_vocabulary import GrowingVocabulary
from bpe_core.trainers.continued import AllowedPairs, ContinuedVocabulary
from bpe_core.trainers.pair_tables import BITS, PairQueue, pair_table, unpack_pair
from bpe_core.types import StopReason, TrainingConfig

_MERGES_BETWEEN_YIELDS = 64
FREED: Final = -3  # MergeState.symbols also holds BETWEEN and MISSING, see `kernels.row`

NO_JOINTS: Final = np.zeros((0, 4), np.int32)


class MergeState:
    """The symbols of all words, and every pair's count, while merges are applied one by one.

    As in Hugging Face's trainer, overlapping occurrences are counted: `aaa` holds (a, a) twice,
    although only one of the two can merge. Pairs that may not merge are never counted.

    >>> from bpe_core.corpus import Layout
    >>> state = MergeState(Layout.of_words([[7, 7, 7]], [2]))
    >>> {unpack_pair(key): count for key, count in state.counts.items()}
    {(7, 7): 4}
    >>> changes = state.merge(7, 7, 9)
    >>> {unpack_pair(key): count for key, count in state.counts.items()}
    {(9, 7): 2}
    """

    def __init__(self, layout: Layout, allowed: AllowedPairs | None = None) -> None:
        n_slots = len(layout.ids)
        self.symbols: list[int] = layout.ids.tolist()
        """The id at the first slot of each symbol; -3 - rank if the merge of that rank freed it."""
        self._weights: list[int] = layout.weights().tolist()
        self._before = list(range(-1, n_slots - 1))
        self._after = list(range(1, n_slots + 1))
        self._allowed = allowed or AllowedPairs()
        self.n_merges = 0
        self.joined: list[int] = []
        """The slots that the last merge freed."""
        self.joined_weight: int = 0
        """How many tokens shorter the last merge made the corpus."""
        self.removed: set[int] = set()
        """The ids of tokens that were removed again; see `picky`."""
        self.removals: list[tuple[int, int]] = []
        """(number of merges done, id) of each removal."""
        self.slots: defaultdict[int, list[int]] = defaultdict(list)
        """The slots where each pair starts, from left to right; some may be stale by now."""
        self.counts: dict[int, int] = {}
        table = pair_table(layout, self._allowed)
        slots: list[int] = table.slots.tolist()
        bounds: list[int] = table.bounds.tolist()
        for n, (key, count) in enumerate(
            zip(table.keys.tolist(), table.counts.tolist(), strict=True)
        ):
            self.counts[key] = count
            self.slots[key] = slots[bounds[n] : bounds[n + 1]]

    def is_at(self, key: int, slot: int) -> bool:
        """Return True if a pair (still) starts at a slot."""
        left, right = unpack_pair(key)
        return self.symbols[slot] == left and self.symbols[self._after[slot]] == right

    def merge(self, left: int, right: int, new_id: int) -> dict[int, int]:
        """Join every occurrence of a pair; return the change of each other pair's count."""
        symbols, before, after, weights = self.symbols, self._before, self._after, self._weights
        slots = self.slots
        winner = left << BITS | right
        new_left = new_id << BITS
        right_left = right << BITS
        taken = FREED - self.n_merges
        joined: list[int] = []
        joined_weight = 0
        changes: defaultdict[int, int] = defaultdict(int)
        for slot in slots.pop(winner, ()):
            if symbols[slot] != left:
                continue
            second = after[slot]
            if symbols[second] != right:
                continue
            weight = weights[slot]
            previous = before[slot]
            following = after[second]
            neighbour = symbols[previous]
            if neighbour >= 0:
                neighbour <<= BITS
                changes[neighbour | left] -= weight
                changes[neighbour | new_id] += weight
                slots[neighbour | new_id].append(previous)
            neighbour = symbols[following]
            if neighbour >= 0:
                changes[right_left | neighbour] -= weight
                changes[new_left | neighbour] += weight
                slots[new_left | neighbour].append(slot)
            symbols[slot] = new_id
            symbols[second] = taken
            after[slot] = following
            before[following] = slot
            joined.append(second)
            joined_weight += weight
        self.n_merges += 1
        self.joined = joined
        self.joined_weight = joined_weight
        self.counts.pop(winner, None)
        return self._apply(changes)

    def settle(self, left: int, right: int) -> list[int]:
        """Do what follows the merge of a pair; return the pairs whose counts changed by it."""
        return []

    def undone(self) -> NDArray[np.int32]:
        """Return int32[n, 4]: the joints that did not last, as `PickyState.undone` says."""
        return NO_JOINTS

    def _apply(self, changes: dict[int, int]) -> dict[int, int]:
        counts = self.counts
        uncounted: list[int] = []
        for key, change in changes.items():
            count = counts.get(key, 0) + change
            if count > 0 and (key in counts or self._allowed.has(*unpack_pair(key))):
                counts[key] = count
            else:
                self.slots.pop(key, None)
                # Never merged, added and removed within this merge, or the merged pair itself.
                if counts.pop(key, 0) == 0:
                    uncounted.append(key)
        for key in uncounted:
            del changes[key]
        return changes

    def joined_at(self) -> NDArray[np.int32]:
        """Return int32[n_slots]: the rank of the merge that joined each slot, or NEVER."""
        symbols = np.array(self.symbols, dtype=np.int64)
        return np.where(symbols <= FREED, FREED - symbols, NEVER).astype(np.int32)


@dataclass(frozen=True, slots=True)
class LearnedMerges:
    """The result of a trainer: the merges, and when each slot was joined to the one before it."""

    merges: list[tuple[int, int, int]]
    """(left, right, new id) of each, in order."""
    counts: list[int]
    """The count of each merge's pair in the corpus when it was chosen."""
    tokens_saved: NDArray[np.int64]
    """int64[n_merges]: how many tokens shorter each merge made the corpus."""
    joined_at: NDArray[np.int32]
    """int32[n_slots]: the rank of the merge, or NEVER."""
    stop_reason: StopReason
    removals: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    """(number of merges done, id) of each token that was removed again."""
    undone: NDArray[np.int32] = field(default_factory=lambda: NO_JOINTS)
    """int32[n, 4]: the joints that did not last, as `PickyState.undone` says."""


def learn_merges(
    layout: Layout,
    vocabulary: GrowingVocabulary | ContinuedVocabulary,
    config: TrainingConfig,
    should_stop: Callable[[int, int, int], bool],
    done: list[tuple[int, int, int]] | None = None,
    start: Callable[[Layout, AllowedPairs], MergeState] = MergeState,
) -> LearnedMerges:
    """Learn merges as `train_reference` does, from words already laid out.

    `should_stop` is called before each merge with the number of merges done, the tokens that the
    last merge saved, and the last pair's count; if it returns True, the merges so far are kept. The
    merges are added to `done`, if it is given, before `should_stop` is called. `start` makes the
    state that merges are applied to.

    >>> from bpe_core.corpus import Layout
    >>> config = TrainingConfig(258, special_tokens=())
    >>> vocabulary = GrowingVocabulary(config, ())
    >>> layout = Layout.of_words([vocabulary.start(b"abab")], [1])
    >>> learned = learn_merges(layout, vocabulary, config, lambda done, saved, count: False)
    >>> [vocabulary.tokens[new_id] for left, right, new_id in learned.merges]
    [b'ab', b'abab']
    """
    allowed = AllowedPairs(vocabulary.tokens, config.max_token_bytes, vocabulary.forbidden)
    state = start(layout, allowed)
    queue = PairQueue(
        config.tie_break, lambda key: state.counts.get(key, 0), state.slots.__getitem__, state.is_at
    )
    queue.add(state.counts)
    merges: list[tuple[int, int, int]] = [] if done is None else done
    counts: list[int] = []
    saved: list[int] = []
    count = 0
    while True:
        if len(vocabulary) - len(state.removed) >= config.vocab_size:
            stop_reason: StopReason = "vocab-size"
            break
        if should_stop(len(merges), state.joined_weight, count):
            stop_reason = "cancelled"
            break
        if not len(merges) % _MERGES_BETWEEN_YIELDS:
            time.sleep(0)  # lets other threads run, as kernels do at all times
        best = queue.best()
        if best is None:
            stop_reason = "no-pairs"
            break
        count = -best[0]
        if count < config.min_frequency:
            stop_reason = "min-frequency"
            break
        left, right = unpack_pair(best[2])
        new_id = vocabulary.join(left, right)
        merges.append((left, right, new_id))
        counts.append(count)
        changes = state.merge(left, right, new_id)
        queue.add(key for key, change in changes.items() if change > 0)
        queue.add(state.settle(left, right))
        saved.append(state.joined_weight)
    return LearnedMerges(
        merges,
        counts,
        np.array(saved, np.int64),
        state.joined_at(),
        stop_reason,
        state.removals,
        state.undone(),
    )
