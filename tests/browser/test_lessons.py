"""Test the lessons in a real browser: steps by keyboard, and the visitor's own words."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.helpers import (
    go_to_address,
    start_new_session,
    wait_until_idle,
)


@pytest.fixture
def page(tab: Page) -> Page:
    """Return a tab in which the app is already loaded."""
    return tab


def test_steps_are_taken_by_keyboard_and_kept_in_the_address(page: Page) -> None:
    heading = page.get_by_role("heading", level=2)
    expect(heading).to_have_text("From words to symbols")
    for place, shown in ((2, "Count the neighbours"), (3, "Choose the most frequent")):
        page.get_by_role("button", name="Next", exact=True).focus()
        page.keyboard.press("Enter")
        expect(heading).to_have_text(shown)
        expect(page.get_by_text(f"Step {place} of 6")).to_be_visible()
    wait_until_idle(page)
    expect(page.get_by_role("note")).to_contain_text("It is (g, </w>), with 18.")
    source = page.get_by_role("region", name="Source of choose_pair")
    source.focus()
    expect(source).to_be_focused()
    address = page.url
    start_new_session(page)
    expect(heading).to_have_text("From words to symbols")
    go_to_address(page, "/lab")
    go_to_address(page, address)
    expect(heading).to_have_text("Choose the most frequent")


def test_the_lesson_follows_the_visitor_s_words_and_escapes_them(page: Page) -> None:
    alarms: list[str] = []
    page.on("dialog", lambda dialog: alarms.append(dialog.message))
    go_to_address(page, "/lab")
    go_to_address(page, "/lessons?step_of_1=Pairs")
    pairs = page.get_by_role("list", name="The most frequent pairs")
    expect(pairs.get_by_role("listitem").first).to_contain_text("18")
    page.get_by_label("Words and their counts. Edit them.").fill(
        "<img/src=x/onerror=alert(1)> 40\nbanana 7"
    )
    expect(pairs.get_by_role("listitem").first).to_contain_text("80")
    result = page.get_by_role("region", name="The call and its result")
    expect(result).to_contain_text("('<', 'i'): 40")
    expect(page.get_by_role("note")).to_contain_text("Computed here, on its own words")
    page.get_by_role("button", name="Reset to the example").click()
    expect(pairs.get_by_role("listitem").first).to_contain_text("18")
    assert alarms == []
