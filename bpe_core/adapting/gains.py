"""Say what each new token of an extended run gains: characters that were added come before merges.

The figures of a run itself, such as `run.tokens_after`, are those after each merge; here, they are
those after each new token.
"""

from __future__ import annotations

from collections import Counter
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpe_core.adapting.new_characters import add_characters
from bpe_core.corpus import Corpus
from bpe_core.counting import count_pretokens
from bpe_core.errors import ConfigError
from bpe_core.runs import TrainingRun
from bpe_core.tokenizer import Tokenizer
from bpe_core.types import PretokenCounts
from bpe_core.unicode import (
    PUNCTUATION,
    WORD,
    are_numbers,
    are_whole_characters,
    classify,
    code_points,
)
from bpe_core.vocabulary import count_uses

KINDS: Final = ("words", "numbers", "punctuation", "white space", "cut characters")
"""A token is of the first kind of which it has a character; of the last if it cuts a character and
has neither letter nor number."""


class KindGain(NamedTuple):
    """The new tokens of one kind, and how many tokens they save on a text."""

    kind: str
    n_tokens: int
    saved: int


def list_new_ids(run: TrainingRun) -> list[int]:
    """Return the ids of an extended run's new tokens: of the added characters, then of the merges.

    >>> from bpe_core.adapting import extend
    >>> from bpe_core.tokenizer import gpt2
    >>> list_new_ids(extend(gpt2(), Corpus.from_text("tokenizer, tokenizers"), n_tokens=2))
    [50257, 50258]
    """
    characters = () if run.continues is None else run.continues.characters
    return [*characters, *(merge.id for merge in run.merges)]


def cut_after(run: TrainingRun, n_tokens: int) -> Tokenizer:
    """Return the base of an extended run with the first `n_tokens` of its new tokens.

    Raises `OutOfRangeError` if the run does not have that many.

    >>> from bpe_core.adapting import extend
    >>> from bpe_core.tokenizer import gpt2
    >>> run = extend(gpt2(), Corpus.from_text("tokenizer, tokenizers"), n_tokens=2)
    >>> cut_after(run, 1).vocab_size, cut_after(run, 0) == gpt2()
    (50258, True)
    """
    characters = () if run.continues is None else run.continues.characters
    if n_tokens >= len(characters) or run.given_base is None:
        return run.truncated(n_tokens - len(characters))
    vocab = run.tokenizer.vocab
    return add_characters(run.given_base, [vocab[id] for id in characters[:n_tokens]])


def count_after_new_tokens(
    run: TrainingRun, tokens_after: NDArray[np.int64], text: Corpus | PretokenCounts
) -> NDArray[np.int64]:
    """Return int64[n + 1]: a text's number of tokens after each of the run's n new tokens.

    `tokens_after` is int64[n_merges + 1], the text's tokens after each merge. A character that was
    added saves all tokens but one that spell it wherever it occurs.

    >>> from bpe_core.adapting import extend
    >>> vocab = {**{byte: bytes([byte]) for byte in range(256)}, 256: b" "}
    >>> base = Tokenizer(
    ...     vocab=vocab, merges=[], pretokenizer="metaspace", base="characters",
    ...     byte_fallback=range(256),
    ... )
    >>> run = extend(base, ["漢字漢字"], n_tokens=3)
    >>> count_after_new_tokens(run, run.tokens_after, run.pretokens).tolist()
    [13, 9, 5, 3]
    """
    spelled = {} if run.continues is None else run.continues.new_characters
    if not spelled or run.base is None:
        return tokens_after
    if isinstance(text, Corpus):
        text = count_pretokens(text, run.base.pretokenizer)
    n_saved_each = np.array([len(parts) - 1 for parts in spelled.values()])
    saved = count_uses(run.base, text)[[*spelled]] * n_saved_each
    return np.append(tokens_after[0] + np.cumsum(saved[::-1])[::-1], tokens_after)


def gain_by_kind(run: TrainingRun, tokens_after: NDArray[np.int64], kept: int) -> list[KindGain]:
    """Return what the first `kept` new tokens save on a text, by their kind, the most first.

    `tokens_after` is int64[n + 1], the text's tokens after each of the run's n new tokens, as
    `count_after_new_tokens` returns them. The figures add up to what all of them save. Raises
    `ConfigError` if the lengths don't match.

    >>> from bpe_core.adapting import extend
    >>> from bpe_core.tokenizer import gpt2
    >>> run = extend(gpt2(), Corpus.from_text("tokenizer ==> 20252026 " * 9), n_tokens=4)
    >>> [tuple(gain) for gain in gain_by_kind(run, run.tokens_after, 4)]
    [('numbers', 2, 18), ('punctuation', 1, 9), ('words', 1, 8)]
    """
    ids = list_new_ids(run)
    if not 0 <= kept <= len(ids) or tokens_after.shape != (len(ids) + 1,):
        raise ConfigError(
            f"Expected the tokens after each of {len(ids):,} new tokens and as many new tokens "
            f"at most, got {tokens_after.shape} figures and {kept:,}."
        )
    vocab = run.tokenizer.vocab
    n_tokens, saved = Counter[str](), Counter[str]()
    steps = (-np.diff(tokens_after[: kept + 1])).tolist()
    for id, step in zip(ids, steps, strict=False):
        kind = token_kind(vocab[id])
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
