"""Choose the merges that turn the user's terms into tokens, before any is learned by frequency.

A term is encoded as the base and the merges so far encode it. Of its pairs of neighbours, the one
most frequent in the corpus is merged, again and again, until the term is one token. The trainer
itself might have chosen such merges. If they cannot make the term a token, because the corpus does
not contain it, pairs that never occur are merged too, after those that do.

`TermWords` are the words that such merges can change, as they are applied. A merge for a term joins
a pair in the term. Its two symbols are tokens of the base, or made by earlier merges, the first of
which joined two tokens of the base. So each word that changes holds a pair of neighbours that the
base's encoding of some term holds, too.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from itertools import groupby, pairwise
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpe_core.corpus import NEVER, Layout
from bpe_core.tokenizer import Tokenizer, merge_symbols
from bpe_core.trainers.base_vocabulary import split_symbols
from bpe_core.trainers.continued import ContinuedVocabulary
from bpe_core.trainers.pair_tables import BITS
from bpe_core.trainers.reference import apply_merge, count_pairs, order_pairs
from bpe_core.trainers.special_runs import TermCost, TermMerges
from bpe_core.types import Pair, PretokenCounts, TieBreak


class TermWords:
    """The words of a layout that hold any of some pairs, each as a list of symbols.

    A word with a symbol missing from the alphabet is cut there, because no merge crosses it.

    >>> from bpe_core.corpus import Layout
    >>> words = TermWords(Layout.of_words([[7, 8, 7], [8, 8]], [5, 3]), {(7, 8)})
    >>> words.merge((7, 8), 9, rank=0), words.symbols
    (5, [[9, 7]])
    >>> words.joined_at.tolist() == [NEVER, NEVER, 0, NEVER, NEVER, NEVER, NEVER, NEVER]
    True
    """

    def __init__(self, layout: Layout, pairs: Collection[Pair]) -> None:
        self.joined_at: NDArray[np.int32] = np.full(len(layout.ids), NEVER, np.int32)
        """int32[n_slots]: the rank of the merge that joined each slot, or NEVER."""
        self.symbols: list[list[int]] = []
        """The ids of each word, in the order of the layout."""
        self.weights: list[int] = []
        """How often each word occurs in the corpus."""
        self._slots: list[list[int]] = []
        self._words_with: defaultdict[Pair, set[int]] = defaultdict(set)
        """The words that held a pair at some time: one that was sought, or of a new token."""
        weights = layout.weights()
        for start, end in _spans(layout, pairs):
            number = len(self.symbols)
            symbols: list[int] = layout.ids[start:end].tolist()
            self.symbols.append(symbols)
            self.weights.append(int(weights[start]))
            self._slots.append(list(range(start, end)))
            for pair in pairwise(symbols):
                if pair in pairs:
                    self._words_with[pair].add(number)

    def holding(self, pairs: Collection[Pair]) -> list[int]:
        """Return the numbers of the words that hold any of some pairs, ascending.

        Each pair must be one of those sought at first, or have a token made since.
        """
        found: set[int] = set()
        for pair in pairs:
            for number in self._words_with.get(pair, ()):
                if number not in found and pair in pairwise(self.symbols[number]):
                    found.add(number)
        return sorted(found)

    def runs(self, ids: Sequence[int]) -> dict[tuple[int, ...], int]:
        """Return how often each run of several of these ids occurs, in the order of the words.

        Merges that only join these ids do the same in the runs as in the words, and the runs are
        far fewer: those of the letters of "cmpxchg" in 100 MB are a hundredth of its words.

        >>> from bpe_core.corpus import Layout
        >>> words = TermWords(Layout.of_words([[7, 8, 5, 7], [7, 8, 6]], [5, 3]), {(7, 8)})
        >>> words.runs((7, 8))
        {(7, 8): 8}
        """
        found: defaultdict[tuple[int, ...], int] = defaultdict(int)
        for number in self.holding(set(pairwise(ids))):
            for is_in, run in groupby(self.symbols[number], set(ids).__contains__):
                if is_in and len(symbols := tuple(run)) > 1:
                    found[symbols] += self.weights[number]
        return dict(found)

    def merge(self, pair: Pair, new_id: int, rank: int) -> int:
        """Join every occurrence of a pair; return how many tokens shorter this makes the corpus."""
        saved = 0
        for number in self._words_with.pop(pair, set()):
            symbols, slots = self.symbols[number], self._slots[number]
            merged: list[int] = []
            kept: list[int] = []
            at = 0
            while at < len(symbols):
                kept.append(slots[at])
                if tuple(symbols[at : at + 2]) == pair:
                    merged.append(new_id)
                    self.joined_at[slots[at + 1]] = rank
                    saved += self.weights[number]
                    at += 2
                else:
                    merged.append(symbols[at])
                    at += 1
            if len(merged) < len(symbols):
                self.symbols[number], self._slots[number] = merged, kept
                for each in pairwise(merged):
                    if new_id in each:
                        self._words_with[each].add(number)
        return saved


def _spans(layout: Layout, pairs: Collection[Pair]) -> list[tuple[int, int]]:
    """Return the first slot and the one after the last of each word with one of the pairs."""
    if not pairs:
        return []
    keys = layout.ids[:-1].astype(np.int64) << BITS | layout.ids[1:]
    sought = np.array([left << BITS | right for left, right in pairs], np.int64)
    slots = np.flatnonzero(np.isin(keys, sought))
    borders = np.flatnonzero(layout.ids < 0)
    after = np.unique(np.searchsorted(borders, slots))
    begins: list[int] = (borders[after - 1] + 1).tolist()
    ends: list[int] = borders[after].tolist()
    return list(zip(begins, ends, strict=True))


MAX_PARTS: Final = 100
"""A term of more of the base's tokens is refused: words are shorter."""
MAX_TRIED: Final = 200
"""How many ways to cut a term are tried; far more than are needed, unless merges are left out."""
MAX_WORK: Final = 50_000_000
"""How many symbols of words are read for all terms together; that takes about ten seconds."""

