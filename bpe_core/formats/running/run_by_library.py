"""What encoders of other libraries have in common, and those of `sentencepiece` and `tiktoken`.

Failures of a library become our errors. SentencePiece merges by score over the whole normalised
text, with ▁ for spaces, which plain byte-pair encoding over pre-tokens cannot represent.

`tiktoken` runs ranks whose pattern is not one that `bpe_core` knows by name.
"""

from __future__ import annotations

import hashlib
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property
from itertools import chain, groupby
from types import MappingProxyType
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from bpe_core.checks import check_choice, several
from bpe_core.errors import BpeError, FormatError, TokenizationError
from bpe_core.extras import needs_extra
from bpe_core.formats.sentencepiece_model import (
    BYTE,
    BYTE_PIECES,
    CONTROL,
    UNKNOWN,
    Piece,
    read_model,
)
from bpe_core.kernels import n_threads
from bpe_core.tokenizer import (
    AllowedSpecial,
    DecodeStream,
    OnInvalid,
    TokenColumns,
    Tokenizer,
    allowed_tokens,
    check_ids,
    check_text,
    columns_to_segments,
    decode_utf8,
)
from bpe_core.types import Immutable, Segment
from bpe_core.unicode import META, CodePoints

_PLACE: Final = re.compile(r"line (\d+),? column (\d+)")


class LibraryEncoder(Immutable, ABC):
    """Base class of the encoders that another library runs.

    Each class defines how it encodes and places tokens; the rest follows from that or is a default.
    `engine` is the library with its version, `vocab` the bytes of each id, `special_tokens` the id
    of each special token, and `fingerprint` a SHA-256 of everything that affects encoding, the
    version too, because another one may give other ids.
    """

    model: str = "BPE"
    """BPE, Unigram, WordPiece or WordLevel."""
    unknown_id: int | None = None
    """The id of the token for text that the vocabulary cannot spell, or None."""
    drops_text: bool = False
    """True if some text may be in no token."""
    merged_by: Tokenizer | None = None
    """None, because another library runs the merges; so is the next one."""
    plain: Tokenizer | None = None

    def __init__(
        self,
        engine: str,
        vocab: Mapping[int, bytes],
        special_tokens: Mapping[str, int],
        fingerprint: str,
    ) -> None:
        self.engine = engine
        self._vocab = MappingProxyType(dict(vocab))
        self.special_tokens = MappingProxyType(dict(special_tokens))
        self.fingerprint = fingerprint

    @property
    def vocab(self) -> Mapping[int, bytes]:
        """Each id's bytes."""
        return self._vocab

    @property
    def vocab_size(self) -> int:
        """The number of tokens, including special and added ones."""
        return len(self.vocab)

    @abstractmethod
    def encode(self, text: str, allowed_special: AllowedSpecial = ()) -> list[int]:
        """Return the ids of a text; raises `TokenizationError`."""

    def encode_batch(
        self, texts: Iterable[str], allowed_special: AllowedSpecial = ()
    ) -> list[list[int]]:
        """Return the ids of each of several texts; raises what `encode` raises."""
        return [self.encode(text, allowed_special) for text in listed_texts(texts)]

    def encode_to_numpy(self, text: str, allowed_special: AllowedSpecial = ()) -> NDArray[np.int32]:
        """Return the ids of a text as int32[n_tokens]; raises what `encode` raises."""
        return np.array(self.encode(text, allowed_special), np.int32)

    def decode_bytes(self, ids: Iterable[int] | NDArray[np.integer]) -> bytes:
        """Return the bytes of ids; raises `InvalidTokenIdError` for an unknown id.

        Raises `TokenizationError` for anything but a flat sequence of ids.
        """
        return b"".join(map(self._vocab.__getitem__, check_ids(ids, self._vocab)))

    def decode(
        self, ids: Iterable[int] | NDArray[np.integer], errors: OnInvalid = "replace"
    ) -> str:
        """Return the text of ids; raises what `decode_bytes` raises.

        Ids may cut a character in two. With "replace", bytes that are not valid UTF-8 become
        U+FFFD; with "strict", they raise `TokenizationError`.
        """
        check_choice("errors", errors, OnInvalid, TokenizationError)
        return decode_utf8(self.decode_bytes(ids), errors)

    def decode_stream(self) -> DecodeStream:
        """Return what decodes ids as they arrive, never half a character: see `DecodeStream`."""
        return DecodeStream(self)

    def segments(self, text: str, allowed_special: AllowedSpecial = ()) -> list[Segment]:
        """Return the tokens with their places in a text; raises what `place_tokens` raises.

        A space that is put in front of a text takes no place in it. If a normalizer makes several
        tokens of one character, the last one gets it and the others are empty.
        """
        (columns,) = self.place_tokens([text], allowed_special)
        return columns_to_segments(text, columns, self.vocab)

    @abstractmethod
    def place_tokens(
        self, texts: Sequence[str], allowed_special: AllowedSpecial = ()
    ) -> list[TokenColumns]:
        """Return the segments of each text in columns; raises what `encode` raises."""

    def parts(self, text: str, size: int) -> Iterator[str]:
        """Yield a text whole, because nothing proves where its ids would not change.

        `size` is the number of characters that each part has at least.
        """
        del size
        yield text

    def normalized(self, text: str) -> str:
        """Return a text as the tokenizer changes it before it is cut."""
        return text

    def written(self, id: int) -> str | None:
        """Return a token with the marks that its file writes, such as ▁ and ##; None for bytes."""
        del id
        return None


