"""Charts that compare tokenizers hold the core's numbers, and names are never markup."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from ui.compare import charts
from ui.compare.charts import kind_bars
from ui.look.chart_style import PALETTES

TOKENS_CSS = Path(charts.__file__).parents[1] / "components" / "shared" / "tokens.css"
HOSTILE = ["<b>x</b>", "<script>", "&amp;", "%{x}", "<a href='j:'>k</a>"]


def test_kinds_are_counted_for_each_tokenizer() -> None:
    series = [("yours", [62, 8]), ("GPT-2", [59, 18]), ("third", [1, 2])]
    figure: Any = kind_bars(["words", "white space"], series, theme="light")
    assert [(bars.name, list(bars.x)) for bars in figure.data] == series
    assert len({bars.marker.color for bars in figure.data}) == 3


@pytest.mark.parametrize("hostile", HOSTILE)
def test_no_name_reaches_plotly_as_markup(hostile: str) -> None:
    kinds: Any = kind_bars([hostile], [(hostile, [1])], theme="light")
    notes = [re.sub("</?b>", "", note.text) for note in kinds.layout.annotations]
    shown = [*notes, *(bars.hovertemplate for bars in kinds.data)]
    assert not any("<" in text.removesuffix("<extra></extra>") for text in shown)


@pytest.mark.parametrize("ending", ["", ".json", "x" * 40])
def test_long_names_of_five_tokenizers_differ_in_every_chart(ending: str) -> None:
    names = [f"tokenizer_of_german_newspapers_{k}{ending}" for k in range(5)]
    kinds: Any = kind_bars(["words"], [(name, [10_000_000]) for name in names], theme="light")
    shown = [note.text.split("  ")[0] for note in kinds.layout.annotations[1:]]
    assert len(set(shown)) == 5
    assert all(len(name) >= 20 for name in shown)
    dots: Any = charts.language_dots(
        ["English"],
        [(name, [1.0], [False]) for name in names],
        unit="tokens",
        shape="{:.1f}",
        is_ratio=False,
        theme="light",
    )
    legend = [trace.name for trace in dots.data]
    assert len(set(legend)) == 5
    assert all(20 <= len(name) <= 30 for name in legend)


def test_a_repeated_colour_has_a_different_symbol() -> None:
    series = [(f"{k}", [1.0], [False]) for k in range(30)]
    figure: Any = charts.language_dots(
        ["English"], series, unit="tokens", shape="{:.1f}", is_ratio=False, theme="light"
    )
    looks = {(dots.marker.symbol, dots.marker.line.color) for dots in figure.data}
    assert len(looks) == 30


def test_a_tokenizer_has_the_same_colour_on_cards_and_charts() -> None:
    css = TOKENS_CSS.read_text(encoding="utf-8")
    rule = r"\.series-(\d) \{ --series: light-dark\((#\w+), (#\w+)\); \}"
    found = {int(place): (light, dark) for place, light, dark in re.findall(rule, css)}
    pairs = zip(PALETTES["light"].series, PALETTES["dark"].series, strict=True)
    assert found == dict(enumerate(pairs))
