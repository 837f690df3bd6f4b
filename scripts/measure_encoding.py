"""Measure `bpe encode-corpus`: its memory, its speed next to other tools, and what kills do to it.

python -m scripts.measure_encoding FOLDER makes text in FOLDER, and prints the figures of
docs/data.md. Name parts to measure only those: memory, speed, kills. `--peers PYTHON` names the
Python of an environment that has tiktoken, datasets, tokenizers and gigatoken.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import psutil

from benchmarks.corpora import mixed
from scripts.measure_scale import Cluster, make_text, run

ROOT = Path(__file__).parents[1]
PARTS = ("memory", "speed", "kills")
PIECE_BYTES = 256 << 20
KILLED_BYTES = 48 << 20
N_KILLS = 20
EOS_ID = 50_256
ENCODE = (sys.executable, "-m", "bpe_core", "encode-corpus")


class Spent(NamedTuple):
    seconds: float
    processor_seconds: float
    """Of the command and all its children; other work on the machine hardly changes it."""


def measure_memory(folder: Path, gigabytes: Sequence[float]) -> None:
    """Print the most memory that the command and a worker hold, for corpora of several sizes."""
    piece = make_text(folder / "piece", PIECE_BYTES)[0]
    for size in gigabytes:
        text = folder / "text"
        shutil.rmtree(text, ignore_errors=True)
        text.mkdir()
        for number in range(max(1, round(size * (1 << 30) / PIECE_BYTES))):
            os.link(piece, text / f"{number:04}.txt")
        out = folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        options = ["-t", "gpt2", "--memory", "2GB", "--processes", "2", "--out", str(out)]
        took = run(["encode-corpus", str(text), *options])
        print(
            f"memory, {size:g} GB: {took.seconds:.0f} s, command {took.peak >> 20:,} MB, worker "
            f"{took.peak_of_children >> 20:,} MB",
            flush=True,
        )
        shutil.rmtree(out)


TIKTOKEN = """
import multiprocessing, pathlib, sys
import numpy as np, tiktoken
ranks, pattern = sys.argv[3], sys.argv[4]
from tiktoken.load import load_tiktoken_bpe
def start():
    global encoding
    encoding = tiktoken.Encoding("gpt2", pat_str=pattern, mergeable_ranks=load_tiktoken_bpe(ranks),
        special_tokens={"<|endoftext|>": 50256})
def encode(path):
    with open(path, encoding="utf-8", newline="") as file:
        ids = encoding.encode_ordinary(file.read())
    return np.array([*ids, 50256], np.uint16)
if __name__ == "__main__":
    paths = sorted(pathlib.Path(sys.argv[1]).iterdir())
    with multiprocessing.Pool(2, start) as pool, open(sys.argv[2], "wb") as file:
        for ids in pool.imap(encode, paths, chunksize=4):
            file.write(ids.data)
"""
DATASETS = """
import pathlib, sys
import datasets, numpy as np, tokenizers
if __name__ == "__main__":
    datasets.disable_progress_bars()
    tokenizer = tokenizers.Tokenizer.from_file(sys.argv[3])
    paths = sorted(map(str, pathlib.Path(sys.argv[1]).iterdir()))
    def encode(rows):
        texts = [open(path, encoding="utf-8", newline="").read() for path in rows["path"]]
        found = tokenizer.encode_batch(texts, add_special_tokens=False)
        return {"ids": [[*each.ids, 50256] for each in found]}
    rows = datasets.Dataset.from_dict({"path": paths})
    rows = rows.map(encode, batched=True, batch_size=16, num_proc=2, remove_columns=["path"])
    with open(sys.argv[2], "wb") as file:
        for batch in rows.with_format("numpy").iter(64):
            for ids in batch["ids"]:
                file.write(ids.astype(np.uint16).data)
"""
GIGATOKEN = """
import pathlib, sys
import gigatoken, numpy as np
paths = sorted(pathlib.Path(sys.argv[1]).iterdir())
tokenizer = gigatoken.Tokenizer.from_json(open(sys.argv[3]).read())
ids = tokenizer.encode_files(gigatoken.TextFileSource([str(path) for path in paths]))
import awkward
with open(sys.argv[2], "wb") as file:
    file.write(awkward.to_numpy(awkward.flatten(ids)).astype(np.uint16).data)
