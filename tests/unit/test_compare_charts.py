"""Charts of tokenizers side by side hold the core's numbers, and no name as markup."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from ui.compare import charts
from ui.look.chart_style import PALETTES, Theme

both_themes = pytest.mark.parametrize("theme", ["light", "dark"])
TOKENS_CSS = Path(charts.__file__).parents[1] / "components" / "shared" / "tokens.css"
HOSTILE = ["<b>x</b>", "<script>", "&amp;", "%{x}", "<a href='j:'>k</a>"]


@both_themes
def test_kinds_are_counted_for_each_tokenizer(theme: Theme) -> None:
    series = [("yours", [62, 8]), ("GPT-2", [59, 18]), ("third", [1, 2])]
    figure: Any = charts.kind_bars(["words", "white space"], series, theme=theme)
    assert [(bars.name, list(bars.x)) for bars in figure.data] == series
    assert len({bars.marker.color for bars in figure.data}) == 3


@pytest.mark.parametrize("hostile", HOSTILE)
def test_no_name_reaches_plotly_as_markup(hostile: str) -> None:
    kinds: Any = charts.kind_bars([hostile], [(hostile, [1])], theme="light")
    shown = [*kinds.layout.yaxis.ticktext, *(bars.hovertemplate for bars in kinds.data)]
    assert not any("<" in text.removesuffix("<extra></extra>") for text in shown)


def test_of_more_than_two_tokenizers_the_bars_are_named() -> None:
    series = [(f"<i>{k}</i>", [k + 1]) for k in range(12)]
    figure: Any = charts.kind_bars(["words"], series, theme="light")
    assert [bars.text[0] for bars in figure.data] == [
        f"{k + 1} &lt;i&gt;{k}&lt;/i&gt;" for k in range(12)
    ]


def test_where_colours_come_round_again_the_symbol_is_another() -> None:
    series = [(f"{k}", [1.0], [False]) for k in range(30)]
    figure: Any = charts.language_dots(
        ["English"], series, unit="tokens", shape="{:.1f}", is_ratio=False, theme="light"
    )
    looks = {(dots.marker.symbol, dots.marker.line.color) for dots in figure.data}
    assert len(looks) == 30


def test_cards_and_charts_give_a_tokenizer_the_same_colour() -> None:
    css = TOKENS_CSS.read_text(encoding="utf-8")
    rule = r"\.series-(\d) \{ --series: light-dark\((#\w+), (#\w+)\); \}"
    found = {int(place): (light, dark) for place, light, dark in re.findall(rule, css)}
    pairs = zip(PALETTES["light"].series, PALETTES["dark"].series, strict=True)
    assert found == dict(enumerate(pairs))
