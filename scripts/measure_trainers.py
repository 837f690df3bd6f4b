"""Measure every way to train on one text, for docs/trainers.md.

Run: python -m scripts.measure_trainers

Each trainer runs in a process of its own, so that memory is its own too.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from benchmarks import corpora
from benchmarks.peak_memory import peak_megabytes
from benchmarks.report import table
from bpe_core.corpus import Corpus
from bpe_core.trainers import train

MEGABYTES: Final = 100
VOCAB_SIZE: Final = 32_000
HELD_OUT: Final = 50
"""One document of so many is held out."""
_PACKAGE: Final = Path(__file__).parents[1] / "bpe_core"
TRAINERS: Final[dict[str, tuple[dict[str, Any], tuple[str, ...]]]] = {
    "plain BPE": ({}, ()),
    "weights": ({}, ()),
    "digits from the right": ({"pretokenizer": "digits-from-right"}, ()),
    "seeds and vetoes": ({"seeds": ["cmpxchg"], "vetoes": ["regex:[0-9]"]}, ("pair_rules",)),
    "whole characters": ({"whole_characters": True}, ("pair_rules",)),
    "superwords from 16,000": ({"superwords_from": 16_000}, ("pair_rules", "superwords")),
    "PickyBPE, 0.9": ({"picky": 0.9}, ("picky",)),
    "parity between two halves": ({"parity": True}, ("parity",)),
}
"""The settings of each, and the modules of `trainers` that only such settings need."""


def side_by_side(folder: Path | None) -> list[str]:
    """Train in every way on the same text, each next to plain BPE."""
    rows: list[list[str]] = []
    sample = corpora.mixed(MEGABYTES * 1_000_000, folder)
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
        json.dump(sample.documents, file)
        file.flush()
        for name, (_, modules) in TRAINERS.items():
            measured, plain = _in_process(name, file.name), _in_process("plain BPE", file.name)
            rows.append(
                [
                    name,
                    f"{measured['user']:.1f} s",
                    f"{measured['user'] / plain['user']:.1f}",
                    f"{measured['system']:.1f} s",
                    f"{measured['megabytes']:,.0f} MB",
                    f"{measured['bytes_per_token']:.3f}",
                    str(sum(map(count_statements, modules))) if modules else "",
                ]
            )
            print(" | ".join(rows[-1]), flush=True)
    return [
        f"Every trainer on the same {MEGABYTES} MB, to {VOCAB_SIZE:,} tokens, in a process of its "
        "own with the text in memory. Times are processor seconds, counting included; the ratio is "
        "to plain BPE, measured right after. The system's seconds are mostly for new memory. Bytes "
        "per token are those of held-out documents. Statements are those of the modules of "
        f"`trainers` that only this one needs, plain twin included. The text: {sample.taken}.",
        "",
        table(
            [
                "trainer",
                "time",
                "x plain BPE",
                "system's time",
                "peak memory",
                "bytes per token",
                "statements",
            ],
            rows,
        ),
    ]


def count_statements(module: str) -> int:
    """Return the statements of a module of `trainers`, without docstrings and imports."""
    tree = ast.parse((_PACKAGE / "trainers" / f"{module}.py").read_text("utf-8"))
    return sum(
        isinstance(node, ast.stmt)
        and not isinstance(node, ast.Import | ast.ImportFrom)
        and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        for node in ast.walk(tree)
    )


def _in_process(name: str, file: str) -> dict[str, float]:
    command = [sys.executable, "-m", "scripts.measure_trainers", name, file]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def measure(name: str, file: str) -> dict[str, float]:
    """Train in this process on a file's documents, and return the figures."""
    documents: list[str] = json.loads(Path(file).read_text("utf-8"))
    held_out = [text for at, text in enumerate(documents) if at % HELD_OUT == 0]
    kept = [text for at, text in enumerate(documents) if at % HELD_OUT]
    corpus = Corpus.from_documents(kept, [f"{at % 2}/{at}" for at in range(len(kept))])
    if name == "weights":
        corpus = corpus.weighted({"0": 1.5})
    # Kernels are loaded, and their tables allocated, by the first training.
    train([kept[0]], vocab_size=300)
    settings: Any = TRAINERS[name][0]
    started = os.times()
    run = train(corpus, vocab_size=VOCAB_SIZE, **settings)
    ended = os.times()
    megabytes = peak_megabytes()
    n_tokens = sum(map(len, run.tokenizer.encode_batch(held_out)))
    n_bytes = sum(len(text.encode()) for text in held_out)
    return {
        "user": ended.user - started.user,
        "system": ended.system - started.system,
        "megabytes": megabytes,
        "bytes_per_token": n_bytes / n_tokens,
    }


if __name__ == "__main__":
    if sys.argv[1:]:
        print(json.dumps(measure(sys.argv[1], sys.argv[2])))
    else:
        print("\n".join(side_by_side(None)))
