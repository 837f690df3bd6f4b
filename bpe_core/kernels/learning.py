"""Call the kernels of training: one value holds the arrays that all calls of a training share.

`PairLearning` learns with `merging` from one text, and `ParityLearning` with `parity_merging` from
several. Both enlarge their arrays when a kernel runs out of room. What is counted, when training
stops and what comes of it is the trainers' business.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Final, Generic, Literal, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from bpe_core.kernels import merging, parity_merging
from bpe_core.kernels.for_callers import longer, together
from bpe_core.kernels.indexing import (
    NO_SKETCH,
    SPARE,
    CountedPairs,
    build_index,
    build_table,
    count_pairs,
    counts_of_words,
    cut_row,
    sketch_pairs,
    with_heap,
    with_room,
)
from bpe_core.kernels.merging import MergeLog, MergeScratch, Rule, Spelled
from bpe_core.kernels.parity_merging import Heaps, Languages, ParityLog, Texts, Turns
from bpe_core.kernels.row import ENTRIES, PAIRS, PairIndex, Row, Tokens
from bpe_core.unicode import BYTE_TO_CHARACTER

# Pairs rarer than the best count divided by this are not indexed until the best count falls that
# low. On 100 MB, 64 took 1.6 s, 512 and 2048 took 1.1 s, because the row is recounted less often.
_THRESHOLD_SHARE = 512
_WORDS_SAMPLED: Final = 1 << 16  # for the first threshold
# With more pairs than this, a table of them is looked up in memory, not in the cache: most of the
# 16 million places of 100 MB in which words may join have pairs of their own.
_MANY_PAIRS = 1 << 21
# Judging one pair costs 2 microseconds, calling the kernel again 60.
_JUDGED: Final = 64
_NO_LIMIT: Final = int(np.iinfo(np.int32).max)
NEVER: Final = _NO_LIMIT
"""The rank of the merge that joins a slot which none does."""
_SPARE_LETTERS: Final = 16  # of each token; more are made when they are needed
_IN_ORDER: Final = np.argsort(np.argsort([ord(each) for each in BYTE_TO_CHARACTER])).astype(
    np.uint8
)
"""uint8[256]: each byte as a number that sorts like its printable character."""

Log = TypeVar("Log", MergeLog, ParityLog)

Outcome = Literal["learned", "interrupted", "vocab-size", "min-frequency", "no-pairs"]
"""Of a call: all merges done, more calls needed, or why training ends."""


class Words(NamedTuple):
    """The words that merges are learned from, and which of their pairs may merge."""

    ids: NDArray[np.int32]
    """int32[n_slots], see `row`; the row of the training, which is overwritten."""
    counts: NDArray[np.int64]
    """int64[n_words]: how often each word occurs."""
    first_seen: bool
    """Of equally frequent pairs, the first in the row merges, not the one of the smallest ids."""
    max_token_bytes: int | None
    min_frequency: int


class Forbidden(Protocol):
    """The pairs that must not merge, although they are frequent."""

    @property
    def spelled_hashes(self) -> NDArray[np.uint64]:
        """The hashes of the tokens that no merge may make."""
        ...

    @property
    def heaviest(self) -> int:
        """A pair may be forbidden whose weights are together more than this."""
        ...

    def hashes(self) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        """Return the hash and the factor of each token; see `Spelled`."""
        ...

    def weights(self) -> NDArray[np.int32]:
        """Return the weight of each token."""
        ...

    def mask(self, left: NDArray[np.integer], right: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Return which of these pairs must not merge."""
        ...


class GrowingTokens(Protocol):
    """The tokens that merges join and make."""

    @property
    def tokens(self) -> Sequence[bytes]:
        """The bytes of each id."""
        ...

    @property
    def next_id(self) -> int:
        """The id of the next new token."""
        ...

    @property
    def forbidden(self) -> Forbidden | None:
        """The pairs that must not merge, if there are any."""
        ...

    def join(self, left: int, right: int) -> int:
        """Add the token that a pair makes, or return the id of an older one."""
        ...

    def join_new(self, pairs: Iterable[tuple[int, int]]) -> int:
        """Add a token for each pair."""
        ...


