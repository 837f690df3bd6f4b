"""Encode whole texts: special tokens separately, the rest by kernels or in plain Python.

Kernels encode long texts, once the setup pays off. Plain Python encodes word by word, with a
bounded cache.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar
from weakref import WeakSet

from bpe_core.checks import counted
from bpe_core.errors import UnknownSymbolError
from bpe_core.kernels import (
    compile_in_background,
    kernels_are_ready,
    use_kernels,
    worth_waiting_for,
)
from bpe_core.pretokenizers import Pretokenizer
from bpe_core.tokenizer.rank_merging import merge_in
from bpe_core.tokenizer.segments import Placed, PlacedWord, place_tokens
from bpe_core.tokenizer.steps import NormalText, Part, SpecialToken, Steps
from bpe_core.tokenizer.tables import TokenTable
from bpe_core.types import PretokenCounts

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from bpe_core.tokenizer.compiled import CompiledEncoder
    from bpe_core.tokenizer.shared_blocks import Encoded


MIN_BYTES_TO_ENCODE: Final = 200_000
"""The least text for which a tokenizer's tables for kernels, which take 50 ms, are built."""
MIN_BYTES_OF_CALL: Final = 2_000
"""The least text, or ids, worth a call of kernels, which costs 20 microseconds, if all is built."""


