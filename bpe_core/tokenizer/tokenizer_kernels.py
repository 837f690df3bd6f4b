"""Decide which texts a tokenizer encodes with kernels: long ones, once the setup pays off."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any

from bpe_core.kernels import (
    MIN_BYTES_OF_CALL,
    MIN_BYTES_TO_ENCODE,
    compile_in_background,
    kernels_are_ready,
    use_kernels,
    worth_waiting_for,
)
from bpe_core.pretokenizers import Pretokenizer
from bpe_core.tokenizer.tables import TokenTable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bpe_core.tokenizer.compiled import CompiledEncoder


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
        from bpe_core.tokenizer.compiled import CompiledEncoder, can_compile
        from bpe_core.tokenizer.compiled_tables import build_tables, pack_tables, unpack_tables

        if not (kernels_are_ready() and self._suited and can_compile(self._table)):
            return {}
        tables = build_tables(self._table, self._pretokenizer.cut)
        packed = pack_tables(tables)
        # With a word cache of its own, so that what is kept stays as it is.
        tables = unpack_tables(packed)
        self._encoder = CompiledEncoder(self._table, self._pretokenizer, tables)
        return packed

    def _prepared(self) -> CompiledEncoder | None:
        from bpe_core.tokenizer.compiled import CompiledEncoder, can_compile
        from bpe_core.tokenizer.compiled_tables import kept_tables, unpack_tables

        table, tables = self._table, None
        if table.kernel_tables:
            tables = unpack_tables(table.kernel_tables)
        elif table.kept_as:
            tables = kept_tables(table, self._pretokenizer.cut)
        self._suited = tables is not None or can_compile(table)
        return CompiledEncoder(table, self._pretokenizer, tables) if self._suited else None
