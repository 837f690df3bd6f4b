"""The tokenizer class: the result of training, of loading a file, and of `gpt2()`."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from bpe_core.checks import check_choice, check_whole, counted, describe, is_a, is_whole, several
from bpe_core.errors import (
    ArgumentTypeError,
    ConfigError,
    OutOfRangeError,
    TokenizationError,
)
from bpe_core.lazy import from_above
from bpe_core.pretokenizers import (
    AllowedSpecial,
    Pretokenizer,
    align,
    allowed_tokens,
    check_text,
    get_pretokenizer,
)
from bpe_core.tokenizer.decode_stream import DecodeStream
from bpe_core.tokenizer.decoding import OnInvalid, decode_utf8, join_bytes
from bpe_core.tokenizer.encoding import OnUnknown, TextEncoder
from bpe_core.tokenizer.rank_merging import explain_pieces
from bpe_core.tokenizer.segments import align_segments, list_segments, to_segments
from bpe_core.tokenizer.tables import TokenTable
from bpe_core.tokenizer.tokenizer_kernels import Kernels
from bpe_core.types import Base, Explanation, Format, Immutable, Merge, Segment

if TYPE_CHECKING:  # importing NumPy takes longer than encoding a short text does
    import numpy as np
    from numpy.typing import NDArray

    from bpe_core.view import View


class Tokenizer(Immutable):
    """A Byte-Pair-Encoding tokenizer; immutable, and equal to another that encodes the same way.

    `vocab` maps ids to bytes: a special token to its UTF-8, and a token that ends a word to bytes
    that end with the end-of-word marker. `merges` are (left, right, new id) in rank order; `counts`
    are how often each merge's pair occurred when it was learned. The alphabet is every token of one
    byte (or one character, depending on `base`) that is neither special, nor the marker, nor made
    by a merge. With `whole_words_first`, a pre-token that is a token becomes that token, even if no
    merges make it, as in tiktoken. `byte_fallback` are the ids of single bytes that spell
    characters outside the alphabet, as in SentencePiece. With the pre-tokenizers metaspace and
    llama2, which need it, a space is put in front of a text, and ▁ is read as one. Raises
    `ConfigError` if the arguments are inconsistent.

    >>> tokenizer = Tokenizer(
    ...     vocab={0: b"a", 1: b"b", 2: b"ab", 3: b"aba"},
    ...     merges=[(0, 1, 2), (2, 0, 3)],
    ...     pretokenizer="none",
    ... )
    >>> tokenizer.encode("abaab")
    [3, 2]
    >>> tokenizer.decode([3, 2])
    'abaab'
    """

    __slots__ = ("_encoder", "_fingerprint", "_pretokenizer", "_table")

    def __init__(
        self,
        *,
        vocab: Mapping[int, bytes],
        merges: Iterable[tuple[int, int, int]],
        pretokenizer: str,
        base: Base = "bytes",
        special_tokens: Mapping[str, int] = MappingProxyType({}),
        end_of_word: str | None = None,
        end_of_word_id: int | None = None,
        counts: Sequence[int] | None = None,
        whole_words_first: bool = False,
        byte_fallback: Iterable[int] = (),
    ) -> None:
        get_pretokenizer(pretokenizer)  # before the vocabulary is checked
        table = TokenTable(
            vocab=vocab,
            merges=merges,
            base=base,
            special_tokens=special_tokens,
            end_of_word=end_of_word,
            end_of_word_id=end_of_word_id,
            counts=counts,
            whole_words_first=whole_words_first,
            byte_fallback=byte_fallback,
        )
        self._start(table, get_pretokenizer(pretokenizer))

    @classmethod
    def from_table(cls, table: TokenTable, pretokenizer: str) -> Tokenizer:
        """Return the tokenizer of an existing table."""
        tokenizer = cls.__new__(cls)
        tokenizer._start(table, get_pretokenizer(pretokenizer))
        return tokenizer

    def _start(self, table: TokenTable, pretokenizer: Pretokenizer) -> None:
        if pretokenizer.adds_space and not table.byte_ids:
            raise ConfigError(
                f"The pre-tokenizer {pretokenizer.name} is for tokenizers of characters that spell "
                f"rare ones in bytes, and this vocabulary has no such bytes. Use another "
                f"pre-tokenizer, or name those bytes with byte_fallback."
            )
        self._table = table
        self._pretokenizer = pretokenizer
        # Computed on first use: for 50,000 merges, the hash takes 50 ms.
        self._fingerprint: str | None = None
        self._encoder = TextEncoder(table, pretokenizer, Kernels(table, pretokenizer))

    @classmethod
    def from_file(
        cls,
        path: str | os.PathLike[str],
        pretokenizer: str | None = None,
        special_tokens: Mapping[str, int] | None = None,
    ) -> Tokenizer:
        """Read a tokenizer from a file or a folder, as `bpe_core.load` does."""
        return from_above("bpe_core", "load")(path, pretokenizer, special_tokens)

    def save(self, path: str | os.PathLike[str], format: Format | None = None) -> None:
        """Write the tokenizer in the format that the path's name says, as `bpe_core.save` does.

        >>> import tempfile
        >>> from bpe_core.tokenizer import gpt2
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     gpt2().save(f"{folder}/tokenizer.json")
        ...     Tokenizer.from_file(f"{folder}/tokenizer.json") == gpt2()
        True
        """
        from_above("bpe_core", "save")(self, path, format)

    def to_dict(self) -> dict[str, Any]:
        """Return what describes it as JSON values, without the vocabulary and the merges.

        >>> from bpe_core.tokenizer import gpt2
        >>> gpt2().to_dict()["n_merges"], gpt2().to_dict()["pretokenizer"]
        (50000, 'gpt2')
        """
        return {
            "vocab_size": self.vocab_size,
            "n_merges": self.n_merges,
            "base": self.base,
            "pretokenizer": self.pretokenizer.name,
            "special_tokens": dict(self.special_tokens),
            "end_of_word": self.end_of_word,
            "fingerprint": self.fingerprint,
        }

    # Contents

    def __len__(self) -> int:
        return self.vocab_size

    @property
    def vocab(self) -> Mapping[int, bytes]:
        """The bytes of each id; read-only."""
        return self._table.vocab

    @property
    def vocab_size(self) -> int:
        """The number of tokens, including special tokens, the alphabet and the marker."""
        return len(self._table.vocab)

    def token_to_id(self, token: str | bytes) -> int | None:
        """Return the id of a token, or None; a text stands for its UTF-8, or a special token.

        >>> from bpe_core.tokenizer import gpt2
        >>> [gpt2().token_to_id(token) for token in (" the", b" the", "<|endoftext|>", "no such")]
        [262, 262, 50256, None]
        """
        if not is_a(token, str, bytes):
            raise ArgumentTypeError(f"Expected a token as str or bytes, got {describe(token)}.")
        if isinstance(token, str):
            if token in self.special_tokens:
                return self.special_tokens[token]
            check_text(token)
            token = token.encode()
        return self._table.ids.get(token)

    def id_to_token(self, id: int) -> bytes | None:
        """Return the bytes of an id, or None; bytes, because a token may end inside a character.

        >>> from bpe_core.tokenizer import gpt2
        >>> gpt2().id_to_token(262), gpt2().id_to_token(50_257)
        (b' the', None)
        """
        if not is_whole(id):
            raise ArgumentTypeError(f"Expected an id as an int, got {describe(id)}.")
        return self.vocab.get(id)

    @property
    def table(self) -> TokenTable:
        """Its tables, for code that needs more than text and ids: ranks, parts, whole words."""
        return self._table

    @property
    def encoder(self) -> TextEncoder:
        """What encodes for it, for code that has words already: `encode_words` and others."""
        return self._encoder

    @property
    def merges(self) -> tuple[Merge, ...]:
        """The merges in rank order."""
        return self._table.merges

    @property
    def n_merges(self) -> int:
        """The number of merges."""
        return len(self._table.triples)

    @property
    def special_tokens(self) -> Mapping[str, int]:
        """The id of each special token; read-only."""
        return self._table.special_tokens

    @property
    def base_ids(self) -> Mapping[bytes, int]:
        """The id of each symbol of the alphabet; read-only."""
        return self._table.base_ids

    @property
    def base(self) -> Base:
        """The symbols that words consist of before any merge: bytes or characters."""
        return self._table.base

    @property
    def pretokenizer(self) -> Pretokenizer:
        """The pre-tokenizer, which splits a text into words that merges never cross."""
        return self._pretokenizer

    def normalized(self, text: str) -> str:
        """Return a text as its normalizer changes it, before it is cut; as it is without one."""
        return self._pretokenizer.normalized(text)

    @property
    def drops_text(self) -> bool:
        """True if the pre-tokenizer drops white space."""
        return self._pretokenizer.drops_text

    @property
    def spells_text(self) -> bool:
        """True if the bytes of a text's tokens are those of the text; unknown symbols aside."""
        cut = self._pretokenizer
        changes = cut.drops_text or cut.adds_space or cut.normalizer is not None
        return not changes and self._table.end_of_word is None

    @property
    def end_of_word(self) -> str | None:
        """The end-of-word marker as text, or None."""
        return self._table.end_of_word

    @property
    def fingerprint(self) -> str:
        """SHA-256, in hexadecimal, of everything that determines encoding and decoding."""
        if self._fingerprint is None:
            described = json.dumps([self._pretokenizer.name, *self._table.description()])
            self._fingerprint = hashlib.sha256(described.encode()).hexdigest()
        return self._fingerprint

    def truncated(self, n_merges: int) -> Tokenizer:
        """Return a tokenizer with the first `n_merges` merges only; ids are unchanged.

        Raises `OutOfRangeError` if there are not that many merges.

        >>> from bpe_core.tokenizer import gpt2
        >>> shorter = gpt2().truncated(3)
        >>> [shorter.vocab[id] for id in shorter.encode(" the")]
        [b' t', b'he']
        """
        table = self._table
        check_whole("n_merges", n_merges, 0, len(table.triples), OutOfRangeError)
        kept = table.triples[:n_merges]
        gone = {made for _, _, made in table.triples[n_merges:]}
        gone -= {made for _, _, made in kept} | set(table.special_tokens.values())
        return with_changes(
            self,
            vocab={id: token for id, token in table.vocab.items() if id not in gone},
            merges=kept,
            counts=None if table.counts is None else table.counts[:n_merges],
        )

    # Properties of every `Encoder`

    model: str = "BPE"
    """The model."""
    engine: str = "bpe_core"
    """The library that encodes."""
    unknown_id: int | None = None
    """None, because no token represents symbols missing from the alphabet."""

    @property
    def merged_by(self) -> Tokenizer:
        """The tokenizer itself, whose merges make its tokens."""
        return self

    @property
    def plain(self) -> Tokenizer | None:
        """The tokenizer itself; None if it normalizes text."""
        return self if self._pretokenizer.normalizer is None else None

    @property
    def adaptable(self) -> Tokenizer:
        """The tokenizer itself, which can be extended, shrunk and replaced."""
        return self

    # Text to ids

    def encode(
        self, text: str, allowed_special: AllowedSpecial = (), errors: OnUnknown = "strict"
    ) -> list[int]:
        """Return the ids of a text.

        Special tokens are recognised only if `allowed_special` contains them or is "all"; otherwise
        they are ordinary text. For a symbol missing from the alphabet, `errors="strict"` raises
        `UnknownSymbolError` and "skip" leaves the symbol out; merges never cross the gap. Raises
        `InvalidTextError` for a lone surrogate, `ArgumentTypeError` if `text` is not a str, and
        `TokenizationError` for any other value of `errors`.

        >>> from bpe_core.tokenizer import gpt2
        >>> gpt2().encode("Hi<|endoftext|>", allowed_special="all")
        [17250, 50256]
        """
        check_text(text)
        allowed = self._checked(allowed_special, errors)
        return self._encoder.encode(text, allowed, errors)

    def encode_batch(
        self,
        texts: Iterable[str],
        allowed_special: AllowedSpecial = (),
        errors: OnUnknown = "strict",
    ) -> list[list[int]]:
        """Return the ids of each of several texts; raises what `encode` raises.

        >>> from bpe_core.tokenizer import gpt2
        >>> gpt2().encode_batch(["The quick", " fox"])
        [[464, 2068], [21831]]
        """
        listed: list[str] = several(texts, "texts", "give a list of str, or call encode for one")
        for text in listed:
            check_text(text)
        allowed = self._checked(allowed_special, errors)
        return self._encoder.encode_batch(listed, allowed, errors)

    def encode_to_numpy(
        self, text: str, allowed_special: AllowedSpecial = (), errors: OnUnknown = "strict"
    ) -> NDArray[np.int32]:
        """Return the ids of a text as int32[n_tokens]; raises what `encode` raises.

        >>> from bpe_core.tokenizer import gpt2
        >>> gpt2().encode_to_numpy("The quick")
        array([ 464, 2068], dtype=int32)
        """
        check_text(text)
        allowed = self._checked(allowed_special, errors)
        return self._encoder.encode_to_numpy(text, allowed, errors)

    def segments(self, text: str, allowed_special: AllowedSpecial = ()) -> list[Segment]:
        """Return the tokens with their positions; each byte of the text is in exactly one segment.

        Text that no token covers, because the pre-tokenizer drops it or the alphabet lacks it, is a
        segment with id None. A separate end-of-word marker has length 0. Raises `InvalidTextError`
        for a lone surrogate.

        >>> from bpe_core.tokenizer import gpt2
        >>> [(each.token, each.start, each.end) for each in gpt2().segments("to 漢")]
        [(b'to', 0, 2), (b' \xe6', 2, 4), (b'\xbc', 3, 4), (b'\xa2', 3, 4)]
        """
        check_text(text)
        if self._table.complete and self.spells_text:
            ids = self.encode_to_numpy(text, allowed_special)
            return list_segments(text, ids, self._table.vocab)
        allowed = allowed_tokens(self._table.special_tokens, allowed_special)
        normal = self._encoder.normal_text(text, allowed)
        segments = to_segments(normal.text, self._encoder.placed_words(text, allowed))
        return align_segments(text, segments, normal.changes) if normal.changes else segments

    def explain(self, text: str, errors: OnUnknown = "strict") -> list[Explanation]:
        """Return each pre-token's initial symbols and the merges applied to it, in order.

        Meant for short texts: a pre-token of n symbols takes up to n steps of n symbols. For a
        symbol missing from the alphabet, "strict" raises `UnknownSymbolError`; "skip" explains the
        pieces on either side of it.

        >>> from bpe_core.tokenizer import gpt2
        >>> (word,) = gpt2().explain("The")
        >>> [[gpt2().vocab[id] for id in step.symbols] for step in word.steps]
        [[b'T', b'he'], [b'The']]
        """
        check_text(text)
        check_choice("errors", errors, OnUnknown, TokenizationError)
        explained: list[Explanation] = []
        written = self._pretokenizer.written(text)
        n_added = int(self._pretokenizer.adds_space and bool(text))
        spans = self._pretokenizer.spans(written)
        places = [max(0, start - n_added) for start, _ in spans]
        if changes := self._encoder.normal_text(text, frozenset()).changes:
            places = align(text, changes)[0](places).tolist()
        for (start, end), place in zip(spans, places, strict=True):
            word = written[start:end]
            for explanation in explain_pieces(word, place, self._table):
                if explanation is not None:
                    explained.append(explanation)
                elif errors == "strict":
                    raise self._encoder.unknown_symbol(text, frozenset())
        return explained

    def view(self, text: str, allowed_special: AllowedSpecial = ()) -> View:
        """Return a view of a text's tokens that shows itself in a notebook.

        Raises what `segments` raises.

        >>> from bpe_core.tokenizer import gpt2
        >>> gpt2().view("The quick brown fox")
        <View of 4 tokens>
        """
        return from_above("bpe_core.views", "view_tokens")(text, self, allowed_special)

    # Ids to text

    def decode_bytes(self, ids: Iterable[int] | NDArray[np.integer]) -> bytes:
        """Return the bytes of ids; raises `InvalidTokenIdError` for an unknown id.

        Raises `TokenizationError` for anything but a flat sequence of ids. The end of a word
        becomes one space before another word, and nothing before a special token or at the end.
        One space at the start is left out if encoding puts one in front of a text.

        >>> from bpe_core.tokenizer import gpt2
        >>> gpt2().decode_bytes([2068, 10263])
        b' quick \xe5'
        """
        return bytes(self._joined(ids))

    def decode(
        self,
        ids: Iterable[int] | NDArray[np.integer],
        errors: OnInvalid = "replace",
    ) -> str:
        """Return the text of ids; raises what `decode_bytes` raises.

        Ids may cut a character in two. With "replace", bytes that are not valid UTF-8 become
        U+FFFD; with "strict", they raise `TokenizationError`.

        >>> from bpe_core.tokenizer import gpt2
        >>> gpt2().decode([464, 2068, 7586, 21831])
        'The quick brown fox'
        """
        check_choice("errors", errors, OnInvalid, TokenizationError)
        return decode_utf8(self._joined(ids), errors)

    # Internals

    def decode_stream(self) -> DecodeStream:
        """Return what decodes ids as they arrive, never half a character: see `DecodeStream`."""
        return DecodeStream(self)

    def _joined(self, ids: Iterable[int] | NDArray[np.integer]) -> bytes | memoryview:
        joined = join_bytes(ids, self._table, self._encoder.kernels)
        return joined[1:] if self._pretokenizer.adds_space and joined[:1] == b" " else joined

    def _checked(self, allowed_special: AllowedSpecial, errors: OnUnknown) -> frozenset[str]:
        """Check the arguments other than the text; return the special tokens to recognise."""
        check_choice("errors", errors, OnUnknown, TokenizationError)
        return allowed_tokens(self._table.special_tokens, allowed_special)

    def __reduce__(self) -> tuple[object, ...]:
        # Pickle only the arguments; tables, caches and kernels are rebuilt.
        arguments = self._table.arguments()
        return partial(Tokenizer, pretokenizer=self._pretokenizer.name, **arguments), ()

    def __eq__(self, other: object) -> bool:
        # What the fingerprint has, which takes far longer.
        return (
            isinstance(other, Tokenizer)
            and self._pretokenizer.name == other._pretokenizer.name
            and self._table.encodes_as(other._table)
        )

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __repr__(self) -> str:
        return (
            f"<Tokenizer of {counted(self.vocab_size, 'token')}, "
            f"{counted(len(self._table.triples), 'merge')}, "
            f"{self.base}, pre-tokenizer {self._pretokenizer.name!r}>"
        )

    def _repr_html_(self) -> str:
        return from_above("bpe_core.views", "summarize_tokenizer")(self)


def with_changes(tokenizer: Tokenizer, **changes: Any) -> Tokenizer:
    """Return a tokenizer with other arguments in place of some that it was made with.

    >>> from bpe_core.tokenizer import gpt2
    >>> with_changes(gpt2(), pretokenizer="none").pretokenizer.name
    'none'
    """
    changes.setdefault("pretokenizer", tokenizer.pretokenizer.name)
    return Tokenizer(**tokenizer.table.arguments() | changes)


def extended(
    tokenizer: Tokenizer,
    merges: Iterable[tuple[int, int, int]],
    counts: Sequence[int] | None = None,
) -> Tokenizer:
    """Return a tokenizer with more merges after its own; each makes a new id.

    The counts are kept if the tokenizer has counts too. Raises `ConfigError` for an id that exists,
    or merges that do not follow from the tokens.

    >>> from bpe_core.tokenizer import gpt2
    >>> longer = extended(gpt2(), [(262, 262, 50257)])
    >>> longer.vocab[50257], longer.truncated(gpt2().n_merges) == gpt2()
    (b' the the', True)
    """
    table = tokenizer.table.extended(merges, counts)
    return Tokenizer.from_table(table, tokenizer.pretokenizer.name)
