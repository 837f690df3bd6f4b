"""Once the kernels are compiled, training, encoding and counting never wait for the compiler."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.new_process import run_python, run_without_compilation

WORK = """
import sys
import numpy as np
from bpe_core.trainers.by_language import train_parity
from bpe_core.comparison.model_bits import bits_per_byte
from bpe_core.trainers.base_vocabulary import GrowingVocabulary
from bpe_core.corpus.corpus import Corpus
from bpe_core.corpus.count_compiled import count_documents, count_sections
from bpe_core.formats.listed_merges import recover_merges
from bpe_core.tokenizer.compiled import CompiledEncoder
from bpe_core.formats.token_parts import number_merges
from bpe_core.pretokenizers.scanners import SCANNERS
from bpe_core.kernels import learning
from bpe_core.trainers import compiled
from bpe_core.corpus.word_row import Layout
from bpe_core.tokenizer.steps import IsolatingPretokenizer
from bpe_core.pretokenizers.pretokenizers import get_pretokenizer
from bpe_core.trainers.training import train
from bpe_core.types import TrainingConfig

text = " ".join(f"{number:x} é日{number}" for number in range(30_000)) + "a" * 20_000
# More pairs of bytes than the first table of counts has room for.
text += " ".join(chr(0x4E00 + number) for number in range(9_000))
names = [*SCANNERS, "regex:[0-9]"]
for name in names:
    count_documents([text, text], get_pretokenizer(name))
gpt2 = get_pretokenizer("gpt2")
pretokens = count_sections(gpt2.sections([[text.encode()], [text]]), gpt2, None, 3, 1 << 16)
for rule in ("smallest-pair", "first-seen"):
    config = TrainingConfig(3_000, special_tokens=(), tie_break=rule, max_token_bytes=9)
    vocabulary = GrowingVocabulary(config, ())
    layout = Layout.of_symbols(pretokens, "bytes", vocabulary.base_ids)
    assert len(compiled.learn_merges(layout, vocabulary, config, lambda *_: False).merges) > 2_000
tokenizer = train(Corpus.from_text(text), TrainingConfig(3_000)).tokenizer
of_characters = TrainingConfig(
    3_000, pretokenizer="metaspace", base="characters", byte_fallback=True, character_coverage=0.97
)
assert train(Corpus.from_text(text), of_characters).merges
for name in names:
    encoder = CompiledEncoder(tokenizer.table, get_pretokenizer(name))
    for n_threads in (1, 3):
        ids = encoder.encode(text, n_threads)
        encoder.encode(text, n_threads, left_out=b"7")
        encoder.encode_batch([text, "", "a", "b" * 40_000], n_threads)
    encoder.encode_words([text[:9_000].encode()])
    unaligned = np.frombuffer(b"?" + ids.tobytes(), np.int32, offset=1)
    for some in (ids, ids.tolist(), ids.astype(np.int64), ids[::2], unaligned):
        encoder.decode(some)
CompiledEncoder(tokenizer.table, IsolatingPretokenizer("gpt2", {"é日": 5})).encode(text)
tokens = [b"%0*x" % (n, i) for n in (1, 2, 3, 4) for i in range(0, 16**n, 1 + 6 * (n > 3))]
recover_merges({token: rank for rank, token in enumerate(tokens)})
listed = number_merges({"a": 0, "b": 1, "ab": 2}, [("a", "b")] * 20_000)
assert listed.shape == (20_000, 3)
# The words of a half that the other half lacks fill the model's table, so it is moved and pruned.
assert bits_per_byte(tokenizer, [text[:90_000]], [text[90_000:180_000]], max_entries=4_096).floor
halves = {"a": [text[:90_000]], "b": [text[90_000:]]}
train_parity(halves, TrainingConfig(300), window=5, hybrid_merges=9)
assert train(Corpus.from_text(text), TrainingConfig(400, picky=0.6)).tokenizer.table.removals
learning._MANY_PAIRS = 1  # as in a text with millions of them
assert train(Corpus.from_text(text), TrainingConfig(400, superwords_from=300)).merges
print(sorted({"numba", "llvmlite"} & set(sys.modules)))
"""

# A kernel that Numba compiles during a call counts as a cache miss.
COMPILED_BY_NUMBA = """
from bpe_core.kernels.compiling.decorate import all_kernels

found = {kernel.full_name: kernel.by_numba().stats for kernel in all_kernels()}
print(len(found) > 10, [name for name, stats in found.items() if not stats.cache_hits])
print([name for name, stats in found.items() if stats.cache_misses])
"""
BROKEN = """
import sys
class Broken:
    def find_spec(self, name, path, target=None):
        if name == "bpe_core.kernels.compiling.build":
            import numba.np.arrayobj
            del numba.np.arrayobj.populate_array
sys.meta_path.insert(0, Broken())
"""
COMPILE = "from bpe_core.kernels.compiling.choose import compile_or_report; compile_or_report()"


@pytest.mark.slow
def test_training_and_encoding_import_no_compiler() -> None:
    run_python(COMPILE)
    assert run_python(WORK) == "[]\n"


@pytest.mark.slow
@pytest.mark.more(why="half a minute of compiling; test_compiling takes the same road faster")
def test_kernels_are_as_exact_when_numbas_internals_have_changed(tmp_path: Path) -> None:
    # A Numba that lacks what the library is built with.
    (tmp_path / "sitecustomize.py").write_text(BROKEN, encoding="utf-8")
    environment = {"PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path)}
    run_python(COMPILE, environment)
    assert [path.suffix for path in tmp_path.glob("kernels-*")] == [".numba"]
    compare = """
from bpe_core.kernels.compiling import load
from tests.kernels_alike import compare
compare()
print(load.find_library())
"""
    # Numba's cache has each kernel for the argument types of real work.
    printed = run_python(WORK + COMPILED_BY_NUMBA + compare, environment)
    assert printed == "['llvmlite', 'numba']\nTrue []\n[]\nNone\n"


def test_what_is_compiled_warns_of_nothing_in_any_thread() -> None:
    # NumPy warns of the overflow that hashing relies on; `errstate` only affects its own thread.
    printed = run_without_compilation("""
import warnings
from importlib import import_module

import numpy as np

from bpe_core.kernels.compiling.decorate import CALLERS

warnings.simplefilter("error")
with np.errstate(all="ignore"):
    for name in CALLERS:
        import_module(name).compile_all()
print("no warning")
""")
    assert printed == "no warning\n"
