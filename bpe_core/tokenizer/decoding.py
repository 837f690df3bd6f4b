"""Decode ids, all at once or as they arrive: check them, and join their bytes."""

from __future__ import annotations

import codecs
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, TypeGuard, cast

from bpe_core.checks import describe, is_whole, several
from bpe_core.errors import ArgumentTypeError, InvalidTokenIdError, TokenizationError
from bpe_core.tokenizer.encoding import Kernels
from bpe_core.tokenizer.tables import TokenTable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


OnInvalid = Literal["replace", "strict"]
"""At bytes that are not valid UTF-8: write U+FFFD, or raise an error."""


def is_array(value: object) -> TypeGuard[NDArray[Any]]:
    """Return True for a NumPy array, without importing NumPy.

    >>> is_array([1, 2])
    False
    """
    numpy = sys.modules.get("numpy")  # where it isn't imported, there are no arrays
    return numpy is not None and isinstance(value, numpy.ndarray)


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


_MAX_IDS: Final = 48
"""How many ids are decoded again with each new one, at most, unless they are all spaces."""
_IDS_KEPT: Final = 16
_REPLACEMENT: Final = "\N{REPLACEMENT CHARACTER}".encode()
_BYTE_PIECE: Final = re.compile("<0x[0-9A-Fa-f]{2}>")


class _Decoder(Protocol):
    @property
    def vocab(self) -> Mapping[int, bytes]: ...

    def decode_bytes(self, ids: Iterable[int]) -> bytes: ...


class DecodeStream:
    """Decodes ids as they arrive; what it returns, joined, is the text of all ids.

    At every place, the texts of `push` so far and that of `finish` are together what `decode`
    returns for the ids so far. A character that a token cuts is returned once it is whole. A
    library that writes bytes as <0xE6> may decide by the last of several what all of them are, so
    these wait for it.

    >>> from bpe_core.tokenizer import gpt2
    >>> stream = gpt2().decode_stream()
    >>> [stream.push(id) for id in gpt2().encode("hug 漢")], stream.finish()
    (['h', 'ug', ' ', '', '漢'], '')
    """

    # A decoder may treat the first token, the last, and neighbours in their own ways. So the last
    # ids are decoded again, with an overlap that is found to change nothing.

    def __init__(self, decoder: _Decoder) -> None:
        self._decoder = decoder
        self._written: Callable[[int], str | None] | None = getattr(decoder, "written", None)
        self._probe: int | None = None
        self._begin()

    def _begin(self) -> None:
        self._ids: list[int] = []
        self._n_forgotten = self._n_data = 0
        self._n_read = 0
        self._utf8 = codecs.getincrementaldecoder("utf-8")("replace")

    def push(self, id: int) -> str:
        """Return the text that one more id completes; raises `InvalidTokenIdError` if unknown.

        The stream goes on after an error as if that id had not come.
        """
        ids = [*self._ids, id]
        data = bytes(self._decoder.decode_bytes(ids))
        self._ids, self._n_data = ids, len(data)
        stable = max(self._n_read, self._count_stable(data))
        text = self._utf8.decode(data[self._n_read : stable])
        self._n_read = stable
        if len(ids) > _MAX_IDS and stable == len(data):
            self._shorten(data)
        return text

    @property
    def n_bytes(self) -> int:
        """How many bytes `decode_bytes` returns for the ids so far."""
        return self._n_forgotten + self._n_data

    def finish(self) -> str:
        """Return the rest, with U+FFFD for an incomplete character; the stream is then new."""
        data = bytes(self._decoder.decode_bytes(self._ids))
        text = self._utf8.decode(data[self._n_read :], final=True)
        self._begin()
        return text

    def _count_stable(self, data: bytes) -> int:
        """Return how many bytes of the last ids' text no later id can change."""
        if self._is_byte_piece(self._ids[-1]) and (probe := self._invalid_byte()) is not None:
            other = bytes(self._decoder.decode_bytes([*self._ids, probe]))
            n = min(len(data), len(other))
            data = next((data[:i] for i in range(self._n_read, n) if data[i] != other[i]), data[:n])
        while data.endswith(_REPLACEMENT):
            data = data[: -len(_REPLACEMENT)]
        return len(data)

    def _is_byte_piece(self, id: int) -> bool:
        written = self._written(id) if self._written is not None else None
        return written is not None and _BYTE_PIECE.fullmatch(written) is not None

    def _invalid_byte(self) -> int | None:
        """Return the id of a byte that is not UTF-8 after any other, or None."""
        if self._probe is None:
            self._probe = next(
                (
                    id
                    for id, token in self._decoder.vocab.items()
                    if token == b"\xff" and self._is_byte_piece(id)
                ),
                -1,
            )
        return None if self._probe < 0 else self._probe

    def _shorten(self, data: bytes) -> None:
        """Forget all but the last ids if their text is then the same."""
        kept = self._ids[-_IDS_KEPT:]
        tail = bytes(self._decoder.decode_bytes(kept))
        # A decoder that strips spaces has to find something else in what is kept.
        if tail.strip(b" ") and data.endswith(tail.lstrip(b" ")):
            self._n_forgotten += len(data) - len(tail)
            self._ids, self._n_data, self._n_read = kept, len(tail), len(tail)
