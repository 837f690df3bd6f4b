"""Say how new held-out text is: the share of its words that training never saw."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import regex

from bpe_core.corpus import Corpus
from bpe_core.counting import count_pretokens
from bpe_core.errors import ConfigError
from bpe_core.pretokenizers import get_pretokenizer
from bpe_core.types import PretokenCounts

_LETTER: Final = regex.compile(r"\p{L}")
_TIMES_NEWER: Final = 1.25
_POINTS_NEWER: Final = 0.005


class Newness(NamedTuple):
    """The shares of held-out words that training never saw, from 0 to 1; nan without words."""

    unseen: float
    """Of the text that was held out."""
    unseen_by_folder: float | None
    """Of whole folders, if they are held out instead; None if there are no folders to hold out."""

    @property
    def depends_on_folder(self) -> bool:
        """Whether text of new folders is much newer than new documents of the same folders."""
        return self.unseen_by_folder is not None and (
            self.unseen_by_folder > self.unseen * _TIMES_NEWER
            and self.unseen_by_folder > self.unseen + _POINTS_NEWER
        )


def split_by_folder(corpus: Corpus, share: float, seed: int = 0) -> tuple[Corpus, Corpus] | None:
    """Return a corpus without whole folders, and these folders; None if it has too few folders.

    Also None if the share is 0, because then a separate text is held out.

    >>> split_by_folder(Corpus.from_text("hug"), 0.1) is None
    True
    """
    if not share:
        return None
    try:
        return corpus.split(share, seed, "folder")
    except ConfigError:
        return None


def measure_newness(
    training: PretokenCounts,
    held_out: Corpus,
    by_folder: tuple[Corpus, Corpus] | None,
    pretokenizer: str,
) -> Newness:
    """Return how new held-out text is, and what whole folders would be, split by `split_by_folder`.

    `training` are the words of the training text.

    >>> documents = [f"alpha beta name{n % 5} word{n}\\n" for n in range(500)]
    >>> corpus = Corpus.from_documents(documents, [f"{n % 5}/{n}.txt" for n in range(500)])
    >>> text, held_out = corpus.split(0.1)
    >>> words = count_pretokens(text, get_pretokenizer("whitespace"))
    >>> found = measure_newness(words, held_out, split_by_folder(corpus, 0.1), "whitespace")
    >>> found.unseen, found.unseen_by_folder, found.depends_on_folder
    (0.25, 0.5, True)
    """
    unseen = unseen_share(training, held_out, pretokenizer)
    if by_folder is None:
        return Newness(unseen, None)
    there, held_out_there = by_folder
    words = count_pretokens(there, get_pretokenizer(pretokenizer))
    unseen_there = unseen_share(words, held_out_there, pretokenizer)
    return Newness(unseen, None if math.isnan(unseen_there) else unseen_there)


def unseen_share(training: PretokenCounts, held_out: Corpus, pretokenizer: str) -> float:
    """Return the share of held-out words, by occurrences, that are not in the training text.

    Words are pre-tokens with a letter, without the white space around them. Returns nan if there
    are none.

    >>> training = count_pretokens(Corpus.from_text("hug the pug"), get_pretokenizer("gpt2"))
    >>> unseen_share(training, Corpus.from_text("the mug, a mug, the pug"), "gpt2")
    0.5
    """
    seen = {word.strip() for word in training.words}
    found = count_pretokens(held_out, get_pretokenizer(pretokenizer))
    n_words = n_unseen = 0
    for word, count in zip(found.words, found.counts.tolist(), strict=True):
        if _LETTER.search(word.decode(errors="replace")):
            n_words += count
            if word.strip() not in seen:
                n_unseen += count
    return n_unseen / n_words if n_words else math.nan
