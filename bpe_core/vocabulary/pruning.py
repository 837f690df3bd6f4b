"""A smaller tokenizer: without the tokens that a corpus has little use for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bpe_core.errors import ConfigError
from bpe_core.tokenizer.tokenizer import Tokenizer
from bpe_core.types import PretokenCounts, read_only
from bpe_core.vocabulary.audit import count_uses, with_parts

if TYPE_CHECKING:
    from bpe_core.runs.run import TrainingRun


@dataclass(frozen=True, slots=True, eq=False)
class Pruned:
    """A pruned tokenizer, and which token of the old one each of its tokens is."""

    tokenizer: Tokenizer
    old_ids: NDArray[np.int32] = field(repr=False)
    """int32[vocab_size]: the old id of each new one; the rows of an embedding matrix to keep."""
    removed: tuple[int, ...] = field(repr=False)
    """The old ids of the tokens that are gone, ascending."""
    n_kept_as_parts: int
    """How many tokens were used too seldom and stay, since tokens that stay are merged of them."""


def prune(tokenizer: Tokenizer, uses: NDArray[np.int64], min_uses: int = 1) -> Pruned:
    """Leave out the tokens used less often than `min_uses`, save those that others need.

    Special tokens, the whole alphabet and the end-of-word marker stay, so that what could be
    encoded still can be. What a token that stays is merged of stays too. Ids are given anew, 0, 1,
    2 and so on in the old order; merges keep theirs.

    With `min_uses=1` the text that the uses were counted on is encoded as before, token for token:
    a merge that any of its words went through made a part of a token that stands there. Other
    text may take more tokens.

    Raises `ConfigError` where `uses` lacks an id of the vocabulary.

    >>> from bpe_core.tokenizer.gpt2 import gpt2
    >>> uses = np.zeros(50257, np.int64)
    >>> uses[gpt2().encode("hugging")] = 1
    >>> pruned = prune(gpt2(), uses)
    >>> pruned.tokenizer.vocab_size, [pruned.tokenizer.vocab[i] for i in (257, 258, 259, 260)]
    (261, [b'ing', b'ug', b'ging', b'<|endoftext|>'])
    """
    vocab = tokenizer.vocab
    if len(uses) <= max(vocab):
        raise ConfigError(
            f"There are {len(uses):,} counts of uses for ids up to {max(vocab):,}. Give one for "
            f"each id, 0 where it isn't used."
        )
    always = {*tokenizer.special_tokens.values(), *tokenizer.base_ids.values()}
    if tokenizer.end_of_word_id is not None:
        always.add(tokenizer.end_of_word_id)
    often = {id for id in vocab if uses[id] >= min_uses}
    kept = with_parts(tokenizer, always | often)
    old_ids = sorted(kept)
    new_id = {old: new for new, old in enumerate(old_ids)}
    merges = [merge for merge in tokenizer.merges if merge.id in kept]
    counts = [merge.count for merge in merges]
    marker = tokenizer.end_of_word_id
    smaller = Tokenizer(
        vocab={new: vocab[old] for new, old in enumerate(old_ids)},
        merges=[(new_id[m.left], new_id[m.right], new_id[m.id]) for m in merges],
        pretokenizer=tokenizer.pretokenizer.name,
        base=tokenizer.base,
        special_tokens={token: new_id[id] for token, id in tokenizer.special_tokens.items()},
        end_of_word=tokenizer.end_of_word,
        end_of_word_id=None if marker is None else new_id[marker],
        counts=None if None in counts else [count or 0 for count in counts],
    )
    return Pruned(
        tokenizer=smaller,
        old_ids=read_only(np.array(old_ids, np.int32)),
        removed=tuple(sorted(set(vocab) - kept)),
        n_kept_as_parts=len(kept - always - often),
    )


def added_in_run(run: TrainingRun, pruned: Pruned) -> int:
    """Count how many tokens more a run's training text takes with its pruned tokenizer.

    Only words that a removed token stands in are encoded anew: the others went through no merge
    that is gone.

    >>> from bpe_core.corpus.corpus import Corpus
    >>> from bpe_core.runs.train import train
    >>> from bpe_core.types import TrainingConfig
    >>> from bpe_core.vocabulary.audit import uses_in_run
    >>> corpus = Corpus.from_word_counts({"hug": 9, "pun": 1})
    >>> run = train(corpus, TrainingConfig(260, special_tokens=()))
    >>> added_in_run(run, prune(run.tokenizer, uses_in_run(run), min_uses=2))
    2
    """
    layout = run.layout_at(run.tokenizer.n_merges)
    # Only between words is the weight 0: an id of -1 may also be a symbol that the alphabet lacks.
    words = np.cumsum(layout.weights == 0) - 1
    removed = np.isin(layout.ids, np.array(pruned.removed, np.int32))
    changed: list[int] = np.unique(words[removed]).tolist()
    stands = (layout.ids >= 0) & np.isin(words, changed)
    before = int(layout.weights[stands].sum())
    texts = run.pretokens.words
    again = PretokenCounts(tuple(texts[word] for word in changed), run.pretokens.counts[changed])
    return int(count_uses(pruned.tokenizer, again).sum()) - before
