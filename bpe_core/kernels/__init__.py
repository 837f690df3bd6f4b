"""The hot loops, compiled by Numba to a library.

In: arrays of bytes, ids and counts. Out: arrays. Kernels depend only on NumPy and Numba;
`corpus.count_compiled`, `trainers.compiled` and `tokenizer.compiled` call them.

Start with `scanning`, then `merging` and `encoding`. `compiling` has the decorators, compiles the
kernels, loads them and decides when to use them. Each kernel has a twin in plain Python that
specifies it: `trainers.reference` for training and encoding, `pretokenizers` for the scanners.
Callers take one value that holds all arrays: `learning` of a training, `word_counter` of counted
words, `block_encoder` of a tokenizer. `for_callers` helps with arrays and threads.

Conventions that make all kernels compile well, and once for one set of types: int32 ids, unsigned
byte offsets in the innermost loops (no wrap-around check), no slice assignments, no literals as
arguments.
"""

from typing import TYPE_CHECKING

from bpe_core.lazy import lazy_exports

# pyright: reportUnusedImport=false
if TYPE_CHECKING:
    from bpe_core.kernels import for_callers, mask_scanning, token_bytes, word_cache
    from bpe_core.kernels.block_encoder import BlockEncoder, Encoded
    from bpe_core.kernels.compiling.choose import (
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
    from bpe_core.kernels.counting import safe_split
    from bpe_core.kernels.encoder_tables import EncoderTables
    from bpe_core.kernels.for_callers import caller_sizes, longer, n_threads, together
    from bpe_core.kernels.garbage import without_garbage_collection
    from bpe_core.kernels.hashing import EMPTY
    from bpe_core.kernels.learning import PairLearning, ParityLearning, Words
    from bpe_core.kernels.ngrams import NgramModel
    from bpe_core.kernels.picky_learning import PickyLearning
    from bpe_core.kernels.row import BETWEEN, MISSING
    from bpe_core.kernels.scanning import Block, Scanner
    from bpe_core.kernels.word_counter import WordCounter, WordLetters
else:
    __getattr__, __dir__ = lazy_exports(__name__, __file__)
