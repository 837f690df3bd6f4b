"""Encode whole texts: special tokens separately, the rest by kernels or in plain Python.

Plain Python encodes word by word, with a bounded cache.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from threading import Lock
from typing import TYPE_CHECKING, Final, Literal, TypeVar
from weakref import WeakSet

from bpe_core.checks import counted
from bpe_core.errors import UnknownSymbolError
from bpe_core.pretokenizers import (
    NormalText,
    OrdinaryText,
    Pretokenizer,
    SpecialToken,
    find_special_tokens,
    list_pieces,
    normalize_pieces,
)
from bpe_core.tokenizer.rank_merging import merge_symbols
from bpe_core.tokenizer.segments import Placed, PlacedWord, move_tokens, place_tokens
from bpe_core.tokenizer.tables import TokenTable
from bpe_core.tokenizer.tokenizer_kernels import Kernels
from bpe_core.types import PretokenCounts
from bpe_core.unicode import META

if TYPE_CHECKING:  # importing NumPy takes longer than encoding a short text does
    import numpy as np
    from numpy.typing import NDArray

    from bpe_core.tokenizer.compiled import CompiledEncoder

OnUnknown = Literal["strict", "skip"]
"""At a symbol missing from the alphabet: raise an error, or leave the symbol out."""

Value = TypeVar("Value")

_MAX_WORDS: Final = 100_000
# Smaller than the cache of ids: each tokenizer has its own, 100,000 layouts take tens of megabytes,
# and only texts on display, which have fewer words, are laid out.
_MAX_LAYOUTS: Final = 10_000
_MAX_CHARACTERS: Final = 200
"""Longer words rarely recur, and a few of them could fill the memory."""


class WordCache(dict[str, Value]):
    """A dict that computes missing values, and is cleared when it holds `max_words`.

    Clearing is much cheaper than tracking the last use of each word: looking up a known word is as
    fast as in a plain dict.

    >>> lengths = WordCache(len)
    >>> lengths["hug"], dict(lengths)
    (3, {'hug': 3})
    """

    def __init__(self, compute: Callable[[str], Value], *, max_words: int = _MAX_WORDS) -> None:
        super().__init__()
        self._compute = compute
        self._max_words = max_words

    def __missing__(self, word: str) -> Value:
        value = self._compute(word)
        if len(word) <= _MAX_CHARACTERS:
            if len(self) >= self._max_words:
                self.clear()
            self[word] = value
        return value


class TextEncoder:
    """Encodes texts with a tokenizer's table, and remembers the ids of words.

    `allowed` are the special tokens to recognise. Texts are checked by the caller.

    >>> table = TokenTable(vocab={0: b"a", 1: b"b", 2: b"ab"}, merges=[(0, 1, 2)])
    >>> words = Pretokenizer("whitespace")
    >>> encoder = TextEncoder(table, words, Kernels(table, words))
    >>> encoder.encode("ab a", frozenset(), "strict")
    [2, 0]
    """

    __slots__ = (
        "__weakref__",
        "_adds_space",
        "_pretokenizer",
        "_table",
        "_writes",
        "kernels",
        "word_ids",
        "word_layouts",
    )

    def __init__(self, table: TokenTable, pretokenizer: Pretokenizer, kernels: Kernels) -> None:
        self._table = table
        self._pretokenizer = pretokenizer
        self._adds_space = pretokenizer.adds_space
        self._writes = pretokenizer.adds_space or pretokenizer.normalizer is not None
        self.kernels = kernels
        self.word_ids = WordCache(self._encode_word)
        self.word_layouts = WordCache(self._lay_out, max_words=_MAX_LAYOUTS)
        with _lock:
            _encoders.add(self)

    def encode(self, text: str, allowed: frozenset[str], errors: OnUnknown) -> list[int]:
        """Return the ids of a text."""
        encoder = self.kernels.worth(len(text))
        if encoder is not None:
            return encoder.to_list(self._encode_by_kernels(encoder, text, allowed))
        return self._encode_plainly(text, allowed, errors)

    def encode_batch(
        self, texts: Sequence[str], allowed: frozenset[str], errors: OnUnknown
    ) -> list[list[int]]:
        """Return the ids of each of several texts."""
        encoder = self.kernels.worth(sum(map(len, texts)))
        if encoder is None:
            return [self._encode_plainly(text, allowed, errors) for text in texts]
        if allowed:
            each = (self._encode_by_kernels(encoder, text, allowed) for text in texts)
            return [encoder.to_list(ids) for ids in each]
        ids, ends = encoder.encode_batch(self._written(texts))
        flat = encoder.to_list(ids)
        return [flat[start:end] for start, end in pairwise([0, *ends.tolist()])]

    def encode_to_numpy(
        self, text: str, allowed: frozenset[str], errors: OnUnknown
    ) -> NDArray[np.int32]:
        """Return the ids of a text as int32[n_tokens]."""
        encoder = self.kernels.worth(len(text))
        if encoder is None:
            import numpy as np

            return np.array(self._encode_plainly(text, allowed, errors), dtype=np.int32)
        return self._encode_by_kernels(encoder, text, allowed)

    def encode_without(self, text: str, left_out: bytes) -> NDArray[np.int32]:
        """Return the ids of a text whose pre-tokens lose some bytes of ASCII before merging."""
        encoder = self.kernels.worth(len(text))
        if encoder is not None:
            return encoder.encode(text, left_out=left_out)
        gone = dict.fromkeys(left_out)
        words = (word.translate(gone) for word in self._pretokenizer.split(text))
        import numpy as np

        return np.array(
            [id for word in words for id in self.word_ids[word] if id >= 0], dtype=np.int32
        )

    def encode_words(self, words: Sequence[bytes]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return the ids of whole pre-tokens, and where each one's end; -1 for missing symbols."""
        encoder = self.kernels.worth(sum(map(len, words)))
        if encoder is not None:
            return encoder.encode_words(words)
        ids: list[int] = []
        ends: list[int] = []
        for word in words:
            text = word.decode()
            found = self._encode_word(text)
            ids += found if min(found, default=0) >= 0 else self._with_gaps(text)
            ends.append(len(ids))
        import numpy as np

        return np.array(ids, np.int32), np.array(ends, np.int64)

    def encode_pretokens(
        self, pretokens: PretokenCounts
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return what `encode_words` returns for the words of counted pre-tokens."""
        encoder = self.kernels.worth(pretokens.letters.size)
        if encoder is None:
            return self.encode_words(pretokens.words)
        return encoder.encode_letters(pretokens.letters)

    def normal_text(self, text: str, allowed: frozenset[str]) -> NormalText:
        """Return a text as it is cut, with its special tokens as they are."""
        pieces = list_pieces(text, self._special_in(text, allowed))
        normalizer = self._pretokenizer.normalizer
        if normalizer is None:
            return NormalText(text, pieces, [])
        return normalize_pieces(text, pieces, normalizer)

    def placed_words(self, text: str, allowed: frozenset[str]) -> Iterator[PlacedWord]:
        """Yield each pre-token and special token: start, end, and its tokens laid out.

        Places are those in the normalized text.
        """
        layouts = self.word_layouts
        text, pieces, _ = self.normal_text(text, allowed)
        for piece in pieces:
            start, end = piece.start, piece.end
            if isinstance(piece, SpecialToken):
                token = self._table.vocab[piece.id]
                yield start, end, ((piece.id, token, 0, end - start, 0, len(token)),)
                continue
            ordinary = text[start:end]
            if self._adds_space:
                yield from self._place_written(ordinary, start)
                continue
            for a, b in self._pretokenizer.spans(ordinary):
                yield start + a, start + b, layouts[ordinary[a:b]]

    def unknown_symbol(self, text: str, allowed: frozenset[str]) -> UnknownSymbolError:
        """Return the error that names the first symbol missing from the alphabet."""
        table = self._table
        start, token, a, b = next(
            (start, token, a, b)
            for start, _, placed in self.placed_words(text, allowed)
            for id, token, a, _, b, _ in placed
            if id is None
        )
        text = self.normal_text(text, allowed).text
        character = text[start + a]
        what = f"{character!r} (U+{ord(character):04X})"
        if table.base == "bytes":
            what = f"byte 0x{token[0]:02X} of {what}"
        return UnknownSymbolError(
            f"The alphabet of this tokenizer ({counted(len(table.base_ids), table.base[:-1])}) has "
            f"no {what}, found at character {start + a:,} of the text, byte offset "
            f"{len(text[:start].encode()) + b:,}. Skip it with errors='skip' or --skip-unknown, or "
            f"train with the full byte alphabet."
        )

    def _encode_plainly(self, text: str, allowed: frozenset[str], errors: OnUnknown) -> list[int]:
        found = self._special_in(text, allowed)
        if not found:
            ids = self._encode_ordinary(text)
        else:
            ids: list[int] = []
            for piece in list_pieces(text, found):
                if isinstance(piece, SpecialToken):
                    ids.append(piece.id)
                else:
                    ids += self._encode_ordinary(text[piece.start : piece.end])
        if not self._table.complete and min(ids, default=0) < 0:
            if errors == "strict":
                raise self.unknown_symbol(text, allowed)
            return [id for id in ids if id >= 0]
        return ids

    def _encode_ordinary(self, text: str) -> list[int]:
        ids: list[int] = []
        word_ids = self.word_ids
        if self._writes:
            text = self._pretokenizer.written(text)
        for word in self._pretokenizer.split(text):
            ids += word_ids[word]
        return ids

    def _encode_by_kernels(
        self, encoder: CompiledEncoder, text: str, allowed: frozenset[str]
    ) -> NDArray[np.int32]:
        found = self._special_in(text, allowed)
        if not found:
            return encoder.encode(self._pretokenizer.written(text))
        pieces = list_pieces(text, found)
        ordinary = [piece for piece in pieces if isinstance(piece, OrdinaryText)]
        ids, ends = encoder.encode_batch(
            self._written([text[start:end] for start, end in ordinary])
        )
        # Insert each special token after the ids of the ordinary text before it.
        n_ids_of_ordinary = iter(ends.tolist())
        n_ids = 0
        places: list[int] = []
        for piece in pieces:
            if isinstance(piece, SpecialToken):
                places.append(n_ids)
            else:
                n_ids = next(n_ids_of_ordinary)
        import numpy as np

        return np.insert(ids, places, [token.id for token in found])

    def _written(self, texts: Sequence[str]) -> Sequence[str]:
        return list(map(self._pretokenizer.written, texts)) if self._writes else texts

    def _place_written(self, text: str, start: int) -> Iterator[PlacedWord]:
        """Yield each word of a text that gets a space in front, which takes no place in it."""
        written = self._pretokenizer.written(text)
        for a, b in self._pretokenizer.spans(written):
            placed = self.word_layouts[written[a:b]]
            if a == 0:
                placed = move_tokens(placed, -1, -1)
            elif text[a - 1] == META:
                placed = move_tokens(placed, 0, len(META.encode()) - 1)
            yield start + max(0, a - 1), start + b - 1, placed

    def _encode_word(self, word: str) -> tuple[int, ...]:
        """Return the word's ids; -n represents n bytes missing from the alphabet."""
        table = self._table
        id = self._pretokenizer.added.get(word)
        if id is None and table.whole_words_first:
            id = table.word_ids.get(word.encode())
        if id is not None:
            return (id,)
        ids: list[int] = []
        for symbols, piece in table.pieces(word):
            if symbols is None:
                ids.append(-len(piece))
            else:
                ids += merge_symbols(symbols, table.ranks, table.made)
        return tuple(ids)

    def _with_gaps(self, word: str) -> Iterator[int]:
        """Yield the word's ids, and -1 for each symbol missing from the alphabet."""
        table = self._table
        for symbols, piece in table.pieces(word):
            if symbols is not None:
                yield from merge_symbols(symbols, table.ranks, table.made)
            else:
                n_missing = len(piece) if table.base == "bytes" else len(piece.decode())
                yield from [-1] * n_missing

    def _lay_out(self, word: str) -> tuple[Placed, ...]:
        return place_tokens(word, self.word_ids[word], self._table)

    def _special_in(self, text: str, allowed: frozenset[str]) -> list[SpecialToken]:
        return find_special_tokens(text, self._table.special_tokens, allowed)


_encoders: Final[WeakSet[TextEncoder]] = WeakSet()
_lock: Final = Lock()
"""Guards `_encoders`: a set must not grow while it is iterated over."""


def forget_words() -> None:
    """Free the word caches of all tokenizers, for a server whose visitors have left.

    Those of plain Python are small objects, which keep the memory between them from being returned
    to the system. All caches fill again with the next text.
    """
    with _lock:
        encoders = list(_encoders)
    for encoder in encoders:
        encoder.word_ids.clear()
        encoder.word_layouts.clear()
        encoder.kernels.forget_words()
