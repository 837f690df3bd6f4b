"""Decide which texts a tokenizer encodes with kernels: long ones, once the setup pays off.

Shorter texts are encoded word by word, with a bounded cache.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, TypeVar
from weakref import WeakSet, WeakValueDictionary

from bpe_core.kernels.compiling.choose import (
    MIN_BYTES_OF_CALL,
    MIN_BYTES_TO_ENCODE,
    compile_in_background,
    kernels_are_ready,
    use_kernels,
    worth_waiting_for,
)
from bpe_core.pretokenizers.pretokenizers import Pretokenizer
from bpe_core.tokenizer.tables import TokenTable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bpe_core.tokenizer.compiled import CompiledEncoder
    from bpe_core.tokenizer.compiled_tables import EncoderTables


_encoders: Final[WeakSet[CompiledEncoder]] = WeakSet()
_lock: Final = Lock()
"""Guards `_encoders`: a set must not grow while it is iterated over."""


Value = TypeVar("Value")

MAX_WORDS: Final = 100_000
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

    def __init__(self, compute: Callable[[str], Value], *, max_words: int = MAX_WORDS) -> None:
        super().__init__()
        self._compute = compute
        self._max_words = max_words
        _all[id(self)] = self

    def __missing__(self, word: str) -> Value:
        value = self._compute(word)
        if len(word) <= _MAX_CHARACTERS:
            if len(self) >= self._max_words:
                self.clear()
            self[word] = value
        return value


_all: Final[WeakValueDictionary[int, WordCache[Any]]] = WeakValueDictionary()


def forget_words() -> None:
    """Free the word caches of all tokenizers, for a server whose visitors have left.

    The kernels' caches and buffers take up to 30 MB for every thread that encodes at once. Those of
    plain Python are small objects, which keep the memory between them from being returned to the
    system. All caches fill again with the next text.
    """
    forget_cached_words()
    with _lock:
        encoders = list(_encoders)
    for encoder in encoders:
        encoder.forget_words()


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
        self._suited = table.complete and table.end_of_word is None
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

    def tables_to_keep(self) -> dict[str, NDArray[Any]]:
        """Return the tables of kernels by name, which are used from now on.

        There are none if the kernels don't support the tokenizer, or are not compiled.
        """
        from bpe_core.tokenizer.compiled import can_compile
        from bpe_core.tokenizer.compiled_tables import build_tables
        from bpe_core.tokenizer.kept_tables import pack_tables, unpack_tables

        if not (kernels_are_ready() and self._suited and can_compile(self._table)):
            return {}
        tables = build_tables(self._table, self._pretokenizer.name)
        packed = pack_tables(tables)
        # With a word cache of its own, so that what is kept stays as it is.
        self._encoder = self._made(unpack_tables(packed))
        return packed

    def _prepared(self) -> CompiledEncoder | None:
        from bpe_core.tokenizer.compiled import can_compile
        from bpe_core.tokenizer.kept_tables import kept_tables, unpack_tables

        if self._table.kernel_tables:
            return self._made(unpack_tables(self._table.kernel_tables))
        if self._table.kept_as:
            return self._made(kept_tables(self._table, self._pretokenizer.name))
        self._suited = can_compile(self._table)
        return self._made(None) if self._suited else None

    def _made(self, tables: EncoderTables | None) -> CompiledEncoder:
        from bpe_core.tokenizer.compiled import CompiledEncoder

        encoder = CompiledEncoder(self._table, self._pretokenizer, tables)
        with _lock:
            _encoders.add(encoder)
        return encoder


def forget_cached_words() -> None:
    """Clear every word cache; they fill again with the next text."""
    for reference in _all.valuerefs():  # a copy, because other threads may make caches
        cache = reference()
        if cache is not None:
            cache.clear()
