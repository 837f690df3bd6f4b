"""The hot loops, compiled by Numba to a library.

In: arrays of bytes, ids and counts. Out: arrays. Kernels depend only on NumPy and Numba;
`corpus.count_compiled`, `trainers.compiled` and `tokenizer.compiled` call them.

Start with `scanning`, then `merging` and `encoding`. `compiling` has the decorators, compiles the
kernels, loads them and decides when to use them. Each kernel has a twin in plain Python that
specifies it: `trainers.reference` for training and encoding, `pretokenizers` for the scanners.
`for_callers` helps the callers of kernels with arrays and threads.

Conventions that make all kernels compile well, and once for one set of types: int32 ids, unsigned
byte offsets in the innermost loops (no wrap-around check), no slice assignments, no literals as
arguments.
"""

from typing import TYPE_CHECKING

from bpe_core.lazy import lazy_exports

# pyright: reportUnusedImport=false
if TYPE_CHECKING:
    from bpe_core.kernels import (
        added_tokens,
        counting,
        encoding,
        for_callers,
        mask_scanning,
        merging,
        ngrams,
        pairs,
        parity_merging,
        picky_merging,
        token_bytes,
        word_cache,
    )
    from bpe_core.kernels.added_tokens import FIRST_SYMBOL, AddedTokens
    from bpe_core.kernels.compiling.choose import (
        MIN_BYTES_OF_CALL,
        MIN_BYTES_TO_ENCODE,
        PLAIN_PYTHON,
        build_wasm,
        compile_in_background,
        compile_kernels,
        kernels_are_compiled,
        kernels_are_ready,
        lacks_kernels,
        use_kernels,
        wait_for_kernels,
        worth_waiting_for,
    )
    from bpe_core.kernels.compiling.load import (
        KERNELS,
        SHARED,
        compiled_name,
        portable_kind,
        processor,
    )
    from bpe_core.kernels.counting import (
        ENTRY,
        Batch,
        WordTable,
        count_characters,
        list_unwritten,
        list_words_with,
        place_characters,
        place_letters,
    )
    from bpe_core.kernels.encoding import SCAN_UP_TO, EncodingScratch
    from bpe_core.kernels.for_callers import (
        Array,
        aligned_empty,
        aligned_zeros,
        cut_short,
        longer,
        n_threads,
        together,
    )
    from bpe_core.kernels.garbage import without_garbage_collection
    from bpe_core.kernels.hashing import EMPTY
    from bpe_core.kernels.mask_scanning import BEFORE_SPACES
    from bpe_core.kernels.merging import MergeLog, MergeScratch, Rule, Spelled
    from bpe_core.kernels.ngrams import BEGIN, DISCOUNT, MAX_SYMBOL, NgramCounts
    from bpe_core.kernels.pairs import CELLS, END, NEXT_SLOT, NEXT_WORD
    from bpe_core.kernels.parity_merging import Heaps, Languages, ParityLog, Texts, Turns
    from bpe_core.kernels.picky_merging import PickyLog, PickyRow, PickyScratch, PickyTokens
    from bpe_core.kernels.row import BETWEEN, ENTRIES, MISSING, PAIRS, SLOTS, PairIndex, Row, Tokens
    from bpe_core.kernels.scanning import Scanner
    from bpe_core.kernels.token_bytes import NOT_IN_ROW, ROW, Spelling
    from bpe_core.kernels.word_cache import (
        ID_BITS,
        LONG_WORD,
        NARROW_ROW,
        ROOM,
        SLACK,
        WORD_ROW,
        CachedWords,
        NewWords,
        WholeWords,
    )
    from bpe_core.kernels.word_merging import PAIR_ROW, SYMBOL_BITS, MergeTable, TrieArrays
else:
    __getattr__, __dir__ = lazy_exports(__name__, __file__)
