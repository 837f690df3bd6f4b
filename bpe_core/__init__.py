"""Byte-Pair Encoding: train, encode, explain and compare, exactly.

>>> import bpe_core as bpe
>>> run = bpe.train(bpe.Corpus.from_text("hug hugs hugging"), bpe.TrainingConfig(vocab_size=260))
>>> [run.tokenizer.vocab[id] for id in run.tokenizer.encode("a hug")]
[b'a', b' hug']

Each name loads its module on first use, so `import bpe_core` itself is fast.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bpe_core.errors import (
    ArgumentTypeError,
    BpeError,
    ChatTemplateError,
    ConfigError,
    CorpusError,
    EmptyCorpusError,
    FormatError,
    IntegrityError,
    InvalidTextError,
    InvalidTokenIdError,
    MemoryLimitError,
    MissingExtraError,
    MissingFileError,
    NewerFormatError,
    NoEntryError,
    NotKeptError,
    NotPermittedError,
    OutOfRangeError,
    PatternError,
    PatternTimeoutError,
    ProcessError,
    SearchError,
    StoreError,
    TextDecodingError,
    TimeLimitError,
    TokenizationError,
    UnavailableError,
    UnforeseenError,
    UnknownSymbolError,
    UnsupportedFileError,
    VocabularyTooSmallError,
)
from bpe_core.lazy import lazy_exports

if TYPE_CHECKING:
    from bpe_core.adapting import extend, replace, shrink
    from bpe_core.comparison import (
        Comparison,
        ModelBits,
        Parity,
        Structure,
        bits_per_byte,
        compare,
        dead_tokens,
        gini,
        parity,
        renyi,
        structure,
    )
    from bpe_core.corpus import (
        Corpus,
        CountsSummary,
        WordCounts,
        count_words,
        merge_counts,
        read_corpus,
        read_counts,
        write_counts,
    )
    from bpe_core.diagnosis import Checkup, Diff, Finding, check, diff
    from bpe_core.experiments import Experiment, experiment
    from bpe_core.formats import (
        fetch,
        from_huggingface,
        from_tiktoken,
        load,
        load_run,
        open_encoder,
        save,
        save_run,
    )
    from bpe_core.models import FittedRows, Undertrained, fit_rows, undertrained
    from bpe_core.pretokenizers import Pretokenizer, get_pretokenizer
    from bpe_core.tokenizer import (
        Encoder,
        Explanation,
        Tokenizer,
        UnstableEnd,
        encode_by,
        gpt2,
        unstable_end,
    )
    from bpe_core.trainers import (
        MergeTrace,
        PairCount,
        SampleFigures,
        TermCost,
        TrainingRun,
        sample_check,
        train,
        train_parity,
    )
    from bpe_core.types import (
        Characters,
        Merge,
        Segment,
        TrainingConfig,
        TrainingProgress,
    )
    from bpe_core.vocabulary import Mixture, mixture
    from bpe_scale import count_files, encode_corpus
else:
    __getattr__, _ = lazy_exports(__name__, __file__)

__version__ = "0.1.0"

__all__ = [
    "ArgumentTypeError",
    "BpeError",
    "Characters",
    "ChatTemplateError",
    "Checkup",
    "Comparison",
    "ConfigError",
    "Corpus",
    "CorpusError",
    "CountsSummary",
    "Diff",
    "EmptyCorpusError",
    "Encoder",
    "Experiment",
    "Explanation",
    "Finding",
    "FittedRows",
    "FormatError",
    "IntegrityError",
    "InvalidTextError",
    "InvalidTokenIdError",
    "MemoryLimitError",
    "Merge",
    "MergeTrace",
    "MissingExtraError",
    "MissingFileError",
    "Mixture",
    "ModelBits",
    "NewerFormatError",
    "NoEntryError",
    "NotKeptError",
    "NotPermittedError",
    "OutOfRangeError",
    "PairCount",
    "Parity",
    "PatternError",
    "PatternTimeoutError",
    "Pretokenizer",
    "ProcessError",
    "SampleFigures",
    "SearchError",
    "Segment",
    "StoreError",
    "Structure",
    "TermCost",
    "TextDecodingError",
    "TimeLimitError",
    "TokenizationError",
    "Tokenizer",
    "TrainingConfig",
    "TrainingProgress",
    "TrainingRun",
    "UnavailableError",
    "Undertrained",
    "UnforeseenError",
    "UnknownSymbolError",
    "UnstableEnd",
    "UnsupportedFileError",
    "VocabularyTooSmallError",
    "WordCounts",
    "bits_per_byte",
    "check",
    "compare",
    "count_files",
    "count_words",
    "dead_tokens",
    "diff",
    "encode_by",
    "encode_corpus",
    "experiment",
    "extend",
    "fetch",
    "fit_rows",
    "from_huggingface",
    "from_tiktoken",
    "get_pretokenizer",
    "gini",
    "gpt2",
    "load",
    "load_run",
    "merge_counts",
    "mixture",
    "open_encoder",
    "parity",
    "read_corpus",
    "read_counts",
    "renyi",
    "replace",
    "sample_check",
    "save",
    "save_run",
    "shrink",
    "structure",
    "train",
    "train_parity",
    "undertrained",
    "unstable_end",
    "write_counts",
]


def __dir__() -> list[str]:
    return sorted(__all__)