class Learning(ABC, Generic[Log]):
    """The arrays of a training."""

    def __init__(self, words: Words, n_ids: int, log: Log) -> None:
        self._log = log
        self._floor = max(1, words.min_frequency)
        self._rule = Rule(words.first_seen, words.max_token_bytes or _NO_LIMIT)
        self._row = Row(words.ids, *pack_weights(words.counts))
        self._tokens = Tokens(
            n_slots=np.ones(n_ids, np.int32),
            n_bytes=np.ones(n_ids, np.int32),
            end_ranks=np.full(n_ids, NEVER, np.int32),
        )
        n_slots = words.ids.size
        self._scratch = MergeScratch(
            merged=np.empty(n_slots + 1, np.int32),
            weights=np.empty(n_slots + 1, np.int32),
            befores=np.empty(n_slots // 2 + 1, np.int32),
            afters=np.empty(n_slots // 2 + 1, np.int32),
            count_before=np.zeros(n_ids, np.int64),
            count_after=np.zeros(n_ids, np.int64),
            n_before=np.zeros(n_ids, np.int32),
            n_after=np.zeros(n_ids, np.int32),
            neighbours=np.empty(n_ids, np.int32),
        )

    @property
    def n_done(self) -> int:
        """The number of merges so far."""
        return int(self._log.n_done[0])

    @property
    def n_wanted(self) -> int:
        """The number of merges to learn."""
        return len(self._log.counts)

    @property
    def counts(self) -> NDArray[np.int64]:
        """How often each pair occurred when it was merged."""
        return self._log.counts[: self.n_done]

    @property
    def saved(self) -> NDArray[np.int64]:
        """By how many tokens each merge shortened the words."""
        return self._log.saved[: self.n_done]

    def merged(self, first: int = 0) -> tuple[list[int], list[int]]:
        """Return the left ids and the right ids of all merges so far, from rank `first` on."""
        left, right = self._log.pairs[first : self.n_done].T
        return left.tolist(), right.tolist()

    def new_merges(self, first: int = 0) -> list[tuple[int, int, int]]:
        """Return the merges so far, from rank `first` on, as (left, right, new id)."""
        new_ids = range(self._log.first_id + first, self._log.first_id + self.n_done)
        return list(zip(*self.merged(first), new_ids, strict=True))

    @abstractmethod
    def learn(self, until: int) -> Outcome:
        """Learn until there are `until` merges, in as many calls as that needs."""


class PairLearning(Learning[MergeLog]):
    """Learn merges from one text."""

    def __init__(self, words: Words, vocabulary: GrowingTokens, n_merges: int) -> None:
        self._vocabulary = vocabulary
        self._forbidden = vocabulary.forbidden
        self._first_id = vocabulary.next_id
        n_ids = self._first_id + n_merges
        log = MergeLog(
            pairs=np.zeros((n_merges, 2), np.int32),
            counts=np.zeros(n_merges, np.int64),
            saved=np.zeros(n_merges, np.int64),
            n_done=np.zeros(1, np.int64),
            first_id=self._first_id,
        )
        super().__init__(words, n_ids, log)
        n_bytes = np.fromiter(map(len, vocabulary.tokens), np.int32, self._first_id)
        self._tokens.n_bytes[: self._first_id] = n_bytes
        self._spelled = _spelled(self._forbidden, n_ids)
        self._parts = cut_row(self._row)
        self._n_words = words.counts.size
        self._index = self._new_index()

    def name_new_tokens(self) -> None:
        """Add the tokens of all merges so far to the vocabulary."""
        n_named = self._vocabulary.next_id - self._first_id
        self._vocabulary.join_new(zip(*self.merged(n_named), strict=True))

    def ranks(self) -> NDArray[np.int32]:
        """Return the rank of the merge that joined each slot to the one before; use the row up."""
        # In place, because touching new memory for the first time took ten times as long as the
        # kernel.
        ids = self._row.ids
        rows = [self._row._replace(ids=ids[part.begin : part.end]) for part in self._parts]
        together([partial(merging.list_ranks, row, self._tokens, NEVER) for row in rows])
        return ids

    def first_ids(self) -> NDArray[np.int32]:
        """Return the row's ids as they were before the first merge."""
        spelled = [[id] for id in range(self._first_id)]
        for left, right in zip(*self.merged(), strict=True):
            spelled.append(spelled[left] + spelled[right])
        ids = self._row.ids.copy()
        for slot in np.flatnonzero(ids >= 0).tolist():
            of_token = spelled[int(ids[slot])]
            ids[slot : slot + len(of_token)] = of_token
        return ids

    def learn(self, until: int) -> Outcome:
        status = merging.run_merges(
            self._row,
            self._tokens,
            self._index,
            self._rule,
            self._spelled,
            self._log,
            self._scratch,
            until,
        )
        if status == merging.ENOUGH:
            return "learned"
        if status == merging.SMALL_INDEX:
            self._index = self._with_room_for_best()
        elif status == merging.MAYBE_FORBIDDEN:
            self._judge_best()
        elif self._index.threshold > self._floor:
            self._index = self._new_index()
        else:
            found = self._count_pairs()
            has_rare = found.counts[~self._are_forbidden(found.keys)].any()
            return "min-frequency" if has_rare else "no-pairs"
        return "interrupted"

    def _with_room_for_best(self) -> PairIndex:
        """Return the index with room for the pairs that merging the best pair may make."""
        best = self._index.heap[0]
        max_slots = 2 * int(self._index.ends[best] - self._index.begins[best])
        max_pairs = 2 * (self._first_id + self.n_done + 1)
        return with_room(self._index, min(max_slots, max_pairs), max_slots)

    def _judge_best(self) -> None:
        """Compare the bytes of the best pairs: allow each, or take it out of the index.

        The best of all is the heap's first, and the next ones are among the first few.
        """
        best = self._index.heap[: min(_JUDGED, int(self._index.used[ENTRIES]))]
        keys = self._index.keys[best]
        forbidden = self._are_forbidden(keys)
        self._index.counts[best[forbidden]] = 0  # below any threshold
        # A pair that was indexed again stands there twice.
        self._spelled = self._spelled._replace(allowed=build_table(np.unique(keys[~forbidden])))

    def _are_forbidden(self, keys: NDArray[np.uint64]) -> NDArray[np.bool_]:
        if self._forbidden is None:
            return np.zeros(keys.size, np.bool_)
        self.name_new_tokens()
        weights = self._forbidden.weights()
        self._spelled.weights[: len(weights)] = weights  # those of new tokens may be less
        left, right = (keys >> np.uint64(32)), keys & np.uint64((1 << 32) - 1)
        return self._forbidden.mask(left.astype(np.int64), right.astype(np.int64))

    def sketch_pairs(self) -> NDArray[np.uint32]:
        """Return a sketch of the row's pairs: an upper bound of each one's count."""
        return sketch_pairs(self._row, self._tokens, self._parts)

    def _count_pairs(self, sketch: NDArray[np.uint32] = NO_SKETCH, least: int = 0) -> CountedPairs:
        of_row = self._row, self._tokens, self._rule.max_token_bytes, self._parts
        return count_pairs(*of_row, sketch, least)

    def _threshold(self, counts: NDArray[np.int64] | NDArray[np.uint32]) -> int:
        share = int(counts.max(initial=0)) // _THRESHOLD_SHARE
        return max(self._floor, share if self.n_done else min(share, self._first_threshold()))

    def _first_threshold(self) -> int:
        """Return a count that the best pair falls to only late in training, so one index is enough.

        It is about the count of the word at rank `n_wanted / 2` by frequency, among the words with
        anything to merge. With a quarter instead of half, or with the share alone, the row was
        indexed twice: 0.15 s more of 0.75 s for 100 MB.
        """
        step = 1 + self._n_words // _WORDS_SAMPLED
        counts = counts_of_words(self._row, self._parts, step)
        place = max(0, counts.size - 1 - self.n_wanted // (2 * step))
        return int(np.partition(counts, place)[place]) if counts.size else 0

    def _new_index(self) -> PairIndex:
        """Recount the row and index the pairs that are frequent enough."""
        sketch, least = NO_SKETCH, 0
        if min((self._first_id + self.n_done) ** 2, self._row.ids.size) >= _MANY_PAIRS:
            sketch = self.sketch_pairs()
            least = self._threshold(sketch)
        found = self._count_pairs(sketch, least)
        threshold = max(least, self._threshold(found.counts))
        # Only frequent pairs are checked, unless none of them may merge, or the sketch's largest
        # count is that of many pairs.
        kept = found.counts >= threshold
        kept[kept] = ~self._are_forbidden(found.keys[kept])
        if not kept.any():
            found = self._count_pairs() if least else found
            may_merge = ~self._are_forbidden(found.keys)
            threshold = self._threshold(found.counts[may_merge])
            kept = may_merge & (found.counts >= threshold)
        index = build_index(self._row, self._tokens, self._parts, found.where(kept), threshold)
        return with_room(with_heap(index, first_seen=self._rule.first_seen), SPARE, SPARE)


class ParityLearning(Learning[ParityLog]):
    """Learn merges from the texts of several languages, of which one picks each pair."""

    def __init__(
        self,
        words: Words,
        tokens: Sequence[bytes],
        *,
        n_merges: int,
        n_languages: int,
        ends: NDArray[np.int64],
        n_symbols: Sequence[int],
        n_together: int,
        window: int,
        most_recent: int,
    ) -> None:
        """Begin with a row of the languages' words, then those to measure if they are others.

        `ends` are where the texts end in the row, each in ids of its own; `n_symbols` are how many
        symbols each measured text has. The first `n_together` merges are chosen by all languages
        together: then the texts to train on have the same ids, and so have those to measure. A
        language that has had more than `most_recent` of the last `window` turns waits.
        """
        n = n_languages
        width = len(tokens) + n_merges
        self._ends = ends
        self._n_slots = int(ends[n - 1])
        self._apart = self._languages = Languages(
            width=width,
            n=n,
            first_measured=0 if ends.size == n else n,
            n_texts=ends.size,
            together=np.empty(0, np.int64),
        )
        self._n_together = n_together
        if n_together:
            self._languages = self._apart._replace(
                n=1,
                first_measured=ends.size // n - 1,
                n_texts=ends.size // n,
                together=ends[self._apart.first_measured :][:n],
            )
        log = ParityLog(
            pairs=np.zeros((n_merges, 2), np.int32),
            counts=np.zeros(n_merges, np.int64),
            saved=np.zeros(n_merges, np.int64),
            picked=np.zeros(n_merges, np.int32),
            lengths=np.zeros((n_merges, n), np.int64),
            n_done=np.zeros(1, np.int64),
            needed=np.zeros(2, np.int64),
            first_id=len(tokens),
        )
        super().__init__(words, width * ends.size, log)
        self._texts = _texts(tokens, width)
        self._start = np.array(n_symbols, np.int64)
        self._turns = Turns(
            lengths=self._start.copy(),
            is_open=np.ones(n, np.uint8),
            recent=np.zeros(window, np.int32),
            n_recent=np.zeros(n, np.int64),
            n_turns=np.zeros(1, np.int64),
            most_recent=most_recent,
        )
        self._index, self._heaps = self._indexed()

    @property
    def picked(self) -> NDArray[np.int32]:
        """The language that picked each merge, or -1 for all together."""
        return self._log.picked[: self.n_done]

    def lengths(self) -> NDArray[np.int64]:
        """Return how many tokens each measured text has before and after each merge."""
        return np.vstack([self._start[None], self._log.lengths[: self.n_done]]).T.copy()

    def ranks(self) -> NDArray[np.int32]:
        """Return the rank of the merge that joined each slot of the texts to train on."""
        row = self._row._replace(ids=self._row.ids[: self._n_slots])
        merging.list_ranks(row, self._tokens, NEVER)
        return row.ids.copy()

    def learn(self, until: int) -> Outcome:
        if self._languages.together.size:
            if self.n_done < self._n_together:
                until = min(until, self._n_together)
            else:
                self._set_apart()
        status = parity_merging.run_parity(
            self._row,
            self._tokens,
            self._index,
            self._rule,
            self._heaps,
            self._texts,
            self._languages,
            self._turns,
            self._log,
            self._scratch,
            self._floor,
            until,
        )
        if status == parity_merging.ENOUGH:
            return "learned"
        if status == parity_merging.SMALL_INDEX:
            self._make_room()
        elif status == parity_merging.SMALL_TEXTS:
            letters = longer(self._texts.letters, 2 * self._texts.letters.size)
            self._texts = self._texts._replace(letters=letters)
        else:
            n_pairs = self._index.used[PAIRS]
            left = self._index.keys[:n_pairs] >> np.uint64(32)
            in_training = left < np.uint64(self._languages.width * self._languages.n)
            has_rare = self._index.counts[:n_pairs][in_training].any()
            return "min-frequency" if has_rare else "no-pairs"
        return "interrupted"

    def _indexed(self) -> tuple[PairIndex, Heaps]:
        """Return an index of the row's pairs, and the heaps of the texts that pick."""
        parts = cut_row(self._row)
        found = count_pairs(self._row, self._tokens, self._rule.max_token_bytes, parts)
        # All pairs: one that is rare in a language may be picked by another.
        index = build_index(self._row, self._tokens, parts, found, threshold=1)
        index.used[ENTRIES] = 0  # the heaps have them
        index = with_room(index, SPARE, SPARE)
        n_pairs = index.keys.size
        heaps = Heaps(
            roots=np.full(self._languages.n_texts, -1, np.int32),
            children=np.empty(n_pairs, np.int32),
            siblings=np.empty(n_pairs, np.int32),
            counts=np.empty(n_pairs, np.int64),
        )
        parity_merging.fill_heaps(heaps, index, self._texts, self._languages)
        return index, heaps

    def _set_apart(self) -> None:
        """Give each text the ids that are its own, once all languages have chosen together."""
        width, n, n_texts = self._apart.width, self._apart.n, self._apart.n_texts
        more = np.arange(n_texts, dtype=np.int32) * np.int32(width)
        more[n:] -= width  # the texts that are only measured have had ids apart from the others
        parity_merging.set_apart(self._row, self._ends, more)
        for lengths in self._tokens:
            lengths.reshape(n_texts, width)[1:] = lengths[:width]
        self._languages = self._apart
        self._index, self._heaps = self._indexed()

    def _make_room(self) -> None:
        """Enlarge the index and the heaps for the next merge."""
        n_pairs, n_slots = self._log.needed.tolist()
        self._index = with_room(self._index, n_pairs, n_slots)
        n_pairs = self._index.keys.size
        heaps = self._heaps
        self._heaps = heaps._replace(
            children=longer(heaps.children, n_pairs),
            siblings=longer(heaps.siblings, n_pairs),
            counts=longer(heaps.counts, n_pairs),
        )


def pack_weights(counts: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the weights that stand for these counts in a row, and the counts that are too large.

    >>> [array.tolist() for array in pack_weights(np.array([5, 2**40]))]
    [[5, -1], [1099511627776]]
    """
    is_large = counts > _NO_LIMIT
    large = counts[is_large]
    weights = counts.astype(np.int32)
    weights[is_large] = -1 - np.arange(large.size, dtype=np.int32)
    return weights, large


def _spelled(forbidden: Forbidden | None, n_ids: int) -> Spelled:
    """Return the hashes of all tokens, with room for those of new ones."""
    if forbidden is None:
        none = np.empty(0, np.uint64)
        weights = np.empty(0, np.int32)
        return Spelled(none, none, none, allowed=none, weights=weights, heaviest=_NO_LIMIT)
    hashes, factors = forbidden.hashes()
    return Spelled(
        known=build_table(forbidden.spelled_hashes),
        hashes=longer(hashes, n_ids + 1),  # a copy, with room for those of new tokens
        factors=longer(factors, n_ids + 1),
        allowed=build_table(np.empty(0, np.uint64)),
        weights=longer(forbidden.weights(), n_ids + 1),
        heaviest=forbidden.heaviest,
    )


def _texts(tokens: Sequence[bytes], width: int) -> Texts:
    """Return the texts of the tokens before the first merge, with room for more."""
    spelled = np.frombuffer(b"".join(tokens), np.uint8)
    letters = np.zeros(spelled.size + _SPARE_LETTERS * width, np.uint8)
    letters[: spelled.size] = _IN_ORDER[spelled]
    ends = np.zeros(width + 1, np.int64)
    ends[1 : len(tokens) + 1] = np.cumsum([len(token) for token in tokens])
    return Texts(letters, ends)
