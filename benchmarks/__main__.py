"""Run benchmarks and write benchmarks/README.md: `python -m benchmarks [PART ...]`.

Without a part, runs all of them, which takes about fifteen minutes. `--corpus FOLDER` measures
on your own text. Two parts measure a server, for about fifteen minutes or as long as asked, only
when they are named, and only print what they find: `load`, and `soak --minutes N`.
"""

from __future__ import annotations

import argparse
import os
from importlib import import_module
from pathlib import Path

from benchmarks.report import write_part
from bpe_core.kernels import compile_kernels

# part: module, function, title
PARTS = {
    "training": ("training", "against_peers", "Training"),
    "training-growth": ("training", "growth", "Training: growth and worst cases"),
    "training-files": ("training_files", "from_files", "Training from files"),
    "extending": ("extending", "against_training", "Extending GPT-2"),
    "parity": ("parity", "against_peers", "Parity-aware training"),
    "runs": ("runs", "watched_and_asked", "A run: progress reports, and counts at any step"),
    "memory": ("memory", "larger_than_memory", "Files larger than memory"),
    "encoding": ("encoding", "against_peers", "Encoding"),
    "encoding-growth": ("encoding", "growth", "Encoding: threads, growth and worst cases"),
    "tokenizers": ("published", "by_name", "Encoding with published tokenizers"),
    "tokenizers-worst": ("published", "worst_texts", "Published tokenizers: worst cases"),
    "decoding": ("decoding", "decoding", "Decoding with GPT-2"),
    "browser": ("browser", "in_node_and_chromium", "In a browser"),
    "cold": ("cold", "cold_starts", "Cold starts"),
}

OF_SERVER = ("load", "soak")

parser = argparse.ArgumentParser(prog="python -m benchmarks")
parser.add_argument(
    "part", nargs="*", help=f"{', '.join((*PARTS, *OF_SERVER))}; default: all but the last two"
)
parser.add_argument(
    "--corpus",
    type=Path,
    help="a folder of text to measure on, instead of text that every machine has",
)
parser.add_argument("--minutes", type=float, default=10, help="how long `soak` takes")
asked = parser.parse_args()
for part in asked.part:
    if part not in (*PARTS, *OF_SERVER):
        parser.error(f"unknown part {part!r}")

# As on a user's machine: no process that is timed compiles Python's modules again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
compile_kernels()
for part in asked.part or PARTS:
    if part in OF_SERVER:
        load = import_module("benchmarks.load")
        found = load.soak(asked.minutes) if part == "soak" else load.under_load(asked.corpus)
        print("\n".join(found), flush=True)
        continue
    module, function, title = PARTS[part]
    lines = getattr(import_module(f"benchmarks.{module}"), function)(asked.corpus)
    write_part(part, title, lines, list(PARTS))
    print("\n".join(lines), flush=True)
