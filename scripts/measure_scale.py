"""Measure counting past one machine: make a corpus, count it on two workers, kill it twice.

python -m scripts.measure_scale FOLDER --gb 10 makes text of that size in FOLDER, trains on it in
one process and on a cluster of two workers whose command is killed twice and goes on, counts it
within a limit of memory and with DuckDB, checks that all results are equal, and prints the figures
of docs/scale.md. It takes three times the size of the text on the disk.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import psutil

from bpe_core.corpus import load_sample

ROOT = Path(__file__).parents[1]
FILE_BYTES = 256 << 20
VOCAB_SIZE = "8000"
SAMPLES = ("notebook", "multilingual")


class Measured(NamedTuple):
    seconds: float
    processor_seconds: float
    """Of the process itself; other work on the machine hardly changes it."""
    peak: int
    """The most memory that the process itself held, in bytes."""
    peak_of_children: int


def make_text(folder: Path, n_bytes: int) -> list[Path]:
    """Write files of words in random order, some of them new: distinct words grow with the text."""
    folder.mkdir(parents=True, exist_ok=True)
    words = " ".join(" ".join(load_sample(name).documents) for name in SAMPLES).split()
    paths: list[Path] = []
    for number in range(-(-n_bytes // FILE_BYTES)):
        path = folder / f"{number:04d}.txt"
        paths.append(path)
        size = min(FILE_BYTES, n_bytes - number * FILE_BYTES)
        if path.exists() and path.stat().st_size >= size:
            continue
        drawn = random.Random(number)
        with path.open("wb") as file:
            while file.tell() < size:
                some = drawn.choices(words, k=50_000)
                # Endings of very different frequency, as names and misspellings are.
                for place in range(0, len(some), 10):
                    some[place] += _letters(int(drawn.paretovariate(0.5)) % 10**12)
                lines = (" ".join(some[n : n + 20]) for n in range(0, len(some), 20))
                file.write(("\n".join(lines) + "\n").encode())
    return paths


def _letters(number: int) -> str:
    return str(number).translate({ord(digit): chr(49 + ord(digit)) for digit in "0123456789"})


def run(arguments: Sequence[str], kill_at: tuple[Path, int] | None = None) -> Measured:
    """Run a command of bpe; kill it once so many stretches are in its work folder."""
    started = time.perf_counter()
    process = psutil.Popen([sys.executable, "-m", "bpe_core", *arguments], cwd=ROOT)
    peak = peak_of_children = 0
    processor = 0.0
    while process.poll() is None:
        try:
            processor = sum(process.cpu_times()[:2])
            peak = max(peak, process.memory_info().rss)
            children = process.children(recursive=True)
            peak_of_children = max([peak_of_children, *map(_resident, children)])
        except psutil.NoSuchProcess:
            break
        if kill_at is not None and len(list(kill_at[0].glob("*.json"))) >= kill_at[1]:
            process.kill()
        time.sleep(0.1)
    if process.wait() and kill_at is None:
        sys.exit(f"{arguments[0]} failed")
    return Measured(time.perf_counter() - started, processor, peak, peak_of_children)


def _resident(process: psutil.Process) -> int:
    try:
        return process.memory_info().rss
    except psutil.NoSuchProcess:
        return 0


class Cluster:
    """A scheduler and two workers, each a process that can be killed."""

    def __init__(self, port: int) -> None:
        self.address = f"tcp://127.0.0.1:{port}"
        dask = [sys.executable, "-m", "distributed.cli.dask_scheduler"]
        options = ["--host", "127.0.0.1", "--port", str(port), "--no-dashboard"]
        self._scheduler = _quiet([*dask, *options])
        self.workers = [self._worker() for _ in range(2)]
        self._peak = 0
        self._processor: dict[int, float] = {}
        self._over = False
        threading.Thread(target=self._watch, daemon=True).start()

    def _worker(self) -> subprocess.Popen[bytes]:
        dask = [sys.executable, "-m", "distributed.cli.dask_worker", self.address]
        return _quiet([*dask, "--nthreads", "1", "--no-nanny", "--no-dashboard"])

    def _watch(self) -> None:
        while not self._over:
            for worker in self.workers:
                if worker.poll() is None:
                    process = psutil.Process(worker.pid)
                    self._peak = max(self._peak, _resident(process))
                    self._processor[worker.pid] = sum(process.cpu_times()[:2])
            time.sleep(0.1)

    def kill_a_worker(self) -> None:
        self.workers[0].send_signal(signal.SIGKILL)
        self.workers[0].wait()
        self.workers[0] = self._worker()

    def processor_seconds(self) -> float:
        """Return the time of all workers so far."""
        return sum(self._processor.values())

    def peak(self) -> int:
        """Return the most memory that a worker held since the last call."""
        peak, self._peak = self._peak, 0
        return peak

    def close(self) -> None:
        self._over = True
        for process in (*self.workers, self._scheduler):
            process.kill()
            process.wait()


def _quiet(command: list[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def count_by_duckdb(pattern: Path, ours: Path) -> tuple[float, bool]:
    """Count words between white space with DuckDB; return the seconds, and True if all equal."""
    code = f"""
