"""Measure the engine of the browser in Node against the same kernels on this machine.

gpt-tokenizer, from npm, is measured too if it can be installed.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np

import bpe_core as bpe
from benchmarks import corpora
from benchmarks.encoding import median_ratio, timed
from benchmarks.report import against, middle, seconds_against, table
from bpe_core.tokenizer import CompiledEncoder
from static_site.engine_data import engine_data, packed_tokenizer

HERE: Final = Path(__file__).parent
NODE: Final = HERE.parent / "scripts" / "node.sh"
PEER: Final = "gpt-tokenizer@4.0.0"
ROUNDS: Final = 5
TRAININGS: Final = ((1_000_000, 8_000, 1.0), (10_000_000, 32_000, 4.0))


def in_node(folder: Path | None) -> list[str]:
    """Compare training and encoding in Node with the same on this machine."""
    with tempfile.TemporaryDirectory() as name:
        # gpt-tokenizer 4.0.0 cuts U+FEFF, which is a token of cl100k, in two.
        text = corpora.mixed(10_000_000, folder).text.replace("\ufeff", "")
        return _measured(Path(name), text)


def _measured(place: Path, text: str) -> list[str]:
    compiler = [sys.executable, "-m", "bpe_core.kernels.compiling"]
    subprocess.run([*compiler, "--wasm", str(place / "kernels.wasm")], check=True)
    (place / "data.json").write_text(engine_data(), "utf-8")
    peer = _peer(place)
    node = _Node(place, peer)
    lines = [
        "In Node, with one thread, and on this machine: training with all cores, encoding with "
        "one. Merges and ids are equal; times are medians, and ratios medians over adjacent runs. "
        "A text that no tool has seen is encoded by a tokenizer that has just been opened; there "
        "it is the time of all processors, which other work does not lengthen.",
        "",
        table(["training", "time", "goal", "on this machine", "ratio"], _trainings(node, text)),
        "",
    ]
    for title, encoder in (("cl100k, GPT-4's", "cl100k_base"), ("o200k, GPT-4o's", "o200k_base")):
        lines += [*_encodings(node, encoder, title, text, peer), ""]
    return lines


class _Node:
    """A process of Node that answers as `browser.js` says."""

    def __init__(self, place: Path, peer: Path | None) -> None:
        self.place = place
        command = [NODE, HERE / "browser.js", place / "kernels.wasm", place / "data.json"]
        self._process = subprocess.Popen(
            [*map(str, command), str(peer or "")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, task: str, **given: object) -> dict[str, Any]:
        """Return the answer to a task."""
        given = {
            name: str(each) if isinstance(each, Path) else each for name, each in given.items()
        }
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps({"task": task, **given}), file=self._process.stdin, flush=True)
        return json.loads(self._process.stdout.readline())


def _trainings(node: _Node, text: str) -> list[list[str]]:
    rows: list[list[str]] = []
    for n_bytes, vocab_size, goal in TRAININGS:
        given = text.encode()[:n_bytes].decode(errors="ignore")
        path = node.place / "corpus.txt"
        path.write_text(given, "utf-8")
        train = partial(bpe.train, [given], vocab_size=vocab_size, special_tokens=())
        expected = _digest([id for merge in train().merges for id in (merge.left, merge.right)])
        times: dict[str, list[float]] = {"here": [], "node": []}
        for _ in range(ROUNDS):
            answer = node.ask("train", path=path, vocabSize=vocab_size)
            if answer["result"] != expected:
                raise SystemExit("The merges differ, so nothing is timed.")
            times["node"].append(answer["seconds"])
            times["here"].append(timed(train))
        seconds = middle(times["node"])
        rows.append(
            [
                f"{n_bytes // 1_000_000} MB to {vocab_size:,}",
                f"{seconds:.2f} s",
                seconds_against(seconds, goal),
                f"{middle(times['here']):.2f} s",
                against(median_ratio(times["node"], times["here"]), 3),
            ]
        )
    return rows


def _encodings(node: _Node, name: str, title: str, text: str, peer: Path | None) -> list[str]:
    path, file = node.place / "text.txt", node.place / "packed"
    tokenizer = bpe.open_encoder(name).plain
    assert tokenizer is not None
    file.write_bytes(packed_tokenizer(tokenizer))
    with_peer = peer is not None and name == "cl100k_base"
    speeds: dict[str, list[float]] = {"here": [], "node": [], "peer": []}
    opening: list[float] = []
    memory = 0
    size = len(text) // ROUNDS
    for part in (text[size * k : size * (k + 1)] for k in range(ROUNDS)):
        path.write_text(part, "utf-8")
        megabytes = len(part.encode()) / 1e6
        fresh = CompiledEncoder(tokenizer.table, tokenizer.pretokenizer)
        started = time.process_time()
        fresh.encode(part, 1)
        seconds = {"here": time.process_time() - started}
        expected = _digest(tokenizer.encode_to_numpy(part))
        opened = node.ask("open", path=file)
        opening.append(opened["processor"])
        answers = {"node": node.ask("encode", path=path, handle=opened["handle"])}
        memory = max(memory, answers["node"]["memory"])
        node.ask("close", handle=opened["handle"])
        if with_peer:
            answers["peer"] = node.ask("peer", path=path)
        if any(answer["result"] != expected for answer in answers.values()):
            raise SystemExit("The ids differ, so nothing is timed.")
        seconds |= {of: answer["processor"] for of, answer in answers.items()}
        for of, taken in seconds.items():
            speeds[of].append(megabytes / taken)
    rows = [["engine in Node", f"{middle(speeds['node']):.1f}", ""]]
    for of, tool, goal in (("here", "bpe_core on this machine", 0.5), ("peer", PEER, 10)):
        if speeds[of]:
            ratio = median_ratio(speeds["node"], speeds[of])
            shown = against(ratio, goal, at_most=False)
            rows.append([tool, f"{middle(speeds[of]):.1f}", shown])
    return [
        f"By {title} tokenizer, {ROUNDS} texts of {size / 1e6:.1f} million characters. It opens in "
        f"{middle(opening):.2f} s; the kernels' memory is {memory / 1e6:.0f} MB (goal ≤ 60 MB with "
        "GPT-4o's).",
        "",
        table(["tool", "MB/s", "times as fast is the engine"], rows),
    ]


def _peer(place: Path) -> Path | None:
    """Return the module of gpt-tokenizer, installed for this run; None if npm can't."""
    options = ["--no-save", "--no-audit", "--no-fund", "--silent"]
    command = [str(NODE), "npm", "install", "--prefix", str(place), *options, PEER]
    if subprocess.run(command, check=False).returncode:
        return None
    return place / "node_modules" / "gpt-tokenizer" / "esm" / "encoding" / "cl100k_base.js"


def _digest(numbers: Any) -> str:
    return hashlib.sha256(np.asarray(numbers, np.int32).tobytes()).hexdigest()
