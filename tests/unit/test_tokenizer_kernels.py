"""A tokenizer loads the kernels for long texts, if they are compiled, with the same result."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

import bpe_core as bpe
from bpe_core.kernels import compile_kernels, n_threads
from bpe_core.tokenizer import CompiledEncoder, Kernels, TextEncoder, TokenTable, forget_words
from bpe_core.tokenizer.encoding import MIN_BYTES_OF_CALL
from tests.new_process import run_python


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    compile_kernels()


def modules_after(code: str, **environment: str) -> set[str]:
    """Return the heavy modules that a new process has imported after running some code."""
    printed = run_python(f"{code}\nimport sys; print(*sys.modules)", environment)
    return set(printed.split()) & {"numba", "llvmlite", "bpe_core.tokenizer.compiled"}


@pytest.mark.slow
def test_a_text_faster_in_plain_python_does_not_load_the_kernels() -> None:
    code = "from bpe_core import gpt2; gpt2().decode(gpt2().encode('a rose is ' * 15_000))"
    assert modules_after(code) == set()


@pytest.mark.slow
def test_a_long_text_loads_the_kernels_and_no_compiler() -> None:
    code = (
        "from bpe_core.tokenizer.gpt2_tokenizer import gpt2; gpt2().encode('a rose is ' * 20_000)"
    )
    assert modules_after(code) == {"bpe_core.tokenizer.compiled"}


@pytest.mark.slow
def test_many_short_texts_load_the_kernels() -> None:
    code = "from bpe_core import gpt2\nfor _ in range(600): gpt2().encode('a rose is ' * 300)"
    assert modules_after(code) == {"bpe_core.tokenizer.compiled"}


@pytest.mark.slow
def test_encoding_never_waits_for_the_compiler(tmp_path: Path) -> None:
    code = (
        "from bpe_core.tokenizer.gpt2_tokenizer import gpt2; gpt2().encode('a rose is ' * 200_000)"
    )
    assert modules_after(code, NUMBA_CACHE_DIR=str(tmp_path)) == set()


def test_short_texts_and_unsupported_tokenizers_use_plain_python() -> None:
    kernels = Kernels(bpe.gpt2().table, bpe.get_pretokenizer("gpt2"))
    assert kernels.worth(10_000_000) is not None
    assert kernels.worth(MIN_BYTES_OF_CALL - 1) is None
    letters = TokenTable(vocab={0: b"a", 1: b"b"}, merges=[])
    assert Kernels(letters, bpe.get_pretokenizer("gpt2")).worth(10_000_000) is None


def test_threads_that_begin_together_share_the_tables() -> None:
    kernels = Kernels(bpe.gpt2().table, bpe.get_pretokenizer("gpt2"))
    together = Barrier(4)

    def begin(_: int) -> CompiledEncoder | None:
        together.wait()
        return kernels.worth(10_000_000)

    with ThreadPoolExecutor(4) as pool:
        first, *others = pool.map(begin, range(4))
    assert first is not None
    assert all(other is first for other in others)


@pytest.mark.parametrize(("allowed", "threads"), [({3}, 1), ({0, 5}, 2), (set(range(64)), 4)])
def test_there_are_as_many_threads_as_available_processors(
    monkeypatch: pytest.MonkeyPatch, allowed: set[int], threads: int
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: allowed, raising=False)
    assert n_threads() == threads


def test_word_caches_are_freed_for_every_tokenizer_and_fill_again() -> None:
    table, cut = bpe.gpt2().table, bpe.gpt2().pretokenizer
    encoders = [TextEncoder(table, cut, Kernels(table, cut)) for _ in range(2)]
    text = "a rose is a rose " * 20_000
    for each in encoders:
        encoder = each.kernels.worth(len(text))
        assert encoder is not None
        ids = encoder.encode(text).tolist()
        filled = len(encoder.kernels._workers)
        forget_words()
        assert (filled > 0, len(encoder.kernels._workers)) == (True, 0)
        assert encoder.encode(text).tolist() == ids


def test_word_caches_of_plain_python_are_cleared_too() -> None:
    encoder = bpe.gpt2()._encoder
    ids = bpe.gpt2().encode("unbelievably unforgettable")
    assert encoder.word_ids
    forget_words()
    assert not encoder.word_ids
    assert bpe.gpt2().encode("unbelievably unforgettable") == ids
