"""Shrink a vocabulary: remove the tokens that a corpus uses least, if no other token needs them.

A *leaf* is a token that no other token is merged from. Leaves are removed one after another, always
the one with the fewest uses in the encoding of the corpus by the remaining tokens. Its uses go to
the tokens that then take its place, mostly its two parts (see `LeafRow`), and a part whose last
child was removed is a leaf from then on. The alphabet, the end-of-word marker, special tokens and
the tokens that the caller pins stay.

`LeafRow` is the words of a corpus as tokens, from which tokens are removed one after another. When
a token is removed, each of its uses becomes its two parts. Nothing else changes, unless a merge
learned later joins one of the parts with its neighbour: with `a b` and then `b c`, the word `abc`
is `ab c`; without `ab` it is `a bc`, not `a b c`. So each boundary of the two parts is checked, and
where a merge crosses it, the tokens around are merged again from their symbols, as far as the
change reaches. By the two facts in `tokenizer.trie`, the row is then the encoding of its words by
the remaining tokens.

If the merge learned last is removed first, no later merge is left, and no boundary ever fails.

`replace` shrinks and extends: the tokens that a corpus uses least make room for those that it would
use.
"""

from __future__ import annotations

import os
import time
from array import array
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, Final, Literal, Self

import numpy as np
from numpy.typing import NDArray

from bpe_core.adapting.adapted import Adapted
from bpe_core.adapting.extending import DEFAULT_COVERAGE, checked_terms, extendable
from bpe_core.checks import check_choice, check_whole, counted
from bpe_core.corpus import (
    Corpus,
    Layout,
    WordCounts,
    check_cut,
    corpus_or_counts,
    count_corpus,
    count_pretokens,
    to_corpus,
)
from bpe_core.errors import ConfigError
from bpe_core.tokenizer import Encoder, Tokenizer, merge_symbols, stay_apart
from bpe_core.trainers import Watch, find_term_forms
from bpe_core.types import Pair, PretokenCounts, check_coverage, read_only
from bpe_core.unicode import TOKEN_SCRIPTS, token_script

