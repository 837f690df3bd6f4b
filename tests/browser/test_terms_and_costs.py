"""A visitor's terms and prices in a browser: more rows by a button, and kept across pages."""

from __future__ import annotations

from urllib.parse import quote

from playwright.sync_api import Page, expect

from tests.browser.helpers import go_to_address
from tests.browser.training import choose

TERMS = ["<img src=x onerror=alert(1)>", *(f"Kubernetes {number}" for number in range(29))]


def test_more_terms_open_by_a_button_and_none_becomes_markup(tab: Page) -> None:
    go_to_address(tab, f"/compare?terms={quote(chr(10).join(TERMS))}")
    rows = tab.locator("tbody tr:has(td.cut)")
    expect(rows).to_have_count(20, timeout=30_000)
    assert rows.locator("img").count() == 0
    tab.get_by_role("button", name="Show 10 more").click()
    expect(rows).to_have_count(30)
    # The button no longer exists, so the focus moves to the first new row.
    expect(rows.nth(20).locator("th")).to_be_focused()


def test_a_price_stays_on_the_other_page_and_after_a_reload(tab: Page) -> None:
    go_to_address(tab, "/compare?part=Terms and cost")
    price = tab.get_by_role("spinbutton", name="Price per million tokens")
    price.fill("3")
    price.press("Enter")
    cost = tab.get_by_text("Cost of held-out text", exact=True)
    expect(cost).to_be_visible(timeout=30_000)
    tab.get_by_role("link", name="Pair frequencies").click()
    choose(tab, "How large?")
    expect(tab.get_by_role("heading", name="What this size costs")).to_be_visible(timeout=30_000)
    expect(cost).to_be_visible()
    tab.reload()
    expect(price).to_have_value("3", timeout=30_000)
    expect(cost).to_be_visible()
