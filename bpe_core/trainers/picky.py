"""PickyBPE: take a token out again once nearly all of its uses have become parts of another.

After each merge, each of the two tokens that were joined is looked at. If more than a share `picky`
of its uses went into the merge, it is removed: where it is left, it splits into its parts again,
and the vocabulary has room for another token. Source: Chizhov et al., "BPE Gets Picky: Efficient
Vocabulary Refinement During Tokenizer Training" (arXiv 2409.04599), section 3.

`train_picky_reference` recounts everything; `PickyState` revisits only what changed. Of two tokens,
the left one is looked at first. Where a token is joined with itself, both of its uses count as one,
as in the authors' code.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from bpe_core.corpus import NEVER, Layout
from bpe_core.tokenizer import replace_all, spell_with
from bpe_core.trainers.base_vocabulary import GrowingVocabulary
from bpe_core.trainers.continued import AllowedPairs
from bpe_core.trainers.incremental import FREED, MergeState
from bpe_core.trainers.pair_tables import BITS
from bpe_core.trainers.reference import apply_merge, choose_pair, count_pairs, short_pairs
from bpe_core.types import Merge, Pair, StopReason, TrainingConfig


def train_picky_reference(
    words: Sequence[Sequence[int]],
    counts: Sequence[int],
    vocabulary: GrowingVocabulary,
    config: TrainingConfig,
) -> tuple[list[Merge], list[tuple[int, int]], list[list[int]], StopReason]:
    """Learn merges and removals; return both, the split words, and the reason training stopped.

    A removal is (merges done, id).

    >>> config = TrainingConfig(6, base="characters", special_tokens=(), picky=0.9)
    >>> vocabulary = GrowingVocabulary(config, [b"a", b"b", b"c", b"d"])
    >>> words, counts = [[0, 1, 2], [0, 1], [3, 2]], [20, 1, 3]
    >>> merges, removals, splits, reason = train_picky_reference(words, counts, vocabulary, config)
    >>> [vocabulary.tokens[merge.id] for merge in merges], removals, splits
    ([b'ab', b'abc', b'dc'], [(2, 4)], [[5], [0, 1], [6]])
    """
    merges: list[Merge] = []
    removals: list[tuple[int, int]] = []
    parts: dict[int, Pair] = {}
    removed = set[int]()
    splits = [list(word) for word in words]
    while True:
        if len(vocabulary) - len(removed) >= config.vocab_size:
            return merges, removals, splits, "vocab-size"
        pair_counts = count_pairs(splits, counts)
        if config.max_token_bytes is not None:
            pair_counts = short_pairs(pair_counts, vocabulary.tokens, config.max_token_bytes)
        if not pair_counts:
            return merges, removals, splits, "no-pairs"
        pair = choose_pair(pair_counts, config.tie_break)
        if pair_counts[pair] < config.min_frequency:
            return merges, removals, splits, "min-frequency"
        new_id = vocabulary.join(*pair)
        parts.setdefault(new_id, pair)
        removed.discard(new_id)
        merges.append(Merge(len(merges), *pair, new_id, pair_counts[pair]))
        merged = [apply_merge(word, pair, new_id) for word in splits]
        n_joined = sum(
            n * (len(old) - len(new)) for n, old, new in zip(counts, splits, merged, strict=True)
        )
        splits = merged
        for id in dict.fromkeys(pair):
            n_left = sum(n * word.count(id) for n, word in zip(counts, splits, strict=True))
            if id in parts and is_swallowed(n_joined, n_left, config.picky):
                removed.add(id)
                removals.append((len(merges), id))
                event = (id,), tuple(spell_with(id, parts, removed))
                splits = [replace_all(word, event) for word in splits]


def is_swallowed(n_joined: int, n_left: int, picky: float | None) -> bool:
    """Return True if a token is removed of which a merge took `n_joined` uses and left `n_left`.

    >>> is_swallowed(20, 1, 0.9), is_swallowed(9, 1, 0.9)
    (True, False)
    """
    return picky is not None and n_joined / (n_joined + n_left) > picky


class PickyState(MergeState):
    """The symbols of all words while merges are applied and tokens are removed again.

    >>> from bpe_core.corpus import Layout
    >>> from bpe_core.trainers.pair_tables import unpack_pair
    >>> state = PickyState(Layout.of_words([[0, 1, 2], [0, 1]], [20, 1]), picky=0.9)
    >>> for merge in (0, 1, 3), (3, 2, 4):
    ...     changes = state.merge(*merge)
    ...     changes = state.settle(*merge[:2])
    >>> state.removals, {unpack_pair(key): count for key, count in state.counts.items()}
    ([(2, 3)], {(0, 1): 1})
    >>> state.undone().tolist()
    [[6, 0, 1, 1]]
    """

    def __init__(
        self, layout: Layout, allowed: AllowedPairs | None = None, picky: float | None = None
    ) -> None:
        super().__init__(layout, allowed)
        self._picky = picky
        self._uses: defaultdict[int, int] = defaultdict(int)
        for id, weight in zip(self.symbols, self._weights, strict=True):
            self._uses[id] += weight
        self._parts: dict[int, Pair] = {}
        self._ranks: dict[int, int] = {}
        """The rank of the first merge that made each token."""
        self._places: defaultdict[int, set[int]] = defaultdict(set)
        """The slots where each token was made; some may be stale by now."""
        self._since: dict[int, int] = {}
        """The step from which on a slot is joined, where that is not its merge's."""
        self._undone: list[tuple[int, int, int, int]] = []

    def merge(self, left: int, right: int, new_id: int) -> dict[int, int]:
        """Join every occurrence of a pair; return the change of each other pair's count."""
        is_known = new_id in self._parts
        self._parts.setdefault(new_id, (left, right))
        self._ranks.setdefault(new_id, self.n_merges)
        self.removed.discard(new_id)
        changes = super().merge(left, right, new_id)
        self._places[new_id].update(self._before[slot] for slot in self.joined)
        for id, sign in (left, -1), (right, -1), (new_id, 1):
            self._uses[id] += sign * self.joined_weight
        if is_known:
            self._put_in_order(changes)
        return changes

    def settle(self, left: int, right: int) -> list[int]:
        """Remove what the last merge has swallowed; return the pairs whose counts changed."""
        changed: list[int] = []
        n_joined: int = self.joined_weight
        for id in dict.fromkeys((left, right)):
            if id in self._parts and is_swallowed(n_joined, self._uses[id], self._picky):
                changed += self.remove(id)
        return [key for key in dict.fromkeys(changed) if key in self.counts]

    def remove(self, id: int) -> dict[int, int]:
        """Split what is left of a token into its parts; return the change of each pair's count."""
        self.removed.add(id)
        self.removals.append((self.n_merges, id))
        spelled = spell_with(id, self._parts, self.removed)
        row = [symbol for part in spelled for symbol in self._spell_slots(part)]
        changes: defaultdict[int, int] = defaultdict(int)
        symbols = self.symbols
        for slot in sorted(self._places.pop(id, ())):
            if symbols[slot] != id:
                continue
            weight, previous, following = self._weights[slot], self._before[slot], self._after[slot]
            for left, right in (previous, slot), (slot, following):
                if symbols[left] >= 0 and symbols[right] >= 0:
                    changes[symbols[left] << BITS | symbols[right]] -= weight
            starts: list[int] = []
            for at, symbol in enumerate(row, start=slot):
                if at > slot and symbols[at] != symbol:
                    self._undo(at, symbol)
                symbols[at] = symbol
                if symbol >= 0:
                    starts.append(at)
                    self._places[symbol].add(at)
            for left, right in pairwise([previous, *starts, following]):
                self._after[left], self._before[right] = right, left
                if symbols[left] >= 0 and symbols[right] >= 0:
                    key = symbols[left] << BITS | symbols[right]
                    changes[key] += weight
                    self.slots[key].append(left)
        n_left = self._uses.pop(id, 0)
        for part in spelled:
            self._uses[part] += n_left
        self.joined_weight -= n_left * (len(spelled) - 1)
        self._put_in_order(changes)
        return self._apply(changes)

    def undone(self) -> NDArray[np.int32]:
        """Return int32[n, 4]: slot, rank, and the first and last step of joints that need both.

        Those are the joints that a removal undid or made. A last step of NEVER is the end.
        """
        final = [
            (slot, FREED - self.symbols[slot], since, NEVER) for slot, since in self._since.items()
        ]
        return np.array(sorted(self._undone + final), np.int32).reshape(-1, 4)

    def _undo(self, slot: int, symbol: int) -> None:
        """Note that the joint of a slot is undone, and whether it is joined otherwise now."""
        rank = FREED - self.symbols[slot]
        since = self._since.pop(slot, rank + 1)
        if since < self.n_merges:  # or it was made by another removal after the same merge
            self._undone.append((slot, rank, since, self.n_merges - 1))
        if symbol < 0:
            self._since[slot] = self.n_merges

    def _spell_slots(self, id: int) -> list[int]:
        """Return what `symbols` has in the slots of a token that was made by its own merge."""
        if id not in self._parts:
            return [id]
        left, right = self._parts[id]
        _, *after_left = self._spell_slots(left)
        _, *after_right = self._spell_slots(right)
        return [id, *after_left, FREED - self._ranks[id], *after_right]

    def _put_in_order(self, changes: Mapping[int, int]) -> None:
        """Sort the slots of pairs that have gained some among those they had."""
        for key in changes:
            if key in self.slots:
                self.slots[key] = sorted({*self.slots[key]})


def joined_by(
    joined_at: NDArray[np.int32], undone: NDArray[np.int32], step: int
) -> NDArray[np.int32]:
    """Return `joined_at` as it was before merge `step`; `undone` is as `PickyState.undone` says.

    >>> joined_at = np.array([NEVER, 0, NEVER, NEVER], np.int32)
    >>> undone = np.array([[2, 0, 1, 1]], np.int32)
    >>> [np.flatnonzero(joined_by(joined_at, undone, step) < step).tolist() for step in (1, 2)]
    [[1, 2], [1]]
    """
    joined_at = joined_at.copy()
    slots, ranks, since, until = undone.T
    joined_at[slots[until == NEVER]] = NEVER
    holds = (since <= step) & (step <= until)
    joined_at[slots[holds]] = ranks[holds]
    return joined_at
