"""Encode documents with one tool: `python -m benchmarks.one_tool TOOL TOKENIZER CORPUS SIZE`.

The process has one core and no other tool in it, as a person's has. It opens the tokenizer, encodes
a first text, then each document once, then all of them again. With one core, processor time is what
a person waits, and other processes change it less.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.report import middle

MAX_BATCHED = 10_000
"""Documents of up to this many characters are encoded in one batch, as far as the tool can."""
FIRST = 100_000
"""The characters of the corpus that are encoded first, and are in none of the documents."""
ROUNDS_AGAIN = 3
MAX_SECONDS_AGAIN = 1.0
"""A tool that takes longer encodes the text again only once."""

Ids = Sequence[int] | np.ndarray[Any, Any]
Tool = tuple[Callable[[str], Ids], Callable[[list[str]], Iterable[Any]] | None]
"""Encode one document; encode a batch, if the tool can."""


def open_tool(tool: str, path: Path) -> Tool:
    """Open a tokenizer.json with a tool."""
    if tool == "bpe_core":
        from bpe_core.formats import load
        from bpe_core.tokenizer import CompiledEncoder

        tokenizer = load(path)
        encoder = CompiledEncoder(tokenizer.table, tokenizer.pretokenizer)
        return lambda text: encoder.encode(text, 1), lambda texts: encoder.encode_batch(texts, 1)
    if tool == "gigatoken":
        import gigatoken  # pyright: ignore[reportMissingImports]

        giga: Any = gigatoken.Tokenizer.from_json(path.read_text())
        return giga.encode, lambda texts: giga.encode_batch(texts, parallel=False)
    if tool == "fastokens":
        import fastokens  # pyright: ignore[reportMissingImports]

        fast: Any = fastokens.Tokenizer.from_file(str(path))
        return lambda text: fast.encode_ordinary(text).ids, fast.encode_batch_flat
    if tool == "tokie":
        import tokie  # pyright: ignore[reportMissingImports]

        toki: Any = tokie.Tokenizer.from_json(str(path))
        return lambda text: toki.encode(text, add_special_tokens=False).ids, None
    if tool == "tuetoken":
        import tuetoken  # pyright: ignore[reportMissingImports]

        return tuetoken.Tokenizer(str(path)).encode_ordinary, None
    if tool == "tokenizers":
        from tokenizers import Tokenizer

        opened = Tokenizer.from_file(str(path))
        return lambda text: opened.encode(text, add_special_tokens=False).ids, None
    return _tiktoken(path), None


def _tiktoken(path: Path) -> Callable[[str], Ids]:
    import tiktoken

    from bpe_core.formats import load

    tokenizer = load(path)
    special = set(tokenizer.special_tokens.values())
    ranks = {token: id for id, token in tokenizer.vocab.items() if id not in special}
    encoding = tiktoken.Encoding(
        path.stem,
        pat_str=tokenizer.pretokenizer.pattern or "",
        mergeable_ranks=ranks,
        special_tokens={},
    )
    return lambda text: encoding.encode_to_numpy(text, disallowed_special=())


def main(tool: str, path: Path, corpus: Path, size: int) -> None:
    """Print the seconds of the first call, of new text and of the same again; a hash of the ids."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    text = corpus.read_bytes().decode()
    first, text = text[:FIRST], text[FIRST:]
    documents = [text[i : i + size] for i in range(0, len(text), size)]
    started = time.process_time()
    encode, encode_batch = open_tool(tool, path)

    def encode_all(texts: list[str]) -> None:
        if encode_batch is not None and size <= MAX_BATCHED:
            encode_batch(texts)
        else:
            for text in texts:
                encode(text)

    def seconds_of_all() -> float:
        # New strings each time: some tools keep what they encode of a string in it.
        given = [document.encode().decode() for document in documents]
        started = time.process_time()
        encode_all(given)
        return time.process_time() - started

    encode_all([first])
    first_call = time.process_time() - started
    once = seconds_of_all()
    rounds = ROUNDS_AGAIN if once < MAX_SECONDS_AGAIN else 1
    again = middle([seconds_of_all() for _ in range(rounds)])
    ids = hashlib.sha256()
    for document in documents:
        ids.update(np.asarray(encode(document), np.int32).tobytes())
    found = {"first": first_call, "once": once, "again": again}
    print(json.dumps(found | {"ids": ids.hexdigest()}))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4]))
