"""What comparisons, views and measurements need from a tokenizer, and how they open one by name.

`boundaries` has the borders of tokens and pre-tokens in a text, as arrays, for texts of a million
tokens.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from bpe_core.chat import ChatTemplate
from bpe_core.lazy import from_above
from bpe_core.pretokenizers import align
from bpe_core.tokenizer.decoding import DecodeStream, OnInvalid
from bpe_core.tokenizer.segments import TokenColumns, token_widths
from bpe_core.tokenizer.steps import AllowedSpecial, SpecialToken, allowed_tokens
from bpe_core.tokenizer.tokenizer import Tokenizer
from bpe_core.types import Segment
from bpe_core.unicode import CodePoints

if TYPE_CHECKING:
    from bpe_core.corpus import TrainedOn
    from bpe_core.view import View


@runtime_checkable
class Encoder(Protocol):
    """Anything that encodes: a `Tokenizer`, or a `ForeignTokenizer` that another library runs.

    What only a `Tokenizer` can do (explain, merge ranks, parts of a token) is not part of this
    interface: `merged_by` is the one whose merges make the tokens.

    >>> from bpe_core.tokenizer import gpt2
    >>> isinstance(gpt2(), Encoder), gpt2().model, gpt2().engine
    (True, 'BPE', 'bpe_core')
    """

    @property
    def model(self) -> str:
        """BPE, Unigram, WordPiece or WordLevel."""
        ...

    @property
    def engine(self) -> str:
        """The library that encodes: "bpe_core", or another one with its version."""
        ...

    @property
    def vocab(self) -> Mapping[int, bytes]:
        """The bytes of each id, including any marker of a word boundary.

        Ids may have gaps, and two ids may have the same bytes.
        """
        ...

    @property
    def vocab_size(self) -> int:
        """The number of tokens."""
        ...

    @property
    def special_tokens(self) -> Mapping[str, int]:
        """The id of each special token."""
        ...

    @property
    def unknown_id(self) -> int | None:
        """The id of the token for text outside the vocabulary; None if there is no such token."""
        ...

    @property
    def drops_text(self) -> bool:
        """True if the tokenizer may drop white space, so no token covers it."""
        ...

    @property
    def fingerprint(self) -> str:
        """A hash over everything that affects encoding: equal hashes mean equal results."""
        ...

    @property
    def merged_by(self) -> Tokenizer | None:
        """The tokenizer whose merges make the tokens; None if another library runs them.

        Added tokens that are found in any text, such as DeepSeek's, are its special tokens.
        """
        ...

    @property
    def plain(self) -> Tokenizer | None:
        """The tokenizer that encodes alike, added tokens aside, or None.

        None too if text is changed before it is merged.
        """
        ...

    def encode(self, text: str, allowed_special: AllowedSpecial = ()) -> list[int]:
        """Return the ids of a text; raises `TokenizationError`."""
        ...

    def encode_batch(
        self, texts: Iterable[str], allowed_special: AllowedSpecial = ()
    ) -> list[list[int]]:
        """Return the ids of each of several texts; raises `TokenizationError`."""
        ...

    def encode_to_numpy(self, text: str, allowed_special: AllowedSpecial = ()) -> NDArray[np.int32]:
        """Return the ids of a text as int32[n_tokens]; raises `TokenizationError`."""
        ...

    def segments(self, text: str, allowed_special: AllowedSpecial = ()) -> list[Segment]:
        """Return the tokens with their positions; each byte of the text is in exactly one."""
        ...

    def place_tokens(
        self, texts: Sequence[str], allowed_special: AllowedSpecial = ()
    ) -> list[TokenColumns]:
        """Return the `segments` of each text in columns; raises `TokenizationError`."""
        ...

    def parts(self, text: str, size: int) -> Iterator[str]:
        """Cut a text into parts of at least `size` characters that have its ids.

        A text that has no such parts is not cut.
        """
        ...

    def normalized(self, text: str) -> str:
        """Return a text as the tokenizer changes it before it is cut."""
        ...

    def written(self, id: int) -> str | None:
        """Return a token with the marks that its file writes, such as ▁ and ##; None for bytes."""
        ...

    def decode_bytes(self, ids: Iterable[int] | NDArray[np.integer]) -> bytes:
        """Return the bytes of ids; raises `InvalidTokenIdError` for an unknown id."""
        ...

    def decode(
        self, ids: Iterable[int] | NDArray[np.integer], errors: OnInvalid = "replace"
    ) -> str:
        """Return the text of ids; raises what `decode_bytes` raises.

        With "replace", bytes that are not valid UTF-8 become U+FFFD; with "strict", they raise
        `TokenizationError`.
        """
        ...

    def decode_stream(self) -> DecodeStream:
        """Return what decodes ids as they arrive, never half a character: see `DecodeStream`."""
        ...


