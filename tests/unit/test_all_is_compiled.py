"""Once the kernels are compiled, training, encoding and counting never wait for the compiler."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bpe_core.compiling.processes import compile_kernels

ROOT = Path(__file__).parents[2]

KERNELS = """
from importlib import import_module
from pkgutil import iter_modules
from bpe_core import kernels
from bpe_core.compiling.modules_to_compile import SHARES

found = {}
for module in iter_modules(kernels.__path__):
    for name, value in vars(import_module(f"bpe_core.kernels.{module.name}")).items():
        # What is a part of other kernels is compiled and kept with them.
        if hasattr(value, "signatures") and not value.targetoptions.get("no_cpython_wrapper"):
            found[value.__module__, name] = value
for share in SHARES:
    for name in share:
        import_module(name).compile_all()
compiled = {name: set(kernel.signatures) for name, kernel in found.items()}
"""

WORK = """
import numpy as np
from bpe_core.trainers.base_vocabulary import GrowingVocabulary
from bpe_core.corpus.corpus import Corpus
from bpe_core.counting.compiled import WordCounter, count_documents
from bpe_core.pretokenizers.blocks import blocks
from bpe_core.tokenizer.compiled import CompiledEncoder
from bpe_core.pretokenizers.scanners import SCANNERS
from bpe_core.trainers.compiled import learn_merges
from bpe_core.counting.word_row import lay_out_pretokens
from bpe_core.pretokenizers.pretokenizers import get_pretokenizer
from bpe_core.runs.train import train
from bpe_core.types import TrainingConfig

text = " ".join(f"{number:x} é日{number}" for number in range(30_000)) + "a" * 20_000
names = [*SCANNERS, "regex:[0-9]"]
for name in names:
    count_documents([text, text], get_pretokenizer(name))
counter = WordCounter(get_pretokenizer("gpt2"), n_threads=3)
for block in blocks([[text.encode()], [text]], get_pretokenizer("gpt2"), block_bytes=1 << 16):
    counter.add(block)
pretokens = counter.result()
for rule in ("smallest-pair", "first-seen"):
    config = TrainingConfig(3_000, special_tokens=(), tie_break=rule, max_token_bytes=9)
    vocabulary = GrowingVocabulary(config, ())
    layout = lay_out_pretokens(pretokens, "bytes", vocabulary.base_ids)
    assert len(learn_merges(layout, vocabulary, config, lambda *_: False).merges) > 2_000
tokenizer = train(Corpus.from_text(text), TrainingConfig(3_000)).tokenizer
for name in names:
    encoder = CompiledEncoder(tokenizer._table, get_pretokenizer(name))
    for n_threads in (1, 3):
        ids = encoder.encode(text, n_threads)
        encoder.encode_batch([text, "", "a", "b" * 40_000], n_threads)
    for some in (ids, ids.tolist(), ids.astype(np.int64), ids[::2]):
        encoder.decode(some)
print([name for name, kernel in found.items() if set(kernel.signatures) != compiled[name]])
"""


def output_of(code: str) -> str:
    """Return the output of a new process that finds the kernels compiled."""
    compile_kernels()
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.mark.slow
def test_every_kernel_is_compiled() -> None:
    asked = "print(len(found) > 10, [name for name, types in compiled.items() if not types])"
    assert output_of(KERNELS + asked) == "True []\n"


@pytest.mark.slow
def test_each_kernel_is_compiled_for_the_argument_types_of_real_work() -> None:
    assert output_of(KERNELS + WORK) == "[]\n"