NO_SYMBOL: Final = "It has a character that the base has no symbol for."
CHANGED: Final = "The base’s normalizer changes it, so no text has it as it is."
LEFT_OUT: Final = "It is among the tokens to leave out."
NO_MERGES: Final = "The base has a token for it that its merges do not make."
REVIVING: Final = "It would complete a token of the base that its merges do not make."
NO_WAY: Final = "Every way to make it goes through a token that is left out or exists already."
TOO_MUCH: Final = "The terms took too long to try: they share parts with too many words."
CANCELLED: Final = "The run was cancelled before it was tried."


class Form(NamedTuple):
    """A way to write a term."""

    ids: tuple[int, ...]
    """The base's ids for it; -1 for a symbol that is missing from the alphabet."""
    reason: str | None = None
    """Why the term cannot be written as one word; None if it can."""


_Step = tuple[Pair, int]
"""A merge on the way to a term, and the pair's count in the corpus at this point."""


def merge_terms(
    layout: Layout,
    terms: Sequence[str | bytes],
    base: Tokenizer,
    pretokens: PretokenCounts,
    vocabulary: ContinuedVocabulary,
    *,
    n_tokens: int,
    tie_break: TieBreak = "smallest-pair",
    max_token_bytes: int | None = None,
    should_stop: Callable[[], bool] = lambda: False,
) -> TermMerges:
    """Choose merges for terms, in order, at most `n_tokens`; add their tokens to the vocabulary.

    `layout` holds the pre-tokens as tokens of the base. A text is tried as a word of its own, with
    a space before it and without, whichever occurs more often first; bytes are taken as they are.
    A form that the corpus contains comes before one that it does not. A term for which too few
    tokens are left, or that cannot be made, changes nothing.

    >>> import numpy as np
    >>> from bpe_core.corpus import Layout
    >>> from bpe_core.tokenizer import gpt2
    >>> words = PretokenCounts((b" tokenizer", b" untokenized"), np.array([2, 1]))
    >>> layout = Layout.of_tokens(words, *gpt2().encoder.encode_words(words.words))
    >>> vocabulary = ContinuedVocabulary(gpt2().vocab)
    >>> found = merge_terms(layout, ["tokenizer"], gpt2(), words, vocabulary, n_tokens=5)
    >>> found.costs[0].token, found.costs[0].tokens_added, found.costs[0].tokens_saved
    (b' tokenizer', 1, 2)
    >>> found.costs[0].occurrences
    2
    """
    forms = find_term_forms(terms, base, pretokens)
    sought = {pair for of_term in forms for form in of_term for pair in pairwise(form.ids)}
    words = TermWords(layout, {pair for pair in sought if min(pair) >= 0})
    chooser = _Chooser(words, vocabulary, tie_break, max_token_bytes, should_stop)
    costs: list[TermCost] = []
    for term, of_term in zip(terms, forms, strict=True):
        time.sleep(0)  # lets other threads run
        if should_stop():
            costs.append(TermCost(term, None, reason=CANCELLED))
        else:
            costs.append(chooser.tried(term, of_term, n_tokens - len(chooser.merges)))
    return TermMerges(chooser.merges, chooser.counts, chooser.saved, words.joined_at, tuple(costs))


