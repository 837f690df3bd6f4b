"""One vocabulary, several ways to cut a text with it, and the end of a prompt.

A tokenizer's merges are one way to cut a text into its tokens. Other readers of the same vocabulary
ask the merges nothing, or leave some of them out. All cut the same pre-tokens, so a token never
crosses the border of one.

A pre-token is spelled here as a str with a character for each symbol of the alphabet, so a slice of
it is what a token may be. `tests/properties/test_readings.py` has each reader as its definition
says it, with every way to cut a word.

`unstable_end` returns which of the last tokens of a prompt may change when text is added to it. A
model continues a prompt token by token, and the prompt's own tokens stay as they are. In the
training texts, the tokens at the border would often be different: they have ` the`, so the model
has seldom seen ` th` and `e`.

Text that is added changes tokens in two ways. It moves the border of the last pre-tokens, which a
few texts of each kind of character show. Or it continues the last pre-token, and then some token
covers the border between both. That token begins with the end of the pre-token, and the tokens
before it are those of what is before it alone, as in `trie`: so each end of the pre-token is tried
with the tokens that begin with it. Each text that is found is encoded with the prompt.
"""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from heapq import heapify, heappop, heappush
from itertools import pairwise, product
from operator import itemgetter
from random import Random
from typing import Final, Literal, NamedTuple, get_args

from bpe_core.checks import check_choice, check_whole, describe, is_a
from bpe_core.errors import ArgumentTypeError, ConfigError, TokenizationError, UnknownSymbolError
from bpe_core.tokenizer.protocol import Encoder, Trained, find_own, to_encoder
from bpe_core.tokenizer.rank_merging import merge_in
from bpe_core.tokenizer.steps import AllowedSpecial, allowed_tokens, check_text
from bpe_core.tokenizer.tables import TokenTable, spell_with
from bpe_core.tokenizer.tokenizer import Tokenizer

Reader = Literal["merges", "left-to-right", "longest-first", "fewest-tokens", "dropout"]
READERS: Final[tuple[Reader, ...]] = get_args(Reader)
"""The readers, the tokenizer's own first."""
_MAX_WORDS: Final = 100_000
DROPOUT: Final = 0.1
"""The share of merges that is left out if no other is given, as in BPE-dropout's paper."""
MAX_PROMPT: Final = 10_000
"""The most characters of a text whose end the page and `bpe readers` look at."""


