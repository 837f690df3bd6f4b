"""Byte-Pair Encoding: train, encode, explain and compare, exactly.

>>> import bpe_core as bpe
>>> run = bpe.train(bpe.Corpus.from_text("hug hugs hugging"), bpe.TrainingConfig(vocab_size=260))
>>> [run.tokenizer.vocab[id] for id in run.tokenizer.encode("a hug")]
[b'a', b' hug']

Each name loads its module on first use, so `import bpe_core` itself is fast.
"""

from __future__ import annotations

from importlib import import_module
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

if TYPE_CHECKING:
    from bpe_core.adapting.extend import extend
    from bpe_core.adapting.replace import replace
    from bpe_core.adapting.shrink import shrink
    from bpe_core.comparison.comparison import Comparison, compare
    from bpe_core.comparison.languages import Parity, parity
    from bpe_core.comparison.metrics import gini
    from bpe_core.corpus.corpus import Corpus
    from bpe_core.corpus.read_corpus import read_corpus
    from bpe_core.counting.count_files import count_files
    from bpe_core.counting.counts_cut import count_words
    from bpe_core.counting.counts_file import (
        CountsSummary,
        WordCounts,
        merge_counts,
        read_counts,
        write_counts,
    )
    from bpe_core.formats.load_save import from_huggingface, load, save
    from bpe_core.formats.opening.open_encoder import open_encoder
    from bpe_core.formats.run_archive import load_run, save_run
    from bpe_core.formats.tiktoken_file import from_tiktoken
    from bpe_core.pretokenizers.pretokenizers import Pretokenizer, get_pretokenizer
    from bpe_core.published.fetch import fetch
    from bpe_core.runs.continuation import TermCost
    from bpe_core.runs.run import TrainingRun
    from bpe_core.runs.sample_check import SampleFigures, sample_check
    from bpe_core.runs.train import train
    from bpe_core.tokenizer.gpt2 import gpt2
    from bpe_core.tokenizer.protocol import Encoder
    from bpe_core.tokenizer.tokenizer import Tokenizer
    from bpe_core.training_data.encode_corpus import encode_corpus
    from bpe_core.types import (
        Explanation,
        Merge,
        MergeTrace,
        PairCount,
        Segment,
        TrainingConfig,
        TrainingProgress,
    )

__version__ = "0.1.0"

__all__ = [
    "ArgumentTypeError",
    "BpeError",
    "ChatTemplateError",
    "Comparison",
    "ConfigError",
    "Corpus",
    "CorpusError",
    "CountsSummary",
    "EmptyCorpusError",
    "Encoder",
    "Explanation",
    "FormatError",
    "IntegrityError",
    "InvalidTextError",
    "InvalidTokenIdError",
    "MemoryLimitError",
    "Merge",
    "MergeTrace",
    "MissingExtraError",
    "MissingFileError",
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
    "TermCost",
    "TextDecodingError",
    "TimeLimitError",
    "TokenizationError",
    "Tokenizer",
    "TrainingConfig",
    "TrainingProgress",
    "TrainingRun",
    "UnavailableError",
    "UnforeseenError",
    "UnknownSymbolError",
    "UnsupportedFileError",
    "VocabularyTooSmallError",
    "WordCounts",
    "compare",
    "count_files",
    "count_words",
    "encode_corpus",
    "extend",
    "fetch",
    "from_huggingface",
    "from_tiktoken",
    "get_pretokenizer",
    "gini",
    "gpt2",
    "load",
    "load_run",
    "merge_counts",
    "open_encoder",
    "parity",
    "read_corpus",
    "read_counts",
    "replace",
    "sample_check",
    "save",
    "save_run",
    "shrink",
    "train",
    "write_counts",
]

_MODULES = {
    "adapting.extend": ("extend",),
    "adapting.replace": ("replace",),
    "adapting.shrink": ("shrink",),
    "comparison.comparison": ("Comparison", "compare"),
    "comparison.languages": ("Parity", "parity"),
    "comparison.metrics": ("gini",),
    "corpus.corpus": ("Corpus",),
    "corpus.read_corpus": ("read_corpus",),
    "counting.counts_cut": ("count_words",),
    "counting.counts_file": (
        "CountsSummary",
        "WordCounts",
        "merge_counts",
        "read_counts",
        "write_counts",
    ),
    "formats.load_save": ("from_huggingface", "load", "save"),
    "formats.opening.open_encoder": ("open_encoder",),
    "formats.run_archive": ("load_run", "save_run"),
    "formats.tiktoken_file": ("from_tiktoken",),
    "pretokenizers.pretokenizers": ("Pretokenizer", "get_pretokenizer"),
    "published.fetch": ("fetch",),
    "runs.run": ("TrainingRun",),
    "runs.sample_check": ("SampleFigures", "sample_check"),
    "runs.continuation": ("TermCost",),
    "runs.train": ("train",),
    "counting.count_files": ("count_files",),
    "tokenizer.gpt2": ("gpt2",),
    "tokenizer.protocol": ("Encoder",),
    "training_data.encode_corpus": ("encode_corpus",),
    "tokenizer.tokenizer": ("Tokenizer",),
    "types": (
        "Explanation",
        "Merge",
        "MergeTrace",
        "PairCount",
        "Segment",
        "TrainingConfig",
        "TrainingProgress",
    ),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> object:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
