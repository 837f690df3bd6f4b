"""Which of the last tokens of a prompt may change when text is added to it.

A model continues a prompt token by token, and the prompt's own tokens stay as they are. If whoever
wrote its training texts had gone on, the tokens at the border would often be others: after ` th`,
the training texts have ` the`, so the model has seldom seen ` th` and `e`.

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
from bpe_core.tokenizer.readings import own_tokenizer
from bpe_core.tokenizer.tokenizer import Tokenizer

_PART: Final = 200
_MOVING: Final = (
    *(
        "a",
        "A",
        "s",
        "t",
        "m",
        "d",
        "re",
        "ve",
        "ll",
        "'s",
        "1",
        "11",
        "111",
        "é",
        "中",
        "あ",
        "🙂",
    ),
    *(" ", "  ", " a", "  a", " .", "\t", "\n", "\na", "\n\n", "\n a", "\r\n", " \n", "\xa0"),
    *(".", "..", ". a", ".\n", "/", "'", "-", "_", "\u0301", "\u200d"),
)
"""Texts of each kind of character, which move the borders of pre-tokens."""
_MARKS: Final = (*map(chr, range(0x300, 0x346)), "\u1161", "\u11a8", "\u3099", "\u309a")
"""Characters that compose with the one before them."""


class UnstableEnd(NamedTuple):
    """How many tokens of a prompt keep their places, whatever text follows."""

    n_stable: int
    """The first tokens that no added text changes."""
    n_unstable: int
    """The tokens after those; some text changes the first of them."""
    added: str
    """Such a text; empty if no text changes any token."""
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
    steps = own.encoder.steps
    parts = steps.parts(tail, allowed)
    words = steps.cut.split(parts[-1][0]) if parts and parts[-1][1] is None else []
    word = words[-1].encode() if words else b""
    of_word = own.encoder.word_ids[words[-1]] if words else ()
    n_before = max(0, len(ids) - len(of_word))
    tokens, numbers, longest = _sorted_tokens(own)
    # Where words end with a marker, a token may stand only before another symbol.
    followers = [""]
    if own.end_of_word is not None:
        followers += [symbol.decode() for symbol in own.base_ids if symbol.isascii()]
    for start in range(max(0, len(word) - longest + 1), len(word)):
        begin = word[start:]
        low = bisect_left(tokens, begin)
        high = bisect_left(tokens, begin + b"\xff", low)
        longer = sorted((numbers[at], tokens[at][len(begin) :]) for at in range(low, high))
        if not any(rest for _, rest in longer):
            continue
        try:
            first = own.encoder.word_ids[word[:start].decode()]
        except UnicodeDecodeError:  # within a character, whose first bytes are not a text
            first = ()
        texts = _as_texts(rest for _, rest in longer if rest)
        most = n_before + _common(of_word, first)
        yield (each + after for each in texts for after in followers), most
    marks = _MARKS if own.pretokenizer.normalizer is not None else ()
    yield iter((*_MOVING, *marks)), 0
    added = [token for token in {*allowed, *(each.text for each in own.added)} if len(token) > 1]
    rest = (token[n:] for token in added for n in range(1, len(token)) if tail.endswith(token[:n]))
    yield rest, 0


def _as_texts(pieces: Iterator[bytes]) -> Iterator[str]:
    """Yield bytes that begin with a character as texts, with the last character completed."""
    for piece in pieces:
        try:
            yield piece.decode()
        except UnicodeDecodeError as error:
            lead = piece[error.start]
            n_missing = (2 if lead < 0xE0 else 3 if lead < 0xF0 else 4) - len(piece) + error.start
            middles = product((0x80, 0x90, 0xA0), repeat=max(0, n_missing - 1))
            for middle, last in product(middles, range(0x80, 0xC0)):
                try:
                    yield (piece + bytes((*middle, last))).decode()
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