def encode_by(
    tokenizer: Encoder | Trained | str | os.PathLike[str],
    text: str,
    reader: Reader = "merges",
    *,
    dropout: float = DROPOUT,
    seed: int = 0,
    allowed_special: AllowedSpecial = (),
) -> list[int]:
    """Return the ids of a text, cut by one of several readers of a tokenizer's vocabulary.

    Each pre-token is cut on its own. `merges` is `tokenizer.encode`. `left-to-right` takes the
    longest token that the rest begins with, as WordPiece does. `longest-first` takes the longest
    token anywhere, the leftmost of several, and then goes on in what is left on both sides (FLOTA,
    Hofmann et al. 2022). `fewest-tokens` takes the shortest path; of several, the one whose first
    tokens are the longest. `dropout` merges, but passes over each pair that could merge with this
    probability, again before each merge (BPE-dropout, arXiv 1910.13267); a `seed` gives the same
    ids each time, and with a dropout of 0 it is `merges`.

    The tokenizer may be given by its path or name, as for `open_encoder`. Raises ConfigError for
    another reader and a dropout that is not from 0 to 1, TokenizationError for a tokenizer that
    another library runs, and what `Tokenizer.encode` raises.

    >>> from bpe_core.tokenizer import gpt2
    >>> for reader in READERS[:4]:
    ...     tokens = encode_by(gpt2(), " hypopituitarism", reader)
    ...     print(f"{reader:<14}", *(gpt2().vocab[id].decode() for id in tokens))
    merges          hyp op it uit ar ism
    left-to-right   hyp op itu itar ism
    longest-first   hyp o pit u itar ism
    fewest-tokens   hyp op itu itar ism
    """
    check_choice("reader", reader, Reader, ConfigError)
    if not is_a(dropout, int, float) or not 0 <= dropout <= 1:
        raise ConfigError(f"Expected a dropout from 0 to 1, got {describe(dropout)}.")
    check_whole("seed", seed, 0)
    check_text(text)
    own = own_tokenizer(tokenizer)
    if reader == "merges" or (reader == "dropout" and dropout == 0):
        return own.encode(text, allowed_special)
    tokens, random, cut = _spell_vocabulary(own), Random(seed), _CUTS.get(reader)
    steps = own.encoder.steps
    allowed = allowed_tokens(own.special_tokens, allowed_special)

    def cut_word(word: str) -> list[int]:
        if word in steps.cut.added:
            return [steps.cut.added[word]]
        found: list[int] = []
        for symbols, _ in own.encoder.pieces(word):
            if symbols is None:
                raise own.encoder.unknown_symbol(text, allowed)
            if cut is None:
                # Merges that are passed over have no place among removals, so those come last.
                for id in merge_with_dropout(symbols, own.table, dropout, random):
                    found += spell_with(id, own.table.parts, own.table.removed)
            else:
                found += cut(tokens.spell(symbols), tokens)
        return found

    # With dropout, a word is cut in another way each time.
    find = cut_word if cut is None else lru_cache(maxsize=_MAX_WORDS)(cut_word)
    ids: list[int] = []
    for part, added in steps.parts(text, allowed):
        if added is not None:
            ids.append(added)
        else:
            for word in steps.cut.split(part):
                ids += find(word)
    return ids


def own_tokenizer(tokenizer: Encoder | Trained | str | os.PathLike[str]) -> Tokenizer:
    """Return the tokenizer that is asked for; raises TokenizationError if another library runs it.

    >>> own_tokenizer("gpt2").n_merges
    50000
    """
    if not is_a(tokenizer, Encoder, Trained, str, os.PathLike):
        raise ArgumentTypeError(f"Expected a tokenizer, got {describe(tokenizer)}.")
    encoder = to_encoder(tokenizer)
    if (own := find_own(encoder)) is None:
        raise TokenizationError(
            f"{encoder.engine} encodes with this tokenizer, and its merges are not known here. Use "
            "a byte-pair-encoding tokenizer."
        )
    return own


class SpelledTokens(NamedTuple):
    """A vocabulary as texts of symbols."""

    letters: dict[int, str]
    """The character that stands for each symbol, by the symbol's id."""
    ids: dict[str, int]
    """The id of each token."""
    longest: int
    """The most symbols of a token."""

    def spell(self, symbols: Sequence[int]) -> str:
        """Return symbols as a text."""
        return "".join(map(self.letters.__getitem__, symbols))


@lru_cache(maxsize=4)
def _spell_vocabulary(tokenizer: Tokenizer) -> SpelledTokens:
    """Return the tokens that text may be cut into: all but special ones and those it can't spell.

    Of equal tokens, the one that the merges make first is taken.
    """
    table = tokenizer.table
    marker = [] if table.end_of_word_id is None else [table.end_of_word_id]
    symbols = [*table.base_ids.values(), *table.byte_ids.values(), *marker]
    # Any code points will do, surrogates too: the texts are only compared.
    letters = {id: chr(at) for at, id in enumerate(symbols)}
    ids = {letters[id]: id for id in symbols}
    special = {*tokenizer.special_tokens.values(), *table.special_tokens.values(), *table.removed}
    added = {each.id for each in tokenizer.added}
    for id in [*table.made, *sorted(table.vocab)]:
        if id in special or (id in added and id not in table.parts):
            continue
        spelled = _spell(table, id)
        if spelled and None not in spelled:
            ids.setdefault("".join(letters[each] for each in spelled if each is not None), id)
    return SpelledTokens(letters, ids, max(map(len, ids), default=0))


