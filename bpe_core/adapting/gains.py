"""Divide what an extended run gains by the kind of its new tokens."""

from __future__ import annotations

from collections import Counter
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpe_core.errors import ConfigError
from bpe_core.runs.run import TrainingRun
from bpe_core.unicode.kinds import PUNCTUATION, WORD, are_numbers, classify, code_points
from bpe_core.unicode.utf8_states import are_whole_characters

KINDS: Final = ("words", "numbers", "punctuation", "white space", "cut characters")
"""A token is of the first kind of which it has a character; of the last if it cuts a character and
has neither letter nor number."""


class KindGain(NamedTuple):
    """The new tokens of one kind, and how many tokens they save on a text."""

    kind: str
    n_tokens: int
    saved: int


def gain_by_kind(run: TrainingRun, tokens_after: NDArray[np.int64], kept: int) -> list[KindGain]:
    """Return what the first `kept` new tokens save on a text, by their kind, the most first.

    `tokens_after` is int64[n_merges + 1], the text's tokens after each merge of the run. The
    figures add up to what all of them save. Raises `ConfigError` if the lengths don't match.

    >>> from bpe_core.adapting.extend import extend
    >>> from bpe_core.corpus.corpus import Corpus
    >>> from bpe_core.tokenizer.gpt2 import gpt2
    >>> run = extend(gpt2(), Corpus.from_text("tokenizer ==> 20252026 " * 9), n_tokens=4)
    >>> [tuple(gain) for gain in gain_by_kind(run, run.tokens_after, 4)]
    [('numbers', 2, 18), ('punctuation', 1, 9), ('words', 1, 8)]
    """
    if not 0 <= kept <= len(run.merges) or tokens_after.shape != (len(run.merges) + 1,):
        raise ConfigError(
            f"Expected the tokens after each of {len(run.merges):,} merges and as many new tokens "
            f"at most, got {tokens_after.shape} figures and {kept:,}."
        )
    vocab = run.tokenizer.vocab
    n_tokens, saved = Counter[str](), Counter[str]()
    steps = (-np.diff(tokens_after[: kept + 1])).tolist()
    for merge, step in zip(run.merges, steps, strict=False):
        kind = token_kind(vocab[merge.id])
        n_tokens[kind] += 1
        saved[kind] += step
    found = [KindGain(kind, n_tokens[kind], saved[kind]) for kind in KINDS if n_tokens[kind]]
    return sorted(found, key=lambda gain: -gain.saved)


def token_kind(token: bytes) -> str:
    """Return the kind of a token, one of `KINDS`.

    >>> [token_kind(text.encode()) for text in (" the", " 1st", "42", "):", "  ")]
    ['words', 'words', 'numbers', 'punctuation', 'white space']
    >>> token_kind(b" \\xe4")
    'cut characters'
    """
    points = code_points(token.decode(errors="ignore"))
    kinds, numbers = classify(points), are_numbers(points)
    if np.any((kinds == WORD) & ~numbers):
        return "words"
    if np.any(numbers):
        return "numbers"
    if not are_whole_characters(token):
        return "cut characters"
    return "punctuation" if np.any(kinds == PUNCTUATION) else "white space"
