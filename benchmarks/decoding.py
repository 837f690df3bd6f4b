"""Measure decoding with GPT-2, from arrays and from lists of Python ints."""

from __future__ import annotations

from pathlib import Path

from benchmarks import corpora
from benchmarks.encoding import ROUNDS, Tools, median_ratio, speed, timed
from benchmarks.report import against, middle, table
from bpe_core.tokenizer import gpt2


def decoding(folder: Path | None) -> list[str]:
    """Compare decoding of arrays and lists, and encoding to a list, with tiktoken."""
    tools = Tools()
    text = corpora.english(1_100_000).text
    ids = tools.ours.encode(text)
    listed: list[int] = ids.tolist()
    ours = gpt2()
    ours.encode(text * 2)  # loads the kernels
    if not ours.decode(ids) == ours.decode(listed) == tools.tiktoken.decode(listed) == text:
        raise SystemExit("The tools decode differently, so nothing is timed.")
    tools.tokenizers.decode(listed[:1000])
    times: dict[str, list[float]] = {"array": [], "list": [], "theirs": [], "tokenizers": []}
    encoding: dict[str, list[float]] = {"ours": [], "theirs": []}
    for _ in range(ROUNDS):
        times["array"].append(timed(lambda: ours.decode(ids)))
        times["theirs"].append(timed(lambda: tools.tiktoken.decode(listed)))
        times["list"].append(timed(lambda: ours.decode(listed)))
        times["tokenizers"].append(timed(lambda: tools.tokenizers.decode(listed)))
        encoding["ours"].append(timed(lambda: ours.encode(text)))
        encoding["theirs"].append(timed(lambda: tools.tiktoken.encode_ordinary(text)))
    to_list = median_ratio(encoding["theirs"], encoding["ours"])
    segments = [timed(lambda: ours.segments(text)) for _ in range(3)]
    n = len(text.encode())
    rows = [
        [
            "bpe_core, ids as an array",
            speed(n, times["array"]),
            against(median_ratio(times["theirs"], times["array"]), 6, at_most=False),
        ],
        [
            "bpe_core, ids as a list",
            speed(n, times["list"]),
            against(median_ratio(times["theirs"], times["list"]), 1.3, at_most=False),
        ],
        ["tiktoken, ids as a list", speed(n, times["theirs"]), ""],
        ["tokenizers, ids as a list", speed(n, times["tokenizers"]), ""],
    ]
    return [
        "English, decoded to text. Reading the ints of a Python list alone takes half of "
        "tiktoken's total time, so only arrays can be five times faster:",
        "",
        table(["tool", "MB/s", "times as fast as tiktoken"], rows),
        "",
        f"`encode` to a list of ints, warm and on all cores: {to_list:.1f} times as fast as "
        f"tiktoken's. `segments` of the same {n / 1e6:.1f} MB: {middle(segments):.2f} s.",
    ]
