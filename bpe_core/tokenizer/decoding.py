"""Decode ids: check them, and join their bytes with kernels or in plain Python."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Literal, cast

from bpe_core.checks import describe, is_whole, several
from bpe_core.errors import ArgumentTypeError, InvalidTokenIdError, TokenizationError
from bpe_core.tokenizer.tables import TokenTable
from bpe_core.tokenizer.tokenizer_kernels import Kernels
from bpe_core.types import is_array

if TYPE_CHECKING:  # importing NumPy takes longer than encoding a short text does
    import numpy as np
    from numpy.typing import NDArray

OnInvalid = Literal["replace", "strict"]
"""At bytes that are not valid UTF-8: write U+FFFD, or raise an error."""


def join_bytes(
    ids: Iterable[int] | NDArray[np.integer], table: TokenTable, kernels: Kernels
) -> bytes | memoryview:
    """Return the bytes of ids; raises `InvalidTokenIdError` for an unknown id.

    Raises `TokenizationError` for anything but a flat sequence of ids.

    >>> from bpe_core.pretokenizers import Pretokenizer
    >>> table = TokenTable(vocab={0: b"a", 1: b"b"}, merges=[])
    >>> join_bytes([1, 0], table, Kernels(table, Pretokenizer("none")))
    b'ba'
    """
    given = _flat_ids(ids)
    encoder = kernels.worth(len(given))
    if encoder is not None:
        decoded = encoder.decode(given)
        if decoded is not None:
            return decoded.data
    listed: list[int] = given if isinstance(given, list) else given.tolist()
    _check_types(listed)
    try:
        return table.join(listed)
    except KeyError:
        raise _unknown_id(listed, table.vocab) from None


def check_ids(ids: Iterable[int] | NDArray[np.integer], vocab: Mapping[int, bytes]) -> list[int]:
    """Return ids as a list if all are in a vocabulary; raises what `join_bytes` raises.

    >>> check_ids(range(2), {0: b"a", 1: b"b"})
    [0, 1]
    """
    given = _flat_ids(ids)
    listed: list[int] = given if isinstance(given, list) else given.tolist()
    _check_types(listed)
    if not vocab.keys() >= set(listed):
        raise _unknown_id(listed, vocab)
    return listed


def decode_utf8(data: bytes | memoryview, errors: OnInvalid) -> str:
    """Return bytes as text; with "strict", invalid UTF-8 raises `TokenizationError`.

    >>> decode_utf8(b"caf\\xc3", "replace")
    'caf�'
    """
    try:
        return str(data, "utf-8", errors)
    except UnicodeDecodeError as error:
        raise TokenizationError(
            f"These ids end or begin within a character: the byte 0x{data[error.start]:02X} "
            f"at offset {error.start:,} is not valid UTF-8. Use errors='replace', or "
            f"decode_bytes."
        ) from None


def _flat_ids(ids: Iterable[int] | NDArray[np.integer]) -> NDArray[np.int32] | list[int]:
    if type(ids) is list:
        # Returned uncopied: copying the list took a fifth of the time of decoding it.
        return cast("list[int]", ids)
    if not is_array(ids):
        return several(ids, "ids", "give a list or an array of ints")
    given = cast("NDArray[np.int32]", ids)
    if given.ndim != 1:
        raise TokenizationError(
            f"Expected a one-dimensional array of ids, got {given.ndim} dimensions, shape "
            f"{given.shape}. Decode one row at a time."
        )
    if given.size and given.dtype.kind not in "iuO":
        raise ArgumentTypeError(
            f"Expected an array of integers, such as int32, got one of {given.dtype}."
        )
    return given


def _check_types(ids: list[int]) -> None:
    # Without this, 464.0 and True would be found in the vocabulary.
    if set(map(type, ids)) <= {int}:
        return
    for number, id in enumerate(ids, 1):
        if not is_whole(id):
            raise ArgumentTypeError(
                f"Number {number:,} of {len(ids):,} ids is {describe(id)}. Expected one "
                "list or array of ints."
            )


def _unknown_id(ids: list[int], vocab: Mapping[int, bytes]) -> InvalidTokenIdError:
    place = next(i for i, id in enumerate(ids) if id not in vocab)
    there_are = (
        f"The {len(vocab):,} ids of this tokenizer run from {min(vocab)} to {max(vocab)}."
        if vocab
        else "This tokenizer has no tokens at all."
    )
    return InvalidTokenIdError(
        f"There is no token with id {ids[place]} (number {place + 1:,} of "
        f"{len(ids):,} ids). {there_are}"
    )