class _Chooser:
    """The merges chosen so far, and the words as they are after them."""

    def __init__(
        self,
        words: TermWords,
        vocabulary: ContinuedVocabulary,
        tie_break: TieBreak,
        max_token_bytes: int | None,
        should_stop: Callable[[], bool],
    ) -> None:
        self._words = words
        self._vocabulary = vocabulary
        self._tie_break: TieBreak = tie_break
        self._max_bytes = max_token_bytes
        self._should_stop = should_stop
        self._work = 0
        self._ranks: dict[Pair, int] = {}
        self.merges: list[tuple[int, int, int]] = []
        self.counts: list[int] = []
        self.saved: list[int] = []

    def tried(self, term: str | bytes, forms: Sequence[Form], room: int) -> TermCost:
        """Make a term a token with at most `room` merges, or say why it is not one."""
        possible: list[tuple[list[int], bytes]] = []
        reasons: list[str] = []
        made = [id for _, _, id in self.merges]
        for form in forms:
            if form.reason is not None:
                return TermCost(term, None, reason=form.reason)
            ids = merge_symbols(form.ids, self._ranks, made)
            token = b"".join(self._vocabulary.tokens[id] for id in ids if id >= 0)
            if len(ids) == 1 and ids[0] >= 0:
                return TermCost(term, token)
            if reason := self._why_not(ids, token):
                reasons.append(reason)
            else:
                possible.append((ids, token))
                path, reason = self._path(ids)
                if path is not None:
                    return self._taken(term, token, path, room)
                if reason is not None:
                    reasons.append(reason)
        for ids, token in possible:
            path, reason = self._path(ids, absent=True)
            if path is not None:
                return self._taken(term, token, path, room)
            reasons.append(reason or NO_WAY)
        return TermCost(term, None, reason=reasons[0])

    def _taken(self, term: str | bytes, token: bytes, path: list[_Step], room: int) -> TermCost:
        """Apply the merges of a path, unless they are more than `room`."""
        if len(path) > room:
            tokens = "token" if len(path) == 1 else "tokens"
            reason = f"It takes {len(path):,} more {tokens}, and {room:,} are left."
            return TermCost(term, None, reason=reason)
        saved = self._apply(path)
        # The last merge shortens the corpus by one token wherever the term is.
        return TermCost(term, token, len(path), saved, occurrences=self.saved[-1])

    def _why_not(self, ids: Sequence[int], token: bytes) -> str | None:
        if min(ids) < 0:
            return NO_SYMBOL
        forbidden = self._vocabulary.forbidden
        if token in forbidden.left_out:
            return LEFT_OUT
        if token in forbidden.reviving:
            return REVIVING
        if forbidden.spells(token):
            return NO_MERGES
        if self._max_bytes is not None and len(token) > self._max_bytes:
            return f"It has {len(token):,} bytes, and the limit is {self._max_bytes:,}."
        if len(ids) > MAX_PARTS:
            return f"It is {len(ids):,} tokens of the base; at most {MAX_PARTS} can be joined."
        return None

    def _path(
        self, ids: Sequence[int], *, absent: bool = False
    ) -> tuple[list[_Step] | None, str | None]:
        """Return the merges that join ids, the most frequent pair first if possible.

        If there are none, return why; None if only pairs that never occur are missing, which
        `absent` allows to be merged too.
        """
        runs = self._words.runs(ids)
        words, weights = [*map(list, runs)], [*runs.values()]
        tokens = self._vocabulary.tokens
        n_symbols = len(ids) + sum(map(len, words))
        tried: set[tuple[int, ...]] = set()
        is_blocked = False

        def is_new(symbols: Sequence[int]) -> bool:
            """Note a way to cut the term; return False if it was tried, or there is no time."""
            lengths = tuple(len(tokens[id]) for id in symbols)
            if lengths in tried or len(tried) >= MAX_TRIED or self._work > MAX_WORK:
                return False
            tried.add(lengths)
            return not self._should_stop()

        def search(symbols: list[int], words: list[list[int]]) -> list[_Step] | None:
            nonlocal is_blocked
            self._work += n_symbols
            for pair, count in self._by_count(symbols, words, weights, absent=absent):
                if self._vocabulary.forbidden.has(*pair):
                    is_blocked = True
                    continue
                new_id = self._vocabulary.join(*pair)
                joined = apply_merge(symbols, pair, new_id)
                rest: list[_Step] | None = [] if len(joined) == 1 else None
                # Before the words are joined too, which takes long if there are many.
                if rest is None and is_new(joined):
                    rest = search(joined, [apply_merge(word, pair, new_id) for word in words])
                tokens.pop()
                if rest is not None:
                    return [(pair, count), *rest]
            return None

        path = search(list(ids), words) if is_new(ids) else None
        if path is None and self._should_stop():
            return None, CANCELLED
        if self._work > MAX_WORK:
            return path, TOO_MUCH
        return path, NO_WAY if is_blocked else None

    def _by_count(
        self,
        symbols: Sequence[int],
        words: list[list[int]],
        weights: list[int],
        *,
        absent: bool,
    ) -> list[tuple[Pair, int]]:
        """Return the pairs of a term that occur in the words, in the order they are tried.

        With `absent`, return those that do not occur too.
        """
        mine = dict.fromkeys(pairwise(symbols), 0)
        counts = count_pairs(words, weights)
        found = {pair: count for pair, count in counts.items() if pair in mine}
        if absent:
            found |= {pair: 0 for pair in mine if pair not in found}
        return [(pair, found[pair]) for pair in order_pairs(found, self._tie_break)]

    def _apply(self, path: list[_Step]) -> int:
        """Apply the merges of a path; return how many tokens shorter they make the corpus."""
        for pair, count in path:
            self._ranks[pair] = len(self.merges)
            new_id = self._vocabulary.join(*pair)
            self.saved.append(self._words.merge(pair, new_id, len(self.merges)))
            self.merges.append((*pair, new_id))
            self.counts.append(count)
        return sum(self.saved[-len(path) :])


