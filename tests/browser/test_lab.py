"""Test the Lab in a real browser: measure, leave, return by the address, cancel."""

from __future__ import annotations

import re
from urllib.parse import quote

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


def test_encoders_are_measured_and_the_address_brings_the_figures_back(page: Page) -> None:
    text = "The address of an absent action is an abstraction of arrays. " * 8
    go_to_address(page, f"/lab?lab_text=Your+text&text={quote(text)}")
    expect(page.get_by_text("Longest match cuts")).to_be_visible()
    page.get_by_role("button", name="Measure encoders").click()
    for is_new_visitor in (False, True):
        if is_new_visitor:
            address = page.url
            start_new_session(page)
            go_to_address(page, address)
        table = page.get_by_role("table", name=re.compile("^Encoders"))
        expect(
            table.get_by_role("row", name=re.compile("^Trie with backtracking.*equal"))
        ).to_be_visible()
        expect(table.get_by_role("row", name=re.compile("^Longest match.*differ"))).to_be_visible()
        expect(table.get_by_role("row")).to_have_count(9)
        # The last column, which shows whether ids are equal, is visible on a laptop.
        page.set_viewport_size({"width": 1280, "height": 900})
        page.wait_for_function(
            "table => table.offsetWidth <= table.parentElement.clientWidth",
            arg=table.element_handle(),
        )
        assert "encoding=" in page.url


def test_a_measurement_continues_on_other_pages_and_is_cancelled_at_once(page: Page) -> None:
    go_to_address(page, "/lab?lab_tokenizer=GPT-2")
    page.get_by_role("button", name="Measure encoders").click()
    # A small measurement, which cannot be cancelled, may run first.
    expect(page.get_by_role("button", name="Cancel")).to_be_visible()
    step = re.compile(r"Step \d+ of \d+, (time left unknown|about \d+ s left)\. Now: ")
    expect(page.get_by_text(step)).to_be_visible()
    address = page.url
    assert "encoding=" in address
    page.get_by_role("link", name="Lessons").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Lessons")
    page.goto(address)
    page.get_by_role("button", name="Cancel").click()
    expect(
        page.get_by_text("The measurement was cancelled, so there are no figures.")
    ).to_be_visible()
    wait_until_idle(page)
    expect(page.get_by_role("button", name="Measure encoders")).to_be_enabled()
