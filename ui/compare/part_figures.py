"""Format a difference by parts: as rows of a table, and as CSV."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from typing import Final

import bpe_core
from bpe_core.comparison.intervals import N_RESAMPLES, SEED
from bpe_core.comparison.parts import Division, Gain, Part
from ui.compare.gain_words import figure_words, part_name
from ui.compare.language_figures import plain_cell
from ui.components.figures import Row

TITLES: Final[dict[Division, str]] = {
    "kind": "By kind",
    "script": "By script",
    "type": "By file type",
    "file": "By file",
}
WHOLE: Final = "all text"
COLUMNS: Final = ("fewer or more tokens", "95% interval", "units")


def shown_parts(gain: Gain, division: Division) -> list[Part]:
    """Return the whole and the parts of a division, by the names shown."""
    parts = dict(gain.divisions)[division]
    return [
        gain.whole._replace(name=WHOLE),
        *(part._replace(name=part_name(division, part.name)) for part in parts),
    ]


def part_rows(parts: Sequence[Part]) -> list[Row]:
    """Return a row for each part: both counts, the figure, its interval and its units."""
    return [
        Row(
            part.name,
            (
                f"{part.own:,}",
                f"{part.theirs:,}",
                figure_words(part),
                "–" if math.isnan(part.low) else f"{_minus(part.low)} to {_minus(part.high)}",
                f"{part.n_units:,}",
            ),
        )
        for part in parts
    ]


def parts_csv(
    gain: Gain, names: Sequence[str], text_sha256: str, fingerprints: Sequence[str] = ()
) -> bytes:
    """Return the whole and all parts as CSV, one line each.

    `fingerprints` are those of the two tokenizers, which tell them from others of the same name.
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\r\n")
    own, other = (plain_cell(f"tokens of {name}") for name in names[:2])
    columns = ["by", "part", own, other, "percent fewer", "95% low", "95% high", "units"]
    more = [plain_cell(f"fingerprint of {name}") for name in names[: len(fingerprints)]]
    writer.writerow([*columns, "resamples", "seed", "text sha256", *more, "bpe_core"])
    lines = [("all", gain.whole), *((by, part) for by, parts in gain.divisions for part in parts)]
    for by, part in lines:
        figures = (part.percent_fewer, part.low, part.high)
        writer.writerow(
            [
                *(by, plain_cell(part.name), part.own, part.theirs),
                *("" if math.isnan(figure) else f"{figure:.6g}" for figure in figures),
                *(part.n_units, N_RESAMPLES, SEED, text_sha256),
                *(*fingerprints, bpe_core.__version__),
            ]
        )
    return buffer.getvalue().encode("utf-8-sig", "replace")


def _minus(percent: float) -> str:
    return f"{percent:,.1f}%".replace("-", "−").replace("−0.0%", "0.0%")
