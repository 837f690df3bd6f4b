"""Which of the last tokens of a prompt may change when text is added to it.

A model continues a prompt token by token, and the prompt's own tokens stay as they are. In the
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
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import product
from operator import itemgetter
from typing import Final, NamedTuple

from bpe_core.errors import UnknownSymbolError
from bpe_core.pretokenizers import AllowedSpecial, allowed_tokens, check_text
from bpe_core.tokenizer.protocol import Encoder, Trained
from bpe_core.tokenizer.rank_merging import merge_in
from bpe_core.tokenizer.readings import own_tokenizer
from bpe_core.tokenizer.tokenizer import Tokenizer

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
