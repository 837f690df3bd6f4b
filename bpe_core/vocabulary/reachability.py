"""Find the tokens that no text encodes to.

A token is *reachable* if some text (valid Unicode, all of it in the alphabet, special tokens read
as text) has it in its encoding, and *unreachable* otherwise. The term is from Land and Bartolo,
"Fishing for Magikarp: Automatically Detecting Under-trained Tokens in Large Language Models" (EMNLP
2024, section 3.1). They test whether a token's own text encodes to it, which cannot decide tokens
that cut a character in two, and reports too many under pre-tokenizers that look ahead. Here each
token is decided by a text that contains it, or by a proof that there is none.

1. Words. A sequence of tokens is the encoding of a word if each token encodes to itself and each
   two neighbours, encoded together, stay apart (see `tokenizer.trie`). So a word encodes to a token
   t if and only if t lies in a chain of such tokens whose bytes form whole characters and which
   ends as words end. The two sides of t are independent, and each needs to know only at which byte
   of a character t begins or ends. Chains are therefore paths in a finite graph whose nodes are
   (token, position in a character), and a search of the graph decides whether there is one. If
   there is none, the token is unreachable under any pre-tokenizer.

2. Texts. The bytes of a chain are a text, which the tokenizer encodes. If the token is in the
   result, it is reachable. Otherwise the pre-tokenizer cut the word, and other neighbours are
   tried. Under most named pre-tokenizers, a part of a pre-token is a pre-token by itself or within
   one of a few contexts, such as the rest of a contraction, which are tried too. So whole
   characters that are cut when alone and in all of these are cut in every text, and so is a token
   that cannot precede the end-of-word marker if it is cut from every token that may follow it.

3. The rest is *undecided*. This only happens if the pattern is another one, such as one with
lookaround, or a word is cut beyond the token's neighbours, or the token is whole only in a context
and not found there; and if the token was not learned with that pattern.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import CancelledError
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from bpe_core.errors import BpeError
from bpe_core.unicode import are_whole_characters
from bpe_core.vocabulary.token_chains import Obstacle, TokenChains

if TYPE_CHECKING:
    from bpe_core.tokenizer import Tokenizer

Reason = Obstacle | Literal["pre-tokenizer"]
REASONS: Final[dict[Reason, str]] = {
    "other-merges": "its own bytes encode to other tokens",
    "no-utf8": "no text has these bytes",
    "no-neighbours": "any bytes that complete its characters merge with a part of it first",
    "pre-tokenizer": "the pre-tokenizer cuts it in every text",
}

_TOKENS_BETWEEN_CHECKS: Final = 64

ShouldStop = Callable[[int, int], bool]
"""Called with the number of items done and their total; returns whether to stop."""


@dataclass(frozen=True, slots=True)
class Reachability:
    """The tokens of a tokenizer that no text encodes to, without special tokens; ids ascend."""

    unreachable: dict[int, Reason]
    """Tokens that provably no text encodes to, with the reason."""
    undecided: tuple[int, ...]
    """Tokens with neither a text that encodes to them nor a proof that there is none."""
    only_whole: tuple[int, ...] = ()
    """Tokens that only a whole pre-token of the same bytes encodes to."""


def find_unreachable(tokenizer: Tokenizer, should_stop: ShouldStop | None = None) -> Reachability:
    """Find the tokens that no text encodes to.

    Raises CancelledError once `should_stop`, called with the number of tokens done and their total,
    returns True.

    >>> from bpe_core.tokenizer import gpt2
    >>> found = find_unreachable(gpt2().truncated(300))
    >>> sorted(gpt2().vocab[id].hex() for id in found.unreachable)[:3], found.undecided
    (['c0', 'c1', 'f5'], ())
    """
    chains = TokenChains(tokenizer)
    special = {*tokenizer.special_tokens.values()}
    open_ids = sorted(tokenizer.vocab.keys() - special)
    unreachable: dict[int, Reason] = {}
    undecided: list[int] = []
    only_whole: list[int] = []
    for done, id in enumerate(open_ids):
        if done % _TOKENS_BETWEEN_CHECKS == 0:
            if should_stop is not None and should_stop(done, len(open_ids)):
                raise CancelledError
            time.sleep(0)  # Yield to the app's other threads.
        reason: Reason | None = chains.obstacle_to(id)
        if reason is None and not any(
            _is_in_encoding(tokenizer, id, text) for text in chains.texts_with(id)
        ):
            reason = "pre-tokenizer" if chains.is_always_cut(id) else None
            if reason is None:
                undecided.append(id)
        if reason is not None and _is_looked_up(tokenizer, id):
            only_whole.append(id)
        elif reason is not None:
            unreachable[id] = reason
    return Reachability(unreachable, tuple(undecided), tuple(only_whole))


def _is_looked_up(tokenizer: Tokenizer, id: int) -> bool:
    token = tokenizer.vocab[id]
    if tokenizer.table.word_ids.get(token) != id or not are_whole_characters(token):
        return False
    return _is_in_encoding(tokenizer, id, token.decode())


def _is_in_encoding(tokenizer: Tokenizer, id: int, text: str) -> bool:
    try:
        return id in tokenizer.encode(text)
    except BpeError:
        return False
