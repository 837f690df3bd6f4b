"""Charts and tables that compare tokenizers hold the core's numbers; names are never markup."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bpe_core.tokenizer import gpt2, gpt2_golden_cases
from ui.compare import comparison_charts
from ui.compare.comparison_charts import kind_bars
from ui.compare.passage import golden_rows, provenances
from ui.look import PALETTES

TOKENS_CSS = Path(comparison_charts.__file__).parents[1] / "components" / "shared" / "tokens.css"
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
    dots: Any = comparison_charts.language_dots(
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
    figure: Any = comparison_charts.language_dots(
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


# The table of golden texts lists every text with its ids and source, and marks failures


def test_every_golden_text_has_a_row_with_its_ids_and_its_source() -> None:
    cases = gpt2_golden_cases()
    numbers = list(provenances(cases))
    for case, row in zip(cases, golden_rows(cases), strict=True):
        assert row.label == f"✓ {case.group} [{numbers.index(case.provenance) + 1}]"
        ids = [tile.id for tile in row.cells[0].tiles]
        assert ids == list(case.ids[: len(ids)])
        assert [tile.token for tile in row.cells[0].tiles] == [
            gpt2().vocab[id] for id in case.ids[: len(ids)]
        ]
        assert row.note.split(" and ")[0] == " ".join(map(str, ids))
        assert ("more" in row.note) == (len(ids) < len(case.ids))
    assert sum(provenances(cases).values()) == len(cases)


def test_a_text_with_wrong_ids_is_marked() -> None:
    first, *others = gpt2_golden_cases()
    rows = golden_rows([replace(first, is_exact=False), *others])
    assert rows[0].label.startswith("✗ ")
    assert sum(row.label.startswith("✗") for row in rows) == 1
