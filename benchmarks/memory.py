"""Measure the memory of a process that trains from a streamed file."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks import corpora
from benchmarks.report import table

ROOT = Path(__file__).parents[1]
COPIES = (1, 4, 20)  # of 100 MB
_TRAIN = """
import json, sys, time
from benchmarks.peak_memory import peak_megabytes
from bpe_core.corpus import stream_corpus
from bpe_core.trainers.training import train
from bpe_core.types import TrainingConfig
started = time.perf_counter()
run = train(stream_corpus([sys.argv[1]]), TrainingConfig(32_000))
print(json.dumps({
    "seconds": time.perf_counter() - started,
    "megabytes": peak_megabytes(),
    "bytes": run.corpus_bytes,
}))
"""


def larger_than_memory(folder: Path | None) -> list[str]:
    """Train on 100 MB, and on 4 and 20 copies of it."""
    sample = corpora.mixed(100_000_000, folder)
    text = sample.text.encode()
    rows: list[list[str]] = []
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch, "corpus.txt")
        _leave_room(scratch, len(text) * max(COPIES))
        for copies in COPIES:
            with path.open("wb") as file:
                for _ in range(copies):
                    file.write(text + b"\n")
            ran = subprocess.run(
                [sys.executable, "-c", _TRAIN, str(path)], cwd=ROOT, capture_output=True, check=True
            )
            found = json.loads(ran.stdout)
            if found["bytes"] != path.stat().st_size:
                raise SystemExit("The file was not read completely, so nothing is measured.")
            goal = f"≤ 2,000 MB{'' if found['megabytes'] <= 2000 else ', **missed**'}"
            rows.append(
                [
                    f"{path.stat().st_size / 1e6:,.0f} MB",
                    f"{found['megabytes']:,.0f} MB",
                    goal if copies == max(COPIES) else "",
                    f"{found['seconds']:.1f} s",
                ]
            )
    return [
        f"Training on one streamed file to 32,000 tokens: {sample.taken}; larger files repeat this "
        "text, so they have no new words. Memory is the peak of the whole process.",
        "",
        table(["file", "peak memory", "goal", "time"], rows),
    ]


def _leave_room(folder: str, n_bytes: int) -> None:
    free = shutil.disk_usage(folder).free
    if free < 2 * n_bytes:
        raise SystemExit(
            f"{folder} has {free / 1e9:.1f} GB free; {n_bytes / 1e9:.1f} GB are needed."
        )
