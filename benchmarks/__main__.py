"""Run benchmarks and write benchmarks/README.md: `python -m benchmarks [PART ...]`.

Without a part it runs all of them, which takes about fifteen minutes. `--corpus FOLDER` uses your
own text.
"""

from __future__ import annotations

import argparse
from importlib import import_module
from pathlib import Path

from benchmarks.report import write_part
from bpe_core.compiling.processes import compile_kernels

# part: module, function, title
PARTS = {
    "training": ("training", "against_peers", "Training"),
    "training-growth": ("training", "growth", "Training: growth and worst cases"),
    "runs": ("runs", "watched_and_asked", "A run: progress reports, and counts at any step"),
    "memory": ("memory", "larger_than_memory", "Files larger than memory"),
    "encoding": ("encoding", "against_peers", "Encoding with GPT-2"),
    "encoding-growth": ("encoding", "growth", "Encoding: threads, growth and worst cases"),
    "decoding": ("decoding", "decoding", "Decoding with GPT-2"),
    "cold": ("cold", "cold_starts", "Cold starts"),
}

parser = argparse.ArgumentParser(prog="python -m benchmarks")
parser.add_argument("part", nargs="*", help=f"{', '.join(PARTS)}; default: all")
parser.add_argument(
    "--corpus",
    type=Path,
    help="a folder of text to measure on, instead of text that every machine has",
)
asked = parser.parse_args()
for part in asked.part:
    if part not in PARTS:
        parser.error(f"unknown part {part!r}")

compile_kernels()
for part in asked.part or PARTS:
    module, function, title = PARTS[part]
    lines = getattr(import_module(f"benchmarks.{module}"), function)(asked.corpus)
    write_part(part, title, lines, list(PARTS))
    print("\n".join(lines), flush=True)
