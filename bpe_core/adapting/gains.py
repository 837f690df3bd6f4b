"""Say what each new token of an extended run gains: characters that were added come before merges.

The figures of a run itself, such as `run.tokens_after`, are those after each merge; here, they are
those after each new token.
"""

from __future__ import annotations

from collections import Counter
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpe_core.adapting.extending import add_characters
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


HUNDRED: Final = 100
"""The new tokens whose gain is judged together."""
MIN_USES: Final = 100
"""A row of a token that is seen fewer times in training is marked."""
WORTH: Final = 0.001
"""A hundred new tokens are worth adding if they save this share of a text's tokens, if no other
share is asked for."""


class Advice(NamedTuple):
    """How many of a run's new tokens are worth adding."""

    n_tokens: int
    """After as many, no further hundred saves the chosen share of the text's tokens."""
    n_learned: int
    """The new tokens of the run."""
    worth: float
    """The chosen share."""
    saved: tuple[float, ...]
    """The share of the base's tokens that each hundred saves; of fewer at the end, per hundred."""
    n_rare: int
    """Of the new tokens worth adding, those with fewer than 100 uses in the training text."""
    ran_out: bool
    """True if the training text had no more tokens to learn."""

    @property
    def goes_on(self) -> bool:
        """True if even the last new tokens are worth adding."""
        return self.n_learned > 0 and self.n_tokens == self.n_learned

    @property
    def sentence(self) -> str:
        """The advice in words."""
        share = f"{100 * self.worth:.2g}% of the tokens"
        if self.goes_on:
            more = "the text has no more" if self.ran_out else "try more"
            found = f"Even the last new tokens save at least {share} per hundred: {more}."
        elif not self.n_tokens:
            found = f"No hundred new tokens save {share}."
        else:
            found = f"After {self.n_tokens:,} new tokens, no further hundred saves {share}."
        if not self.n_rare:
            return found
        which = "Each of them occurs"
        if self.n_tokens == 1:
            which = "It occurs"
        elif self.n_rare < self.n_tokens:
            which = f"{self.n_rare:,} of them {'occurs' if self.n_rare == 1 else 'occur'}"
        return (
            f"{found} {which} fewer than {MIN_USES} times in the training text, too rarely to "
            "train a row."
        )

    def to_dict(self) -> dict[str, object]:
        """Return the figures as JSON values."""
        return {**self._asdict(), "goes_on": self.goes_on, "sentence": self.sentence}


def advise_size(run: TrainingRun, tokens_after: NDArray[np.int64], worth: float = WORTH) -> Advice:
    """Say how many of an extended run's new tokens are worth adding.

    `tokens_after` is int64[n + 1], a text's tokens after each of the run's n new tokens, as
    `count_after_new_tokens` returns them. A hundred of them is worth adding if it saves at least
    the share `worth` of the tokens that the text takes with the base. Raises `ConfigError` if the
    lengths don't match, or for a share that is not between 0 and 1.

    >>> from bpe_core.adapting import extend
    >>> from bpe_core.tokenizer import gpt2
    >>> run = extend(gpt2(), Corpus.from_text("tokenizer, tokenizers " * 9), n_tokens=2)
    >>> advise_size(run, run.tokens_after).sentence
    'Even the last new tokens save at least 0.1% of the tokens per hundred: try more. Each of \
them occurs fewer than 100 times in the training text, too rarely to train a row.'
    """
    n = len(list_new_ids(run))
    if tokens_after.shape != (n + 1,):
        raise ConfigError(
            f"Expected the tokens after each of {n:,} new tokens, got {tokens_after.shape} figures."
        )
    if not 0 < worth < 1:
        raise ConfigError(f"Expected a share between 0 and 1, such as {WORTH}, got {worth!r}.")
    ends = np.append(np.arange(0, n, HUNDRED), n)
    sizes = np.diff(ends)
    saved = -np.diff(tokens_after[ends]) * HUNDRED / sizes / max(1, int(tokens_after[0]))
    worthy = np.flatnonzero(saved >= worth)
    n_tokens = int(ends[worthy[-1] + 1]) if len(worthy) else 0
    kept = cut_after(run, n_tokens)
    new = list_new_ids(run)[:n_tokens]
    rare = int((count_uses(kept, run.pretokens)[new] < MIN_USES).sum()) if new else 0
    ran_out = run.stop_reason in ("no-pairs", "min-frequency")
    return Advice(n_tokens, n, worth, tuple(saved.tolist()), rare, ran_out)


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
