"""How many tokens a text has after each merge of a tokenizer: read off its encoding, or replayed.

A token that only one merge makes is always joined from the same two parts, and they from theirs. So
a text's encoding says how often each merge joined anything in it, and nothing need be replayed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from bpe_core.compiling.when import use_kernels
from bpe_core.corpus.corpus import Corpus
from bpe_core.counting.word_row import BITS, NEVER, Layout, lay_out_pretokens
from bpe_core.counting.words import count_pretokens
from bpe_core.tokenizer.tokenizer import Tokenizer
from bpe_core.trainers.incremental import MergeState
from bpe_core.types import Merge, PretokenCounts, read_only

_MERGES_BETWEEN_LOOKS = 64


def tokens_on(
    tokenizer: Tokenizer, corpus: Corpus, should_stop: Callable[[], bool]
) -> NDArray[np.int64] | None:
    """int64[n_merges + 1]: how many tokens a corpus has after each number of merges.

    A symbol that the alphabet lacks counts as a token of its own, which never merges. None once
    `should_stop()`, asked now and then, says True.

    >>> from bpe_core.tokenizer.gpt2 import gpt2
    >>> tokens_on(gpt2().truncated(3), Corpus.from_text("the then"), lambda: False).tolist()
    [8, 7, 7, 5]
    """
    large = corpus.word_counts is None and use_kernels(corpus.n_bytes)
    if large and says_all_merges(tokenizer):
        counts = count_ids(tokenizer, corpus.documents, should_stop)
        # Asked again: the counts may be of a part only.
        return None if should_stop() else unfolded_tokens(counts, tokenizer.merges)
    pretokens = count_pretokens(corpus, tokenizer.pretokenizer, should_stop=should_stop)
    if should_stop():
        return None
    return replayed_tokens(lay_out_for(tokenizer, pretokens), tokenizer.merges, should_stop)


def lay_out_for(tokenizer: Tokenizer, pretokens: PretokenCounts) -> Layout:
    """Lay pre-tokens in one row as the base symbols that a tokenizer starts from."""
    return lay_out_pretokens(
        pretokens, tokenizer.base, tokenizer.base_ids, tokenizer.end_of_word_id
    )


def joined_tokens(layout: Layout, joined_at: NDArray[np.int32], n_merges: int) -> NDArray[np.int64]:
    """int64[n_merges + 1]: the tokens after each number of merges of the words trained on.

    `joined_at` is int32[n_slots], the rank of the merge that joined each slot, or NEVER. Read-only.

    >>> from bpe_core.counting.word_row import NEVER, lay_out
    >>> joined_at = np.array([NEVER, NEVER, 1, 0, NEVER], np.int32)
    >>> joined_tokens(lay_out([[7, 8, 9]], [10]), joined_at, n_merges=2).tolist()
    [30, 20, 10]
    """
    saved = np.zeros(n_merges, np.int64)
    joined = joined_at != NEVER
    np.add.at(saved, joined_at[joined], layout.weights[joined])
    return read_only(layout.weights.sum() - np.cumsum(np.concatenate([[0], saved])))


def count_ids(
    tokenizer: Tokenizer,
    documents: Iterable[str],
    should_stop: Callable[[], bool] | None = None,
) -> NDArray[np.int64]:
    """Count how often each id stands in the encoding of documents: int64[largest id + 1].

    Special tokens are read as text, and what the alphabet lacks is in no token. Where
    `should_stop()`, asked before each document, says True, what was counted so far is returned.

    >>> from bpe_core.tokenizer.gpt2 import gpt2
    >>> counts = count_ids(gpt2(), ["the", "the the"])
    >>> {gpt2().vocab[id]: int(counts[id]) for id in np.flatnonzero(counts)}
    {b' the': 1, b'the': 2}
    """
    n_ids = max(tokenizer.vocab) + 1
    counts = np.zeros(n_ids, np.int64)
    for document in documents:
        if should_stop is not None and should_stop():
            break
        counts += np.bincount(tokenizer.encode_to_numpy(document, errors="skip"), minlength=n_ids)
    return counts


def says_all_merges(tokenizer: Tokenizer) -> bool:
    """Tell whether an encoding says all: no byte is unknown, and each token has one way to be made.

    >>> from bpe_core.tokenizer.gpt2 import gpt2
    >>> says_all_merges(gpt2())
    True
    """
    made = {merge.id for merge in tokenizer.merges}
    return (
        tokenizer.base == "bytes"
        and tokenizer.end_of_word is None
        and len(tokenizer.base_ids) == 256
        and len(made) == tokenizer.n_merges
        and made.isdisjoint(tokenizer.base_ids.values())
    )


def unfolded_tokens(id_counts: NDArray[np.int64], merges: Sequence[Merge]) -> NDArray[np.int64]:
    """int64[n_merges + 1]: the tokens after each number of merges, from the counts of all of them.

    `id_counts` is int64[n], how often each id stands in the encoding by all merges, each of which
    makes a token that no other makes.

    >>> merges = [Merge(rank=0, left=1, right=2, id=3), Merge(rank=1, left=0, right=3, id=4)]
    >>> unfolded_tokens(np.array([0, 0, 0, 1, 10]), merges).tolist()
    [32, 21, 11]
    """
    counts: list[int] = id_counts.tolist()
    joined = [0] * len(merges)
    for rank in range(len(merges) - 1, -1, -1):
        left, right, made = merges[rank].left, merges[rank].right, merges[rank].id
        joined[rank] = times = counts[made]
        counts[made] = 0
        counts[left] += times
        counts[right] += times
    return sum(counts) - np.cumsum([0, *joined], dtype=np.int64)


def replayed_tokens(
    layout: Layout, merges: Sequence[Merge], should_stop: Callable[[], bool]
) -> NDArray[np.int64] | None:
    """int64[n_merges + 1]: the same for any merges, done one by one on words that are laid out.

    None where `should_stop()`, asked every 64 merges, says True.

    >>> from bpe_core.counting.word_row import lay_out
    >>> merges = [Merge(rank=0, left=1, right=2, id=3), Merge(rank=1, left=0, right=3, id=4)]
    >>> layout = lay_out([[0, 1, 2], [1, 2]], [10, 1])
    >>> tokens = replayed_tokens(layout, merges, lambda: False)
    >>> tokens.tolist()
    [32, 21, 11]
    """
    state = MergeState(layout)
    tokens = np.empty(len(merges) + 1, np.int64)
    tokens[0] = layout.weights.sum()
    for step, merge in enumerate(merges):
        if step % _MERGES_BETWEEN_LOOKS == 0:
            if should_stop():
                return None
            time.sleep(0)  # lets other threads of an app take their turn
        if (merge.left << BITS | merge.right) in state.counts:
            state.merge(merge.left, merge.right, merge.id)
            tokens[step + 1] = tokens[step] - state.joined_weight
        else:
            tokens[step + 1] = tokens[step]
    return tokens
