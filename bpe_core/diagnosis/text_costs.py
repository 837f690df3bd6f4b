"""Count what a text costs with each of two tokenizers, and which words changed most."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from bpe_core.corpus import Corpus
    from bpe_core.tokenizer import Encoder

_WORD: Final = re.compile(r" ?\S+")
_MAX_WORDS: Final = 200_000
"""The most distinct words that are encoded one by one; the most frequent ones."""
_N_LISTED: Final = 20
_AT_ONCE: Final = 512


@dataclass(frozen=True, slots=True)
class ChangedWord:
    """A word that takes another number of tokens."""

    word: str
    """With the space before it, if it has one."""
    count: int
    n_a: int
    n_b: int

    @property
    def added(self) -> int:
        """How many more tokens all its occurrences take with the second tokenizer."""
        return self.count * (self.n_b - self.n_a)


@dataclass(frozen=True, slots=True)
class TextCosts:
    """What a text costs with each of two tokenizers."""

    n_documents: int
    n_bytes: int
    n_a: int
    """Tokens with the first tokenizer."""
    n_b: int
    n_changed: int
    """Documents that get other ids."""
    words: tuple[ChangedWord, ...]
    """The words whose occurrences change the total most, each encoded alone."""

    @property
    def change(self) -> float:
        """The share by which the tokens grow from the first to the second; 0.02 is 2 % more."""
        return (self.n_b - self.n_a) / self.n_a if self.n_a else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "n_documents": self.n_documents,
            "n_bytes": self.n_bytes,
            "tokens_a": self.n_a,
            "tokens_b": self.n_b,
            "change": self.change,
            "n_documents_changed": self.n_changed,
            "words": [
                {"word": each.word, "count": each.count, "a": each.n_a, "b": each.n_b}
                for each in self.words
            ],
        }


def count_costs(one: Encoder, other: Encoder, text: Corpus | str) -> TextCosts:
    """Count the tokens of a corpus, or of one text, with two tokenizers.

    A corpus of words with counts is a document for each word.

    >>> from bpe_core.tokenizer import gpt2
    >>> costs = count_costs(gpt2(), gpt2().truncated(300), "the cat, the hat")
    >>> costs.n_a, costs.n_b, costs.words[0].word, round(costs.change, 2)
    (5, 8, ' cat,', 0.6)
    """
    from bpe_core.corpus import Corpus

    corpus = text if isinstance(text, Corpus) else Corpus.from_text(text)
    counted = corpus.word_counts
    weights = [1] * len(corpus.documents) if counted is None else [*counted.values()]
    documents = iter(corpus.documents if counted is None else counted)
    words = Counter[str]()
    totals = [0, 0]
    n_changed = n_done = n_bytes = 0
    while batch := list(islice(documents, _AT_ONCE)):
        results = zip(batch, one.encode_batch(batch), other.encode_batch(batch), strict=True)
        for document, mine, theirs in results:
            weight = weights[n_done]
            n_done += 1
            n_bytes += weight * len(document.encode())
            totals[0] += weight * len(mine)
            totals[1] += weight * len(theirs)
            n_changed += weight * (list(mine) != list(theirs))
            for word in _WORD.findall(document):
                words[word] += weight
    listed = [word for word, _ in words.most_common(_MAX_WORDS)]
    changed = [
        ChangedWord(word, words[word], len(mine), len(theirs))
        for word, mine, theirs in zip(
            listed, one.encode_batch(listed), other.encode_batch(listed), strict=True
        )
        if len(mine) != len(theirs)
    ]
    changed.sort(key=lambda each: (-abs(each.added), each.word))
    return TextCosts(
        sum(weights), n_bytes, totals[0], totals[1], n_changed, tuple(changed[:_N_LISTED])
    )