def _spell(table: TokenTable, id: int) -> list[int | None]:
    """Return the symbols of a token, None for each that the alphabet lacks."""
    content = table.content[id]
    if table.base == "bytes":
        pieces = [content[at : at + 1] for at in range(len(content))]
    else:
        pieces = [character.encode() for character in content.decode(errors="replace")]
    symbols: list[int | None] = [table.base_ids.get(piece) for piece in pieces]
    return [*symbols, table.end_of_word_id] if id in table.ending_word else symbols


def _cut_left_to_right(word: str, tokens: SpelledTokens) -> list[int]:
    found: list[int] = []
    at = 0
    while at < len(word):
        end = min(len(word), at + tokens.longest)
        while word[at:end] not in tokens.ids:
            end -= 1
        found.append(tokens.ids[word[at:end]])
        at = end
    return found


def _cut_longest_first(word: str, tokens: SpelledTokens) -> list[int]:
    # What is taken is at least as long as what is tried, so it covers an end of what it overlaps.
    is_taken = [False] * len(word)
    found: dict[int, int] = {}
    for length in range(min(len(word), tokens.longest), 0, -1):
        for start in range(len(word) - length + 1):
            end = start + length
            if is_taken[start] or is_taken[end - 1]:
                continue
            id = tokens.ids.get(word[start:end])
            if id is not None:
                found[start] = id
                is_taken[start:end] = [True] * length
    return [found[start] for start in sorted(found)]


def _cut_into_fewest(word: str, tokens: SpelledTokens) -> list[int]:
    n = len(word)
    best = [0] * (n + 1)
    """best[at]: the fewest tokens of the word from there on."""
    ends = [n] * n
    for at in reversed(range(n)):
        best[at] = n + 1
        for end in range(min(n, at + tokens.longest), at, -1):
            if best[end] + 1 < best[at] and word[at:end] in tokens.ids:
                best[at], ends[at] = best[end] + 1, end
    found: list[int] = []
    at = 0
    while at < n:
        found.append(tokens.ids[word[at : ends[at]]])
        at = ends[at]
    return found


def merge_with_dropout(
    symbols: Sequence[int], table: TokenTable, dropout: float, random: Random
) -> list[int]:
    """Return the ids of a pre-token whose merges are passed over with this probability.

    Before each merge, the pairs that could merge are asked in the order of the merges, from left to
    right: each is passed over with the probability `dropout`, and the first that isn't merges. It
    ends when all are passed over.

    >>> table = TokenTable(vocab={0: b"a", 1: b"aa", 2: b"aaaa"}, merges=[(0, 0, 1), (1, 1, 2)])
    >>> [merge_with_dropout([0] * 4, table, 0.5, Random(seed)) for seed in range(3)]
    [[1, 1], [0, 1, 0], [1, 1]]
    """
    n = len(symbols)
    ids = list(symbols)
    ranks, made = table.ranks, table.made
    following, preceding = list(range(1, n + 1)), list(range(-1, n - 1))
    waiting = [(ranks[pair], at) for at, pair in enumerate(pairwise(ids)) if pair in ranks]
    heapify(waiting)
    passed: list[tuple[int, int]] = []
    while waiting:
        rank, at = candidate = heappop(waiting)
        after = following[at]
        # Stale if the symbol no longer exists (-1 is in no pair) or has joined another since.
        if after == n or ranks.get((ids[at], ids[after])) != rank:
            continue
        if random.random() < dropout:
            passed.append(candidate)
            continue
        ids[at], ids[after] = made[rank], -1
        following[at] = following[after]
        if following[at] < n:
            preceding[following[at]] = at
        # Pairs on both sides are new, and those that were passed over are asked again.
        for left in (preceding[at], at):
            right = following[left] if left >= 0 else n
            pair_rank = ranks.get((ids[left], ids[right])) if right < n else None
            if pair_rank is not None:
                heappush(waiting, (pair_rank, left))
        for each in passed:
            heappush(waiting, each)
        passed.clear()
    return [id for id in ids if id >= 0]