@dataclass(frozen=True, slots=True)
class NamedEncoder:
    """An encoder with a name and a description; it encodes as the encoder does.

    >>> from bpe_core.tokenizer import gpt2
    >>> NamedEncoder("GPT-2", gpt2()).provenance
    ''
    >>> NamedEncoder("GPT-2", gpt2()).encode("The quick")
    [464, 2068]
    """

    name: str
    """Its name; for a tokenizer from a file, the file's name, which is untrusted text."""
    encoder: Encoder
    provenance: str = ""
    """Its source and the library that encodes with it, in sentences; may quote the file."""
    chat: ChatTemplate | None = None
    """The chat template that its files have, or None."""
    trained_on: TrainedOn | None = None
    """What it was trained on, or None if that is not known."""

    @property
    def model(self) -> str:
        """BPE, Unigram, WordPiece or WordLevel."""
        return self.encoder.model

    @property
    def engine(self) -> str:
        """The library that encodes: "bpe_core", or another one with its version."""
        return self.encoder.engine

    @property
    def vocab(self) -> Mapping[int, bytes]:
        """The bytes of each id, including any marker of a word boundary."""
        return self.encoder.vocab

    @property
    def vocab_size(self) -> int:
        """The number of tokens."""
        return self.encoder.vocab_size

    @property
    def special_tokens(self) -> Mapping[str, int]:
        """The id of each special token."""
        return self.encoder.special_tokens

    @property
    def unknown_id(self) -> int | None:
        """The id of the token for text outside the vocabulary; None if there is no such token."""
        return self.encoder.unknown_id

    @property
    def drops_text(self) -> bool:
        """True if the tokenizer may drop white space, so no token covers it."""
        return self.encoder.drops_text

    @property
    def fingerprint(self) -> str:
        """A hash over everything that affects encoding: equal hashes mean equal results."""
        return self.encoder.fingerprint

    @property
    def merged_by(self) -> Tokenizer | None:
        """The tokenizer whose merges make the tokens; None if another library runs them."""
        return self.encoder.merged_by

    @property
    def plain(self) -> Tokenizer | None:
        """The tokenizer that encodes alike, added tokens aside, or None."""
        return self.encoder.plain

    def encode(self, text: str, allowed_special: AllowedSpecial = ()) -> list[int]:
        """Return the ids of a text; raises `TokenizationError`."""
        return self.encoder.encode(text, allowed_special)

    def segments(self, text: str, allowed_special: AllowedSpecial = ()) -> list[Segment]:
        """Return the tokens with their positions; each byte of the text is in exactly one."""
        return self.encoder.segments(text, allowed_special)

    def encode_batch(
        self, texts: Iterable[str], allowed_special: AllowedSpecial = ()
    ) -> list[list[int]]:
        """Return the ids of each of several texts; raises `TokenizationError`."""
        return self.encoder.encode_batch(texts, allowed_special)

    def encode_to_numpy(self, text: str, allowed_special: AllowedSpecial = ()) -> NDArray[np.int32]:
        """Return the ids of a text as int32[n_tokens]; raises `TokenizationError`."""
        return self.encoder.encode_to_numpy(text, allowed_special)

    def place_tokens(
        self, texts: Sequence[str], allowed_special: AllowedSpecial = ()
    ) -> list[TokenColumns]:
        """Return the `segments` of each text in columns; raises `TokenizationError`."""
        return self.encoder.place_tokens(texts, allowed_special)

    def parts(self, text: str, size: int) -> Iterator[str]:
        """Cut a text into parts of at least `size` characters that have its ids."""
        return self.encoder.parts(text, size)

    def normalized(self, text: str) -> str:
        """Return a text as the tokenizer changes it before it is cut."""
        return self.encoder.normalized(text)

    def written(self, id: int) -> str | None:
        """Return a token with the marks that its file writes; None for bytes."""
        return self.encoder.written(id)

    def decode_bytes(self, ids: Iterable[int] | NDArray[np.integer]) -> bytes:
        """Return the bytes of ids; raises `InvalidTokenIdError` for an unknown id."""
        return self.encoder.decode_bytes(ids)

    def decode(
        self, ids: Iterable[int] | NDArray[np.integer], errors: OnInvalid = "replace"
    ) -> str:
        """Return the text of ids; raises what `decode_bytes` raises.

        With "replace", bytes that are not valid UTF-8 become U+FFFD; with "strict", they raise
        `TokenizationError`.
        """
        return self.encoder.decode(ids, errors)

    def decode_stream(self) -> DecodeStream:
        """Return what decodes ids as they arrive, never half a character: see `DecodeStream`."""
        return self.encoder.decode_stream()

    def view(self, text: str, allowed_special: AllowedSpecial = ()) -> View:
        """Return a view of a text's tokens that shows itself in a notebook.

        Raises `TokenizationError`.

        >>> from bpe_core.tokenizer import gpt2
        >>> NamedEncoder("GPT-2", gpt2()).view("The quick")
        <View of 2 tokens>
        """
        return from_above("bpe_core.views", "view_tokens")(
            text, self.encoder, allowed_special, name=self.name
        )