"""
ENGINE = """
import pathlib, sys, time
import bpe_core as bpe
texts = [path.read_bytes().decode() for path in sorted(pathlib.Path(sys.argv[1]).iterdir())]
bpe.gpt2().encode_to_numpy(texts[0] * 100)
kernels = bpe.gpt2().encoder.kernels.worth(1 << 30)
started, used = time.perf_counter(), time.process_time()
kernels.encode_batch(texts)
print(time.perf_counter() - started, time.process_time() - used)
"""


def write_documents(folder: Path, n_bytes: int, n_files: int | None) -> None:
    """Write text of this machine to a file for each document, or to so many files."""
    folder.mkdir(parents=True)
    # A byte order mark is not part of the text, but other tools would encode it.
    documents = [each.removeprefix("\ufeff").encode() for each in mixed(n_bytes).documents]
    n_in_file = 1 if n_files is None else -(-len(documents) // n_files)
    for k in range(0, len(documents), n_in_file):
        (folder / f"{k:06}.txt").write_bytes(b"".join(documents[k : k + n_in_file]))


def measure_speed(
    folder: Path, n_bytes: int, n_files: int | None, n_rounds: int, peers: str
) -> None:
    """Print the time of the whole command, and of others that write ids, in turn."""
    from bpe_core.formats import save
    from bpe_core.tokenizer import gpt2

    text = folder / f"documents-{n_files or 'each'}"
    if not text.exists():
        write_documents(text, n_bytes, n_files)
    size = sum(path.stat().st_size for path in text.iterdir())
    save(gpt2(), folder / "gpt2.json")
    save(gpt2(), folder / "gpt2.tiktoken")
    out, other = folder / "out", folder / "other.bin"
    ours = [*ENCODE, str(text), "-t", "gpt2", "--out", str(out)]

    def peer(code: str, *arguments: str) -> list[str]:
        return [peers, "-c", code, str(text), str(other), *arguments]

    commands = {
        "bpe encode-corpus, one process": ours,
        "bpe encode-corpus, two processes": [*ours, "--memory", "4GB", "--processes", "2"],
        "tiktoken, two processes": peer(
            TIKTOKEN, str(folder / "gpt2.tiktoken"), gpt2().pretokenizer.pattern or ""
        ),
        "datasets.map with tokenizers, two processes": peer(DATASETS, str(folder / "gpt2.json")),
        "gigatoken, without ends of text": peer(GIGATOKEN, str(folder / "gpt2.json")),
        "the engine alone, text and ids in memory": [sys.executable, "-c", ENGINE, str(text)],
    }
    if n_files is not None:  # its lists of a large file's ids take several GB
        del commands["datasets.map with tokenizers, two processes"]
    spent: dict[str, list[Spent]] = {name: [] for name in commands}
    ids = np.empty(0, np.uint16)
    for _ in range(n_rounds):
        for name, command in commands.items():
            shutil.rmtree(out, ignore_errors=True)
            other.unlink(missing_ok=True)
            spent[name].append(spend(command))
            if out.exists():
                ids = np.concatenate([np.fromfile(p, "<u2") for p in sorted(out.glob("*.bin"))])
            if other.exists():
                theirs = np.fromfile(other, "<u2")
                same = ids[ids != EOS_ID] if "without" in name else ids
                print(f"{name}: the same ids: {np.array_equal(theirs, same)}", flush=True)
    print(f"{size / 1e6:.0f} MB in {len(list(text.iterdir())):,} files")
    for name, times in spent.items():
        wall = statistics.median(each.seconds for each in times)
        used = statistics.median(each.processor_seconds for each in times)
        print(
            f"{name}: {wall:.1f} s, {size / 1e6 / wall:.1f} MB/s; processor {used:.1f} s, "
            f"{size / 1e6 / used:.1f} MB/s",
            flush=True,
        )


def spend(command: Sequence[str]) -> Spent:
    """Run a command to its end; return the time that it says it took, or else took in all."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if ran.returncode:
        sys.exit(ran.stderr[-1_500:])
    if ran.stdout:
        return Spent(*map(float, ran.stdout.split()))
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Spent(seconds, used)


def measure_kills(folder: Path, port: int) -> None:
    """Kill the command, a worker or the scheduler at random moments, and compare the shards."""
    text = make_text(folder / "small", KILLED_BYTES)[0]
    options = [str(text), "-t", "gpt2", "--shard-tokens", "2M", "--val-share", "0.1"]
    expected = folder / "expected"
    shutil.rmtree(expected, ignore_errors=True)
    started = time.monotonic()
    subprocess.run([*ENCODE, *options, "--out", str(expected)], cwd=ROOT, check=True)
    seconds = time.monotonic() - started
    out = folder / "killed"
    drawn = random.Random(0)
    n_killed = {"command": 0, "worker": 0, "scheduler": 0}
    n_compared = n_equal = 0
    cluster = Cluster(port)
    try:
        while sum(n_killed.values()) < N_KILLS or not (out / "manifest.json").exists():
            shutil.rmtree(out) if (out / "manifest.json").exists() else None
            command = psutil.Popen(
                [*ENCODE, *options, "--out", str(out), "--scheduler", cluster.address],
                cwd=ROOT,
                stderr=subprocess.DEVNULL,
            )
            if sum(n_killed.values()) < N_KILLS:
                time.sleep(drawn.uniform(0.3, 1.5) * seconds)
                victim = drawn.choice([*n_killed])
                if command.poll() is None:
                    n_killed[victim] += 1
                    if victim == "command":
                        command.kill()
                    elif victim == "worker":
                        cluster.kill_a_worker()
                    else:
                        cluster.close()
                        cluster = Cluster(port)
            command.wait()
            if (out / "manifest.json").exists():
                n_compared += 1
                n_equal += contents(out) == contents(expected)
                print(
                    f"kills {n_killed}; results compared {n_compared}, equal {n_equal}", flush=True
                )
    finally:
        cluster.close()


def contents(out: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in out.iterdir()}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], default=[])
    parser.add_argument("--gb", type=float, nargs="*", default=[1, 4, 8])
    parser.add_argument("--mb", type=int, default=200, help="text for the speeds")
    parser.add_argument("--files", type=int, help="join its documents into so many files")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--peers", default=sys.executable)
    parser.add_argument("--port", type=int, default=8786)
    given = parser.parse_args()
    folder: Path = given.folder.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    measures: dict[str, Callable[[], None]] = {
        "memory": lambda: measure_memory(folder, given.gb),
        "speed": lambda: measure_speed(
            folder, given.mb * 1_000_000, given.files, given.rounds, given.peers
        ),
        "kills": lambda: measure_kills(folder, given.port),
    }
    for part in given.parts or PARTS:
        measures[part]()


if __name__ == "__main__":
    main()
