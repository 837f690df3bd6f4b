"""Write the table of docs/decide.md: what merges of pairs that occurred only once are worth.

`python -m scripts.measure_pairs_seen_once` trains on the beginnings of the samples that ship with
the library, until no pair is left, and until none occurs twice, and measures on their ends.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from bpe_core.corpus import Corpus, load_sample
from bpe_core.trainers import train
from bpe_core.types import TrainingConfig

DOCUMENT: Final = Path(__file__).parents[1] / "docs" / "decide.md"
BEGIN, END = "<!-- table -->\n", "<!-- end of table -->\n"
SAMPLES: Final = {
    "A Chinese story": "kong-yiji",
    "A novel": "alice",
    "Python's help": "python-help",
    "Python's library": "python-library",
}
SIZES: Final = (2_000, 10_000, 50_000, 100_000, 300_000, 1_000_000)
SHARE: Final = 5


def main() -> None:
    """Measure and write."""
    lines = [
        "| Text | Merges | Training text fits better by | Bytes per token, held out |",
        "|---|--:|--:|--:|",
    ]
    for title, sample in SAMPLES.items():
        text = "".join(load_sample(sample).documents)
        held_out = text[-(len(text) // SHARE) :]
        for size in (size for size in SIZES if size <= len(text) - len(held_out)):
            cells = zip(*(measure(text[:size], held_out, least) for least in (0, 2)), strict=True)
            name = f"{title}, {len(text[:size].encode()) / 1000:,.0f} KB"
            lines.append(f"| {name} | {' | '.join(' → '.join(pair) for pair in cells)} |")
            print(lines[-1], flush=True)
    before, _, after = DOCUMENT.read_text("utf-8").partition(BEGIN)
    table = "\n".join(lines) + "\n"
    DOCUMENT.write_text(f"{before}{BEGIN}{table}{END}{after.partition(END)[2]}", "utf-8")


def measure(text: str, held_out: str, min_frequency: int) -> tuple[str, str, str]:
    """Return the merges, how much better the training text fits, and the figure on the other."""
    run = train([text], TrainingConfig(1_000_000, min_frequency=min_frequency))
    own = run.corpus_bytes / int(run.tokens_after[-1])
    n_tokens = int(run.tokens_after_on(Corpus.from_text(held_out))[-1])
    theirs = len(held_out.encode()) / n_tokens
    return f"{len(run.merges):,}", f"{own / theirs - 1:.0%}", f"{theirs:.2f}"


if __name__ == "__main__":
    main()