@runtime_checkable
class Trained(Protocol):
    """A training run: a tokenizer, and what it was trained on."""

    @property
    def tokenizer(self) -> Encoder:
        """The tokenizer that was learned."""
        ...

    @property
    def trained_on(self) -> TrainedOn:
        """The text that it was learned from."""
        ...


def named(encoder: Encoder, name: str = "") -> NamedEncoder:
    """Return an encoder with its own name, or with the one that is given if it has none.

    >>> from bpe_core.tokenizer import gpt2
    >>> named(NamedEncoder("GPT-2", gpt2()), "mine").name, named(gpt2(), "mine").name
    ('GPT-2', 'mine')
    """
    return encoder if isinstance(encoder, NamedEncoder) else NamedEncoder(name, encoder)


def find_own(encoder: Encoder) -> Tokenizer | None:
    """Return the tokenizer that encodes, or None if another library runs it.

    >>> from bpe_core.tokenizer import gpt2
    >>> find_own(NamedEncoder("GPT-2", gpt2())) is gpt2()
    True
    """
    inner = named(encoder).encoder
    return inner if isinstance(inner, Tokenizer) else None


def to_encoder(given: Encoder | Trained | str | os.PathLike[str]) -> Encoder:
    """Return an encoder as it is, that of a run, or the one that `open_encoder` opens by its name.

    >>> to_encoder("gpt2").encode("The quick")
    [464, 2068]
    """
    if isinstance(given, Trained):
        return NamedEncoder("", given.tokenizer, trained_on=given.trained_on)
    if isinstance(given, (str, os.PathLike)):
        return from_above("bpe_core", "open_encoder")(given)
    return given


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
    own = find_own(encoder)
    if own is None or not len(ids):
        return np.zeros(len(ids), np.bool_)
    steps = own.encoder.steps
    normal = steps.normal_text(text, allowed_tokens(encoder.special_tokens, allowed_special))
    changes = normal.changes
    if changes and ids.min() >= 0:
        # Tokens cover the normal text: there, none is without a place.
        widths = token_widths({id: encoder.vocab[id] for id in np.unique(ids).tolist()})
        ends = np.cumsum(widths[ids])
        if ends[-1] == len(normal.text.encode()):
            text, byte_ends, changes = normal.text, ends, []
    offsets = None if text.isascii() else CodePoints(text).offsets
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
