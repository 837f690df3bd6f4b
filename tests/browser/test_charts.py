"""No label of a chart is cut, and no two names of an axis touch, however large the values are."""

from __future__ import annotations

from pathlib import Path

import plotly
from playwright.sync_api import Browser, Page, expect

from tests.browser.charts_at_their_largest import large_charts
from tests.browser.helpers import assert_no_label_is_cut, font_data
from tests.browser.serving import new_context
from ui.look import CONFIG, MONO, NARROWEST

PLOTLY = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"
# Draw a figure, and then an equal one in its place; return whether that draws it again.
DRAW_TWICE = """async ([id, width, figure, config]) => {
  const place = document.createElement("div");
  place.id = id;
  const [first, second] = [JSON.parse(figure), JSON.parse(figure)];
  for (const { layout } of [first, second]) layout.width = width;
  document.body.append(place);
  await Plotly.newPlot(place, first.data, first.layout, config);
  let isDrawnAgain = false;
  place.on("plotly_beforeplot", () => (isDrawnAgain = true));
  await Plotly.react(place, second.data, second.layout, config);
  return isDrawnAgain;
}"""


def font_face(family: str, file: str) -> str:
    return (
        f"@font-face {{ font-family: '{family}'; font-weight: 200 900; "
        f"src: url(data:font/woff2;base64,{font_data(file)}) }}"
    )


def test_large_values_and_long_names_fit_and_an_equal_chart_is_not_drawn_again(
    browser: Browser,
) -> None:
    context = new_context(browser)
    page = context.new_page()
    fonts = (
        ("Source Sans", "SourceSansVF-Upright.ttf"),
        ("Source Code Pro", "SourceCodeVF-Upright.ttf"),
    )
    page.set_content(f"<style>{''.join(font_face(*font) for font in fonts)}</style>")
    page.add_script_tag(path=PLOTLY)
    page.evaluate("() => Promise.all([...document.fonts].map((font) => font.load()))")
    drawn_again = [
        name
        for number, (name, figure) in enumerate(large_charts())
        for width in (NARROWEST, 700)
        if page.evaluate(
            DRAW_TWICE, [f"{number} {name} at {width}", width, figure.to_json(), CONFIG]
        )
    ]
    assert drawn_again == []
    assert page.locator(".main-svg").count() > 100
    assert_no_label_is_cut(page)
    context.close()


def test_the_font_of_charts_loads_before_the_charts(page: Page, app_url: str) -> None:
    page.route("**/PlotlyChart*.js", lambda route: None)  # never answered
    page.goto(f"{app_url}/pair_frequencies?part=Pairs")
    page.wait_for_function(
        """(fonts) => [...document.fonts].some(
            (font) => fonts.includes(font.family) && font.status === "loaded")""",
        arg=MONO,
    )
    expect(page.locator(".js-plotly-plot")).to_have_count(0)
