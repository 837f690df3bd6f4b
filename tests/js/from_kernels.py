"""Print calls of all kernels, with their arguments before and after, for the test of WebAssembly.

`python -m tests.js.from_kernels` prints each array once, and for each call the numbers of its
arrays. The calls are those by which the kernels are compiled, which are small, and some of a
training, of encoding and of decoding.
"""

from __future__ import annotations

import base64
import json
import sys
import zlib
from collections import Counter
from collections.abc import Callable
from importlib import import_module
from typing import Any, Final

import numpy as np

import bpe_core as bpe
from bpe_core.corpus import load_sample
from bpe_core.kernels.compiling.choose import compile_kernels
from bpe_core.kernels.compiling.decorate import CALLERS, CompiledKernel, all_kernels
from bpe_core.kernels.compiling.load import Library, find_compiled

N_CALLS: Final = 5  # of each kernel in each training

arrays: list[list[Any]] = []
calls: list[dict[str, Any]] = []
places: dict[tuple[str, bytes], int] = {}
n_recorded = Counter[str]()


def main() -> None:
    compile_kernels()
    library = find_compiled()
    assert isinstance(library, Library)
    for kernel in all_kernels():
        kernel.replace(_recorder(kernel, library))
    for name in CALLERS:
        import_module(name).compile_all()
    texts = [*load_sample("alice").documents, *load_sample("multilingual").documents]
    for pretokenizer in ("gpt2", "o200k", "whitespace"):
        n_recorded.clear()
        run = bpe.train(texts, vocab_size=1000, pretokenizer=pretokenizer, min_frequency=2)
        ids = run.tokenizer.encode_to_numpy("".join(texts) * 2)
        run.tokenizer.decode_bytes(ids)
    bpe.train(
        texts, vocab_size=1500, base="characters", byte_fallback=True, pretokenizer="metaspace"
    )
    bpe.train(texts, vocab_size=1000, base="characters", tie_break="first-seen")
    json.dump({"arrays": arrays, "calls": calls}, sys.stdout)


def _recorder(kernel: CompiledKernel, library: Library) -> Callable[..., Any]:
    name = kernel.full_name
    call = library.entry_point(name, otherwise=kernel.by_numba)
    assert call is not None
    code = kernel.py_func.__code__
    names = code.co_varnames[: code.co_argcount]

    def recorded(*given: Any) -> Any:
        if n_recorded[name] == N_CALLS:
            return call(*given)
        n_recorded[name] += 1
        before = {of: _stored(value) for of, value in zip(names, given, strict=True)}
        result = call(*given)
        after = {of: _stored(value) for of, value in zip(names, given, strict=True)}
        results = result if isinstance(result, tuple) else [] if result is None else [result]
        calls.append(
            {
                "kernel": name.removeprefix("bpe_core.kernels."),
                "before": before,
                "after": after,
                "results": [*map(int, results)],
            }
        )
        return result

    return recorded


def _stored(value: Any) -> Any:
    """Return a number, the number of an array in a list, or a group of these by their names."""
    if isinstance(value, tuple):
        return {name: _stored(each) for name, each in value._asdict().items()}  # pyright: ignore
    if not isinstance(value, np.ndarray):
        return int(value)
    data = value.tobytes()
    key = f"{value.dtype.name} {value.shape}", data
    if key not in places:
        places[key] = len(arrays)
        packed = base64.b64encode(zlib.compress(data, 1)).decode()
        arrays.append([value.dtype.name, value.shape, packed])
    return [places[key]]


if __name__ == "__main__":
    main()
