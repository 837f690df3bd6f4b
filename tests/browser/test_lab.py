"""Test the Lab in a real browser: measure, and return by the address as another visitor."""

from __future__ import annotations

import re
from urllib.parse import quote

from playwright.sync_api import Page, expect

from tests.browser.helpers import (
    go_to_address,
    start_new_session,
)


def test_encoders_are_measured_and_the_address_brings_the_figures_back(tab: Page) -> None:
    text = "The address of an absent action is an abstraction of arrays. " * 8
    go_to_address(tab, f"/lab?lab_text=Your+text&text={quote(text)}")
    expect(tab.get_by_text("Longest match cuts")).to_be_visible()
    tab.get_by_role("button", name="Measure encoders").click()
    for is_new_visitor in (False, True):
        if is_new_visitor:
            address = tab.url
            start_new_session(tab)
            go_to_address(tab, address)
        table = tab.get_by_role("table", name=re.compile("^Encoders"))
        expect(
            table.get_by_role("row", name=re.compile("^Trie with backtracking.*equal"))
        ).to_be_visible()
        expect(table.get_by_role("row", name=re.compile("^Longest match.*differ"))).to_be_visible()
        expect(table.get_by_role("row")).to_have_count(9)
        # The last column, which shows whether ids are equal, is visible on a laptop.
        tab.set_viewport_size({"width": 1280, "height": 900})
        tab.wait_for_function(
            "table => table.offsetWidth <= table.parentElement.clientWidth",
            arg=table.element_handle(),
        )
        assert "encoding=" in tab.url
