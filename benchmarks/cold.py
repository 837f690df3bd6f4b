"""Measure cold starts: whole processes, with the files in the disk cache."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks import corpora
from benchmarks.encoding import timed
from benchmarks.report import middle, seconds_against, table

ROOT = Path(__file__).parents[1]
ROUNDS = 9
_ENCODE = "import bpe_core; bpe_core.gpt2().encode('The quick brown fox')"
_TOKENIZERS = """
import sys
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
tokenizer = Tokenizer(models.BPE())
tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
alphabet = pre_tokenizers.ByteLevel.alphabet()
trainer = trainers.BpeTrainer(
    vocab_size=int(sys.argv[2]), initial_alphabet=alphabet, show_progress=False
)
tokenizer.train_from_iterator([open(sys.argv[1], newline="").read()], trainer)
tokenizer.save(sys.argv[3])
"""


def cold_starts(folder: Path | None) -> list[str]:
    """Measure how long a command takes from the shell."""
    python = sys.executable
    rows: list[list[str]] = []

    def row(name: str, goal: float | None, command: list[str], theirs: list[str]) -> None:
        pairs = [(_whole(command), _whole(theirs) if theirs else 0.0) for _ in range(ROUNDS)]
        ours = [seconds for seconds, _ in pairs]
        rows.append(
            [
                name,
                f"{middle(ours):.3f} s",
                f"{min(ours):.3f} s",
                "" if goal is None else seconds_against(middle(ours), goal),
                f"{middle([seconds for _, seconds in pairs]):.3f} s" if theirs else "",
            ]
        )

    row("Python itself", None, [python, "-c", ""], [])
    row("`import bpe_core`", 0.15, [python, "-c", "import bpe_core"], [])
    row("first GPT-2 encode of a short text", 0.4, [python, "-c", _ENCODE], [])
    with tempfile.TemporaryDirectory() as scratch:
        path, out = Path(scratch, "corpus.txt"), str(Path(scratch, "tokenizer.json"))
        for n_bytes, vocab_size, goal in ((100_000, 2_000, 0.5), (1_000_000, 10_000, 1.2)):
            text = corpora.mixed(n_bytes, folder).text.encode()[:n_bytes]
            path.write_text(text.decode(errors="ignore"), newline="")
            size = str(vocab_size)
            mine = [python, "-m", "bpe_core", "train", str(path), "--vocab-size", size]
            row(
                f"train {n_bytes // 1000:,} kB to {vocab_size:,}",
                goal,
                [*mine, "--out", out],
                [python, "-c", _TOKENIZERS, str(path), size, out],
            )
        compiling = _whole([python, "-m", "bpe_core.compiling"], NUMBA_CACHE_DIR=scratch)
    seconds = f"{compiling:.1f} s"
    goal = seconds_against(compiling, 12)
    rows.append(["compile all kernels, once per machine", seconds, seconds, goal, ""])
    head = ["whole process", "median", "minimum", "goal", "tokenizers"]
    return [
        f"Medians of {ROUNDS} runs in turn with tokenizers; except in the last row, the kernels "
        "are compiled already.",
        "",
        table(head, rows),
    ]


def _whole(command: list[str], **environment: str) -> float:
    return timed(
        lambda: subprocess.run(
            command, cwd=ROOT, check=True, capture_output=True, env={**os.environ, **environment}
        )
    )
