"""Count the tokens of a text after each merge, from its encoding or by replaying the merges.

If only one merge makes a token, the token always consists of the same two parts, and so do its
parts. A text's encoding then determines how often each merge was applied, without replaying any.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import CancelledError

import numpy as np
from numpy.typing import NDArray

from bpe_core.corpus import Corpus
from bpe_core.counting import NEVER, Layout, count_pretokens, lay_out_encoded, lay_out_pretokens
from bpe_core.kernels import MISSING, use_kernels
from bpe_core.tokenizer import Tokenizer
from bpe_core.trainers import BITS, MergeState, PickyState
from bpe_core.types import Merge, PretokenCounts, read_only

_MERGES_BETWEEN_LOOKS = 64


def tokens_on(
    tokenizer: Tokenizer, corpus: Corpus, should_stop: Callable[[], bool], n_before: int = 0
) -> NDArray[np.int64]:
    """Return int64[n_merges + 1]: the number of tokens of a corpus after each merge.

    The first `n_before` merges, those of a base that was extended, have no entries. A symbol
    missing from the alphabet counts as one token and never merges. Raises CancelledError
    once `should_stop()`, called at intervals, returns True.

    >>> from bpe_core.tokenizer import gpt2
    >>> tokens_on(gpt2().truncated(3), Corpus.from_text("the then"), lambda: False).tolist()
    [8, 7, 7, 5]
    """
    large = corpus.word_counts is None and use_kernels(corpus.n_bytes)
    if large and merges_are_recoverable(tokenizer):
        counts = count_ids(tokenizer, corpus.documents, should_stop)
        return unfolded_tokens(counts, tokenizer.merges[n_before:])
    pretokens = count_pretokens(corpus, tokenizer.pretokenizer, should_stop=should_stop)
    if should_stop():
        raise CancelledError
    if n_before or tokenizer.table.byte_ids:
        layout = lay_out_tokens(tokenizer.truncated(n_before), pretokens)
    else:
        layout = lay_out_for(tokenizer, pretokens)
    removals = tokenizer.table.removals
    return replayed_tokens(layout, tokenizer.merges[n_before:], should_stop, removals)


def lay_out_for(tokenizer: Tokenizer, pretokens: PretokenCounts) -> Layout:
    """Lay out pre-tokens in one row, as the base symbols that a tokenizer starts from."""
    return lay_out_pretokens(
        pretokens, tokenizer.base, tokenizer.base_ids, tokenizer.table.end_of_word_id
    )


def lay_out_tokens(base: Tokenizer, pretokens: PretokenCounts) -> Layout:
    """Lay out pre-tokens in one row, as the tokens of a base whose training is continued.

    Bytes that spell a character outside its alphabet are MISSING, because nothing merges them.

    >>> from bpe_core.tokenizer import gpt2
    >>> lay_out_tokens(gpt2(), PretokenCounts((b"hugs",), np.array([3]))).ids.tolist()
    [-1, 71, 10339, -1]
    """
    ids, ends = base.encoder.encode_pretokens(pretokens)
    if base.table.byte_ids:
        ids = np.where(np.isin(ids, [*base.table.byte_ids.values()]), np.int32(MISSING), ids)
    return lay_out_encoded(pretokens, ids, ends)


def joined_tokens(
    layout: Layout,
    joined_at: NDArray[np.int32],
    n_merges: int,
    undone: NDArray[np.int32] | None = None,
) -> NDArray[np.int64]:
    """Return int64[n_merges + 1], read-only: the tokens of the training words after each merge.

    `joined_at` is int32[n_slots], the rank of the merge that joined each slot, or NEVER; `undone`
    are the joints that did not last, as `PickyState.undone` says.

    >>> from bpe_core.counting import NEVER, lay_out
    >>> joined_at = np.array([NEVER, NEVER, 1, 0, NEVER], np.int32)
    >>> joined_tokens(lay_out([[7, 8, 9]], [10]), joined_at, n_merges=2).tolist()
    [30, 20, 10]
    """
    saved = np.zeros(n_merges, np.int64)
    weights = layout.weights()
    joined = joined_at != NEVER
    if undone is not None and len(undone):
        slots, _, since, until = undone.T
        lasts = until == NEVER
        joined[slots[lasts]] = False
        np.add.at(saved, since - 1, weights[slots])
        np.subtract.at(saved, until[~lasts], weights[slots[~lasts]])
    np.add.at(saved, joined_at[joined], weights[joined])
    return read_only(layout.weights().sum() - np.cumsum(np.concatenate([[0], saved])))


def count_ids(
    tokenizer: Tokenizer,
    documents: Iterable[str],
    should_stop: Callable[[], bool] | None = None,
) -> NDArray[np.int64]:
    """Count how often each id occurs in the encoding of documents: int64[largest id + 1].

    Special tokens are read as text, and symbols missing from the alphabet are skipped.
    Raises CancelledError once `should_stop()`, called before each document, returns True.

    >>> from bpe_core.tokenizer import gpt2
    >>> counts = count_ids(gpt2(), ["the", "the the"])
    >>> {gpt2().vocab[id]: int(counts[id]) for id in np.flatnonzero(counts)}
    {b' the': 1, b'the': 2}
    """
    n_ids = max(tokenizer.vocab) + 1
    counts = np.zeros(n_ids, np.int64)
    for document in documents:
        if should_stop is not None and should_stop():
            raise CancelledError
        counts += np.bincount(tokenizer.encode_to_numpy(document, errors="skip"), minlength=n_ids)
    return counts


def merges_are_recoverable(tokenizer: Tokenizer) -> bool:
    """Return True if an encoding shows how often each merge was applied.

    That is so if no byte is unknown and no two merges make the same token.

    >>> from bpe_core.tokenizer import gpt2
    >>> merges_are_recoverable(gpt2())
    True
    """
    made = {merge.id for merge in tokenizer.merges}
    return (
        tokenizer.base == "bytes"
        and not tokenizer.table.removals
        and tokenizer.end_of_word is None
        and len(tokenizer.base_ids) == 256
        and len(made) == tokenizer.n_merges
        and made.isdisjoint(tokenizer.base_ids.values())
    )


def unfolded_tokens(id_counts: NDArray[np.int64], merges: Sequence[Merge]) -> NDArray[np.int64]:
    """Return int64[n_merges + 1]: the tokens after each merge, from the counts of the final ids.

    `id_counts` is int64[n]: how often each id occurs in the encoding. No two merges may make the
    same token.

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
    layout: Layout,
    merges: Sequence[Merge],
    should_stop: Callable[[], bool],
    removals: Sequence[tuple[int, int]] = (),
) -> NDArray[np.int64]:
    """Return int64[n_merges + 1]: the tokens after each merge, by applying any merges one by one.

    Raises CancelledError once `should_stop()`, called every 64 merges, returns True.

    >>> from bpe_core.counting import lay_out
    >>> merges = [Merge(rank=0, left=1, right=2, id=3), Merge(rank=1, left=0, right=3, id=4)]
    >>> layout = lay_out([[0, 1, 2], [1, 2]], [10, 1])
    >>> tokens = replayed_tokens(layout, merges, lambda: False)
    >>> tokens.tolist()
    [32, 21, 11]
    """
    state = PickyState(layout) if removals else MergeState(layout)
    waiting = deque(removals)
    tokens = np.empty(len(merges) + 1, np.int64)
    tokens[0] = layout.weights().sum()
    for step, merge in enumerate(merges):
        if step % _MERGES_BETWEEN_LOOKS == 0:
            if should_stop():
                raise CancelledError
            time.sleep(0)  # let other threads run
        tokens[step + 1] = tokens[step]
        # What is removed later is spelled by merges that may have joined nothing here.
        if removals or (merge.left << BITS | merge.right) in state.counts:
            state.merge(merge.left, merge.right, merge.id)
            while isinstance(state, PickyState) and waiting and waiting[0][0] == step + 1:
                state.remove(waiting.popleft()[1])
            tokens[step + 1] -= state.joined_weight
    return tokens
