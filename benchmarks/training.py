"""Compare training with tokenizers, rustbpe and gigatoken.

Each training runs in a separate process, after a small warm-up, the tools in turn.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks import corpora
from benchmarks.peak_memory import peak_megabytes
from benchmarks.report import against, middle, table

ROOT = Path(__file__).parents[1]
GPT2 = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
TOOLS = ("bpe_core", "tokenizers", "rustbpe", "gigatoken")
EXACT = ("bpe_core", "tokenizers", "gigatoken")  # rustbpe breaks ties by another rule
SIZES = ((1, 10_000, 5), (10, 32_000, 3), (100, 32_000, 3))
GOALS = {
    (1, "tokenizers"): 0.085,
    (100, "tokenizers"): 0.05,
    (100, "rustbpe"): 0.11,
    (100, "gigatoken"): 0.22,
}
SECONDS_AT_MOST = 600
SECONDS_AT_MOST_DEGENERATE = 15
WARM_UP_CHARACTERS = 600_000


def growth(folder: Path | None) -> list[str]:
    """Measure how the training time grows with the text, and worst-case texts."""
    with tempfile.TemporaryDirectory() as scratch:
        for megabytes in (1, 10, 100):
            documents = corpora.mixed(megabytes * 1_000_000, folder).documents
            _saved(documents, Path(scratch, f"{megabytes}.txt"))
        return [*_slope(Path(scratch)), "", *_degenerate(Path(scratch), folder)]


def against_peers(folder: Path | None) -> list[str]:
    """Compare training with tokenizers, rustbpe and gigatoken."""
    with tempfile.TemporaryDirectory() as scratch:
        return _against_peers(Path(scratch), folder)


def _against_peers(scratch: Path, folder: Path | None) -> list[str]:
    rows: list[list[str]] = []
    taken = ""
    for megabytes, vocab_size, rounds in SIZES:
        sample = corpora.mixed(megabytes * 1_000_000, folder)
        taken = sample.taken
        path = _saved(sample.documents, scratch / f"{megabytes}.txt")
        found: dict[str, list[dict[str, Any]]] = {tool: [] for tool in TOOLS}
        for _ in range(rounds):
            for tool in TOOLS:
                found[tool].append(_once(tool, path, vocab_size))
        digests = {tool: runs[0]["merges"] for tool, runs in found.items() if runs[0]}
        for tool in EXACT:
            if tool in digests and digests[tool] != digests["bpe_core"]:
                raise SystemExit(
                    f"{tool} learned different merges on {megabytes} MB, so nothing is timed."
                )
        ours = found["bpe_core"]
        for tool, runs in found.items():
            if not runs[0]:
                rows.append([f"{megabytes} MB, {vocab_size:,}", tool, "not finished", "", ""])
                continue
            seconds = middle([r["seconds"] for r in runs])
            memory = middle([r["megabytes"] for r in runs])
            ratio = share = ""
            if tool != "bpe_core":
                of_times = middle([a["seconds"] / b["seconds"] for a, b in zip(ours, runs)])  # noqa: B905
                goal = GOALS.get((megabytes, tool))
                ratio = f"{of_times:.3f}" if goal is None else against(of_times, goal)
                of_memory = middle([r["megabytes"] for r in ours]) / memory
                has_goal = (megabytes, tool) == (100, "tokenizers")
                share = against(of_memory, 0.65) if has_goal else f"{of_memory:.2f}"
            rows.append(
                [
                    f"{sample.n_bytes / 1000000.0:.0f} MB, {vocab_size:,}",
                    tool,
                    f"{seconds:.3f} s",
                    ratio,
                    f"{memory:,.0f} MB",
                    share,
                ]
            )
    head = [
        "corpus, vocabulary",
        "tool",
        "time",
        "bpe_core / tool",
        "peak memory",
        "bpe_core / tool",
    ]
    return [
        f"Corpus: {taken}. GPT-2's pre-tokenization, each document on its own. In each row the "
        "merges equal those of tokenizers and gigatoken; rustbpe breaks ties differently. Times "
        "are medians; ratios are medians over adjacent runs. Memory is that of the whole process, "
        "including the corpus.",
        "",
        table(head, rows),
    ]


def _slope(scratch: Path) -> list[str]:
    times = [
        middle([_once("bpe_core", scratch / f"{size}.txt", 32_000)["seconds"] for _ in range(3)])
        for size in (1, 10, 100)
    ]
    slopes = [math.log10(b / a) for a, b in itertools.pairwise(times)]
    return [
        f"To 32,000 on 1, 10 and 100 MB: {', '.join(f'{t:.3f} s' for t in times)}; slope on "
        f"logarithmic axes {slopes[0]:.2f} and {slopes[1]:.2f} (1 means proportional)."
    ]


def _degenerate(scratch: Path, folder: Path | None) -> list[str]:
    prose = _once("bpe_core", scratch / "1.txt", 2_000)["seconds"] / 1e6
    texts = corpora.degenerate(1_000_000)
    texts["a single 10 MB line"] = corpora.one_line(corpora.mixed(10_000_000, folder))
    rows: list[list[str]] = []
    for name, text in texts.items():
        path = _saved([text], scratch / "degenerate.txt")
        ours = _once("bpe_core", path, 2_000)
        theirs = _once("tokenizers", path, 2_000, seconds=SECONDS_AT_MOST_DEGENERATE)
        if theirs and theirs["merges"] != ours["merges"]:
            raise SystemExit(f"tokenizers learned different merges on {name}, so nothing is timed.")
        per_byte = ours["seconds"] / len(text.encode())
        rows.append(
            [
                name,
                f"{ours['seconds']:.3f} s",
                against(per_byte / prose, 10),
                f"{theirs['seconds']:.3f} s" if theirs else f"over {SECONDS_AT_MOST_DEGENERATE} s",
            ]
        )
    head = ["a megabyte of", "time to 2,000", "time per byte / prose", "tokenizers"]
    return [
        "Worst-case texts; merges equal to those of tokenizers whenever it finishes:",
        "",
        table(head, rows),
    ]


def _saved(documents: list[str], path: Path) -> Path:
    path.write_bytes("\0".join(documents).encode())
    return path


def _documents(path: Path) -> list[str]:
    return path.read_bytes().decode().split("\0")


def _once(
    tool: str, path: Path, vocab_size: int, *, seconds: float = SECONDS_AT_MOST
) -> dict[str, Any]:
    """Train once in a separate process; empty if it takes too long or the tool is missing."""
    command = [sys.executable, "-m", "benchmarks.training", tool, str(path)]
    try:
        ran = subprocess.run(
            [*command, str(vocab_size)], cwd=ROOT, capture_output=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        return {}
    if ran.returncode:
        print(tool, ran.stderr.decode()[-400:], file=sys.stderr)
        return {}
    return json.loads(ran.stdout.splitlines()[-1])  # some tools also print


def _train(tool: str, documents: list[str], vocab_size: int) -> Callable[[], list[bytes]]:
    """Train, and return a function that lists the merges in order."""
    if tool == "bpe_core":
        from bpe_core.corpus import Corpus
        from bpe_core.trainers import train
        from bpe_core.types import TrainingConfig

        corpus = Corpus.from_documents(documents)
        run = train(corpus, TrainingConfig(vocab_size, special_tokens=()))
        vocab = run.tokenizer.vocab
        return lambda: [vocab[merge.left] + b" " + vocab[merge.right] for merge in run.merges]
    if tool == "tokenizers":
        from tokenizers import Tokenizer, models, pre_tokenizers, trainers

        from bpe_core.unicode import from_printable

        tokenizer = Tokenizer(models.BPE())
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        alphabet = pre_tokenizers.ByteLevel.alphabet()
        trainer = trainers.BpeTrainer(
            vocab_size=vocab_size, initial_alphabet=alphabet, show_progress=False
        )
        tokenizer.train_from_iterator(documents, trainer)
        return lambda: [
            from_printable(left) + b" " + from_printable(right)
            for left, right in json.loads(tokenizer.to_str())["model"]["merges"]
        ]
    if tool == "rustbpe":
        import rustbpe  # pyright: ignore[reportMissingImports]

        learned = rustbpe.Tokenizer()
        learned.train_from_iterator(iter(documents), vocab_size, pattern=GPT2)
        return lambda: [bytes(token) for token, _ in learned.get_mergeable_ranks()[256:]]
    import gigatoken  # pyright: ignore[reportMissingImports]

    data = "\0".join(documents).encode()
    _, merges = gigatoken.train_bpe(data, vocab_size, [], "huggingface", b"\0")
    return lambda: [left + b" " + right for left, right in merges]


def _measure(tool: str, path: Path, vocab_size: int) -> None:
    documents = _documents(path)
    # Two documents for two threads, large enough that every kernel is loaded.
    text = "\n".join(documents)[:WARM_UP_CHARACTERS]
    half = len(text) // 2
    _train(tool, [text[:half], text[half:]], 2_000)
    started = time.perf_counter()
    merges = _train(tool, documents, vocab_size)
    seconds = time.perf_counter() - started
    peak = peak_megabytes()  # before the merges are spelled, which is not the tool's work
    digest = hashlib.sha256(b"\n".join(merges())).hexdigest()
    print(json.dumps({"seconds": seconds, "megabytes": peak, "merges": digest}))


if __name__ == "__main__":
    _measure(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