class Kernels:
    """The kernels of one tokenizer, loaded once the amount of text encoded so far is worth it.

    Kernels and plain Python return the same results. Nothing waits for the compiler: until the
    kernels are compiled, plain Python is used.

    >>> kernels = Kernels(TokenTable(vocab={0: b"a"}, merges=[]), Pretokenizer("none"))
    >>> kernels.worth(10_000_000) is None  # not a byte tokenizer with all 256 bytes
    True
    """

    __slots__ = ("_encoder", "_preparing", "_pretokenizer", "_seen", "_suited", "_table")

    def __init__(self, table: TokenTable, pretokenizer: Pretokenizer) -> None:
        self._table = table
        self._pretokenizer = pretokenizer
        self._encoder: CompiledEncoder | None = None
        self._suited = table.complete and table.end_of_word is None and not table.removals
        self._seen = 0
        self._preparing = Lock()
        """Threads that begin with a tokenizer at the same time build its tables once."""

    def worth(self, n: int) -> CompiledEncoder | None:
        """Return the compiled encoder if it is faster for n characters or ids, else None."""
        # Kept tables are loaded already; those of plain Python would have to be built.
        has_tables = bool(self._table.kernel_tables)
        if (n < MIN_BYTES_OF_CALL and not has_tables) or not self._suited:
            return None
        if self._encoder is None:
            with self._preparing:
                if self._encoder is None and self._suited:
                    self._seen += n
                    if use_kernels(self._seen, 0 if has_tables else MIN_BYTES_TO_ENCODE):
                        self._encoder = self._prepared()
                    elif worth_waiting_for(self._seen):
                        compile_in_background()
        return self._encoder

    def forget_words(self) -> None:
        """Free the word caches and buffers, up to 30 MB for every thread that encodes at once."""
        if self._encoder is not None:
            self._encoder.forget_words()

    def tables_to_keep(self) -> dict[str, NDArray[Any]]:
        """Return the tables of kernels by name, which are used from now on.

        There are none if the kernels don't support the tokenizer, or are not compiled.
        """
        from bpe_core.kernels import EncoderTables
        from bpe_core.tokenizer.compiled import CompiledEncoder, can_compile

        if not (kernels_are_ready() and self._suited and can_compile(self._table)):
            return {}
        packed = EncoderTables.build(self._table, self._pretokenizer.scanner()).pack()
        # With a word cache of its own, so that what is kept stays as it is.
        tables = EncoderTables.unpack(packed)
        self._encoder = CompiledEncoder(self._table, self._pretokenizer, tables)
        return packed

    def _prepared(self) -> CompiledEncoder | None:
        from bpe_core.kernels import EncoderTables
        from bpe_core.tokenizer.compiled import CompiledEncoder, can_compile, kept_tables

        table, tables = self._table, None
        if table.kernel_tables:
            tables = EncoderTables.unpack(table.kernel_tables)
        elif table.kept_as:
            tables = kept_tables(table, self._pretokenizer)
        self._suited = tables is not None or can_compile(table)
        return CompiledEncoder(table, self._pretokenizer, tables) if self._suited else None


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

    `allowed` are the special tokens to recognise. Texts are checked by the caller. `steps` are
    taken first. With `left_out`, bytes that are not tokens are left out of words before they are
    merged, which joins what is on both sides.

    >>> table = TokenTable(vocab={0: b"a", 1: b"b", 2: b"ab"}, merges=[(0, 1, 2)])
    >>> words = Pretokenizer("whitespace")
    >>> encoder = TextEncoder(table, words, Kernels(table, words))
    >>> encoder.encode("ab a", frozenset(), "strict")
    [2, 0]
    """

    __slots__ = (
        "__weakref__",
        "_as_it_is",
        "_left_out",
        "_left_out_by_kernels",
        "_max_id",
        "_pretokenizer",
        "_table",
        "kernels",
        "steps",
        "word_ids",
        "word_layouts",
    )

    def __init__(
        self,
        table: TokenTable,
        pretokenizer: Pretokenizer,
        kernels: Kernels,
        steps: Steps | None = None,
        left_out: bytes = b"",
    ) -> None:
        self._table = table
        self._left_out = left_out
        # A word is looked up with all its bytes, and where a step cuts between bytes, those that
        # are left out keep apart what was on both sides.
        by_words = table.whole_words_first or pretokenizer.cuts_bytes
        self._left_out_by_kernels = b"" if by_words else left_out
        self._max_id = max(table.vocab) if left_out else -1
        self.kernels = kernels
        """With `left_out`, those of a table with ids above all others for such bytes."""
        self.steps = steps or Steps(pretokenizer, table.special_tokens)
        self._pretokenizer = self.steps.cut
        self._as_it_is = self.steps.are_none and not left_out
        self.word_ids = WordCache(self._encode_word)
        self.word_layouts = WordCache(self._lay_out, max_words=_MAX_LAYOUTS)
        with _lock:
            _encoders.add(self)

    def encode(self, text: str, allowed: frozenset[str], errors: OnUnknown) -> list[int]:
        """Return the ids of a text."""
        encoder = self.kernels.worth(len(text))
        if encoder is None:
            return self._encode_plainly(text, allowed, errors)
        return encoder.to_list(self._encode_by_kernels(encoder, text, allowed))

    def encode_batch(
        self, texts: Sequence[str], allowed: frozenset[str], errors: OnUnknown
    ) -> list[list[int]]:
        """Return the ids of each of several texts."""
        encoder = self.kernels.worth(sum(map(len, texts)))
        if encoder is None:
            return [self._encode_plainly(text, allowed, errors) for text in texts]
        if self._as_it_is and not allowed:
            ids, ends = encoder.encode_batch(texts)
        else:
            ids, ends = self._encode_in_parts(encoder, texts, allowed)
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

    def encode_normal(self, normal: NormalText) -> Encoded:
        """Return the ids of a text after its steps, and where those of each piece end."""
        import numpy as np

        parts: list[Part] = [
            (normal.text[piece.start : piece.end], getattr(piece, "id", None))
            for piece in normal.pieces
        ]
        encoder = self.kernels.worth(len(normal.text))
        if encoder is not None:
            return self._encode_parts(encoder, parts)
        ids: list[int] = []
        ends: list[int] = []
        for part, id in parts:
            if id is None:
                self._add_ids(part, ids)
            else:
                ids.append(id)
            ends.append(len(ids))
        return np.array(ids, np.int32), np.array(ends, np.int64)

    def encode_words(self, words: Sequence[bytes]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return the ids of whole pre-tokens, and where each one's end; -1 for missing symbols."""
        encoder = None if self._left_out else self.kernels.worth(sum(map(len, words)))
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
        encoder = None if self._left_out else self.kernels.worth(pretokens.letters.size)
        if encoder is None:
            return self.encode_words(pretokens.words)
        return encoder.encode_letters(pretokens.letters)

    def pieces(self, word: str) -> Iterator[tuple[list[int] | None, bytes]]:
        """Yield the parts of a pre-token that are merged on their own: initial ids, and bytes.

        Symbols missing from the alphabet have None for their ids.
        """
        table = self._table
        if not self._left_out:
            yield from table.pieces(word)
            return
        for piece in self._pretokenizer.cut_bytes(word.encode()):
            letters = piece.translate(None, self._left_out)
            yield [table.base_ids[letters[at : at + 1]] for at in range(len(letters))], letters

    def placed_words(self, normal: NormalText) -> Iterator[PlacedWord]:
        """Yield each pre-token and added token: start, end, and its tokens laid out.

        Places are those in the normal text, which `steps` return.
        """
        layouts, text = self.word_layouts, normal.text
        for piece in normal.pieces:
            start, end = piece.start, piece.end
            if isinstance(piece, SpecialToken):
                # That is not the token's own text where it is written with ▁ for spaces.
                token, n_bytes = self._table.vocab[piece.id], len(text[start:end].encode())
                yield start, end, ((piece.id, token, 0, end - start, 0, n_bytes),)
                continue
            ordinary = text[start:end]
            for a, b in self._pretokenizer.spans(ordinary):
                yield start + a, start + b, layouts[ordinary[a:b]]

    def unknown_symbol(self, text: str, allowed: frozenset[str]) -> UnknownSymbolError:
        """Return the error that names the first symbol missing from the alphabet."""
        table = self._table
        normal = self.steps.normal_text(text, allowed)
        start, token, a, b = next(
            (start, token, a, b)
            for start, _, placed in self.placed_words(normal)
            for id, token, a, _, b, _ in placed
            if id is None
        )
        text = normal.text
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
        ids: list[int] = []
        for part, id in self.steps.parts(text, allowed):
            if id is None:
                self._add_ids(part, ids)
            else:
                ids.append(id)
        if not self._table.complete and min(ids, default=0) < 0:
            if errors == "strict":
                raise self.unknown_symbol(text, allowed)
            return [id for id in ids if id >= 0]
        return ids

    def _add_ids(self, part: str, ids: list[int]) -> None:
        word_ids = self.word_ids
        for word in self._pretokenizer.split(part):
            ids += word_ids[word]

    def _encode_by_kernels(
        self, encoder: CompiledEncoder, text: str, allowed: frozenset[str]
    ) -> NDArray[np.int32]:
        if self._as_it_is and not allowed:
            return encoder.encode(text)
        parts = self.steps.parts(text, allowed)
        if len(parts) == 1 and parts[0][1] is None:  # as most texts are
            return self._encode_part(encoder, parts[0][0])
        return self._encode_parts(encoder, parts)[0]

    def _encode_in_parts(
        self, encoder: CompiledEncoder, texts: Sequence[str], allowed: frozenset[str]
    ) -> Encoded:
        """Return the ids of texts, and where each one's end."""
        import numpy as np

        of_texts = [self.steps.parts(text, allowed) for text in texts]
        ids, ends = self._encode_parts(encoder, [part for parts in of_texts for part in parts])
        n_parts = np.cumsum([len(parts) for parts in of_texts], dtype=np.int64)
        return ids, np.append(0, ends)[n_parts]

    def _encode_parts(self, encoder: CompiledEncoder, parts: Sequence[Part]) -> Encoded:
        """Return the ids of parts of texts, and where each one's end."""
        import numpy as np

        ordinary = [part for part, id in parts if id is None]
        ids, ends = encoder.encode_batch(ordinary)
        if self._lacks_some(ids):
            each = [self._encode_part(encoder, part) for part in ordinary]
            ids, ends = np.concatenate(each), np.cumsum([len(some) for some in each])
        if len(ordinary) == len(parts):
            return ids, ends
        is_added = np.array([id is not None for _, id in parts], np.bool_)
        places = np.append(0, ends)[np.cumsum(~is_added)]
        ids = np.insert(ids, places[is_added], [id for _, id in parts if id is not None])
        return ids, places + np.cumsum(is_added)

    def _encode_part(self, encoder: CompiledEncoder, part: str) -> NDArray[np.int32]:
        ids = encoder.encode(part)
        if self._lacks_some(ids) and self._left_out_by_kernels:
            ids = encoder.encode(part, left_out=self._left_out_by_kernels)
        if self._lacks_some(ids):
            import numpy as np

            plain: list[int] = []
            self._add_ids(part, plain)
            return np.array(plain, np.int32)
        return ids

    def _lacks_some(self, ids: NDArray[np.int32]) -> bool:
        """Return True if some ids are those of bytes that are left out."""
        return bool(self._left_out) and bool((ids > self._max_id).any())

    def _encode_word(self, word: str) -> tuple[int, ...]:
        """Return the word's ids; -n represents n bytes missing from the alphabet."""
        table = self._table
        id = self._pretokenizer.added.get(word)
        if id is None and table.whole_words_first:
            id = table.word_ids.get(word.encode())
        if id is not None:
            return (id,)
        ids: list[int] = []
        for symbols, piece in self.pieces(word):
            if symbols is None:
                ids.append(-len(piece))
            else:
                ids += merge_in(table, symbols)
        return tuple(ids)

    def _with_gaps(self, word: str) -> Iterator[int]:
        """Yield the word's ids, and -1 for each symbol missing from the alphabet."""
        table = self._table
        for symbols, piece in table.pieces(word):
            if symbols is not None:
                yield from merge_in(table, symbols)
            else:
                n_missing = len(piece) if table.base == "bytes" else len(piece.decode())
                yield from [-1] * n_missing

    def _lay_out(self, word: str) -> tuple[Placed, ...]:
        return place_tokens(word, self.word_ids[word], self._table, self._left_out)


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
