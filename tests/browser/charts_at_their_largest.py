"""Draw each chart of the app with the largest values and longest names that occur."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import plotly.graph_objects as go

from bpe_core.trainers import SampleFigures
from ui.compare import comparison_charts as compare_charts
from ui.compare.comparison_charts import kind_bars
from ui.lab import sections as lab_charts
from ui.look import charts
from ui.pair_frequencies import pair_life, size_part
from ui.pair_frequencies import step as pair_charts
from ui.vocabulary import audit_section

TEN_MILLION = 10_000_000
STEPS = np.linspace(0, 999_744, 40).astype(np.int64)
FALLING = np.geomspace(TEN_MILLION, 1, 40).astype(np.int64)
RISING = np.linspace(1, 104.5, 40)
NAMES = [
    "electroencephalographical",
    "internationalization",
    "a" * 40,
    "日本語の長い単語",
    "<b>x</b>",
]
KINDS = ["words and numbers", "punctuation", "white space"]


def large_charts() -> Iterator[tuple[str, go.Figure]]:
    """Yield each chart with its name."""
    yield (
        "bytes per token",
        charts.bytes_per_token_curves(
            STEPS, RISING, RISING * 0.99, held_out_name="your text", marked=(0, 1.0), theme="light"
        ),
    )
    small = np.linspace(1, 1.02, 40)
    yield "hardly any gain", charts.bytes_per_token_curves(STEPS, small, None, theme="light")
    for name, tokens in (("ten million tokens", FALLING), ("a trillion", FALLING * 123_456)):
        yield name, charts.tokens_over_merges(tokens, merges=STEPS, marked=(0, 9.0), theme="light")
    yield (
        "a training under way",
        charts.tokens_over_merges(
            [TEN_MILLION] * 2, merges=[0, 9], merges_wanted=999_744, theme="light"
        ),
    )
    for name, factor in (("winners", 1), ("winners of weighted words", 99_999_999)):
        counts = FALLING * factor
        yield name, charts.winner_counts_curve(STEPS, counts, n_merges=999_744, theme="light")
    parts = [SampleFigures(0.5**n, 9, 9, 1 - n / 7, 1 - n / 9, 104.5 - n) for n in range(7)][::-1]
    yield "shared with the whole text", size_part.shared_with_all(parts, theme="light")
    yield "bytes per token by part", size_part.bytes_per_token_by_part(parts, theme="light")
    pairs = [(left, right) for left in NAMES for right in NAMES][:12]
    yield (
        "most frequent pairs",
        pair_charts.top_pair_bars(pairs, [TEN_MILLION] * 12, [True] * 12, theme="light"),
    )
    yield (
        "left and right",
        pair_charts.pair_heat_map(NAMES, NAMES, np.full((5, 5), TEN_MILLION), theme="light"),
    )
    yield (
        "letters by letters",
        pair_charts.pair_heat_map(
            list("日a本b"), list("日a本b"), np.eye(4, dtype=int), theme="light"
        ),
    )
    for last in (53, 99, 1_050, 9_876, TEN_MILLION):
        ranks = np.array([1, 2, last])
        yield (
            f"{last:,} ranks",
            pair_charts.rank_frequency_curve(ranks, FALLING[[0, 1, 2]], theme="light"),
        )
    lives = np.linspace(998_000, 999_744, 40).astype(np.int64)
    yield "a count", pair_life.life_curve(lives, FALLING, is_rank=False, theme="light")
    yield "a rank", pair_life.life_curve(lives, FALLING, is_rank=True, theme="light")
    yield (
        "a short life",
        pair_life.life_curve(np.array([0, 1, 2]), FALLING[:3], is_rank=False, theme="light"),
    )
    for step in (0, 999_744):
        yield (
            "a place",
            pair_life.life_place(
                np.array([step]), "10,000,000 times", n_merges=999_744, step=step, theme="light"
            ),
        )
    yield (
        "kinds of two",
        kind_bars(KINDS, [(name, [TEN_MILLION] * 3) for name in NAMES[:2]], theme="light"),
    )
    yield (
        "kinds",
        kind_bars(
            KINDS,
            [(name, [TEN_MILLION] * 3) for name in NAMES],
            theme="light",
        ),
    )
    for is_ratio, largest in (
        (True, 17.0),
        (True, 900.0),
        (False, float(TEN_MILLION)),
        (False, 0.3),
    ):
        values = [0.3, 1.0, largest]
        yield (
            f"languages up to {largest}",
            compare_charts.language_dots(
                ["English", *NAMES[:2]],
                [("Your tokenizer", values, [False] * 3), ("GPT-2", values[::-1], [True] * 3)],
                unit="tokens",
                shape="{:.2f}",
                is_ratio=is_ratio,
                theme="light",
            ),
        )
    yield (
        "languages of five",
        compare_charts.language_dots(
            ["English", *NAMES[:2]],
            [(name, [0.3, 1.0, 17.0], [False] * 3) for name in NAMES],
            unit="tokens",
            shape="{:.2f}",
            is_ratio=True,
            theme="light",
        ),
    )
    scripts = ["Latin", "Canadian Aboriginal", "Cut characters", "No letters"]
    yield (
        "scripts",
        compare_charts.script_curves(
            STEPS,
            [(name, np.sort(FALLING) // k) for k, name in enumerate(scripts, 1)],
            theme="light",
        ),
    )
    speeds = [0.0012, 1.5, 98.6, 1_234.0]
    yield (
        "speeds",
        lab_charts.speed_dots(
            ["List of merges", "Trie with backtracking", "Engine, again", "tiktoken"],
            speeds,
            own=[False, False, True, False],
            exact=[True] * 4,
            theme="light",
        ),
    )
    for sizes in ([64, 4_000, 466_000, TEN_MILLION], [500_000]):
        times = [1e-5 * 30**k for k in range(len(sizes))]
        yield (
            f"growth to {sizes[-1]:,}",
            lab_charts.growth_curves(
                {"Reference": (sizes, times), "Hugging Face": (sizes, [t / 9 for t in times])},
                own="Reference",
                theme="light",
            ),
        )
    for longest in (1, 2, 9, 24, 129):
        kinds = np.full((3, longest + 1), TEN_MILLION)
        yield (
            f"lengths to {longest}",
            audit_section.length_bars(kinds, chosen=None, theme="light"),
        )