def listed_texts(texts: Iterable[str]) -> list[str]:
    """Return texts as a list; raises `ArgumentTypeError` for anything but several of them.

    >>> listed_texts(["hug", "hugs"])
    ['hug', 'hugs']
    """
    listed: list[str] = several(texts, "texts", "give a list of str, or call encode for one")
    for text in listed:
        check_text(text)
    return listed


@contextmanager
def library_failures(to_error: Callable[[str], BpeError]) -> Generator[None]:
    """Raise the error that `to_error` returns in place of whatever a library raises in the block.

    `to_error` gets " (line L, column C)" if the library names a place, else "". The rest of its
    message is about its own types, and helps nobody here. `tokenizers` raises bare Exceptions, and
    its panics derive from BaseException; so do an interruption and an exit, which go on.

    >>> from bpe_core.errors import FormatError
    >>> with library_failures(lambda place: FormatError(f"It cannot be read{place}.")):
    ...     raise Exception("did not match any variant of ModelWrapper at line 1 column 30")
    Traceback (most recent call last):
    bpe_core.errors.FormatError: It cannot be read (line 1, column 30).
    >>> with library_failures(lambda place: FormatError(f"It cannot be read{place}.")):
    ...     raise SystemExit
    Traceback (most recent call last):
    SystemExit
    """
    try:
        yield
    except (KeyboardInterrupt, SystemExit, MemoryError):
        raise
    except BaseException as error:
        found = _PLACE.search(str(error))
        raise to_error(f" (line {found[1]}, column {found[2]})" if found else "") from None


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
    byte_at = CodePoints(text).offsets
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


# Below this the threads wait for the interpreter's lock, and one is as fast.
_MIN_CHARACTERS_PER_TEXT: Final = 200


