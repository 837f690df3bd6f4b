"""Any page can be the first request to a server, and loads its parts in the right order."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.helpers import open_page
from ui.look.chart_style import MONO


def test_a_deep_link_can_be_the_first_request_to_a_server(page: Page, fresh_app_url: str) -> None:
    open_page(page, f"{fresh_app_url}/merge_loop?run=sample&step=5")
    expect(page.get_by_role("heading", level=1)).to_have_text("Merge loop")
    expect(page.get_by_role("link", name="Pair frequencies")).to_be_visible()
    assert "/merge_loop?" in page.url
    assert "step=5" in page.url
    assert "goto" not in page.url


def test_the_address_of_start_by_its_name_opens_it(page: Page, fresh_app_url: str) -> None:
    # Once cold, and once when the server knows all pages.
    for _ in range(2):
        open_page(page, f"{fresh_app_url}/start?sentence=hugs")
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        expect(page.get_by_text("Page not found")).to_have_count(0)
        expect(page.get_by_text("The page that you have requested")).to_have_count(0)
        expect(page.get_by_role("link", name="Start", exact=True)).to_have_count(1)
        page.wait_for_url(f"{fresh_app_url}/?sentence=hugs")


def test_the_font_of_charts_loads_before_the_charts(page: Page, app_url: str) -> None:
    page.route("**/PlotlyChart*.js", lambda route: None)  # never answered
    page.goto(f"{app_url}/pair_frequencies")
    page.wait_for_function(
        """(fonts) => [...document.fonts].some(
            (font) => fonts.includes(font.family) && font.status === "loaded")""",
        arg=MONO,
    )
    expect(page.locator(".js-plotly-plot")).to_have_count(0)
