"""Place another library's tokens in the bytes of a text, by the characters that it reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from bpe_core.tokenizer import TokenColumns
from bpe_core.unicode import byte_offsets


def locate_tokens(
    text: str,
    ids: Sequence[int],
    offsets: Sequence[tuple[int, int]] | NDArray[np.int64],
    vocab: Mapping[int, bytes],
) -> TokenColumns:
    """Return the tokens of a text in columns, and the text between them as segments without one.

    `offsets` are the start and end of each token, in characters, as pairs or int64[n, 2]. Tokens
    that overlap share the bytes of their characters.

    >>> columns = locate_tokens("é a", [7, 8], [(0, 1), (2, 3)], {7: b"e", 8: b"a"})
    >>> columns.ids.tolist(), columns.byte_starts.tolist(), columns.byte_ends.tolist()
    ([7, -1, 8], [0, 2, 3], [2, 3, 4])
    """
    byte_at = byte_offsets(text)
    n = len(ids)
    if isinstance(offsets, np.ndarray):
        flat = offsets.ravel()
    else:
        flat = np.fromiter(chain.from_iterable(offsets), np.int64, 2 * n)
    first, last = flat[0::2], np.maximum(flat[0::2], flat[1::2])
    # int64[n]: where the tokens before each token end. A token that starts there or later stands
    # alone.
    reached = np.concatenate([np.zeros(min(n, 1), np.int64), np.maximum.accumulate(last)[:-1]])
    stands_apart = first >= reached
    group_starts = np.flatnonzero(stands_apart)
    starts, ends = byte_at[first], byte_at[last]
    group_ends = np.append(group_starts[1:], n) if n else group_starts
    are_several = group_ends - group_starts > 1
    for a, b in np.column_stack([group_starts, group_ends])[are_several].tolist():
        tokens = [vocab.get(id, b"") for id in ids[a:b]]
        cuts = _shared(text, byte_at, first[a:b], int(last[a:b].max()), tokens)
        starts[a:b], ends[a:b] = cuts[:-1], cuts[1:]
    # The text that is in no token before each group, and after the last one.
    gap_starts = np.append(byte_at[reached[group_starts]], byte_at[last.max()] if n else 0)
    gap_ends = np.append(byte_at[first[group_starts]], byte_at[-1])
    is_gap = gap_ends > gap_starts
    at = np.append(group_starts, n)[is_gap]
    return TokenColumns(
        np.insert(np.array(ids, np.int64), at, -1),
        np.insert(starts, at, gap_starts[is_gap]),
        np.insert(ends, at, gap_ends[is_gap]),
    )


def _shared(
    text: str,
    byte_at: NDArray[np.int64],
    first: NDArray[np.int64],
    end: int,
    tokens: Sequence[bytes],
) -> list[int]:
    """Divide the bytes of characters that several tokens share; return where the parts end."""
    start = int(first[0])
    byte_start, byte_end = int(byte_at[start]), int(byte_at[end])
    cuts = [byte_start]
    if b"".join(tokens).endswith(text[start:end].encode()):
        # From the end, because text put in front by the tokenizer has no bytes here.
        left = byte_end
        for token in reversed(tokens):
            cuts.insert(1, left)
            left = max(byte_start, left - len(token))
        return cuts
    for following in first[1:].tolist():
        cuts.append(max(cuts[-1], int(byte_at[min(max(following, start), end)])))
    return [*cuts, byte_end]
