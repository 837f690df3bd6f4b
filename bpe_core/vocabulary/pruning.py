"""Prune a tokenizer: remove the tokens that a corpus rarely uses."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bpe_core.errors import ConfigError
from bpe_core.kernels import BETWEEN
from bpe_core.tokenizer import Tokenizer
from bpe_core.types import PretokenCounts, read_only
from bpe_core.vocabulary.auditing import count_uses, with_parts

if TYPE_CHECKING:
    from bpe_core.runs import TrainingRun


@dataclass(frozen=True, slots=True, eq=False)
class Pruned:
    """A pruned tokenizer, with the old id of each token."""

    tokenizer: Tokenizer
    old_ids: NDArray[np.int32] = field(repr=False)
    """int32[vocab_size]: the old id of each new id, which is the embedding row to keep."""
    removed: tuple[int, ...] = field(repr=False)
    """The old ids of the removed tokens, ascending."""
    n_kept_as_parts: int
    """The number of rarely used tokens kept because other kept tokens are merged from them."""


def prune(tokenizer: Tokenizer, uses: NDArray[np.int64], min_uses: int = 1) -> Pruned:
    """Remove the tokens used fewer than `min_uses` times, except those that other tokens need.

    Special tokens, the whole alphabet and the end-of-word marker are kept, so every text that could
    be encoded still can be. The parts of a kept token are kept too. Ids are renumbered from 0 in
    the old order, and merges stay in their order.

    With `min_uses=1`, the text on which uses were counted is encoded to the same tokens as before,
    because every merge applied there made a used token or a part of one. Other text may take more
    tokens.

    Raises `ConfigError` if `uses` does not cover every id of the vocabulary.

    >>> from bpe_core.tokenizer import gpt2
    >>> uses = np.zeros(50257, np.int64)
    >>> uses[gpt2().encode("hugging")] = 1
    >>> pruned = prune(gpt2(), uses)
    >>> pruned.tokenizer.vocab_size, [pruned.tokenizer.vocab[i] for i in (257, 258, 259, 260)]
    (261, [b'ing', b'ug', b'ging', b'<|endoftext|>'])
    """
    vocab = tokenizer.vocab
    if len(uses) <= max(vocab):
        raise ConfigError(
            f"Expected a count of uses for each id up to {max(vocab):,}, got {len(uses):,}. Pass 0 "
            f"for an unused id."
        )
    always = {
        *tokenizer.special_tokens.values(),
        *tokenizer.base_ids.values(),
        *tokenizer.table.byte_ids.values(),
    }
    if tokenizer.table.end_of_word_id is not None:
        always.add(tokenizer.table.end_of_word_id)
    often = {id for id in vocab if uses[id] >= min_uses}
    kept = with_parts(tokenizer, always | often)
    smaller, old_ids = keep_only(tokenizer, kept)
    return Pruned(
        tokenizer=smaller,
        old_ids=old_ids,
        removed=tuple(sorted(set(vocab) - kept)),
        n_kept_as_parts=len(kept - always - often),
    )


def keep_only(tokenizer: Tokenizer, kept: Collection[int]) -> tuple[Tokenizer, NDArray[np.int32]]:
    """Return a tokenizer of some of the tokens, renumbered from 0 in the old order, and old ids.

    `kept` has the alphabet, the special tokens, and all parts of the tokens kept; the old ids are
    int32[n_kept], read-only. Merges stay in their order.

    >>> from bpe_core.tokenizer import gpt2
    >>> alphabet = {*gpt2().base_ids.values(), 50256}
    >>> smaller, old_ids = keep_only(gpt2(), alphabet | {262, 256, 258})
    >>> smaller.vocab_size, old_ids[-3:].tolist(), smaller.vocab[258]
    (260, [258, 262, 50256], b' the')
    """
    vocab = tokenizer.vocab
    old_ids = sorted(kept)
    new_id = {old: new for new, old in enumerate(old_ids)}
    table = tokenizer.table
    merges = [triple for triple in table.triples if triple[2] in new_id]
    counts = table.counts and [
        n for n, id in zip(table.counts, table.made, strict=True) if id in new_id
    ]
    marker = table.end_of_word_id
    smaller = Tokenizer(
        vocab={new: vocab[old] for new, old in enumerate(old_ids)},
        merges=[(new_id[left], new_id[right], new_id[id]) for left, right, id in merges],
        pretokenizer=tokenizer.pretokenizer.name,
        base=tokenizer.base,
        special_tokens={token: new_id[id] for token, id in tokenizer.special_tokens.items()},
        end_of_word=tokenizer.end_of_word,
        end_of_word_id=None if marker is None else new_id[marker],
        counts=counts,
        whole_words_first=table.whole_words_first,
        byte_fallback=[new_id[id] for id in table.byte_ids.values()],
    )
    return smaller, read_only(np.array(old_ids, np.int32))


def added_in_run(run: TrainingRun, pruned: Pruned) -> int:
    """Return how many more tokens a run's training text takes with the pruned tokenizer.

    Only words that contain a removed token are encoded again: no merge of the others was removed.

    >>> from bpe_core.corpus import Corpus
    >>> from bpe_core.runs import train
    >>> from bpe_core.types import TrainingConfig
    >>> from bpe_core.vocabulary import uses_in_run
    >>> corpus = Corpus.from_word_counts({"hug": 9, "pun": 1})
    >>> run = train(corpus, TrainingConfig(260, special_tokens=()))
    >>> added_in_run(run, prune(run.tokenizer, uses_in_run(run), min_uses=2))
    2
    """
    layout = run.layout_at(len(run.merges))
    words = np.cumsum(layout.ids == BETWEEN) - 1
    removed = np.isin(layout.ids, np.array(pruned.removed, np.int32))
    changed: list[int] = np.unique(words[removed]).tolist()
    is_changed = (layout.ids >= 0) & np.isin(words, changed)
    before = int(layout.weights()[is_changed].sum())
    texts = run.pretokens.words
    again = PretokenCounts(tuple(texts[word] for word in changed), run.pretokens.counts[changed])
    return int(count_uses(pruned.tokenizer, again).sum()) - before