if TYPE_CHECKING:
    from bpe_core.types import TieBreak, TrainingProgress


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
            layout = Layout.of_tokens(pretokens, *symbols)
        else:
            layout = Layout.of_symbols(
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


RemovalOrder = Literal["fewest-uses", "last-learned"]
OnRemoval = Callable[[int, int], None]
"""Called first, and then at intervals, with the number of tokens removed and to remove."""

_REMOVALS_BETWEEN_LOOKS: Final = 256


@dataclass(frozen=True, slots=True, eq=False)
class Removals:
    """The order in which leaves go, and the tokens of both texts after each removal.

    One pass answers for every size on the way: see `at`.
    """

    base: Tokenizer
    order: tuple[int, ...] = field(repr=False)
    """The base's ids of the removed tokens, in the order they were removed."""
    uses: NDArray[np.int64] = field(repr=False)
    """int64[n_removed], read-only: how often each was used when it was removed."""
    tokens_after: NDArray[np.int64] = field(repr=False)
    """int64[n_removed + 1], read-only: the tokens of the corpus after each removal."""
    held_out_tokens_after: NDArray[np.int64] | None = field(repr=False)
    """The same for the held-out text; None without one."""

    @classmethod
    def of(
        cls,
        tokenizer: Encoder | str | os.PathLike[str],
        corpus: Corpus | WordCounts | Iterable[str],
        vocab_size: int | None = None,
        *,
        held_out: Corpus | Iterable[str] | None = None,
        pinned: Collection[int] = (),
        order: RemovalOrder = "fewest-uses",
        scripts: Collection[str] | None = None,
        on_progress: OnRemoval | None = None,
        should_stop: Callable[[], bool] | None = None,
    ) -> Self:
        """Return the order in which leaves go, down to `vocab_size` or as far as possible if None.

        Raises what `shrink` raises.

        >>> import bpe_core as bpe
        >>> run = bpe.train(Corpus.from_word_counts({"hug": 3}), bpe.TrainingConfig(259))
        >>> removals = Removals.of(run.tokenizer, Corpus.from_text("hug hug"))
        >>> [run.tokenizer.vocab[id] for id in removals.order], removals.tokens_after.tolist()
        ([b'hug', b'hu'], [3, 5, 7])
        """
        tokenizer = extendable(tokenizer)
        corpus = corpus_or_counts(corpus)
        held_out = None if held_out is None else to_corpus(held_out)
        _check(tokenizer, vocab_size, order, pinned, scripts)
        leaves = _Leaves(tokenizer, pinned, scripts)
        n_wanted = None if vocab_size is None else tokenizer.vocab_size - vocab_size
        if n_wanted is not None and n_wanted > (
            most := _Leaves(tokenizer, pinned, scripts).remove_all()
        ):
            raise ConfigError(
                "This vocabulary cannot shrink below "
                f"{counted(tokenizer.vocab_size - most, 'token')}: {most:,} can be removed, not "
                f"{n_wanted:,}. The alphabet, special tokens, pinned tokens and their parts stay"
                f"{'' if scripts is None else ', and so do tokens of other scripts'}."
            )
        if on_progress is not None:
            on_progress(0, leaves.n_removable if n_wanted is None else n_wanted)
        watch = Watch(0, time.perf_counter(), None, should_stop)
        words = _count_words(tokenizer, corpus, held_out, watch)
        watch.raise_if_stopped()
        row = LeafRow(tokenizer, *words, watch.raise_if_stopped)
        by_uses = order == "fewest-uses"
        learned: dict[int, int] = {}
        for rank, id in enumerate(tokenizer.table.made):
            learned.setdefault(id, rank)

        def key(id: int) -> tuple[int, int]:
            # No token is made from one that no merge makes, so it counts as learned last.
            return (row.uses[id] if by_uses else -learned.get(id, len(learned)), -id)

        waiting = [key(id) for id in leaves.free]
        heapify(waiting)
        removed: list[int] = []
        uses: list[int] = []
        curve = [row.n_tokens]
        held_out_curve = [row.n_held_out]
        while waiting and len(removed) != n_wanted:
            if len(removed) % _REMOVALS_BETWEEN_LOOKS == 0:
                watch.raise_if_stopped()
                if on_progress is not None:
                    on_progress(len(removed), leaves.n_removable if n_wanted is None else n_wanted)
                time.sleep(0)  # Yield to the app's other threads.
            first = heappop(waiting)
            id = -first[1]
            if id not in leaves.free or key(id) != first:
                continue
            uses.append(row.uses[id])
            changed = row.remove(id)
            changed |= leaves.remove(id)
            for other in changed & leaves.free:
                heappush(waiting, key(other))
            removed.append(id)
            curve.append(row.n_tokens)
            held_out_curve.append(row.n_held_out)
        return cls(
            tokenizer,
            tuple(removed),
            read_only(np.array(uses, np.int64)),
            read_only(np.array(curve, np.int64)),
            None if held_out is None else read_only(np.array(held_out_curve, np.int64)),
        )

    @classmethod
    def to_replace(
        cls,
        tokenizer: Encoder | str | os.PathLike[str],
        corpus: Corpus | WordCounts | Iterable[str],
        n_tokens: int,
        *,
        pinned: Collection[int] = (),
        scripts: Collection[str] | None = None,
        order: RemovalOrder = "fewest-uses",
        terms: Iterable[str | bytes] = (),
        on_removal: OnRemoval | None = None,
        should_stop: Callable[[], bool] | None = None,
    ) -> Self:
        """Return the removals of the first step of `replace`, which include those for fewer tokens.

        >>> from bpe_core.tokenizer import gpt2
        >>> Removals.to_replace(gpt2(), Corpus.from_text("A tokenizer"), 2).order
        (50255, 50254)
        """
        base = extendable(tokenizer)
        check_whole("n_tokens", n_tokens, 1, base.vocab_size)
        return cls.of(
            base,
            corpus,
            base.vocab_size - int(n_tokens),
            pinned=[*pinned, *find_whole_terms(checked_terms(terms), base)],
            order=order,
            scripts=scripts,
            on_progress=on_removal,
            should_stop=should_stop,
        )

    def at(self, vocab_size: int) -> Adapted:
        """Return the tokenizer of a size on the way.

        Raises `ConfigError` for a size that the removals don't reach.
        """
        size = self.base.vocab_size
        least = size - len(self.order)
        check_whole("vocab_size", vocab_size, 0)
        if not least <= vocab_size <= size:
            raise ConfigError(
                f"Expected a vocabulary size from {least:,} to {size:,}, got {vocab_size:,}. The "
                "alphabet, special tokens, pinned tokens and their parts stay."
            )
        removed = self.order[: size - vocab_size]
        smaller, old_ids = self.base.keep_only(self.base.vocab.keys() - set(removed))
        return Adapted(self.base, smaller, old_ids, removed)


def shrink(
    tokenizer: Encoder | str | os.PathLike[str],
    corpus: Corpus | WordCounts | Iterable[str],
    vocab_size: int,
    *,
    pinned: Collection[int] = (),
    order: RemovalOrder = "fewest-uses",
    scripts: Collection[str] | None = None,
    on_progress: OnRemoval | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> Adapted:
    """Remove leaves until `vocab_size` tokens are left; ids are renumbered in the old order.

    `pinned` ids stay. "last-learned" removes the token of the last merge first, whatever its uses.
    With `scripts`, only tokens of these scripts are removed, as `token_script` names them.

    Raises `ConfigError` if too few tokens may go, what the pre-tokenizer raises, and
    `concurrent.futures.CancelledError` once `should_stop`, called at intervals, returns True.

    >>> import bpe_core as bpe
    >>> shrunk = shrink(bpe.gpt2(), Corpus.from_text("hug hugs hugging"), vocab_size=20_000)
    >>> shrunk.tokenizer.vocab_size, shrunk.old_ids[shrunk.tokenizer.encode(" hugging")].tolist()
    (20000, [46292])
    >>> len(shrunk.removed), shrunk.removed[:2]
    (30257, (50255, 50254))
    """
    removals = Removals.of(
        tokenizer,
        corpus,
        vocab_size,
        pinned=pinned,
        order=order,
        scripts=scripts,
        on_progress=on_progress,
        should_stop=should_stop,
    )
    return removals.at(vocab_size)


class _Leaves:
    """The tokens that may be removed now, because no other token is merged from them."""

    def __init__(
        self, tokenizer: Tokenizer, pinned: Collection[int], scripts: Collection[str] | None
    ) -> None:
        stay = {
            *tokenizer.special_tokens.values(),
            *tokenizer.base_ids.values(),
            *tokenizer.table.byte_ids.values(),
            *pinned,
        }
        if tokenizer.table.end_of_word_id is not None:
            stay.add(tokenizer.table.end_of_word_id)
        self._may_go = {
            id
            for id, token in tokenizer.vocab.items()
            if id not in stay and (scripts is None or token_script(token) in scripts)
        }
        self._n_children = dict.fromkeys(tokenizer.vocab, 0)
        self._pairs_of: dict[int, list[tuple[int, int]]] = {}
        for left, right, id in tokenizer.table.triples:
            self._pairs_of.setdefault(id, []).append((left, right))
            self._n_children[left] += 1
            self._n_children[right] += 1
        self.n_removable = len(self._may_go)
        """The most tokens that may go; fewer if others are merged from them."""
        self.free = {id for id in self._may_go if self._n_children[id] == 0}

    def remove(self, id: int) -> set[int]:
        """Remove a leaf; return its parts that are leaves now."""
        self.free.remove(id)
        new: set[int] = set()
        for pair in self._pairs_of.get(id, ()):
            for part in pair:
                self._n_children[part] -= 1
                if self._n_children[part] == 0 and part in self._may_go:
                    new.add(part)
        self.free |= new
        return new

    def remove_all(self) -> int:
        """Remove all that can go, whatever the text; return how many they are."""
        n_removed = 0
        while free := [*self.free]:
            for id in free:
                self.remove(id)
            n_removed += len(free)
        return n_removed


def _count_words(
    tokenizer: Tokenizer,
    corpus: Corpus | WordCounts,
    held_out: Corpus | None,
    watch: Watch,
) -> tuple[PretokenCounts, NDArray[np.int64]]:
    """Return the words of both texts with their counts in the corpus and in the held-out text."""
    cut, should_stop = tokenizer.pretokenizer, watch.asked_to_stop
    if isinstance(corpus, WordCounts):
        found = check_cut(corpus, cut.name)
    else:
        found = count_corpus(corpus, cut, should_stop=should_stop)
    pretokens = found.pretokens
    if held_out is None:
        return pretokens, np.zeros(pretokens.n_words, np.int64)
    others = count_pretokens(held_out, cut, should_stop=should_stop)
    count_of = dict(zip(pretokens.words, pretokens.counts.tolist(), strict=True))
    held_out_count_of = dict(zip(others.words, others.counts.tolist(), strict=True))
    words = tuple({**count_of, **held_out_count_of})
    counts = np.array([count_of.get(word, 0) for word in words], np.int64)
    return (
        PretokenCounts(words, counts),
        np.array([held_out_count_of.get(word, 0) for word in words], np.int64),
    )


def _check(
    tokenizer: Tokenizer,
    vocab_size: int | None,
    order: RemovalOrder,
    pinned: Collection[int],
    scripts: Collection[str] | None,
) -> None:
    check_choice("order", order, RemovalOrder, ConfigError)
    if vocab_size is not None:
        check_whole("vocab_size", vocab_size, 0, tokenizer.vocab_size)
    unknown = [id for id in pinned if id not in tokenizer.vocab]
    if unknown:
        raise ConfigError(f"Expected ids of the vocabulary as pinned, got {unknown[0]!r}.")
    for script in scripts or ():
        if script not in TOKEN_SCRIPTS:
            raise ConfigError(
                f"There is no script {script!r:.60}. The names of scripts are: "
                f"{', '.join(TOKEN_SCRIPTS)}."
            )


def replace(
    tokenizer: Encoder | str | os.PathLike[str],
    corpus: Corpus | WordCounts | Iterable[str],
    n_tokens: int,
    on_progress: Callable[[TrainingProgress], None] | None = None,
    *,
    pinned: Collection[int] = (),
    scripts: Collection[str] | None = None,
    order: RemovalOrder = "fewest-uses",
    terms: Iterable[str | bytes] = (),
    left_out: Iterable[bytes] = (),
    tie_break: TieBreak = "smallest-pair",
    character_coverage: float = DEFAULT_COVERAGE,
    on_removal: OnRemoval | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> Adapted:
    """Shrink a vocabulary by `n_tokens`, then extend it by as many; its size is unchanged.

    Kept tokens are renumbered in the old order, and new tokens follow them. A removed token that
    is learned again gets its old id in `old_ids`, so its embedding row is kept. `pinned`,
    `scripts` and `order` are as for `shrink`, `terms`, `left_out`, `tie_break` and
    `character_coverage` as for `extend`.
    A term that is a token of the base stays; what the others cost is in `terms` of the result, and
    their tokens count among `n_tokens`.

    Raises what `shrink` and `extend` raise, and `ConfigError` if the corpus has too few pairs for
    `n_tokens` new tokens.

    >>> from bpe_core.tokenizer import gpt2
    >>> swapped = replace(gpt2(), Corpus.from_text("A tokenizer, two tokenizers"), n_tokens=2)
    >>> swapped.tokenizer.vocab_size, swapped.tokenizer.decode([50256]), swapped.removed
    (50257, ' tokenizers', (50255, 50254))
    >>> {id: [gpt2().decode([part]) for part in parts] for id, parts in swapped.parts.items()}
    {50255: [' token', 'izer'], 50256: [' token', 'izers']}
    """
    corpus = corpus_or_counts(corpus)
    # Before the removals, which take long.
    check_coverage("character_coverage", character_coverage, may_be_zero=True)
    tried = checked_terms(terms)
    removals = Removals.to_replace(
        tokenizer,
        corpus,
        n_tokens,
        pinned=pinned,
        scripts=scripts,
        order=order,
        terms=tried,
        on_removal=on_removal,
        should_stop=should_stop,
    )
    smaller = removals.at(removals.base.vocab_size - n_tokens)
    run = smaller.extended_to_size(
        corpus,
        on_progress,
        should_stop,
        terms=tried,
        left_out=left_out,
        tie_break=tie_break,
        character_coverage=character_coverage,
    )
    return Adapted.of(smaller.base, run.tokenizer, smaller.old_ids, smaller.removed, run.terms)


def find_whole_terms(terms: Sequence[str | bytes], base: Tokenizer) -> list[int]:
    """Return the base's ids of terms that are one of its tokens, after a space or without one.

    >>> from bpe_core.tokenizer import gpt2
    >>> [gpt2().decode([id]) for id in find_whole_terms(["Fluss", "hug", b"ug"], gpt2())]
    ['ug', ' hug']
    """
    nothing = PretokenCounts((), np.zeros(0, np.int64))
    forms = [form.ids for of_term in find_term_forms(terms, base, nothing) for form in of_term]
    return sorted({ids[0] for ids in forms if len(ids) == 1 and ids[0] >= 0})