def find_term_forms(
    terms: Sequence[str | bytes], base: Tokenizer, pretokens: PretokenCounts
) -> list[list[Form]]:
    """Return the forms of each term in the order they are tried, at least one.

    >>> import numpy as np
    >>> from bpe_core.tokenizer import gpt2
    >>> words = PretokenCounts((b" hugs",), np.array([2]))
    >>> [[[gpt2().vocab[id] for id in form.ids] for form in forms]
    ...     for forms in find_term_forms(["hugs", b"hugs"], gpt2(), words)]
    [[[b' hugs'], [b'h', b'ugs']], [[b'h', b'ugs']]]
    """
    # A text is written as the base normalizes it.
    normalized = base.pretokenizer.normalized
    terms = [normalized(term) if isinstance(term, str) else term for term in terms]
    texts = [_spell_term(term, base) if isinstance(term, str) else [] for term in terms]
    wanted = {text.encode() for words in texts for text in words}
    occurs = dict.fromkeys(wanted, 0)
    for word, count in zip(pretokens.words, pretokens.counts.tolist(), strict=True):
        if word in occurs:
            occurs[word] = count
    found: list[list[Form]] = []
    for term, words in zip(terms, texts, strict=True):
        if isinstance(term, bytes):
            found.append([_part_form(term, base)])
        elif words:
            # The form with the space comes first if both occur equally often: most words follow a
            # space.
            words.sort(key=lambda word: (-occurs[word.encode()], -len(word)))
            forms = [Form(tuple(_encode_word(word, base))) for word in words]
            # An alphabet without the space says nothing about the term itself.
            found.append([form for form in forms if -1 not in form.ids] or forms[-1:])
        else:
            found.append([Form((), _pieces(base.pretokenizer.split(term)))])
    return found


