"""The words of a corpus as tokens, from which tokens are removed one after another.

When a token is removed, each of its uses becomes its two parts. Nothing else changes, unless a
merge learned later joins one of the parts with its neighbour: with `a b` and then `b c`, the word
`abc` is `ab c`; without `ab` it is `a bc`, not `a b c`. So each boundary of the two parts is
checked, and where a merge crosses it, the tokens around are merged again from their symbols, as far
as the change reaches. By the two facts in `tokenizer.trie`, the row is then the encoding of its
words by the remaining tokens.

If the merge learned last is removed first, no later merge is left, and no boundary ever fails.
"""

from __future__ import annotations

import time
from array import array
from collections import defaultdict
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from bpe_core.counting import Layout, lay_out_encoded, lay_out_pretokens
from bpe_core.tokenizer import Tokenizer, merge_symbols, stay_apart
from bpe_core.types import Pair, PretokenCounts

_WORDS_BETWEEN_LOOKS = 4096
_GAP = -1
"""Between words, and at a symbol missing from the alphabet."""
_WITHIN = -2
"""A slot that belongs to the token that starts before it."""


class LeafRow:
    """The encoding of a corpus while leaves are removed from its tokenizer.

    `held_out` are the counts of the same words in another text: int64[n_words]. `look` is
    called at intervals while the words are laid out; what it raises ends that.

    >>> tokenizer = Tokenizer(
    ...     vocab={0: b"a", 1: b"b", 2: b"c", 3: b"ab", 4: b"bc"},
    ...     merges=[(0, 1, 3), (1, 2, 4)],
    ...     pretokenizer="none",
    ... )
    >>> row = LeafRow(tokenizer, PretokenCounts((b"abc",), np.array([5])), np.array([1]))
    >>> row.n_tokens, row.remove(3), row.n_tokens, row.uses
    (10, {0, 1, 2, 3, 4}, 10, [5, 0, 0, 0, 5])
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        pretokens: PretokenCounts,
        held_out: NDArray[np.int64],
        look: Callable[[], object] = lambda: None,
    ) -> None:
        if tokenizer.table.byte_ids:  # symbols that spell a character in bytes are several
            symbols = tokenizer.truncated(0).encoder.encode_pretokens(pretokens)
            layout = lay_out_encoded(pretokens, *symbols)
        else:
            layout = lay_out_pretokens(
                pretokens, tokenizer.base, tokenizer.base_ids, tokenizer.table.end_of_word_id
            )
        self._symbols: list[int] = layout.ids.tolist()
        # No token is written yet.
        self._ids = array("i", np.where(layout.ids >= 0, _WITHIN, _GAP).astype(np.int32).tobytes())
        self._weights = array("q", layout.weights().tobytes())
        self._held_out = array("q", Layout(layout.ids, held_out).weights().tobytes())
        n_slots = len(self._ids)
        self._after = array("q", range(1, n_slots + 1))
        """after[slot]: the slot after the token or gap that starts there."""
        self._before = array("q", range(-1, n_slots - 1))
        """before[slot]: the start of the token or gap before the one that starts there."""
        self._ranks = dict(tokenizer.table.ranks)
        self._made = tokenizer.table.made
        self._pairs_of: defaultdict[int, list[Pair]] = defaultdict(list)
        self._parts: dict[int, tuple[int, int, int]] = {}
        self._n_symbols: dict[int, int] = {}
        for rank, (left, right, id) in enumerate(tokenizer.table.triples):
            self._pairs_of[id].append((left, right))
            self._parts.setdefault(id, (rank, left, right))
            self._n_symbols[id] = self._n_symbols.get(left, 1) + self._n_symbols.get(right, 1)
        if tokenizer.table.byte_ids:  # a merge may come before those that make its parts
            self._n_symbols = {id: len(tokenizer.vocab[id].decode()) for id in self._made}
        self._each_made_once = len(self._parts) == len(self._made)
        self._has_late = _contain_late(tokenizer)
        self._vocab = tokenizer.vocab
        self._word_ids = _ids_by_bytes(tokenizer)
        self.uses = [0] * (max(tokenizer.vocab) + 1)
        """uses[id]: how often a token occurs in the corpus now."""
        self.n_tokens = 0
        """The number of tokens of the corpus now."""
        self.n_held_out = 0
        """The number of tokens of the held-out text now."""
        self._slots_by_id: defaultdict[int, list[int]] = defaultdict(list)
        """Where a token starts, or did once."""
        self._looked_up: dict[int, bytes] = {}
        """The words that are looked up, by the slot where they start."""
        self._touched: set[int] = set()
        gaps = layout.gaps().tolist()
        encoded, ends = tokenizer.encoder.encode_pretokens(pretokens)
        tokens: list[int] = encoded.tolist()
        stops: list[int] = [0, *ends.tolist()]
        for number, word in enumerate(pretokens.words):
            if number % _WORDS_BETWEEN_LOOKS == 0:
                time.sleep(0)  # Yield to the app's other threads.
                look()
            start, end = gaps[number] + 1, gaps[number + 1]
            if word in self._word_ids:
                self._looked_up[start] = word
            if end > start:
                self._write(start, end, tokens[stops[number] : stops[number + 1]])

    def remove(self, id: int) -> set[int]:
        """Remove a token that no other is merged from; return the ids whose uses changed."""
        self._touched = set()
        ids = self._ids
        pairs = self._pairs_of.pop(id, [])
        for pair in pairs:
            del self._ranks[pair]
        self._parts.pop(id, None)
        if (same := self._word_ids.get(self._vocab[id])) is not None and id in same:
            same.remove(id)
        boundaries: list[int] = []
        for slot in self._slots_by_id.pop(id, ()):
            if ids[slot] != id:  # merged differently since, or listed twice
                continue
            end = self._after[slot]
            if slot in self._looked_up:
                self._encode_again(slot, end)
            elif self._each_made_once:
                self._write(slot, end, pairs[0])
                boundaries += (slot, end)
            else:
                # If several merges make a token, its parts don't show how it was made here.
                self._encode_again(*self._piece_around(slot))
        for slot in boundaries:
            self._mend(slot)
        return self._touched

    def _mend(self, slot: int) -> None:
        """Merge again around the boundary before a slot, if a merge crosses it."""
        ids, symbols = self._ids, self._symbols
        start, end = self._before[slot], self._after[slot]
        if ids[slot] < 0 or ids[start] < 0 or self._stay_apart(ids[start], ids[slot]):
            return
        while True:
            merged = merge_symbols(symbols[start:end], self._ranks, self._made)
            before = self._before[start]
            if ids[before] >= 0 and not self._stay_apart(ids[before], merged[0]):
                start = before
            elif ids[end] >= 0 and not self._stay_apart(merged[-1], ids[end]):
                end = self._after[end]
            else:
                break
        self._write(start, end, merged)

    def _stay_apart(self, left: int, right: int) -> bool:
        if left in self._has_late or right in self._has_late:
            return False  # or not known
        return stay_apart(left, right, self._ranks, self._parts)

    def _piece_around(self, slot: int) -> tuple[int, int]:
        """Return the first slot of the tokens around a slot, up to gaps, and the gap after them."""
        start = end = slot
        while self._ids[self._before[start]] >= 0:
            start = self._before[start]
        while self._ids[end] >= 0:
            end = self._after[end]
        return start, end

    def _encode_again(self, start: int, end: int) -> None:
        """Encode a word, or a piece of it, from its symbols."""
        known = self._word_ids.get(self._looked_up.get(start, b""))
        if known:
            self._write(start, end, known[:1])
            return
        self._looked_up.pop(start, None)
        tokens: list[int] = []
        run: list[int] = []
        for symbol in (*self._symbols[start:end], _GAP):
            if symbol != _GAP:
                run.append(symbol)
                continue
            tokens += merge_symbols(run, self._ranks, self._made)
            tokens.append(_GAP)
            run = []
        self._write(start, end, tokens[:-1])

    def _write(self, start: int, end: int, tokens: Sequence[int]) -> None:
        """Replace the tokens from one slot up to another."""
        ids, after, before = self._ids, self._after, self._before
        weight, held_out = self._weights[start], self._held_out[start]
        old: dict[int, int] = {}
        slot = start
        while slot < end:
            id = ids[slot]
            if id >= 0:
                old[slot] = id
                self._count(id, -weight, -held_out)
            ids[slot] = _WITHIN
            slot = after[slot]
        slot = start
        last = before[start]
        for id in tokens:
            ids[slot] = id
            before[slot] = last
            last = slot
            slot = end if len(tokens) == 1 else slot + self._n_symbols.get(id, 1)
            after[last] = slot
            if id >= 0:
                self._count(id, weight, held_out)
                if old.get(last) != id:
                    self._slots_by_id[id].append(last)
        if end < len(before):
            before[end] = last

    def _count(self, id: int, weight: int, held_out: int) -> None:
        self.uses[id] += weight
        self.n_tokens += weight
        self.n_held_out += held_out
        self._touched.add(id)


def _contain_late(tokenizer: Tokenizer) -> set[int]:
    """Return the tokens whose merge comes before one of their parts', and what contains them.

    In SentencePiece's family, some runs of spaces are such tokens. Their ranks don't tell when they
    are made.
    """
    found: set[int] = set()
    if not tokenizer.table.byte_ids:
        return found
    ranks = {made: rank for rank, (_, _, made) in enumerate(tokenizer.table.triples)}
    goes_on = True
    while goes_on:
        before = len(found)
        for rank, (left, right, made) in enumerate(tokenizer.table.triples):
            is_late = max(ranks.get(left, -1), ranks.get(right, -1)) > rank
            if is_late or left in found or right in found:
                found.add(made)
        goes_on = len(found) > before
    return found


def _ids_by_bytes(tokenizer: Tokenizer) -> dict[bytes, list[int]]:
    """Return the ids that a whole word is looked up as, lowest first; empty if none is."""
    found: dict[bytes, list[int]] = {}
    if tokenizer.table.whole_words_first:
        special = set(tokenizer.special_tokens.values())
        for id, token in sorted(tokenizer.vocab.items()):
            if id not in special:
                found.setdefault(token, []).append(id)
    return found
