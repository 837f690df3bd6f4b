"""Measure cold starts: whole processes, with the files in the disk cache."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks import corpora
from benchmarks.encoding import timed
from benchmarks.report import against, middle, seconds_against, table
from bpe_core.errors import BpeError
from bpe_core.formats import open_encoder, save
from bpe_core.tokenizer import data_folder, gpt2

ROOT = Path(__file__).parents[1]
ROUNDS = 9
_ENCODE = "import bpe_core; bpe_core.gpt2().encode('The quick brown fox')"
_GPT2 = "import bpe_core; bpe_core.gpt2()"
# These two print the ids if they are to be compared.
_START_TO_IDS = """
import sys
import bpe_core
ids = bpe_core.gpt2().encode_to_numpy(open(sys.argv[1], newline="").read())
if len(sys.argv) > 2:
    print(*ids)
"""
_GIGATOKEN = """
import sys
import gigatoken
tokenizer = gigatoken.Tokenizer.from_json(open(sys.argv[2]).read())
ids = tokenizer.encode(open(sys.argv[1], newline="").read())
if len(sys.argv) > 3:
    print(*ids)
"""
_ENCODE_FILE = """
import sys
import bpe_core
from benchmarks.peak_memory import peak_megabytes
bpe_core.gpt2().encode_to_numpy(open(sys.argv[1], newline="").read() * 2)
print(peak_megabytes())
"""
_FIRST_CALL = """
import sys
import time
import bpe_core
encoder = bpe_core.open_encoder(sys.argv[1])
text = open(sys.argv[2], newline="").read()
started = time.perf_counter()
encoder.encode(text)
print(time.perf_counter() - started)
"""
_MAX_FIRST_CALL = {"gpt2": 0.18, "llama3": 0.25}
"""Seconds that the first call may take, by tokenizer."""
_TIKTOKEN = """
import sys
import tiktoken
from tiktoken.load import data_gym_to_mergeable_bpe_ranks
from tiktoken_ext.openai_public import ENDOFTEXT, r50k_pat_str
ranks = data_gym_to_mergeable_bpe_ranks(*sys.argv[1:])
encoding = tiktoken.Encoding(
    "gpt2", pat_str=r50k_pat_str, mergeable_ranks=ranks, special_tokens={ENDOFTEXT: 50256}
)
assert encoding.encode("The quick brown fox") == [464, 2068, 7586, 21831]
"""
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
    """Measure how long a command takes from the shell, in turn with a peer's."""
    python = sys.executable
    rows: list[list[str]] = []

    def row(
        name: str,
        goal: float | None,
        command: list[str],
        peer: tuple[str, list[str], float | None] | None = None,
    ) -> None:
        """Measure a command, with its goal in seconds; a peer has a goal for the ratio."""
        pairs = [(_whole(command), _whole(peer[1]) if peer else 0.0) for _ in range(ROUNDS)]
        ours = [seconds for seconds, _ in pairs]
        row = [name, f"{middle(ours):.3f} s", f"{min(ours):.3f} s"]
        row.append("" if goal is None else seconds_against(middle(ours), goal))
        if peer is None:
            rows.append([*row, "", ""])
            return
        tool, _, most = peer
        ratio = middle([mine / theirs for mine, theirs in pairs])
        shown = f"{ratio:.2f}" if most is None else against(ratio, most)
        rows.append([*row, f"{tool} {middle([theirs for _, theirs in pairs]):.3f} s", shown])

    row("Python itself", None, [python, "-c", ""])
    only_import = [python, "-c", "import bpe_core"]
    row("`import bpe_core`", 0.08, only_import)
    opening = middle([_whole([python, "-c", _GPT2]) - _whole(only_import) for _ in range(ROUNDS)])
    rows.append(
        ["`gpt2()` after that", f"{opening:.3f} s", "", seconds_against(opening, 0.02), "", ""]
    )
    with tempfile.TemporaryDirectory() as scratch:
        merges = str(data_folder() / "vocab.bpe")
        theirs = [python, "-c", _TIKTOKEN, merges, str(Path(merges).with_name("encoder.json"))]
        short = [python, "-c", _ENCODE]
        row("first GPT-2 encode of a short text", 0.3, short, ("tiktoken", theirs, 1.5))
        path, out = Path(scratch, "corpus.txt"), str(Path(scratch, "tokenizer.json"))
        for n_bytes, vocab_size, goal, most in (
            (100_000, 2_000, 0.35, None),
            (1_000_000, 10_000, 0.75, 0.75),
        ):
            text = corpora.mixed(n_bytes, folder).text.encode()[:n_bytes]
            path.write_text(text.decode(errors="ignore"), newline="")
            size = str(vocab_size)
            mine = [python, "-m", "bpe_core", "train", str(path), "--vocab-size", size]
            theirs = [python, "-c", _TOKENIZERS, str(path), size, out]
            name = f"train {n_bytes // 1000:,} kB to {vocab_size:,}"
            row(name, goal, [*mine, "--out", out], ("tokenizers", theirs, most))
        save(gpt2(), out, format="huggingface")
        mine, theirs = (
            [python, "-c", _START_TO_IDS, str(path)],
            [python, "-c", _GIGATOKEN, str(path), out],
        )
        if _run([*mine, "ids"]).split() != _run([*theirs, "ids"]).split():
            raise SystemExit("The ids of gigatoken differ, so nothing is timed.")
        row("start to ids of 1 MB, GPT-2", None, mine, ("gigatoken", theirs, 1.1))
        first_calls = _first_calls(path)
        by_library, by_numba = _megabytes(path), _megabytes(path, BPE_KERNELS="numba")
        compiling = _whole([python, "-m", "bpe_core.kernels.compiling"], NUMBA_CACHE_DIR=scratch)
    seconds = f"{compiling:.1f} s"
    goal = seconds_against(compiling, 15)
    rows.append(["compile all kernels, once per machine", seconds, seconds, goal, "", ""])
    head = ["whole process", "median", "minimum", "goal", "peer", "ours / peer"]
    less = by_numba - by_library
    missed = "" if less >= 80 else f", **missed by {80 - less:.0f} MB**"
    return [
        f"Medians of {ROUNDS} runs, alternating with the peer; except in the last row, the kernels "
        "are already compiled. tiktoken reads GPT-2's two files from this machine.",
        "",
        table(head, rows),
        "",
        f"The first call in a process, 1 MB of text, the tokenizer opened before: {first_calls}.",
        "",
        f"Peak memory of a process that encodes 1 MB with GPT-2: {by_library:.0f} MB; "
        f"{by_numba:.0f} MB if Numba loads the kernels: {less:.0f} MB less (goal ≥ 80 MB{missed}).",
    ]


def _first_calls(path: Path) -> str:
    """Measure the first call of tokenizers that this machine has opened before."""
    found: list[str] = []
    for name, most in _MAX_FIRST_CALL.items():
        try:
            open_encoder(name)
        except BpeError:  # not on this machine
            continue
        command = [sys.executable, "-c", _FIRST_CALL, name, str(path)]
        seconds = middle([float(_run(command)) for _ in range(1 + ROUNDS)][1:])
        found.append(f"{name} {seconds:.3f} s ({seconds_against(seconds, most)})")
    return ", ".join(found)


def _megabytes(path: Path, **environment: str) -> float:
    """Return the peak memory of a process that encodes a file, with all kernels compiled."""
    _run([sys.executable, "-m", "bpe_core.kernels.compiling"], **environment)
    return float(_run([sys.executable, "-c", _ENCODE_FILE, str(path)], **environment))


def _whole(command: list[str], **environment: str) -> float:
    return timed(lambda: _run(command, **environment))


def _run(command: list[str], **environment: str) -> bytes:
    """Return what a command prints."""
    variables = {**os.environ, **environment}
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, env=variables).stdout
