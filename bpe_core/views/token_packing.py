"""Pack the segments of a text for the browser: ids, byte lengths, and a table of their tokens.

Offsets are not sent. From the byte lengths the browser computes, in one pass over the text, the
UTF-16 offset of each token and how many bytes of a split character precede it.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from typing import TypedDict

import numpy as np
from numpy.typing import ArrayLike

from bpe_core.comparison import Stretches
from bpe_core.formats import AcrossWordsTokenizer, LibraryEncoder, Spaces
from bpe_core.tokenizer import Boundaries, Encoder, Tokenizer, changes_text, made_by_merges
from bpe_core.types import Pair
from bpe_core.unicode import code_points

_TOKENS_CONSIDERED = 400
_SPACES = np.array([point for point in range(0x3001) if chr(point).isspace()], np.uint32)


class Numbers(TypedDict):
    """An array of whole numbers, in the smallest unsigned type that holds them."""

    type: str
    """The name of the typed array in JavaScript, such as "Uint16Array"."""
    data: str
    """Its bytes in base64, little-endian."""


class TableOfTokens(TypedDict):
    """The tokens of a text and the parts they were merged from."""

    ids: list[int]
    tokens: list[str | list[int]]
    """Text if the bytes are valid UTF-8, else byte values."""
    written: list[str | None]
    """Tokens of another library with the marks of its file, such as ▁; empty for our own."""
    left: list[int]
    """The id of the left part; -1 if no merge made the token."""
    right: list[int]
    rank: list[int]
    """The rank of the merge that made the token; -1 if none did."""
    special: list[int]
    """Ids of special tokens."""
    ends: list[int]
    """Ids of tokens that contain the end-of-word marker."""
    marker: str | None
    n_merges: int | None
    """None if another library encodes: its merges are not available."""
    unknown: int | None
    """The id of the token for text that the vocabulary cannot spell."""
    normalizes: bool
    """Whether our own merges come after a change of the text, so its pre-tokens are different."""


class PackedTokens(TypedDict):
    """One text under one tokenizer."""

    ids: Numbers
    """The id + 1 of each segment; 0 for text in no token."""
    lengths: Numbers
    """The number of bytes each segment covers; 0 for an end-of-word marker on its own."""
    starts: Numbers
    """One bit per segment, most significant bit first: 1 if a pre-token starts there."""
    table: TableOfTokens


class PackedSpans(TypedDict):
    """Where tokenizers split a text differently: one entry per disagreement."""

    starts: Numbers
    """In bytes."""
    ends: Numbers
    has_text: Numbers
    """1 if the disagreement covers more than white space."""


def pack_boundaries(found: Boundaries, encoder: Encoder) -> PackedTokens:
    """Pack the result of `boundaries(text, encoder, ...)` for the token view."""
    used = np.unique(found.ids)
    return {
        "ids": pack_numbers(found.ids + 1),
        "lengths": pack_numbers(np.diff(found.byte_ends, prepend=0)),
        "starts": pack_numbers(np.packbits(found.starts_pretoken)),
        "table": token_table(encoder, used[used >= 0].tolist()),
    }


def pack_spans(text: str, found: Stretches) -> PackedSpans:
    """Pack the disagreements between tokenizers on a text."""
    n_before = np.concatenate([[0], np.cumsum(~np.isin(code_points(text), _SPACES))])
    return {
        "starts": pack_numbers(found.byte_starts),
        "ends": pack_numbers(found.byte_ends),
        "has_text": pack_numbers(n_before[found.ends] > n_before[found.starts]),
    }


def pack_numbers(values: ArrayLike) -> Numbers:
    """Encode integers from 0 to 2**32 - 1 as base64.

    >>> pack_numbers([1, 2, 255])
    {'type': 'Uint8Array', 'data': 'AQL/'}
    """
    array = np.asarray(values)
    top = int(array.max()) if array.size else 0
    bits = 8 if top < 1 << 8 else 16 if top < 1 << 16 else 32
    data = array.astype(f"<u{bits // 8}").tobytes()
    return {"type": f"Uint{bits}Array", "data": base64.b64encode(data).decode("ascii")}


def token_table(encoder: Encoder, ids: Iterable[int]) -> TableOfTokens:
    """Return the tokens with these ids and all their parts, down to the base symbols."""
    own = made_by_merges(encoder)
    parts = {} if own is None else own.table.parts
    ranks = {} if own is None else own.table.ranks
    known = sorted(_with_parts(ids, parts))
    pairs = [parts.get(token_id) for token_id in known]
    special = set(encoder.special_tokens.values())
    writer = encoder if isinstance(encoder, LibraryEncoder | AcrossWordsTokenizer) else None
    if isinstance(encoder, Tokenizer) and encoder.pretokenizer.adds_space:
        writer = AcrossWordsTokenizer(encoder, Spaces("always"))
    return {
        "ids": known,
        "tokens": [token_for_browser(encoder.vocab[token_id]) for token_id in known],
        "written": [] if writer is None else [writer.written(token_id) for token_id in known],
        "left": [-1 if pair is None else pair[0] for pair in pairs],
        "right": [-1 if pair is None else pair[1] for pair in pairs],
        "rank": [-1 if pair is None else ranks[pair] for pair in pairs],
        "special": [token_id for token_id in known if token_id in special],
        "ends": [] if own is None else [id for id in known if id in own.table.ending_word],
        "marker": None if own is None else own.end_of_word,
        "n_merges": None if own is None else own.n_merges,
        "unknown": encoder.unknown_id,
        "normalizes": changes_text(encoder),
    }


def token_for_browser(token: bytes) -> str | list[int]:
    """Return a token for JSON: text if its bytes are valid UTF-8, else a list of byte values.

    >>> token_for_browser("é".encode()), token_for_browser(b"\\xff")
    ('é', [255])
    """
    try:
        return token.decode("utf-8")
    except UnicodeDecodeError:
        return list(token)


def tokens_for_browser(vocab: Mapping[int, bytes]) -> list[str | list[int]]:
    """Return all tokens by id, each as `token_for_browser` gives it.

    An id without a token is an empty list.

    >>> tokens_for_browser({0: b"a", 1: b"\\xff", 3: "é".encode()})
    ['a', [255], [], 'é']
    """
    tokens: list[str | list[int]] = [[] for _ in range(max(vocab, default=-1) + 1)]
    for token_id, token in vocab.items():
        tokens[token_id] = token_for_browser(token)
    return tokens


def find_longest_word(found: Boundaries, encoder: Encoder) -> int | None:
    """Return the index of the longest word near the start of a text, or None without tokens.

    >>> from bpe_core.tokenizer import gpt2
    >>> from bpe_core.tokenizer import boundaries
    >>> find_longest_word(boundaries("to the tokens", gpt2()), gpt2())
    2
    """
    special = set(encoder.special_tokens.values())
    best, most = None, 0
    for index, token_id in enumerate(found.ids[:_TOKENS_CONSIDERED].tolist()):
        if token_id < 0 or token_id in special:
            continue
        try:
            token = encoder.vocab[token_id].decode()
        except UnicodeDecodeError:
            token = ""
        size = len(token) if any(map(str.isalpha, token)) else 1
        if size > most:
            best, most = index, size
    return best


def _with_parts(ids: Iterable[int], parts: Mapping[int, Pair]) -> set[int]:
    known: set[int] = set()
    waiting = list(ids)
    while waiting:
        token_id = waiting.pop()
        if token_id in known:
            continue
        known.add(token_id)
        waiting += parts.get(token_id, ())
    return known