import duckdb, time
db = duckdb.connect(); db.execute("SET enable_progress_bar = false"); started = time.perf_counter()
db.execute('''CREATE TABLE theirs AS SELECT word, count(*) AS count FROM (
    SELECT unnest(string_split_regex(line, '\\s+')) AS word FROM read_csv('{pattern}',
    columns={{'line': 'VARCHAR'}}, header=false, delim='\\t', quote='', escape='',
    auto_detect=false)) WHERE word <> '' GROUP BY word''')
print(time.perf_counter() - started)
print(db.execute('''SELECT count(*) FROM theirs FULL JOIN (SELECT decode(word) AS word, count
    FROM '{ours}') AS ours USING (word) WHERE theirs.count IS DISTINCT FROM ours.count
    ''').fetchone()[0])
"""  # noqa: S608 - both paths are this script's own
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    if ran.returncode:
        sys.exit(ran.stderr[:2_000])
    seconds, n_different = ran.stdout.split()
    return float(seconds), n_different == "0"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--gb", type=float, default=10)
    parser.add_argument("--port", type=int, default=8786)
    given = parser.parse_args()
    folder: Path = given.folder.absolute()
    paths = make_text(folder / "text", int(given.gb * (1 << 30)))
    files = [str(path) for path in paths]
    gigabytes = sum(path.stat().st_size for path in paths) / (1 << 30)
    print(f"{gigabytes:.2f} GB in {len(files)} files, {os.cpu_count()} processors")

    def report(
        what: str, seconds: float, *peaks: tuple[str, int], processor: float | None = None
    ) -> None:
        figures = [f"{seconds:.1f} s", f"{seconds / gigabytes:.1f} s/GB"]
        if processor is not None:
            figures.append(f"processor {processor / gigabytes:.1f} s/GB")
        figures += [f"{who} {peak >> 20:,} MB" for who, peak in peaks]
        print(f"{what}: {', '.join(figures)}", flush=True)

    alone = folder / "alone.json"
    took = run(["train", *files, "--vocab-size", VOCAB_SIZE, "--out", str(alone)])
    report(
        "train in one process",
        took.seconds,
        ("process", took.peak),
        processor=took.processor_seconds,
    )
    cluster = Cluster(given.port)
    try:
        time.sleep(5)
        work = folder / "work"
        shutil.rmtree(work, ignore_errors=True)
        options = ["--scheduler", cluster.address, "--work", str(work)]
        count = ["count", *files, *options, "--out", str(folder / "counts.parquet")]
        took = run(count)
        size = sum(each.stat().st_size for each in work.iterdir())
        peaks = ("command", took.peak), ("worker", cluster.peak())
        used = cluster.processor_seconds() + took.processor_seconds
        report("count on 2 workers", took.seconds, *peaks, processor=used)
        print(f"work folder {size >> 20:,} MB, {len(list(work.glob('*.json'))) - 64} stretches")
        shutil.rmtree(work)
        shared = folder / "shared.json"
        train = ["train", *files, "--vocab-size", VOCAB_SIZE, "--out", str(shared), *options]
        n_stretches = sum(-(-path.stat().st_size // (64 << 20)) for path in paths)
        first = run(train, kill_at=(work, n_stretches // 3))
        cluster.kill_a_worker()
        second = run(train, kill_at=(work, 2 * n_stretches // 3))
        third = run(train)
        peak = max(each.peak for each in (first, second, third))
        seconds = first.seconds + second.seconds + third.seconds
        report("train, killed twice", seconds, ("command", peak), ("worker", cluster.peak()))
        print("merges equal:", alone.read_bytes() == shared.read_bytes())
        shutil.rmtree(work)
    finally:
        cluster.close()
    counts = folder / "whitespace.parquet"
    limited = ["count", *files, "--pretokenizer", "whitespace", "--memory", "2GB"]
    took = run([*limited, "--out", str(counts)])
    peaks = ("command", took.peak), ("process", took.peak_of_children)
    report("count words within 2 GB", took.seconds, *peaks)
    seconds, equal = count_by_duckdb(folder / "text" / "*.txt", counts)
    report("DuckDB counts the same words", seconds)
    print("counts equal:", equal)


if __name__ == "__main__":
    main()