_CUTS: Final[dict[Reader, Callable[[str, SpelledTokens], list[int]]]] = {
    "left-to-right": _cut_left_to_right,
    "longest-first": _cut_longest_first,
    "fewest-tokens": _cut_into_fewest,
}


_PART: Final = 200
# fmt: off
_MOVING: Final = (
    "a", "A", "s", "t", "m", "d", "re", "ve", "ll", "'s", "1", "11", "111", "é", "中", "あ", "🙂",
    " ", "  ", " a", "  a", " .", "\t", "\n", "\na", "\n\n", "\n a", "\r\n", " \n", "\xa0", ".",
    "..", ". a", ".\n", "/", "'", "-", "_", "\u0301", "\u200d",
)
# fmt: on
"""Texts of each kind of character, which move the borders of pre-tokens."""
_MARKS: Final = (*map(chr, range(0x300, 0x346)), "\u1161", "\u11a8", "\u3099", "\u309a")
"""Characters that compose with the one before them."""


class UnstableEnd(NamedTuple):
    """How many tokens of a prompt keep their places before the texts that were tried."""

    n_stable: int
    """The first tokens; no text that was tried changes them."""
    n_unstable: int
    """The tokens after those; a text that was tried changes the first of them."""
    added: str
    """Such a text; empty if no text that was tried changes any token."""
    ids: tuple[int, ...]
    """The ids of the prompt and that text together, from the first that changes on."""


def unstable_end(
    tokenizer: Encoder | Trained | str | os.PathLike[str],
    text: str,
    allowed_special: AllowedSpecial = (),
) -> UnstableEnd:
    """Return which of the last tokens of a text may change when text is added.

    The tokenizer may be given by its path or name, as for `open_encoder`. Raises TokenizationError
    for a tokenizer that another library runs, and what `Tokenizer.encode` raises.

    >>> unstable_end("gpt2", "I like th")
    UnstableEnd(n_stable=2, n_unstable=1, added='e', ids=(262,))
    >>> unstable_end("gpt2", "Hello ")
    UnstableEnd(n_stable=1, n_unstable=1, added='t', ids=(256,))
    """
    check_text(text)
    own = own_tokenizer(tokenizer)
    *before, tail = list(own.parts(text, _PART)) or [""]
    allowed = allowed_tokens(own.special_tokens, allowed_special)
    n_before = sum(len(own.encode(part, allowed)) for part in before)
    ids = own.encode(tail, allowed)
    best, added, after = len(ids), "", ids[len(ids) :]
    for some, most in _continuations(own, tail, ids, allowed):
        if most >= best:
            continue
        for each in some:
            try:
                found = own.encode(tail + each, allowed)
            except UnknownSymbolError:  # a text of what the alphabet lacks says nothing
                continue
            n = _common(ids, found)
            if n < best:
                best, added, after = n, each, found[n:]
                if best <= most:
                    break
    return UnstableEnd(n_before + best, len(ids) - best, added, (*after,))


