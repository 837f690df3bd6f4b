"""The tokenizer class: the result of training, of loading a file, and of `gpt2()`."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, cast, get_args

import numpy as np
from numpy.typing import NDArray

from bpe_core.checks import describe, is_whole, several
from bpe_core.errors import (
    ConfigError,
    InvalidTextError,
    InvalidTokenIdError,
    TokenizationError,
    UnknownSymbolError,
)
from bpe_core.immutable import Immutable
from bpe_core.pretokenizers.pretokenizers import Pretokenizer, get_pretokenizer
from bpe_core.pretokenizers.special_tokens import (
    AllowedSpecial,
    OrdinaryText,
    SpecialToken,
    allowed_tokens,
    check_text,
    find_special_tokens,
    pieces_of,
)
from bpe_core.tokenizer.rank_merging import merge_steps, merge_symbols
from bpe_core.tokenizer.segments import Placed, PlacedWord, lay_out, segments_of_ids, to_segments
from bpe_core.tokenizer.tables import TokenTable
from bpe_core.tokenizer.use_kernels import Kernels
from bpe_core.tokenizer.word_cache import WordCache
from bpe_core.types import Base, ExplainedMerge, Explanation, Merge, Pair, Segment

if TYPE_CHECKING:
    from bpe_core.tokenizer.compiled import CompiledEncoder

OnUnknown = Literal["strict", "skip"]
OnInvalid = Literal["replace", "strict"]

# Smaller than the cache of ids, because each tokenizer has its own, 100,000 layouts take tens of
# megabytes, and only texts on display are laid out, which have fewer words.
_MAX_LAYOUTS: Final = 10_000


class Tokenizer(Immutable):
    """A Byte-Pair-Encoding tokenizer; immutable, and equal to another that encodes the same way.

    `vocab` maps ids to bytes: a special token to its UTF-8, and a token that ends a word to bytes
    that end with the end-of-word marker. `merges` are (left, right, new id) in rank order; `counts`
    are how often each merge's pair occurred when it was learned. The alphabet is every token of one
    byte (or one character, depending on `base`) that is neither special, nor the marker, nor made
    by a merge. Raises `ConfigError` if the arguments are inconsistent.

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

    __slots__ = (
        "_fingerprint",
        "_kernels",
        "_merges",
        "_pretokenizer",
        "_table",
        "_word_ids",
        "_word_layouts",
    )

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
    ) -> None:
        self._pretokenizer = get_pretokenizer(pretokenizer)
        self._table = TokenTable(
            vocab=vocab,
            merges=merges,
            base=base,
            special_tokens=special_tokens,
            end_of_word=end_of_word,
            end_of_word_id=end_of_word_id,
            counts=counts,
        )
        # Both are computed on first use, because encoding needs neither: for 50,000 merges, the
        # objects take 60 ms and the hash 50 ms.
        self._merges: tuple[Merge, ...] | None = None
        self._fingerprint: str | None = None
        self._kernels = Kernels(self._table, self._pretokenizer)
        self._word_ids = WordCache(self._encode_word)
        self._word_layouts = WordCache(self._lay_out, max_words=_MAX_LAYOUTS)

    # Contents

    @property
    def vocab(self) -> Mapping[int, bytes]:
        """The bytes of each id; read-only."""
        return self._table.vocab

    @property
    def vocab_size(self) -> int:
        """The number of tokens, including special tokens, the alphabet and the marker."""
        return len(self._table.vocab)

    @property
    def merges(self) -> tuple[Merge, ...]:
        """The merges in rank order."""
        if self._merges is None:
            self._merges = self._table.merges()
        return self._merges

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

    @property
    def drops_text(self) -> bool:
        """True if the pre-tokenizer drops white space."""
        return self._pretokenizer.drops_text

    @property
    def end_of_word(self) -> str | None:
        """The end-of-word marker as text, or None if there is none."""
        return self._table.end_of_word

    @property
    def end_of_word_id(self) -> int | None:
        """The id of the end-of-word marker as a separate token, or None if there is none."""
        return self._table.end_of_word_id

    def ends_word(self, id: int) -> bool:
        """Return True if a token ends a word: the marker, or a token merged from it.

        A token that merely spells the marker in letters does not end a word.
        """
        return id in self._table.ending_word

    def parts(self, id: int) -> Pair | None:
        """Return the two ids that a token was first merged from, or None if no merge makes it."""
        return self._table.parts.get(id)

    @property
    def fingerprint(self) -> str:
        """SHA-256, in hexadecimal, of everything that determines encoding and decoding."""
        if self._fingerprint is None:
            described = json.dumps([self._pretokenizer.name, *self._table.description()])
            self._fingerprint = hashlib.sha256(described.encode()).hexdigest()
        return self._fingerprint

    def truncated(self, n_merges: int) -> Tokenizer:
        """Return a tokenizer with the first `n_merges` merges only; ids are unchanged.

        Raises `ConfigError` if there are not that many merges.

        >>> from bpe_core.tokenizer.gpt2 import gpt2
        >>> shorter = gpt2().truncated(3)
        >>> [shorter.vocab[id] for id in shorter.encode(" the")]
        [b' t', b'he']
        """
        table = self._table
        if not is_whole(n_merges) or not 0 <= n_merges <= len(table.triples):
            wanted = f"{n_merges:,}" if is_whole(n_merges) else describe(n_merges)
            raise ConfigError(
                f"This tokenizer has {len(table.triples):,} merges, so it cannot be cut to "
                f"{wanted}. Use a whole number from 0 to {len(table.triples):,}."
            )
        kept = table.triples[:n_merges]
        gone = {made for _, _, made in table.triples[n_merges:]}
        gone -= {made for _, _, made in kept} | set(table.special_tokens.values())
        return Tokenizer(
            vocab={id: token for id, token in table.vocab.items() if id not in gone},
            merges=kept,
            pretokenizer=self._pretokenizer.name,
            base=table.base,
            special_tokens=table.special_tokens,
            end_of_word=table.end_of_word,
            end_of_word_id=table.end_of_word_id,
            counts=None if table.counts is None else table.counts[:n_merges],
        )

    # Properties of every `Encoder`

    @property
    def model(self) -> str:
        """The model: "BPE"."""
        return "BPE"

    @property
    def engine(self) -> str:
        """The library that encodes: "bpe_core"."""
        return "bpe_core"

    @property
    def unknown_id(self) -> None:
        """None, because no token stands for symbols missing from the alphabet."""
        return

    # Text to ids

    def encode(
        self, text: str, allowed_special: AllowedSpecial = (), errors: OnUnknown = "strict"
    ) -> list[int]:
        """Return the ids of a text.

        Special tokens are recognised only if `allowed_special` contains them or is "all"; otherwise
        they are ordinary text. For a symbol missing from the alphabet, `errors="strict"` raises
        `UnknownSymbolError` and "skip" leaves the symbol out; merges never cross the gap. Raises
        `InvalidTextError` if `text` is not a str or contains a lone surrogate, and
        `TokenizationError` for any other value of `errors`.

        >>> from bpe_core.tokenizer.gpt2 import gpt2
        >>> gpt2().encode("Hi<|endoftext|>", allowed_special="all")
        [17250, 50256]
        """
        check_text(text)
        allowed = self._checked(allowed_special, errors)
        encoder = self._kernels.worth(len(text))
        if encoder is not None:
            return encoder.to_list(self._encode_by_kernels(encoder, text, allowed))
        return self._encode_plainly(text, allowed, errors)

    def encode_batch(
        self,
        texts: Iterable[str],
        allowed_special: AllowedSpecial = (),
        errors: OnUnknown = "strict",
    ) -> list[list[int]]:
        """Return the ids of each of several texts; raises what `encode` raises.

        >>> from bpe_core.tokenizer.gpt2 import gpt2
        >>> gpt2().encode_batch(["The quick", " fox"])
        [[464, 2068], [21831]]
        """
        listed: list[str] = several(
            texts, "texts", "give a list of str, or call encode for one", InvalidTextError
        )
        for text in listed:
            check_text(text)
        allowed = self._checked(allowed_special, errors)
        encoder = self._kernels.worth(sum(map(len, listed)))
        if encoder is None:
            return [self._encode_plainly(text, allowed, errors) for text in listed]
        if allowed:
            each = (self._encode_by_kernels(encoder, text, allowed) for text in listed)
            return [encoder.to_list(ids) for ids in each]
        ids, ends = encoder.encode_batch(listed)
        flat = encoder.to_list(ids)
        return [flat[start:end] for start, end in pairwise([0, *ends.tolist()])]

    def encode_to_numpy(
        self, text: str, allowed_special: AllowedSpecial = (), errors: OnUnknown = "strict"
    ) -> NDArray[np.int32]:
        """Return the ids of a text as int32[n_tokens]; raises what `encode` raises.

        >>> from bpe_core.tokenizer.gpt2 import gpt2
        >>> gpt2().encode_to_numpy("The quick")
        array([ 464, 2068], dtype=int32)
        """
        check_text(text)
        allowed = self._checked(allowed_special, errors)
        encoder = self._kernels.worth(len(text))
        if encoder is None:
            return np.array(self._encode_plainly(text, allowed, errors), dtype=np.int32)
        return self._encode_by_kernels(encoder, text, allowed)

    def segments(self, text: str, allowed_special: AllowedSpecial = ()) -> list[Segment]:
        """Return the tokens with their positions; each byte of the text is in exactly one segment.

        Text that no token covers, because the pre-tokenizer drops it or the alphabet lacks it, is a
        segment with id None. A separate end-of-word marker has length 0. Raises `InvalidTextError`
        for a lone surrogate.

        >>> from bpe_core.tokenizer.gpt2 import gpt2
        >>> [(each.token, each.start, each.end) for each in gpt2().segments("to 漢")]
        [(b'to', 0, 2), (b' \xe6', 2, 4), (b'\xbc', 3, 4), (b'\xa2', 3, 4)]
        """
        check_text(text)
        if self._table.complete and self.end_of_word is None and not self._pretokenizer.drops_text:
            ids = self.encode_to_numpy(text, allowed_special)
            return segments_of_ids(text, ids, self._table.vocab)
        allowed = allowed_tokens(self._table.special_tokens, allowed_special)
        return to_segments(text, self._placed_words(text, allowed))

    def explain(self, text: str, errors: OnUnknown = "strict") -> list[Explanation]:
        """Return each pre-token's initial symbols and the merges applied to it, in order.

        Meant for short texts: a pre-token of n symbols takes up to n steps of n symbols. For a
        symbol missing from the alphabet, "strict" raises `UnknownSymbolError`; "skip" explains the
        pieces on either side of it.

        >>> from bpe_core.tokenizer.gpt2 import gpt2
        >>> (word,) = gpt2().explain("The")
        >>> [[gpt2().vocab[id] for id in step.symbols] for step in word.steps]
        [[b'T', b'he'], [b'The']]
        """
        check_text(text)
        _check_choice(errors, OnUnknown)
        explained: list[Explanation] = []
        for start, end in self._pretokenizer.spans(text):
            for explanation in self._explained(text[start:end], start):
                if explanation is not None:
                    explained.append(explanation)
                elif errors == "strict":
                    raise self._unknown_symbol(text, frozenset())
        return explained

    def explain_word(self, word: str) -> list[Explanation]:
        """Explain one pre-token, given whole: it is not split any further.

        If the alphabet lacks a symbol, the pieces on either side of it are explained.

        >>> from bpe_core.tokenizer.gpt2 import gpt2
        >>> [len(each.steps) for each in gpt2().explain_word("The end")]
        [5]
        """
        check_text(word)
        return [each for each in self._explained(word, 0) if each is not None]

    # Ids to text

    def decode_bytes(self, ids: Iterable[int] | NDArray[np.integer]) -> bytes:
        """Return the bytes of ids; raises `InvalidTokenIdError` for an unknown id.

        Raises `TokenizationError` for anything but a flat sequence of ids. The end of a word
        becomes one space before another word, and nothing before a special token or at the end.

        >>> from bpe_core.tokenizer.gpt2 import gpt2
        >>> gpt2().decode_bytes([2068, 10263])
        b' quick \xe5'
        """
        return bytes(self._decoded(ids))

    def decode(
        self,
        ids: Iterable[int] | NDArray[np.integer],
        errors: OnInvalid = "replace",
    ) -> str:
        """Return the text of ids; raises what `decode_bytes` raises.

        Ids may cut a character in two. With "replace", bytes that are not valid UTF-8 become
        U+FFFD; with "strict", they raise `TokenizationError`.

        >>> from bpe_core.tokenizer.gpt2 import gpt2
        >>> gpt2().decode([464, 2068, 7586, 21831])
        'The quick brown fox'
        """
        _check_choice(errors, OnInvalid)
        data = self._decoded(ids)
        try:
            return str(data, "utf-8", errors)
        except UnicodeDecodeError as error:
            raise TokenizationError(
                f"These ids end or begin within a character: the byte 0x{data[error.start]:02X} "
                f"at offset {error.start:,} is not valid UTF-8. Use errors='replace', or "
                f"decode_bytes."
            ) from None

    # Internals

    def _decoded(self, ids: Iterable[int] | NDArray[np.integer]) -> bytes | memoryview:
        if isinstance(ids, np.ndarray):
            given = cast("NDArray[np.int32]", ids)
            if given.ndim != 1:
                raise TokenizationError(
                    f"Expected a one-dimensional array of ids, got {given.ndim} dimensions, shape "
                    f"{given.shape}. Decode one row at a time."
                )
            if given.size and given.dtype.kind not in "iuO":
                raise TokenizationError(
                    f"Expected an array of integers, such as int32, got one of {given.dtype}."
                )
        else:
            given: NDArray[np.int32] | list[int] = several(
                ids, "ids", "give a list or an array of ints", TokenizationError
            )
        encoder = self._kernels.worth(len(given))
        if encoder is not None:
            decoded = encoder.decode(given)
            if decoded is not None:
                return decoded.data
        listed: list[int] = given.tolist() if isinstance(given, np.ndarray) else given
        # Check types, because 464.0 and True would otherwise be found in the vocabulary.
        if not set(map(type, listed)) <= {int}:
            for number, id in enumerate(listed, 1):
                if not is_whole(id):
                    raise TokenizationError(
                        f"Number {number:,} of {len(listed):,} ids is {describe(id)}. Expected one "
                        "list or array of ints."
                    )
        vocab = self._table.vocab
        try:
            return self._table.join(listed)
        except KeyError:
            place = next(i for i, id in enumerate(listed) if id not in vocab)
            there_are = (
                f"The {len(vocab):,} ids of this tokenizer run from {min(vocab)} to {max(vocab)}."
                if vocab
                else "This tokenizer has no tokens at all."
            )
            raise InvalidTokenIdError(
                f"There is no token with id {listed[place]} (number {place + 1:,} of "
                f"{len(listed):,} ids). {there_are}"
            ) from None

    def _checked(self, allowed_special: AllowedSpecial, errors: OnUnknown) -> frozenset[str]:
        """Check the arguments beside the text; return the special tokens to recognise."""
        _check_choice(errors, OnUnknown)
        return allowed_tokens(self._table.special_tokens, allowed_special)

    def _special_in(self, text: str, allowed: frozenset[str]) -> list[SpecialToken]:
        return find_special_tokens(text, self._table.special_tokens, allowed)

    def _encode_plainly(self, text: str, allowed: frozenset[str], errors: OnUnknown) -> list[int]:
        found = self._special_in(text, allowed)
        if not found:
            ids = self._encode_ordinary(text)
        else:
            ids: list[int] = []
            for piece in pieces_of(text, found):
                if isinstance(piece, SpecialToken):
                    ids.append(piece.id)
                else:
                    ids += self._encode_ordinary(text[piece.start : piece.end])
        if not self._table.complete and min(ids, default=0) < 0:
            if errors == "strict":
                raise self._unknown_symbol(text, allowed)
            return [id for id in ids if id >= 0]
        return ids

    def _encode_ordinary(self, text: str) -> list[int]:
        ids: list[int] = []
        word_ids = self._word_ids
        for word in self._pretokenizer.split(text):
            ids += word_ids[word]
        return ids

    def _encode_by_kernels(
        self, encoder: CompiledEncoder, text: str, allowed: frozenset[str]
    ) -> NDArray[np.int32]:
        found = self._special_in(text, allowed)
        if not found:
            return encoder.encode(text)
        pieces = pieces_of(text, found)
        ordinary = [piece for piece in pieces if isinstance(piece, OrdinaryText)]
        ids, ends = encoder.encode_batch([text[start:end] for start, end in ordinary])
        # Insert each special token after the ids of the ordinary text before it.
        n_ids_of_ordinary = iter(ends.tolist())
        n_ids = 0
        places: list[int] = []
        for piece in pieces:
            if isinstance(piece, SpecialToken):
                places.append(n_ids)
            else:
                n_ids = next(n_ids_of_ordinary)
        return np.insert(ids, places, [token.id for token in found])

    def _placed_words(self, text: str, allowed: frozenset[str]) -> Iterator[PlacedWord]:
        """Yield each pre-token and special token: start, end, and its tokens laid out."""
        layouts = self._word_layouts
        for piece in pieces_of(text, self._special_in(text, allowed)):
            start, end = piece.start, piece.end
            if isinstance(piece, SpecialToken):
                token = self._table.vocab[piece.id]
                yield start, end, ((piece.id, token, 0, end - start, 0, len(token)),)
                continue
            ordinary = text[start:end]
            for a, b in self._pretokenizer.spans(ordinary):
                yield start + a, start + b, layouts[ordinary[a:b]]

    def _explained(self, word: str, word_start: int) -> Iterator[Explanation | None]:
        """Explain each piece of a pre-token; yield None for one missing from the alphabet."""
        table = self._table
        at = 0
        for symbols, piece in table.pieces(word):
            if symbols is None:
                yield None
            else:
                steps = tuple(
                    ExplainedMerge(self.merges[rank], ids)
                    for rank, ids in merge_steps(symbols, table.ranks, table.made)
                )
                start = word_start + len(word.encode()[:at].decode(errors="ignore"))
                shown = piece.decode(errors="replace")
                yield Explanation(start, shown, tuple(symbols), steps)
            at += len(piece)

    def _encode_word(self, word: str) -> tuple[int, ...]:
        """Return the word's ids; -n stands for n bytes missing from the alphabet."""
        table = self._table
        ids: list[int] = []
        for symbols, piece in table.pieces(word):
            if symbols is None:
                ids.append(-len(piece))
            else:
                ids += merge_symbols(symbols, table.ranks, table.made)
        return tuple(ids)

    def _lay_out(self, word: str) -> tuple[Placed, ...]:
        return lay_out(word, self._word_ids[word], self._table)

    def _unknown_symbol(self, text: str, allowed: frozenset[str]) -> UnknownSymbolError:
        start, token, a, b = next(
            (start, token, a, b)
            for start, _, placed in self._placed_words(text, allowed)
            for id, token, a, _, b, _ in placed
            if id is None
        )
        character = text[start + a]
        what = f"{character!r} (U+{ord(character):04X})"
        if self.base == "bytes":
            what = f"byte 0x{token[0]:02X} of {what}"
        return UnknownSymbolError(
            f"The alphabet of this tokenizer ({len(self.base_ids):,} {self.base}) has no {what}, "
            f"found at character {start + a:,} of the text, byte offset "
            f"{len(text[:start].encode()) + b:,}. Skip it with errors='skip', or train with the "
            f"full byte alphabet."
        )

    def __reduce__(self) -> tuple[object, ...]:
        # Pickle only the arguments; tables, caches and kernels are rebuilt.
        table = self._table
        build = partial(
            Tokenizer,
            vocab=dict(table.vocab),
            merges=table.triples,
            pretokenizer=self._pretokenizer.name,
            base=table.base,
            special_tokens=dict(table.special_tokens),
            end_of_word=table.end_of_word,
            end_of_word_id=table.end_of_word_id,
            counts=table.counts,
        )
        return build, ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tokenizer) and self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __repr__(self) -> str:
        return (
            f"<Tokenizer of {self.vocab_size:,} tokens, {len(self._table.triples):,} merges, "
            f"{self.base}, pre-tokenizer {self._pretokenizer.name!r}>"
        )


def _check_choice(errors: object, choices: object) -> None:
    known = get_args(choices)
    if errors not in known:
        raise TokenizationError(
            f"errors is {describe(errors)}. Use {' or '.join(map(repr, known))}."
        )
