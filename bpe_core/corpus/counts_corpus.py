"""A corpus of which only the words and their counts are known, as a counts file holds them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from bpe_core.corpus.corpus import Corpus
from bpe_core.corpus.word_counts import MAX_SUM
from bpe_core.errors import CorpusError


class CountsSummary(NamedTuple):
    """What is known of the corpus that was counted; stored as JSON in a counts file."""

    pretokenizer: str | None
    """What cut the text into words; None if the file does not say."""
    n_bytes: int
    """The size of the text as UTF-8."""
    sha256: str
    """The identity of the corpus; in a file made elsewhere, a hash of the words and counts."""
    characters: str
    """All characters of the text, sorted, including those of dropped words and white space."""
    floor: int = 1
    """Words that occur less often were dropped."""
    dropped_words: int = 0
    dropped_occurrences: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class CountsCorpus(Corpus):
    """Words with their counts, how they were cut, and perhaps a sample of the text.

    Make one with `counts_to_corpus`. Its size is that of the text that was counted; its hash covers
    the words, their counts and the summary.
    """

    summary: CountsSummary = field(kw_only=True)
    text: Corpus | None = None
    """Text to measure on, which is not trained on."""

    def __post_init__(self) -> None:
        Corpus.__post_init__(self)  # super() does not work in a class with slots
        object.__setattr__(self, "n_bytes", max(self.n_bytes, self.summary.n_bytes))

    def _digest(self) -> str:
        described = json.dumps([Corpus._digest(self), *self.summary]).encode()
        return hashlib.sha256(described).hexdigest()

    def __reduce__(self) -> tuple[object, ...]:
        words = dict(self.word_counts or {})
        return counts_to_corpus, (words, self.summary, self.text)

    @property
    def is_counted(self) -> bool:
        """Whether it was counted elsewhere; always True.

        >>> counts_to_corpus({"hug": 10}, CountsSummary("gpt2", 30, "", "ghu")).is_counted
        True
        """
        return True

    @property
    def cut_by(self) -> str | None:
        """The pre-tokenizer that its counts file names; None if it names none.

        >>> counts_to_corpus({"hug": 10}, CountsSummary("gpt2", 30, "", "ghu")).cut_by
        'gpt2'
        """
        return self.summary.pretokenizer

    def split(
        self, held_out_share: float, seed: int = 0, by: str | None = None
    ) -> tuple[Corpus, Corpus]:
        """Return all words, and the sample of text; no words can be held back from counts.

        >>> summary = CountsSummary("gpt2", 30, "", "ghu")
        >>> _, held_out = counts_to_corpus({"hug": 10}, summary).split(0.08)
        >>> held_out.n_bytes
        0
        """
        return self, self.text or Corpus((), ())


def counts_to_corpus(
    word_counts: Mapping[str, int], summary: CountsSummary, text: Corpus | None = None
) -> CountsCorpus:
    """Return words with their counts as a corpus, with a sample of text if there is one.

    Raises CorpusError for an impossible size of the text that was counted.

    >>> corpus = counts_to_corpus({"hug": 10}, CountsSummary("gpt2", 40, "", "ghu"))
    >>> corpus.n_bytes, corpus.word_counts["hug"]
    (40, 10)
    """
    if summary.n_bytes > MAX_SUM:
        raise CorpusError(
            f"The words are said to come from {summary.n_bytes:,} bytes of text, more than 64 bits "
            "can count. Count again."
        )
    return CountsCorpus((), (), dict(word_counts), summary=summary, text=text)