def _continuations(
    own: Tokenizer, tail: str, ids: Sequence[int], allowed: frozenset[str]
) -> Iterator[tuple[Iterator[str], int]]:
    """Yield groups of texts to add, and the number of tokens that each group may leave as it is."""
    tokens, numbers, longest = _sorted_tokens(own)
    # A small letter may keep a capital in the word before it. Where words end with a marker, some
    # tokens stand only before another symbol.
    followers = ["", "a"]
    if own.end_of_word is not None:
        followers += [symbol.decode() for symbol in own.base_ids if symbol.isascii()]
    for before, word in _last_words(own, tail, allowed):
        data = word.encode()
        for start in range(max(0, len(data) - longest + 1), len(data)):
            begin = data[start:]
            low = bisect_left(tokens, begin)
            high = bisect_left(tokens, begin + b"\xff", low)
            longer = sorted((numbers[at], tokens[at][len(begin) :]) for at in range(low, high))
            if not any(rest for _, rest in longer):
                continue
            try:
                first = _begin_word(own, data[:start].decode())
            except UnicodeDecodeError:  # within a character, whose first bytes are not a text
                first = None
            texts = _as_texts(rest for _, rest in longer if rest)
            most = 0 if first is None else _common(ids, [*before, *first])
            yield (each + after for each in texts for after in followers), most
    marks = _MARKS if own.pretokenizer.normalizer is not None else ()
    yield iter((*_MOVING, *marks)), 0
    added = [token for token in {*allowed, *(each.text for each in own.added)} if len(token) > 1]
    rest = (token[n:] for token in added for n in range(1, len(token)) if tail.endswith(token[:n]))
    yield rest, 0


def _begin_word(own: Tokenizer, text: str) -> list[int]:
    """Return the ids of the beginning of a pre-token, without a marker of its end."""
    ids: list[int] = []
    for symbols, _ in own.encoder.pieces(text) if text else ():
        ids += merge_in(own.table, [n for n in symbols or () if n != own.table.end_of_word_id])
    return ids


def _last_words(
    own: Tokenizer, tail: str, allowed: frozenset[str]
) -> list[tuple[tuple[int, ...], str]]:
    """Return the pre-tokens that a text may end within, each with the ids of the text before it.

    There is one for each way in which added text moves the borders of pre-tokens.
    """
    steps, word_ids = own.encoder.steps, own.encoder.word_ids
    *others, (part, added) = steps.parts(tail, allowed) or [("", None)]
    if added is not None:
        return []
    ids: list[int] = []
    for text, id in others:
        ids += [id] if id is not None else [n for w in steps.cut.split(text) for n in word_ids[w]]
    found: dict[tuple[tuple[int, ...], str], None] = {}
    for each in ("", *_MOVING):
        longer, id = [*steps.parts(tail + each, allowed), ("", None)][len(others)]
        spans = [span for span in steps.cut.spans(longer) if span[0] < len(part)]
        if id is None and longer.startswith(part) and spans and spans[-1][1] >= len(part):
            before = [id for a, b in spans[:-1] for id in word_ids[longer[a:b]]]
            found[(*ids, *before), part[spans[-1][0] :]] = None
    return list(found)


def _as_texts(pieces: Iterator[bytes]) -> Iterator[str]:
    """Yield bytes that begin with a character as texts, and complete a character that is cut."""
    for piece in pieces:
        try:
            yield piece.decode()
        except UnicodeDecodeError as error:
            if error.reason != "unexpected end of data":
                continue  # no text has these bytes
            lead = piece[error.start]
            n_missing = (2 if lead < 0xE0 else 3 if lead < 0xF0 else 4) - len(piece) + error.start
            rare = product((0x80, 0x90, 0xA0), repeat=max(0, n_missing - 2))
            last = product(range(0x80, 0xC0), repeat=min(2, n_missing))
            for one, other in product(rare, last):
                try:
                    yield (piece + bytes((*one, *other))).decode()
                except UnicodeDecodeError:
                    continue


@lru_cache(maxsize=4)
def _sorted_tokens(own: Tokenizer) -> tuple[list[bytes], list[int], int]:
    """Return all tokens in the order of their bytes, their ids, and the length of the longest."""
    special = set(own.special_tokens.values())
    content = own.table.content
    ordered = sorted((content[id], id) for id in own.vocab if id not in special)
    tokens = list(map(itemgetter(0), ordered))
    return tokens, list(map(itemgetter(1), ordered)), max(map(len, tokens), default=0)


def _common(one: Sequence[int], other: Sequence[int]) -> int:
    """Return how many ids two lists have in common at their beginnings."""
    n = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)
    return min(len(one), len(other)) if n is None else n
