"""No label of a chart is cut, and no two names of an axis touch, however large the values are."""

from __future__ import annotations

import re
from pathlib import Path

import plotly
from playwright.sync_api import Browser, Page, expect

from bpe_core.corpus.samples import load_sample
from bpe_core.runs.train import train
from bpe_core.types import TrainingConfig
from tests.browser.charts_at_their_largest import large_charts
from tests.browser.conftest import KeepRun
from tests.browser.helpers import assert_no_label_is_cut, font_data, go_to_address, wait_until_idle
from ui.look.chart_axes import NARROWEST
from ui.look.chart_style import CONFIG

PLOTLY = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"
TWO_MEGABYTES = "2000000".rjust(32, "d")
CHARTS_ARE_DRAWN = """(n) => {
  const charts = [...document.querySelectorAll(".stPlotlyChart")];
  return charts.length >= n && charts.every((chart) => chart.querySelector(".main-svg"));
}"""


def font_face(family: str, file: str) -> str:
    return (
        f"@font-face {{ font-family: '{family}'; font-weight: 200 900; "
        f"src: url(data:font/woff2;base64,{font_data(file)}) }}"
    )


def test_no_label_of_any_chart_is_cut_off_with_large_values_and_long_names(
    browser: Browser,
) -> None:
    page = browser.new_page()
    fonts = (
        ("Source Sans", "SourceSansVF-Upright.ttf"),
        ("Source Code Pro", "SourceCodeVF-Upright.ttf"),
    )
    page.set_content(f"<style>{''.join(font_face(*font) for font in fonts)}</style>")
    page.add_script_tag(path=PLOTLY)
    page.evaluate("() => Promise.all([...document.fonts].map((font) => font.load()))")
    for number, (name, figure) in enumerate(large_charts()):
        for width in (NARROWEST, 700):
            page.evaluate(
                """async ([id, width, figure, config]) => {
                  const place = document.createElement("div");
                  place.id = id;
                  const { data, layout } = JSON.parse(figure);
                  place.style.cssText = `width: ${width}px; height: ${layout.height}px`;
                  document.body.append(place);
                  await Plotly.newPlot(place, data, layout, config);
                }""",
                [f"{number} {name} at {width}", width, figure.to_json(), CONFIG],
            )
    assert page.locator(".main-svg").count() > 100
    assert_no_label_is_cut(page)
    page.close()


def test_a_copy_of_a_chart_passed_to_plotly_is_not_drawn_again(browser: Browser) -> None:
    page = browser.new_page()
    page.add_script_tag(path=PLOTLY)
    drawn_again = page.evaluate(
        """async ([figures, config]) => {
          const again = [];
          for (const [name, figure] of figures) {
            const place = document.createElement("div");
            document.body.append(place);
            const [first, second] = [JSON.parse(figure), JSON.parse(figure)];
            for (const { layout } of [first, second]) layout.width = 700;
            await Plotly.newPlot(place, first.data, first.layout, config);
            place.on("plotly_beforeplot", () => again.push(name));
            await Plotly.react(place, second.data, second.layout, config);
          }
          return again;
        }""",
        [[(name, figure.to_json()) for name, figure in large_charts()], CONFIG],
    )
    page.close()
    assert drawn_again == []


def test_no_label_is_cut_off_on_the_page_of_a_run(tab: Page, keep_run: KeepRun) -> None:
    run = train(load_sample("python-library"), TrainingConfig(4_096))
    keep_run(TWO_MEGABYTES, "Two megabytes", run)
    for page, n_charts in (("pair_frequencies", 7), ("train", 1), ("vocabulary", 1)):
        tab.set_viewport_size({"width": 1280, "height": 900})
        go_to_address(tab, f"/{page}?run={TWO_MEGABYTES}")
        for width in (1280, 390):
            tab.set_viewport_size({"width": width, "height": 900})
            tab.wait_for_function(CHARTS_ARE_DRAWN, arg=n_charts)
            wait_until_idle(tab)
            assert_no_label_is_cut(tab)


def test_no_button_appears_over_a_chart_under_the_pointer(tab: Page) -> None:
    for page, n_charts in (
        ("compare?", 1),
        ("compare?part=Figures&", 1),
        ("compare?part=Languages&", 2),
        ("pair_frequencies?", 7),
        ("train?", 1),
    ):
        go_to_address(tab, f"/{page}run=sample")
        tab.wait_for_function(CHARTS_ARE_DRAWN, arg=n_charts)
        wait_until_idle(tab)
        for chart in tab.locator(".js-plotly-plot").all():
            chart.scroll_into_view_if_needed()
            chart.hover(position={"x": 40, "y": 20})
            assert chart.locator(".modebar-btn").count() == 0
        png = tab.get_by_role("button", name=re.compile("^PNG"), include_hidden=True)
        expect(png.first).to_be_attached()