def _spell_term(term: str, base: Tokenizer) -> list[str]:
    """Return the term and the term after a space, if the pre-tokenizer takes them as one word."""
    written = [term] if term[:1].isspace() else [f" {term}", term]
    return [text for text in written if base.pretokenizer.split(text) == [text]]


def _part_form(term: bytes, base: Tokenizer) -> Form:
    """Return the form of bytes, which may be a part of a word."""
    ids = _encode_part(term, base)
    text = term.decode(errors="ignore")
    if base.pretokenizer.normalized(text) != text:
        return Form(ids, CHANGED)
    if base.table.byte_ids and -1 not in ids:
        # A file of this family has no pre-tokenizer, so the token would be made across words.
        words = base.pretokenizer.split(term.decode())
        return Form(ids, _pieces(words) if len(words) > 1 else None)
    return Form(ids)


def _encode_word(word: str, base: Tokenizer) -> list[int]:
    ids, _ = base.encoder.encode_words([word.encode()])
    spelling = {*base.table.byte_ids.values()}  # these bytes stand for missing characters
    return [-1 if id in spelling else id for id in ids.tolist()]


def _encode_part(token: bytes, base: Tokenizer) -> tuple[int, ...]:
    """Encode bytes that may be only a part of a word, and perhaps not valid UTF-8.

    -1 stands for a symbol that is missing from the alphabet.
    """
    marker = (base.end_of_word or "").encode()
    ends = bool(marker) and token.endswith(marker)
    content = token.removesuffix(marker) if ends else token
    try:
        symbols = split_symbols(content, base.base)
    except UnicodeDecodeError:
        return (-1,)
    ids = [base.base_ids.get(symbol, -1) for symbol in symbols]
    if ends and base.table.end_of_word_id is not None:
        ids.append(base.table.end_of_word_id)
    return tuple(merge_symbols(ids, base.table.ranks, base.table.made))


def _pieces(pieces: Sequence[str]) -> str:
    """Return a sentence on how the pre-tokenizer cuts a term."""
    shown = ", ".join(map(_shown, pieces[:4]))
    more = ", ..." if len(pieces) > 4 else ""
    if not pieces:
        return "The pre-tokenizer drops it."
    if len(pieces) == 1:
        return f"The pre-tokenizer keeps only {shown} of it."
    return f"The pre-tokenizer cuts it into {len(pieces):,} words: {shown}{more}."


def _shown(piece: str) -> str:
    return repr(piece) if len(piece) <= 20 else f"{piece[:20]!r}..."