class TiktokenTokenizer(LibraryEncoder):
    """Ranks, a pattern and special tokens as `tiktoken` encodes with them; immutable.

    `ranks` maps each token to its id. Raises `FormatError` if the library cannot take them, and
    `MissingExtraError` if it is not installed.

    >>> ranks = {bytes([byte]): byte for byte in range(256)} | {b"hu": 256, b"hug": 257}
    >>> TiktokenTokenizer(ranks, r"\\S+|\\s+", {}).encode("hugs")
    [257, 115]
    """

    def __init__(
        self, ranks: Mapping[bytes, int], pattern: str, special_tokens: Mapping[str, int]
    ) -> None:
        with needs_extra("formats", "Encoding with tiktoken"):
            import tiktoken

        self.pattern = pattern
        self._ranks = dict(ranks)
        if not all(bytes([byte]) in ranks for byte in range(256)):
            raise FormatError("The ranks lack some of the 256 bytes, so tiktoken cannot use them.")
        with library_failures(
            lambda _: FormatError(
                f"tiktoken cannot use these ranks with the pattern {pattern!r:.80}."
            )
        ):
            self._peer = tiktoken.Encoding(
                "from a file",
                pat_str=pattern,
                mergeable_ranks=self._ranks,
                special_tokens=dict(special_tokens),
            )
        by_id = {id: token for token, id in ranks.items()}
        by_id.update((id, text.encode()) for text, id in special_tokens.items())
        vocab = dict(sorted(by_id.items()))
        engine = f"tiktoken {tiktoken.__version__}"
        digest = hashlib.sha256(json.dumps([engine, pattern, dict(special_tokens)]).encode())
        for id, token in vocab.items():
            digest.update(b"%d:%d:%b" % (id, len(token), token))
        super().__init__(engine, vocab, special_tokens, digest.hexdigest())

    def __reduce__(self) -> tuple[object, ...]:
        return TiktokenTokenizer, (self._ranks, self.pattern, dict(self.special_tokens))

    def encode(self, text: str, allowed_special: AllowedSpecial = ()) -> list[int]:
        """Return the ids of a text.

        Raises `InvalidTextError` for a lone surrogate, and `TokenizationError` if the library
        fails, as it does on very long runs of one character.
        """
        return self._encoded([text], allowed_special)[0].tolist()

    def encode_batch(
        self, texts: Iterable[str], allowed_special: AllowedSpecial = ()
    ) -> list[list[int]]:
        """Return the ids of each of several texts, by all cores; raises what `encode` raises."""
        return [ids.tolist() for ids in self._encoded(listed_texts(texts), allowed_special)]

    def place_tokens(
        self, texts: Sequence[str], allowed_special: AllowedSpecial = ()
    ) -> list[TokenColumns]:
        """Return the segments of each text in columns; raises what `encode` raises.

        Raises `TokenizationError` too if the pattern drops a part of a text. The library encodes
        the texts on all cores and without the interpreter's lock, and makes no object per token.
        """
        ids_of_texts = self._encoded(texts, allowed_special)
        known, lengths = self._lengths
        placed: list[TokenColumns] = []
        for text, ids in zip(texts, ids_of_texts, strict=True):
            byte_ends = np.cumsum(lengths[np.searchsorted(known, ids)])
            n_bytes = len(text) if text.isascii() else len(text.encode())
            if (byte_ends[-1] if len(ids) else 0) != n_bytes:
                raise TokenizationError("The tokenizer's pattern drops a part of this text.")
            byte_starts = np.concatenate([np.zeros(min(len(ids), 1), np.int64), byte_ends[:-1]])
            placed.append(TokenColumns(ids, byte_starts, byte_ends))
        return placed

    @cached_property
    def _lengths(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The sorted ids, of which some numbers may be missing, and the bytes of each."""
        n = len(self._vocab)
        lengths = np.fromiter(map(len, self._vocab.values()), np.int64, n)
        return np.fromiter(self._vocab, np.int64, n), lengths

    def _encoded(
        self, texts: Sequence[str], allowed_special: AllowedSpecial
    ) -> list[NDArray[np.int64]]:
        for text in texts:
            check_text(text)
        allowed = set(allowed_tokens(self.special_tokens, allowed_special))

        def encode(text: str) -> NDArray[np.int64]:
            found = self._peer.encode_to_numpy(text, allowed_special=allowed, disallowed_special=())
            return found.astype(np.int64)

        with library_failures(
            lambda _: TokenizationError(
                f"{self.engine} cannot encode this text; a very long word is a known cause."
            )
        ):
            n_workers = min(n_threads(), len(texts))
            if n_workers < 2 or sum(map(len, texts)) < _MIN_CHARACTERS_PER_TEXT * len(texts):
                return list(map(encode, texts))
            with ThreadPoolExecutor(n_workers, thread_name_prefix="tiktoken") as pool:
                return list(pool.map(encode, texts))
