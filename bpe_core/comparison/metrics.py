"""Metrics of tokenizations, computed from counts and arrays, without a tokenizer."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpe_core.errors import ConfigError


def ratio(total: int, n: int) -> float:
    """Return a quotient, such as the bytes per token; nan if `n` is 0.

    >>> ratio(42, 10)
    4.2
    """
    return total / n if n else math.nan


class VocabularyOverlap(NamedTuple):
    """The common tokens of two or more vocabularies, by their bytes."""

    shared: frozenset[bytes]
    """Tokens in every vocabulary."""
    exclusive: tuple[frozenset[bytes], ...]
    """One set per vocabulary: the tokens that no other has."""


def vocabulary_overlap(vocabularies: Sequence[frozenset[bytes]]) -> VocabularyOverlap:
    """Compare vocabularies by their tokens' bytes; ids do not matter.

    >>> overlap = vocabulary_overlap([frozenset({b"a", b"b"}), frozenset({b"b", b"c", b"d"})])
    >>> len(overlap.shared), [len(own) for own in overlap.exclusive]
    (1, [1, 2])
    """
    if not vocabularies:
        raise ConfigError("There is no vocabulary to compare. Give at least one.")
    exclusive: list[frozenset[bytes]] = []
    shared = vocabularies[0].intersection(*vocabularies[1:])
    for i, own in enumerate(vocabularies):
        others = [other for j, other in enumerate(vocabularies) if j != i]
        exclusive.append(own.difference(*others))
    return VocabularyOverlap(shared, tuple(exclusive))


_ALPHA: Final = 2.5


def renyi_efficiency(token_counts: NDArray[np.int64], *, vocab_size: int) -> float:
    """Return how evenly a vocabulary is used, 0 to 1: Rényi entropy divided by its maximum.

    `token_counts` is int64[n_types], how often each token occurs; zeros do not matter. Returns nan
    without tokens. Raises ConfigError for a vocabulary size below 2, or more types than the
    vocabulary has.

    Source: Zouhar et al. 2023, "Tokenization and the noiseless channel"; alpha = 2.5 is the value
    that they found to predict translation quality best.

    >>> renyi_efficiency(np.array([5, 5, 5, 5]), vocab_size=4)
    1.0
    """
    counts = token_counts[token_counts > 0]
    if vocab_size < 2 or len(counts) > vocab_size:
        raise ConfigError(
            f"There is no Rényi efficiency for {len(counts):,} tokens in use and a vocabulary of "
            f"{vocab_size:,}. Use a vocabulary of at least 2 tokens that includes all tokens in "
            "use."
        )
    if not len(counts):
        return math.nan
    shares = counts / counts.sum()
    entropy = math.log(float((shares**_ALPHA).sum())) / (1 - _ALPHA)
    # Avoid -0.0, which the entropy of a single token can be.
    return max(0.0, entropy) / math.log(vocab_size)


def relative_costs(n_tokens: Mapping[str, int], reference: str) -> dict[str, float]:
    """Return each language's tokens per token of the reference language, on parallel text.

    1 is parity; 2 means that the same sentences take twice as many tokens. Raises ConfigError for a
    reference that is missing or has no tokens.

    Source: Petrov et al. 2023, "Language model tokenizers introduce unfairness between languages",
    who call it the premium.

    >>> relative_costs({"English": 100, "Thai": 250}, "English")
    {'English': 1.0, 'Thai': 2.5}
    """
    if not n_tokens.get(reference):
        with_tokens = [repr(name) for name, count in n_tokens.items() if count]
        raise ConfigError(
            f"{reference!r} has no tokens to compare with. Choose one of {', '.join(with_tokens)}."
            if with_tokens
            else f"Neither {reference!r} nor any other language has tokens. Use a tokenizer that "
            "covers some of the text."
        )
    return {language: count / n_tokens[reference] for language, count in n_tokens.items()}


def gini(costs: Sequence[float]) -> float:
    """Return the Gini coefficient of costs: 0 if all are equal, near 1 if one has almost all.

    It is half the relative mean absolute difference, computed from the sorted costs. Raises
    ConfigError if there are no costs, if one is negative, or if all are zero.

    Source: Gini 1912; sorted form as in Damgaard and Weiner 2000, "Describing inequality in plant
    size or fecundity".

    >>> gini([1, 1, 1, 1]), gini([0, 0, 0, 4])
    (0.0, 0.75)
    """
    ordered = np.sort(np.asarray(costs, np.float64))
    if not len(ordered) or ordered[0] < 0 or not ordered[-1] > 0:
        raise ConfigError(
            f"Expected at least one cost, none negative and not all 0, to measure inequality; got "
            f"{len(ordered)} costs."
        )
    n = len(ordered)
    weights = 2 * np.arange(1, n + 1) - n - 1
    return float((weights * ordered).sum() / (n * ordered.sum()))
