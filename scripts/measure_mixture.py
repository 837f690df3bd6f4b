"""Measure `bpe.mixture` on tokenizers that it trains on known mixtures, and print the table.

The kinds of text are the files of the packages that this project's environment has, by their
endings. Of each kind, some files are trained on and others are the sample. Shares are drawn at
random. Run: python -m scripts.measure_mixture [--mb 20]
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import bpe_core as bpe

ROOT = Path(__file__).parents[1]
KINDS = {
    "Python": "py",
    "JavaScript": "js",
    "JSON": "json",
    "C": "h",
    "Markdown": "md",
    "HTML": "html",
    "TypeScript": "d.ts",
    "CSS": "css",
    "reST": "rst",
    "stubs": "pyi",
}
MAX_FILE = 8_000


def texts_of(suffix: str) -> tuple[list[str], list[str]]:
    """Return the texts to train on and those of the sample, of other files."""
    folders = [
        ROOT / ".venv" / "lib",
        ROOT / "node_modules",
        Path("/usr/include"),
        Path("/usr/share"),
    ]
    found = (path for folder in folders for path in folder.rglob(f"*.{suffix}"))
    paths = sorted({path.resolve() for path in found if path.is_file()})
    random.Random(suffix).shuffle(paths)
    read = [path.read_text(encoding="utf-8", errors="ignore")[:MAX_FILE] for path in paths[:4_000]]
    kept = list(dict.fromkeys(text for text in read if text.strip()))
    return kept[::2], kept[1::2]


def cut(texts: list[str], n_bytes: int) -> list[str]:
    """Return texts of about this size in all, repeated if there are too few."""

    def endless() -> Iterator[str]:
        while True:
            yield from texts

    chosen: list[str] = []
    left = n_bytes
    for text in endless():
        data = text.encode()[:left]
        chosen.append(data.decode(errors="ignore"))
        left -= max(1, len(data))
        if left <= 0:
            return chosen
    return chosen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mb", type=float, default=20, help="The size of the training text.")
    parser.add_argument("--sample-mb", type=float, default=1, help="The size of each sample.")
    parser.add_argument("--kinds", type=int, nargs="+", default=[2, 5, 10])
    parser.add_argument("--sizes", type=int, nargs="+", default=[8_000, 32_000])
    options = parser.parse_args()
    known = {name: texts_of(suffix) for name, suffix in KINDS.items()}
    print("| kinds | vocabulary | mean error | largest error | guess | in interval | fit | s |")
    print("|--:|--:|--:|--:|--:|--:|--:|--:|")
    for n_kinds in options.kinds:
        measure(known, n_kinds, options.sizes, options.mb, options.sample_mb)


def measure(
    known: dict[str, tuple[list[str], list[str]]],
    n_kinds: int,
    sizes: list[int],
    mb: float,
    sample_mb: float,
) -> None:
    names = [*KINDS][:n_kinds]
    true = np.random.default_rng(n_kinds).dirichlet(np.ones(n_kinds))
    training = [
        text
        for name, share in zip(names, true, strict=True)
        for text in cut(known[name][0], max(1, int(share * mb * 1e6)))
    ]
    corpus = bpe.Corpus.from_documents(training)
    samples = {
        name: bpe.Corpus.from_documents(cut(known[name][1], int(sample_mb * 1e6))) for name in names
    }
    for size in sizes:
        tokenizer = bpe.train(corpus, vocab_size=size).tokenizer
        started = time.process_time()
        found = bpe.mixture(tokenizer, samples)
        seconds = time.process_time() - started
        errors = np.abs(found.shares - true)
        inside = np.mean((true >= found.low) & (true <= found.high))
        guess = np.abs(1 / n_kinds - true).mean()
        print(
            f"| {n_kinds} | {size:,} | {errors.mean():.1%} | {errors.max():.1%} | {guess:.1%} "
            f"| {inside:.0%} | {found.fit:.0%} | {seconds:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
