"""Run SentencePiece models with the `sentencepiece` library.

SentencePiece merges by score over the whole normalised text, with ▁ for spaces, which plain
byte-pair encoding over pre-tokens cannot represent.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from itertools import chain, groupby
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from bpe_core.errors import FormatError, TokenizationError
from bpe_core.extras import needs_extra
from bpe_core.formats.running.base_encoders import (
    LibraryEncoder,
    library_failures,
    listed_texts,
    locate_tokens,
)
from bpe_core.formats.sentencepiece_model import (
    BYTE,
    BYTE_PIECES,
    CONTROL,
    UNKNOWN,
    Piece,
    read_model,
)
from bpe_core.kernels import n_threads
from bpe_core.pretokenizers import AllowedSpecial, allowed_tokens, check_text
from bpe_core.tokenizer import TokenColumns, check_ids
from bpe_core.unicode import META


class SentencePieceTokenizer(LibraryEncoder):
    """A SentencePiece model as the `sentencepiece` library encodes with it; immutable.

    Control pieces such as <s> are special tokens, which the library takes only as ids: a text that
    spells one is ordinary text. `vocab` has a space for ▁. Raises `FormatError` for a damaged
    model, and `MissingExtraError` if the library is not installed.

    >>> from bpe_core.formats.sentencepiece_model import NORMAL, write_model
    >>> pieces = [Piece("<unk>", 0, UNKNOWN), Piece("▁", -1, NORMAL), Piece("a", -2, NORMAL)]
    >>> pieces.append(Piece("▁a", 0, NORMAL))
    >>> small = SentencePieceTokenizer(write_model(pieces, "BPE"))
    >>> small.encode("a aa"), small.model, small.unknown_id
    ([3, 3, 2], 'BPE', 0)
    >>> [(each.token, each.start, each.end) for each in small.segments("a aa")]
    [(b' a', 0, 1), (b' a', 1, 3), (b'a', 3, 4)]
    """

    drops_text = True  # spaces, perhaps: only the normalizer says so

    def __init__(self, data: bytes) -> None:
        described = read_model(data)
        with needs_extra("formats", "Encoding with sentencepiece"):
            import sentencepiece

        self._data = data
        self.model = described.kind
        with library_failures(
            lambda _: FormatError(
                "The sentencepiece library cannot read this model. Use the .model file as it was "
                "saved."
            )
        ):
            self._peer = sentencepiece.SentencePieceProcessor(model_proto=data)
        pieces = described.pieces
        self.unknown_id = next(id for id, each in enumerate(pieces) if each.type == UNKNOWN)
        # bool[n]: True for the pieces that are one byte.
        self._is_byte = np.array([each.type == BYTE for each in pieces], np.bool_)
        engine = f"sentencepiece {sentencepiece.__version__}"
        super().__init__(
            engine,
            {id: _piece_bytes(each) for id, each in enumerate(pieces)},
            {each.text: id for id, each in enumerate(pieces) if each.type == CONTROL},
            hashlib.sha256(engine.encode() + b"\0" + data).hexdigest(),
        )

    def __reduce__(self) -> tuple[object, ...]:
        return SentencePieceTokenizer, (self._data,)

    def encode(self, text: str, allowed_special: AllowedSpecial = ()) -> list[int]:
        """Return the ids of a text.

        Raises `InvalidTextError` for a lone surrogate, and `TokenizationError` if the text spells a
        special token that is allowed, which the library cannot recognise.
        """
        self._check(text, allowed_special)
        with self._failures():
            return cast("list[int]", self._peer.encode(text, return_type=int))

    def encode_batch(
        self, texts: Iterable[str], allowed_special: AllowedSpecial = ()
    ) -> list[list[int]]:
        """Return the ids of each of several texts, by all cores; raises what `encode` raises."""
        listed = listed_texts(texts)
        for text in listed:
            self._check(text, allowed_special)
        with self._failures():
            found = self._peer.encode(listed, return_type=int, num_threads=n_threads())
        return cast("list[list[int]]", found)

    def decode_bytes(self, ids: Iterable[int] | NDArray[np.integer]) -> bytes:
        """Return the bytes of ids; raises `InvalidTokenIdError` for an unknown id.

        The library joins the pieces between special tokens, which it would leave out. Bytes that
        are not valid UTF-8 become U+FFFD.
        """
        special = set(self.special_tokens.values())
        decoded: list[bytes] = []
        for is_special, run in groupby(check_ids(ids, self._vocab), special.__contains__):
            if is_special:
                decoded += map(self._vocab.__getitem__, run)
            else:
                with library_failures(
                    lambda _: TokenizationError(f"{self.engine} cannot decode these ids.")
                ):
                    decoded.append(cast("str", self._peer.decode(list(run))).encode())
        return b"".join(decoded)

    def normalized(self, text: str) -> str:
        """Return a text as the model's normalizer changes it; raises `TokenizationError`.

        Spaces are then ▁, including the one that may be put in front.
        """
        check_text(text)
        with self._failures():
            return self._peer.normalize(text)

    def written(self, id: int) -> str | None:
        """Return the piece of an id, with ▁ for spaces and <0xE4> for a byte."""
        return self._peer.id_to_piece(id)

    def place_tokens(
        self, texts: Sequence[str], allowed_special: AllowedSpecial = ()
    ) -> list[TokenColumns]:
        """Return the segments of each text in columns; raises what `encode` raises.

        The library encodes all texts in one call, on all cores. It makes its lists of offsets with
        the interpreter's lock, for about a third of the time, so give it some texts at a time.
        """
        for text in texts:
            self._check(text, allowed_special)
        with self._failures():
            found: list[dict[str, Any]] = self._peer.encode(
                list(texts), return_type="offset_mapping", num_threads=n_threads()
            )
        placed: list[TokenColumns] = []
        for text, of_text in zip(texts, found, strict=True):
            ids = np.array(of_text["ids"], np.int64)
            flat = chain.from_iterable(of_text["offsets"])
            offsets = np.fromiter(flat, np.int64, 2 * len(ids)).reshape(-1, 2)
            self._spread(ids, offsets)
            placed.append(locate_tokens(text, of_text["ids"], offsets, self._vocab))
        return placed

    def _spread(self, ids: NDArray[np.int64], offsets: NDArray[np.int64]) -> None:
        """Give all bytes of a character its place, which the library gives to the last one only."""
        if not len(ids):
            return
        starts, ends = offsets[:, 0], offsets[:, 1]
        is_byte = self._is_byte[ids]
        goes_on = (
            is_byte[:-1] & is_byte[1:] & (starts[:-1] == ends[:-1]) & (ends[:-1] == starts[1:])
        )
        # Each byte gets the end of the next byte that ends a character.
        last = np.where(np.append(goes_on, False), len(ids), np.arange(len(ids)))
        offsets[:, 1] = ends[np.minimum.accumulate(last[::-1])[::-1]]

    def _check(self, text: str, allowed_special: AllowedSpecial) -> None:
        check_text(text)
        for special in allowed_tokens(self.special_tokens, allowed_special):
            if special in text:
                raise TokenizationError(
                    f"{self.engine} takes {special!r} only as an id, never from a text. Do not "
                    f"allow special tokens."
                )

    def _failures(self) -> AbstractContextManager[None]:
        return library_failures(
            lambda _: TokenizationError(f"{self.engine} cannot encode this text.")
        )


def _piece_bytes(piece: Piece) -> bytes:
    if piece.type == BYTE and piece.text in BYTE_PIECES:
        return BYTE_PIECES[piece.text]
    if piece.type in (CONTROL, UNKNOWN):
        return piece.text.encode()
    return piece.text.replace(META, " ").encode()
