"""Compare training from files with gigabpe: whole processes, their time and memory."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from benchmarks import corpora
from benchmarks.report import against, middle, table

ROOT = Path(__file__).parents[1]
VOCAB_SIZE = 32_000
N_FILES = 8
ROUNDS = 3
SIZES = (80, 365)
MAX_TIME_RATIO = {80: 0.75, 365: 0.45}
MAX_MEMORY_RATIO = 1.3
_COMMANDS = {
    "bpe_core": """
import sys
from benchmarks.peak_memory import peak_megabytes
from bpe_core.cli.commands import main
out, size, *files = sys.argv[1:]
main(["train", *files, "--vocab-size", size, "--out", out, "--force"], standalone_mode=False)
print(peak_megabytes())
""",
    "gigabpe": """
import sys
import gigabpe
from benchmarks.peak_memory import peak_megabytes
out, size, *files = sys.argv[1:]
gigabpe.train_tokenizer(
    files, vocab_size=int(size), output=out, pretokenizer="bytelevel",
    special_tokens=["<|endoftext|>"],
)
print(peak_megabytes())
""",
}


def from_files(folder: Path | None) -> list[str]:
    """Train on files of 80 and 365 MB, the tools in turn."""
    rows: list[list[str]] = []
    taken = ""
    for megabytes in SIZES:
        sample = corpora.mixed(megabytes * 1_400_000, folder)
        taken = sample.taken
        with tempfile.TemporaryDirectory() as scratch:
            files = _written(sample.documents, megabytes * 1_000_000, Path(scratch))
            n_bytes = sum(file.stat().st_size for file in files)
            runs = [
                {tool: _once(tool, files, Path(scratch)) for tool in _COMMANDS}
                for _ in range(ROUNDS)
            ]
        rows += _rows(megabytes, f"{n_bytes / 1e6:.0f} MB", runs)
    head = ["files", "tool", "whole process", "bpe_core / tool", "peak memory", "bpe_core / tool"]
    return [
        f"From {N_FILES} files to {VOCAB_SIZE:,} tokens, with GPT-2's pre-tokenization: {taken}. "
        "gigabpe reads line by line, so lines have no white space at their ends, and none is "
        "empty; then all merges are equal. Its alphabet has only the bytes that occur, so it "
        "learns a few more. Medians; ratios are medians over adjacent runs.",
        "",
        table(head, rows),
    ]


def _written(documents: Iterable[str], n_bytes: int, folder: Path) -> list[Path]:
    """Write lines of about as many bytes to files, in turn."""
    paths = [folder / f"{number}.txt" for number in range(N_FILES)]
    files = [path.open("wb") for path in paths]
    left = n_bytes
    for number, document in enumerate(documents):
        data = "".join(_lines(document)).encode()
        files[number % N_FILES].write(data)
        left -= len(data)
        if left <= 0:
            break
    for file in files:
        file.close()
    return paths


def _lines(document: str) -> Iterator[str]:
    stripped = (line.strip() for line in document.split("\n"))
    return (f"{line}\n" for line in stripped if line)


def _once(tool: str, files: list[Path], scratch: Path) -> dict[str, Any]:
    out = scratch / f"{tool}.json"
    command = [sys.executable, "-c", _COMMANDS[tool], str(out), str(VOCAB_SIZE), *map(str, files)]
    started = time.perf_counter()
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    seconds = time.perf_counter() - started
    merges = [
        tuple(merge.split(" ")) if isinstance(merge, str) else tuple(merge)
        for merge in json.loads(out.read_text(encoding="utf-8"))["model"]["merges"]
    ]
    return {"seconds": seconds, "megabytes": float(ran.stdout.split()[-1]), "merges": merges}


def _rows(megabytes: int, name: str, runs: list[dict[str, dict[str, Any]]]) -> list[list[str]]:
    ours = runs[0]["bpe_core"]["merges"]
    if any(run["gigabpe"]["merges"][: len(ours)] != ours for run in runs):
        raise SystemExit(f"gigabpe learned different merges on {name}, so nothing is timed.")
    ratios = {
        figure: middle([run["bpe_core"][figure] / run["gigabpe"][figure] for run in runs])
        for figure in ("seconds", "megabytes")
    }
    rows: list[list[str]] = []
    for tool in _COMMANDS:
        seconds, memory = (
            middle([run[tool][figure] for run in runs]) for figure in ("seconds", "megabytes")
        )
        rows.append([name, tool, f"{seconds:.2f} s", "", f"{memory:,.0f} MB", ""])
    rows[1][3] = against(ratios["seconds"], MAX_TIME_RATIO[megabytes])
    rows[1][5] = against(ratios["megabytes"], MAX_MEMORY_RATIO)
    return rows
