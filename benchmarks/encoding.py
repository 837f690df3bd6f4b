"""Compare encoding with GPT-2's vocabulary with that of other tools.

All tools run in one process, in turn. *Cold* means an empty word cache, *warm* one that has seen
the text.
"""

from __future__ import annotations

import base64
import itertools
import json
import math
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tiktoken
from numpy.typing import NDArray
from tokenizers import ByteLevelBPETokenizer

from benchmarks import corpora
from benchmarks.report import against, middle, table
from bpe_core.kernels.threads import n_threads
from bpe_core.tokenizer.compiled import CompiledEncoder
from bpe_core.tokenizer.gpt2 import END_OF_TEXT, data_folder, gpt2
from bpe_core.unicode.byte_alphabet import from_printable

PATTERN = r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"""
ROUNDS = 7
SHORT_TEXTS = 10_000
MAX_BYTES_FOR_TOKENIZERS = 2_000_000  # bytes; it needs a second per megabyte
GOALS: dict[tuple[str, str], float] = {
    ("English", "tiktoken, cold"): 12,
    ("English", "tiktoken, warm"): 17,
    ("English", "tokenizers, cold"): 40,
    ("English", "gigatoken, cold"): 0.7,
    ("English", "gigatoken, warm"): 0.6,
    ("all kinds", "gigatoken, warm"): 0.75,
    ("Chinese, Japanese, Korean", "tiktoken, cold"): 4,
}


def against_peers(folder: Path | None) -> list[str]:
    """Compare encoding with tiktoken, tokenizers and gigatoken, on one thread."""
    return _against_peers(Tools(), folder)


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
        self._ranks = ranks

    def forget(self) -> None:
        """Replace the encoder by one with empty word caches."""
        self.ours = CompiledEncoder(gpt2().table, gpt2().pretokenizer)

    def gigatoken(self) -> Any:
        """Return a new, cold gigatoken tokenizer; None if gigatoken is not installed."""
        try:
            import gigatoken  # pyright: ignore[reportMissingImports]
        except ImportError:
            return None
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "gpt2.tiktoken"
            lines = (base64.b64encode(token) + b" %d\n" % id for token, id in self._ranks.items())
            path.write_bytes(b"".join(lines))
            return gigatoken.Tokenizer.from_tiktoken(str(path), pretokenizer="gpt2")


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


def _against_peers(tools: Tools, folder: Path | None) -> list[str]:
    samples = {
        "English": corpora.english(1_100_000),
        "code": corpora.code(10_000_000),
        "Chinese, Japanese, Korean": corpora.cjk(5_000_000),
        "all kinds": corpora.mixed(10_000_000, folder),
    }
    rows: list[list[str]] = []
    for name, sample in samples.items():
        text = sample.text
        n_bytes = len(text.encode())
        times = _in_turn(tools, name, text, n_bytes)
        rows.append([name, "bpe_core, cold", speed(n_bytes, times["ours, cold"]), ""])
        rows.append(["", "bpe_core, warm", speed(n_bytes, times["ours, warm"]), ""])
        for tool, seconds in times.items():
            if tool.startswith("ours"):
                continue
            shown: list[str] = []
            for state in ("cold", "warm"):
                if tool.endswith("warm") and state == "cold":
                    continue
                if tool.endswith("cold") and state == "warm":
                    continue
                ratio = median_ratio(seconds, times[f"ours, {state}"])
                goal = GOALS.get((name, f"{tool.split(',')[0]}, {state}"))
                figure = f"{ratio:.2f}" if goal is None else against(ratio, goal, at_most=False)
                shown.append(f"{state} {figure}")
            rows.append(["", tool, speed(n_bytes, seconds), ", ".join(shown)])
    taken = "; ".join(
        f"{name}: {sample.n_bytes / 1e6:.1f} MB of {sample.taken}"
        for name, sample in samples.items()
    )
    return [
        f"One thread, each text in one call, ids as an array if the tool offers one (tokenizers "
        f"returns its own objects). All ids were equal. Medians of {ROUNDS} rounds; ratios are "
        f"medians over adjacent runs. {taken}.",
        "",
        table(["text", "tool", "MB/s", "bpe_core is faster by"], rows),
    ]


def _in_turn(tools: Tools, name: str, text: str, n_bytes: int) -> dict[str, list[float]]:
    ids = tools.ours.encode(text, 1)
    _same(name, ids, tools.tiktoken.encode_ordinary(text))
    warm = tools.gigatoken()
    if warm is not None:
        _same(name, ids, warm.encode(text))
    with_tokenizers = n_bytes <= MAX_BYTES_FOR_TOKENIZERS
    if with_tokenizers:
        _same(name, ids, tools.tokenizers.encode(text).ids)
    data = text.encode()
    times: dict[str, list[float]] = {}

    def note(tool: str, function: Callable[[str], object]) -> None:
        # A new string each time: the Rust tools cache its UTF-8 in the string.
        new = data.decode()
        times.setdefault(tool, []).append(timed(lambda: function(new)))

    for _ in range(ROUNDS):
        tools.forget()
        note("ours, cold", lambda new: tools.ours.encode(new, 1))
        note("ours, warm", lambda new: tools.ours.encode(new, 1))
        note("tiktoken", lambda new: tools.tiktoken.encode_to_numpy(new, disallowed_special=()))
        if warm is not None:
            cold = tools.gigatoken()
            note("gigatoken, cold", cold.encode)
            note("gigatoken, warm", warm.encode)
        if with_tokenizers:
            note("tokenizers", tools.tokenizers.encode)
    return times


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
    return [f"Two threads on 20 MB: {against(ratio, 1.6, at_most=False)} times as fast as one."]


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
