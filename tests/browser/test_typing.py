"""What is typed shows its tokens soon after one stops; how soon is printed."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import ShowFigures
from tests.browser.helpers import SLACK, open_page

pytestmark = pytest.mark.browser

MILLISECONDS = 300

# From the last letter until the tokens of the text with it are painted.
TYPE_AND_WAIT = """async (area, [text, nBytes]) => {
    const figures = window.tokenFigures;
    const started = performance.now();
    area.value = text;
    area.dispatchEvent(new Event("input", {bubbles: true}));
    while (!figures.textContent.includes(`${nBytes} bytes`)) {
        await new Promise(requestAnimationFrame);
    }
    return performance.now() - started;
}"""


def test_tokens_follow_typing_after_a_pause(
    page: Page, app_url: str, show_figures: ShowFigures
) -> None:
    open_page(page, f"{app_url}/token_boundaries?text=old")
    page.locator(".view .figures").evaluate("(figures) => { window.tokenFigures = figures; }")
    area = page.locator("textarea")
    words = "a short text that grows as one types it in"
    lengths = range(10, len(words), 3)
    milliseconds = [area.evaluate(TYPE_AND_WAIT, [words[:n], n]) for n in lengths]
    show_figures("milliseconds from the last letter to the tokens of a short text", milliseconds)
    assert min(milliseconds) <= SLACK * MILLISECONDS


def test_no_letter_is_lost_where_one_types_on_while_tokens_come(page: Page, app_url: str) -> None:
    open_page(page, f"{app_url}/token_boundaries?text=x")
    words = " typed without a rest, faster than tokens come and slower"
    for delay in (5, 60, 130):
        page.locator("textarea").press_sequentially(words, delay=delay)
    expect(page.locator(".view .scroller")).to_have_text("x" + 3 * words, use_inner_text=False)
    expect(page.locator("textarea")).to_have_value("x" + 3 * words)
