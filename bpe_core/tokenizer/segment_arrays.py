"""Token and pre-token boundaries in a text, as arrays, for texts of a million tokens."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bpe_core.pretokenizers import (
    AllowedSpecial,
    SpecialToken,
    align,
    allowed_tokens,
    apply_changes,
    find_special_tokens,
    list_pieces,
)
from bpe_core.tokenizer.protocol import BatchEncoder, Encoder, TokenColumns
from bpe_core.tokenizer.tokenizer import Tokenizer
from bpe_core.types import Segment
from bpe_core.unicode import byte_offsets

_MAX_ID: Final = 1 << 22  # of a table with an entry an id: 32 MB


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
    if isinstance(encoder, BatchEncoder):
        (columns,) = encoder.place_tokens([text], allowed_special)
        own = encoder.plain
        if own is None:
            # Pre-tokens are unknown here: see `Boundaries.starts_pretoken`.
            starts = np.zeros(len(columns.ids), np.bool_)
        else:
            found = _special_in(text, columns, own)
            starts = _starts(text, columns.byte_ends, found, own, max_starts)
        return Boundaries(columns.ids, columns.byte_ends, starts)
    if not isinstance(encoder, Tokenizer) or not _covers_all(encoder):
        return find_boundaries(text, encoder.segments(text, allowed_special), encoder)
    ids = encoder.encode_to_numpy(text, allowed_special).astype(np.int64)
    byte_ends = np.cumsum(token_widths(encoder.vocab)[ids])
    tokens = encoder.special_tokens
    found = find_special_tokens(text, tokens, allowed_tokens(tokens, allowed_special))
    return Boundaries(ids, byte_ends, _starts(text, byte_ends, found, encoder, max_starts))


def find_boundaries(text: str, segments: Sequence[Segment], encoder: Encoder) -> Boundaries:
    """Return segments of a text in columns.

    >>> from bpe_core.tokenizer import gpt2
    >>> find_boundaries("to be", gpt2().segments("to be"), gpt2()).byte_ends.tolist()
    [2, 5]
    """
    n = len(segments)
    ids = np.fromiter((-1 if s.id is None else s.id for s in segments), np.int64, n)
    byte_ends = np.fromiter((s.byte_end for s in segments), np.int64, n)
    known = set(encoder.special_tokens.values())
    found = [SpecialToken(s.start, s.end, s.id) for s in segments if s.id in known]
    return Boundaries(ids, byte_ends, _starts(text, byte_ends, found, encoder))


def token_widths(vocab: Mapping[int, bytes]) -> NDArray[np.int64]:
    """Return int64[largest id + 1]: the number of bytes of each token, 0 for an id without one.

    >>> token_widths({0: b"a", 2: b"hug"}).tolist()
    [1, 0, 3]
    """
    widths = np.zeros(max(vocab) + 1, np.int64)
    widths[list(vocab)] = [len(token) for token in vocab.values()]
    return widths


def _special_in(text: str, columns: TokenColumns, own: Tokenizer) -> list[SpecialToken]:
    """Return the special and added tokens among the tokens of a text."""
    known = list(own.special_tokens.values())
    rows = np.flatnonzero(np.isin(columns.ids, known))
    if not len(rows):
        return []
    offsets = byte_offsets(text)
    starts, ends = (np.searchsorted(offsets, of[rows]) for of in columns[1:])
    places = zip(starts.tolist(), ends.tolist(), columns.ids[rows].tolist(), strict=True)
    return [SpecialToken(*place) for place in places]


def _covers_all(tokenizer: Tokenizer) -> bool:
    return tokenizer.spells_text and tokenizer.table.complete and max(tokenizer.vocab) < _MAX_ID


def _starts(
    text: str,
    byte_ends: NDArray[np.int64],
    found: Iterable[SpecialToken],
    encoder: Encoder,
    most: int | None = None,
) -> NDArray[np.bool_]:
    """Return which tokens, or which of the first `most`, begin a pre-token or are special."""
    if not isinstance(encoder, Tokenizer) or not len(byte_ends):
        return np.zeros(len(byte_ends), np.bool_)
    offsets = None if text.isascii() else byte_offsets(text)
    before = len(text)
    if most is not None and most < len(byte_ends):
        before = int(byte_ends[most])
        if offsets is not None:
            before = int(np.searchsorted(offsets, before))
    begun: list[NDArray[np.int64]] = []
    for piece in list_pieces(text, found):
        if piece.start >= before:
            break
        if isinstance(piece, SpecialToken):
            begun.append(np.array([piece.start], np.int64))
        else:
            part, cut = text[piece.start : piece.end], encoder.pretokenizer
            changes = [] if cut.normalizer is None else cut.normalizer.changes(part)
            if cut.adds_space:
                part = cut.written(part)[1:]
            if changes:
                normal = apply_changes(part, changes)
                starts = align(part, changes)[0](cut.starts(normal, len(normal)))
            else:
                starts = cut.starts(part, before - piece.start)
            begun.append(starts + piece.start)
    characters = np.concatenate(begun) if begun else np.zeros(0, np.int64)
    starts = np.zeros(int(byte_ends[-1]) + 1, np.bool_)
    starts[characters if offsets is None else offsets[characters]] = True
    byte_starts = np.concatenate([np.zeros(1, np.int64), byte_ends[:-1]])
    # A separate end-of-word marker covers no text, so nothing begins with it.
    return starts[byte_starts] & (byte_ends > byte_starts)
