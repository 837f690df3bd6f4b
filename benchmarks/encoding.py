"""Compare encoding with that of other tools, and measure how its time grows."""

from __future__ import annotations

import itertools
import json
import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import tiktoken
from numpy.typing import NDArray
from tokenizers import ByteLevelBPETokenizer

from benchmarks import corpora
from benchmarks.report import against, middle, table
from bpe_core.errors import BpeError
from bpe_core.formats import open_encoder, save
from bpe_core.kernels import n_threads
from bpe_core.tokenizer import END_OF_TEXT, CompiledEncoder, Tokenizer, data_folder, gpt2
from bpe_core.unicode import from_printable

PATTERN = r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"""
ROUNDS = 7
SHORT_TEXTS = 10_000
BYTES = 10_000_000
ROOT = Path(__file__).parents[1]
SIZES = (2_000, 200_000, 10_000_000)
TOKENIZERS = ("gpt2", "llama3", "gpt4o", "qwen2")
PEERS = ("gigatoken", "fastokens", "tiktoken")
SLOW_PEERS = ("tuetoken", "tokie", "tokenizers")
"""Only with one text, in documents of one size."""
GOALS = {"gigatoken": {"once": 0.8, "again": 0.75}, "fastokens": {"once": 0.95, "again": 0.95}}
GOALS_OF_GPT2 = GOALS | {"gigatoken": {"once": 0.85, "again": 0.75}}
PROCESSES = 5
FEWER_PROCESSES = 2
"""Of the tools without a goal, which are many times slower."""


def against_peers(folder: Path | None) -> list[str]:
    """Compare encoding with other tools, each in a process of its own and with one core."""
    texts = {
        "mixed": corpora.mixed(BYTES, folder),
        "English": corpora.english(BYTES),
        "code": corpora.code(BYTES),
    }
    cases = [("mixed", size) for size in SIZES] + [("English", SIZES[1]), ("code", SIZES[1])]
    rows: list[list[str]] = []
    with tempfile.TemporaryDirectory() as scratch:
        for name, sample in texts.items():
            Path(scratch, f"{name}.txt").write_text(sample.text, encoding="utf-8", newline="")
        for tokenizer in TOKENIZERS:
            try:
                encoder = open_encoder(tokenizer).encoder
            except BpeError:  # not on this machine
                continue
            save(cast("Tokenizer", encoder), path := Path(scratch, f"{tokenizer}.json"))
            for name, size in cases:
                case = f"{tokenizer}, {name}, {size // 1000:,} kB"
                slow = SLOW_PEERS if (name, size) == ("mixed", SIZES[1]) else ()
                found = _in_turn(
                    case, ("bpe_core", *PEERS, *slow), path, Path(scratch, f"{name}.txt"), size
                )
                rows += _rows(case, tokenizer, found, texts[name].n_bytes)
    taken = "; ".join(
        f"{name}: {each.n_bytes / 1e6:.1f} MB of {each.taken}" for name, each in texts.items()
    )
    head = "tokenizer, text, documents", "tool", "first call", "once, MB/s", "again, MB/s"
    return [
        "Each tool in a process of its own, with one core, the processes in turn: new text once, "
        "cut into documents, and the same text again. Documents of 2 kB are one batch, if the tool "
        "has batches of arrays. Processor time. All ids were equal; a tool that gives others, or "
        f"cannot open the tokenizer, is left out. Medians of {PROCESSES} processes, or of "
        f"{FEWER_PROCESSES} of a tool without a goal; ratios are medians over adjacent processes, "
        f"and above 1 where bpe_core is faster. {taken}.",
        "",
        table([*head, "bpe_core / tool, once", "again"], rows),
    ]


def _in_turn(
    case: str, tools: Sequence[str], *arguments: Path | int
) -> dict[str, list[dict[str, Any]]]:
    """Return what the processes of each tool print, except tools that fail or are missing."""
    found: dict[str, list[dict[str, Any]]] = {}
    left = list(tools)
    for round in range(PROCESSES):
        for tool in tuple(left):
            if round >= FEWER_PROCESSES and tool != "bpe_core" and tool not in GOALS:
                continue
            command = [sys.executable, "-m", "benchmarks.one_tool", tool, *map(str, arguments)]
            ran = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
            if ran.returncode:
                print(case, tool, ran.stderr.decode()[-200:], file=sys.stderr)
                left.remove(tool)
                continue
            found.setdefault(tool, []).append(json.loads(ran.stdout.splitlines()[-1]))
    ours = found["bpe_core"][0]["ids"]
    for tool, runs in tuple(found.items()):
        if any(run["ids"] != ours for run in runs):
            if tool in ("tiktoken", "tokenizers"):
                raise SystemExit(f"{tool} gives different ids on {case}, so nothing is timed.")
            print(case, tool, "gives different ids", file=sys.stderr)
            del found[tool]
    return found


def _rows(
    case: str, tokenizer: str, found: dict[str, list[dict[str, Any]]], n_bytes: int
) -> list[list[str]]:
    goals = GOALS_OF_GPT2 if tokenizer == "gpt2" else GOALS
    rows: list[list[str]] = []
    for tool, runs in found.items():
        times = {state: [run[state] for run in runs] for state in ("first", "once", "again")}
        row = ["", tool, f"{middle(times.pop('first')):.2f} s"]
        row += [speed(n_bytes, seconds) for seconds in times.values()]
        for state, seconds in times.items():
            ours = [run[state] for run in found["bpe_core"][: len(runs)]]
            ratio = median_ratio(seconds, ours)
            goal = goals.get(tool)
            row.append(
                f"{ratio:.2f}" if goal is None else against(ratio, goal[state], at_most=False)
            )
        rows.append(row)
    rows[0] = [case, *rows[0][1:5], "", ""]
    return rows


def growth(folder: Path | None) -> list[str]:
    """Measure two threads, short texts, growth with the size of the text, and worst cases."""
    tools = Tools()
    parts = (
        _threads(tools, folder),
        _many_short(tools, folder),
        _slope(tools, folder),
        _degenerate(tools, folder),
    )
    return [line for part in parts for line in (*part, "")]


class Tools:
    """This package's encoder and those of other tools, all with GPT-2's vocabulary."""

    def __init__(self) -> None:
        self.ours = CompiledEncoder(gpt2().table, gpt2().pretokenizer)
        files = data_folder()
        by_text = json.loads((files / "encoder.json").read_text(encoding="utf-8"))
        by_text.pop(END_OF_TEXT)
        ranks = {from_printable(token): id for token, id in by_text.items()}
        self.tiktoken = tiktoken.Encoding(
            "gpt2", pat_str=PATTERN, mergeable_ranks=ranks, special_tokens={}
        )
        self.tokenizers = ByteLevelBPETokenizer(
            str(files / "encoder.json"), str(files / "vocab.bpe")
        )

    def forget(self) -> None:
        """Replace the encoder by one with empty word caches."""
        self.ours = CompiledEncoder(gpt2().table, gpt2().pretokenizer)


def timed(function: Callable[[], object]) -> float:
    started = time.perf_counter()
    function()
    return time.perf_counter() - started


def median_ratio(theirs: Sequence[float], ours: Sequence[float]) -> float:
    """Return how many times faster ours is: the median over adjacent runs."""
    return middle([a / b for a, b in zip(theirs, ours, strict=True)])


def _same(name: str, *tools: Sequence[int] | NDArray[np.integer]) -> None:
    if any(not np.array_equal(tools[0], other) for other in tools[1:]):
        raise SystemExit(f"The tools give different ids on {name}, so nothing is timed.")


def speed(n_bytes: int, seconds: Sequence[float]) -> str:
    return f"{n_bytes / middle(seconds) / 1e6:.1f}"


def _threads(tools: Tools, folder: Path | None) -> list[str]:
    text = corpora.mixed(10_000_000, folder).text * 2
    for wanted in (1, 2):
        tools.ours.encode(text, wanted)
    pairs = [
        (timed(lambda: tools.ours.encode(text, 1)), timed(lambda: tools.ours.encode(text, 2)))
        for _ in range(ROUNDS)
    ]
    ratio = middle([one / two for one, two in pairs])
    return [f"Two threads on 20 MB: {against(ratio, 1.8, at_most=False)} times as fast as one."]


def _many_short(tools: Tools, folder: Path | None) -> list[str]:
    text = corpora.mixed(1_000_000, folder).text
    width = len(text) // SHORT_TEXTS
    texts = [text[i * width : (i + 1) * width] for i in range(SHORT_TEXTS)]
    ours = gpt2()
    ours.encode(text)  # loads the kernels

    def by_tiktoken() -> list[list[int]]:
        return tools.tiktoken.encode_ordinary_batch(texts, num_threads=2)

    if ours.encode_batch(texts) != by_tiktoken():
        raise SystemExit("The tools give different ids on short texts, so nothing is timed.")
    pairs = [(timed(by_tiktoken), timed(lambda: ours.encode_batch(texts))) for _ in range(ROUNDS)]
    ratio = middle([theirs / own for theirs, own in pairs])
    return [
        f"`encode_batch` of {SHORT_TEXTS:,} texts of about {width} characters, to lists, is "
        f"{against(ratio, 3, at_most=False)} times as fast as tiktoken's `encode_ordinary_batch`; "
        f"tiktoken has two threads, `encode_batch` {n_threads()}."
    ]


def _slope(tools: Tools, folder: Path | None) -> list[str]:
    times: list[float] = []
    for megabytes in (1, 10, 100):
        text = corpora.mixed(megabytes * 1_000_000, folder).text
        tools.forget()
        tools.ours.encode(text, 1)
        times.append(middle([timed(lambda: tools.ours.encode(text, 1)) for _ in range(3)]))  # noqa: B023
    slopes = [math.log10(b / a) for a, b in itertools.pairwise(times)]
    return [
        f"1, 10 and 100 MB, warm: {', '.join(f'{t:.3f} s' for t in times)}; slope on "
        f"logarithmic axes {slopes[0]:.2f} and {slopes[1]:.2f} (1 means proportional)."
    ]


def _degenerate(tools: Tools, folder: Path | None) -> list[str]:
    prose = corpora.english(1_000_000).text
    texts = corpora.degenerate(1_000_000)
    texts["a single 10 MB line"] = corpora.one_line(corpora.mixed(10_000_000, folder))
    rows: list[list[str]] = []
    for name, text in texts.items():
        _same(name, tools.ours.encode(text, 1), tools.tiktoken.encode_ordinary(text))
        times: list[tuple[float, float, float]] = []
        for _ in range(3):
            tools.forget()
            of_prose = timed(lambda: tools.ours.encode(prose, 1))  # noqa: B023
            tools.forget()
            times.append(
                (
                    of_prose / len(prose.encode()),
                    timed(lambda: tools.ours.encode(text, 1)) / len(text.encode()),  # noqa: B023
                    timed(lambda: tools.tiktoken.encode_ordinary(text)) / len(text.encode()),  # noqa: B023
                )
            )
        a_byte = [middle(column) for column in zip(*times, strict=True)]
        rows.append(
            [
                name,
                f"{1 / a_byte[1] / 1e6:.1f}",
                against(middle([ours / prose for prose, ours, _ in times]), 10),
                f"{middle([theirs / ours for _, ours, theirs in times]):.1f}",
            ]
        )
    head = ["a megabyte of", "MB/s, cold", "time per byte / prose", "times as fast as tiktoken"]
    return ["Worst-case texts; ids equal to tiktoken's:", "", table(head, rows)]
