"""The base classes of encoders, run here or by a library, whose failures become our errors."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from types import MappingProxyType
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bpe_core.checks import check_choice, several
from bpe_core.errors import BpeError, TokenizationError
from bpe_core.pretokenizers import AllowedSpecial, check_text
from bpe_core.tokenizer import (
    DecodeStream,
    OnInvalid,
    TokenColumns,
    Tokenizer,
    check_ids,
    columns_to_segments,
    decode_utf8,
)
from bpe_core.types import Immutable, Segment
from bpe_core.unicode import byte_offsets

_PLACE: Final = re.compile(r"line (\d+),? column (\d+)")


class PlacingEncoder(Immutable):
    """Base class of the encoders that place the tokens of several texts at once.

    Each class defines `vocab`, `encode`, `decode_bytes` and `place_tokens`; the rest follows from
    them or is a default.
    """

    model: str = "BPE"
    """BPE, Unigram, WordPiece or WordLevel."""
    engine: str = "bpe_core"
    """The library that encodes: "bpe_core", or another one with its version."""
    special_tokens: Mapping[str, int]
    """The id of each token that is found only where special tokens are allowed."""
    unknown_id: int | None = None
    """The id of the token for text that the vocabulary cannot spell, or None."""
    drops_text: bool = False
    """True if some text may be in no token."""
    merged_by: Tokenizer | None = None
    """None, because another library runs the merges; so are the next two."""
    plain: Tokenizer | None = None
    adaptable: Tokenizer | None = None

    @property
    def vocab(self) -> Mapping[int, bytes]:
        """Each id's bytes."""
        raise NotImplementedError

    @property
    def vocab_size(self) -> int:
        """The number of tokens, including special and added ones."""
        return len(self.vocab)

    def encode(self, text: str, allowed_special: AllowedSpecial = ()) -> list[int]:
        """Return the ids of a text; raises `TokenizationError`."""
        raise NotImplementedError

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
        raise NotImplementedError

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

    def place_tokens(
        self, texts: Sequence[str], allowed_special: AllowedSpecial = ()
    ) -> list[TokenColumns]:
        """Return the segments of each text in columns; raises what `encode` raises."""
        raise NotImplementedError

    def parts(self, text: str, size: int) -> Iterator[str]:
        """Yield a text whole, because nothing proves where its ids would not change.

        `size` is the number of characters that each part has at least.

        >>> list(PlacingEncoder().parts("a a", 1))
        ['a a']
        """
        del size
        yield text

    def normalized(self, text: str) -> str:
        """Return a text as the tokenizer changes it before it is cut.

        >>> PlacingEncoder().normalized("ﬁ")
        'ﬁ'
        """
        return text

    def written(self, id: int) -> str | None:
        """Return a token with the marks that its file writes, such as ▁ and ##; None for bytes.

        >>> PlacingEncoder().written(0)
        """
        del id
        return None


class LibraryEncoder(PlacingEncoder):
    """Base class of the encoders that another library runs: what they know about themselves.

    `engine` is the library with its version, `vocab` the bytes of each id, `special_tokens` the id
    of each special token, and `fingerprint` a SHA-256 of everything that affects encoding, the
    version too, because another one may give other ids.

    >>> encoder = LibraryEncoder("tiktoken 1.0", {0: b"a"}, {}, "00ff")
    >>> encoder.engine, encoder.vocab_size, encoder.fingerprint
    ('tiktoken 1.0', 1, '00ff')
    """

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

    def decode_bytes(self, ids: Iterable[int] | NDArray[np.integer]) -> bytes:
        """Return the bytes of ids; raises `InvalidTokenIdError` for an unknown id."""
        return b"".join(map(self._vocab.__getitem__, check_ids(ids, self._vocab)))


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
