"""The tooltips inside components are shown by keyboard, pointer and touch, within the window."""

from __future__ import annotations

from playwright.sync_api import Browser, Page, expect

from tests.browser.helpers import open_page
from tests.browser.serving import new_context
from tests.browser.training import open_parts
from ui.look.glossary import PRE_TOKEN


def test_a_term_is_explained_by_keyboard_and_pointer(page: Page, app_url: str) -> None:
    open_page(page, f"{app_url}/token_boundaries")
    button = page.get_by_role("button", name="Help for Pre-token")
    tooltip = page.locator(".help-text", has_text=PRE_TOKEN)
    expect(tooltip).to_be_hidden()
    button.focus()
    expect(tooltip).to_be_visible()
    expect(button).to_have_accessible_description(PRE_TOKEN)
    page.keyboard.press("Escape")
    expect(tooltip).to_be_hidden()
    button.blur()
    button.hover()
    expect(tooltip).to_be_visible()
    page.mouse.move(0, 0)
    expect(tooltip).to_be_hidden()


def test_a_tap_shows_a_tooltip_within_a_phones_window(browser: Browser, app_url: str) -> None:
    context = new_context(browser, viewport={"width": 390, "height": 844}, has_touch=True)
    page = context.new_page()
    open_page(page, f"{app_url}/train")
    open_parts(page)
    page.get_by_role("button", name="Help for pre-token").tap()
    tooltip = page.locator(".help-text", has_text=PRE_TOKEN)
    expect(tooltip).to_be_visible()
    box = tooltip.bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
    assert box["y"] >= 0
    assert box["y"] + box["height"] <= 844
    context.close()
