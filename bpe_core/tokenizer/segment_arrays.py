"""Token and pre-token boundaries in a text, as arrays, for texts of a million tokens."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bpe_core.pretokenizers import AllowedSpecial, SpecialToken, align, allowed_tokens
from bpe_core.tokenizer.protocol import Encoder
from bpe_core.tokenizer.segments import TokenColumns, token_widths
from bpe_core.tokenizer.tokenizer import Tokenizer
from bpe_core.unicode import byte_offsets


@dataclass(frozen=True, slots=True, eq=False)
class Boundaries:
    """The segments of a text, in columns; together they cover each byte once."""

    ids: NDArray[np.int64]
    """int64[n]: -1 where there is no token."""
    byte_ends: NDArray[np.int64]
    """int64[n]: where each segment ends and the next begins."""
    starts_pretoken: NDArray[np.bool_]
    """bool[n]: True if a pre-token or special token begins with it; all False for a tokenizer that
    another library runs, because pre-tokens are then unknown."""

    def first(self, n: int, text: str) -> tuple[Boundaries, str]:
        """Return the first n segments and the part of the text that they cover.

        If the n-th segment ends within a character, the rest of that character is included.

        >>> from bpe_core.tokenizer import gpt2
        >>> some, part = boundaries("漢字", gpt2()).first(1, "漢字")
        >>> some.ids.tolist(), part
        ([162, 120, 95], '漢')
        """
        data = text.encode()
        ends = self.byte_ends
        n = min(n, len(ends))
        while 0 < n < len(ends) and ends[n - 1] < len(data) and data[ends[n - 1]] & 0xC0 == 0x80:
            n += 1
        part = data[: ends[n - 1]].decode() if n else ""
        return Boundaries(self.ids[:n], self.byte_ends[:n], self.starts_pretoken[:n]), part


def boundaries(
    text: str,
    encoder: Encoder,
    allowed_special: AllowedSpecial = (),
    *,
    max_starts: int | None = None,
) -> Boundaries:
    """Return `encoder.segments(text, allowed_special)` in columns; raises what that raises.

    With `max_starts`, the beginnings of pre-tokens are found only among that many segments.

    For a tokenizer that covers every byte, no segment objects are made, which saves a second per
    million tokens.

    >>> from bpe_core.tokenizer import gpt2
    >>> found = boundaries("to 漢", gpt2())
    >>> found.ids.tolist(), found.byte_ends.tolist(), found.starts_pretoken.tolist()
    ([1462, 10545, 120, 95], [2, 4, 5, 6], [True, True, False, False])
    """
    (columns,) = encoder.place_tokens([text], allowed_special)
    starts = _starts(text, columns, encoder, allowed_special, max_starts)
    return Boundaries(columns.ids, columns.byte_ends, starts)


def _starts(
    text: str,
    columns: TokenColumns,
    encoder: Encoder,
    allowed_special: AllowedSpecial,
    most: int | None,
) -> NDArray[np.bool_]:
    """Return which tokens, or which of the first `most`, begin a pre-token or are added ones."""
    ids, _, byte_ends = columns
    if not isinstance(encoder, Tokenizer) or not len(ids):
        return np.zeros(len(ids), np.bool_)
    steps = encoder.encoder.steps
    normal = steps.normal_text(text, allowed_tokens(encoder.special_tokens, allowed_special))
    changes = normal.changes
    if changes and ids.min() >= 0:
        # Tokens cover the normal text: there, none is without a place.
        widths = token_widths({id: encoder.vocab[id] for id in np.unique(ids).tolist()})
        ends = np.cumsum(widths[ids])
        if ends[-1] == len(normal.text.encode()):
            text, byte_ends, changes = normal.text, ends, []
    offsets = None if text.isascii() else byte_offsets(text)
    before = len(normal.text)
    if most is not None and most < len(byte_ends) and not changes:
        before = int(byte_ends[most])
        if offsets is not None:
            before = int(np.searchsorted(offsets, before))
    begun = [np.zeros(0, np.int64)]
    for piece in normal.pieces:
        if piece.start >= before:
            break
        if isinstance(piece, SpecialToken):
            begun.append(np.array([piece.start], np.int64))
        else:
            part = normal.text[piece.start : piece.end]
            begun.append(steps.cut.starts(part, before - piece.start) + piece.start)
    characters = np.concatenate(begun)
    if changes:
        characters = align(text, changes)[0](characters)
    starts = np.zeros(int(byte_ends[-1]) + 1, np.bool_)
    starts[characters if offsets is None else offsets[characters]] = True
    byte_starts = np.concatenate([np.zeros(1, np.int64), byte_ends[:-1]])
    # A separate end-of-word marker covers no text, so nothing begins with it.
    return starts[byte_starts] & (byte_ends > byte_starts)
