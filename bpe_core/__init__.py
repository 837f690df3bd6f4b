"""Byte-Pair Encoding: train, encode, explain and compare, exactly.

>>> import bpe_core as bpe
>>> run = bpe.train(bpe.Corpus.from_text("hug hugs hugging"), bpe.TrainingConfig(vocab_size=260))
>>> [run.tokenizer.vocab[id] for id in run.tokenizer.encode("a hug")]
[b'a', b' hug']

The names load their modules when they are first used, so `import bpe_core` costs next to nothing.
`gpt2` alone is here from the start: a function loaded later would be hidden by its module's name.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from bpe_core.gpt2 import gpt2

if TYPE_CHECKING:
    from bpe_core.adapters import from_huggingface, from_tiktoken
    from bpe_core.comparison import Comparison, compare
    from bpe_core.corpus import Corpus, read_corpus
    from bpe_core.errors import BpeError
    from bpe_core.formats import load, save
    from bpe_core.pretokenizers import Pretokenizer, get_pretokenizer
    from bpe_core.tokenizer import Tokenizer
    from bpe_core.training import TrainingRun, train
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
    "BpeError",
    "Comparison",
    "Corpus",
    "Explanation",
    "Merge",
    "MergeTrace",
    "PairCount",
    "Pretokenizer",
    "Segment",
    "Tokenizer",
    "TrainingConfig",
    "TrainingProgress",
    "TrainingRun",
    "compare",
    "from_huggingface",
    "from_tiktoken",
    "get_pretokenizer",
    "gpt2",
    "load",
    "read_corpus",
    "save",
    "train",
]

_MODULES = {
    "adapters": ("from_huggingface", "from_tiktoken"),
    "comparison": ("Comparison", "compare"),
    "corpus": ("Corpus", "read_corpus"),
    "errors": ("BpeError",),
    "formats": ("load", "save"),
    "pretokenizers": ("Pretokenizer", "get_pretokenizer"),
    "tokenizer": ("Tokenizer",),
    "training": ("TrainingRun", "train"),
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
