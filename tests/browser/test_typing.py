"""Typed or pasted text shows its tokens after a short pause, whose length is printed."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from bpe_core.tokenizer.gpt2 import gpt2
from tests.browser.conftest import ShowFigures
from tests.browser.helpers import SLACK, assert_no_traceback, open_page
from tests.browser.token_view import (
    COPY,
    expect_tokens,
    figures,
)

MILLISECONDS = 300

# The time from the last letter until its tokens are painted.
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

PASTE = """(area, text) => {
    const data = new DataTransfer();
    data.setData("text/plain", text);
    area.dispatchEvent(new ClipboardEvent("paste", {clipboardData: data, bubbles: true}));
}"""


@pytest.fixture(scope="module")
def page(context: BrowserContext, app_url: str) -> Iterator[Page]:
    """Open a page with GPT-2's tokens for all tests; each starts by typing its own text."""
    page = context.new_page()
    open_page(page, f"{app_url}/token_boundaries?tokenizer=GPT-2")
    yield page
    page.close()


def field(page: Page) -> Locator:
    return page.locator("textarea")


def type_text(page: Page, text: str) -> Locator:
    """Put a text into the field in one step, as pasting does, and return the pane of tokens."""
    field(page).evaluate(
        """(area, text) => {
            area.value = text;
            area.dispatchEvent(new Event("input", {bubbles: true}));
        }""",
        text,
    )
    n_tokens, n_bytes = len(gpt2().encode(text)), len(text.encode())
    expect(figures(page)).to_have_text(re.compile(f"^{n_tokens:,} tokens?{n_bytes:,} bytes?"))
    return page.locator(".view .scroller")


def test_tokens_follow_typing_after_a_pause(page: Page, show_figures: ShowFigures) -> None:
    type_text(page, "old")
    figures(page).evaluate("(figures) => { window.tokenFigures = figures; }")
    words = "a short text that grows as one types it in"
    lengths = range(10, len(words), 3)
    milliseconds = [field(page).evaluate(TYPE_AND_WAIT, [words[:n], n]) for n in lengths]
    show_figures("milliseconds from the last letter to the tokens of a short text", milliseconds)
    assert min(milliseconds) <= SLACK * MILLISECONDS


def test_no_letter_is_lost_while_tokens_arrive_during_typing(page: Page) -> None:
    scroller = type_text(page, "x")
    expect(field(page)).to_be_editable()
    words = " typed without a rest"
    for delay in (5, 60, 130):  # faster and slower than tokens arrive
        field(page).press_sequentially(words, delay=delay)
    expect(scroller).to_have_text("x" + 3 * words, use_inner_text=False)
    expect(field(page)).to_have_value("x" + 3 * words)


def test_typed_text_is_kept_in_the_address(page: Page) -> None:
    scroller = type_text(page, "old")
    expect(field(page)).to_be_editable()
    field(page).press_sequentially(" and new")
    expect(scroller).to_contain_text("old and new")
    page.wait_for_url("**text=old+and+new**")
    page.reload()
    expect(field(page)).to_have_value("old and new")
    pasted = page.get_by_text("The pasted text has carriage returns")
    expect(pasted).to_be_hidden()
    field(page).evaluate(PASTE, "one\r\ntwo")
    expect(pasted).to_be_visible()


def test_the_copied_text_has_the_same_tokens_when_pasted(page: Page) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    text = "\ufefftab\there  two\n\u202eback\u202c 日本 🧩 e\u0301 end "
    scroller = type_text(page, text)
    scroller.focus()
    page.keyboard.press("Control+a")
    page.keyboard.press("Control+c")
    assert page.evaluate("navigator.clipboard.readText()") == text
    expect(field(page)).to_be_editable()
    field(page).fill("")
    expect(scroller).to_contain_text("No text yet")
    field(page).press("Control+v")
    expect_tokens(page, text)


def test_a_hundred_thousand_letters_without_a_space_are_shown_and_copied(page: Page) -> None:
    text = "abcdefghij" * 10_000
    scroller = type_text(page, text)
    n_tokens = len(gpt2().encode(text))
    scroller.focus()
    page.keyboard.press("End")
    expect(page.locator(".details .label")).to_have_text(f"Token {n_tokens:,}")
    expect(page.get_by_text("This pre-token has 100,000 bytes")).to_be_visible()
    page.keyboard.press("Control+a")
    assert scroller.evaluate(COPY) == text
    main = page.locator('[data-testid="stMain"]')
    assert main.evaluate("(m) => m.scrollWidth - m.clientWidth") == 0
    assert_no_traceback(page)
