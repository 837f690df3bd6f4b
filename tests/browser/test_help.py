"""The tooltips inside components are shown by keyboard, pointer and touch, within the window."""

from __future__ import annotations

from playwright.sync_api import Browser, expect

from tests.browser.helpers import MAX_WAIT_MS, open_page
from tests.browser.serving import new_context
from tests.browser.training import open_parts
from ui.look.glossary import GLOSSARY

PHONE = {"width": 390, "height": 844}
# Shown, and then wholly within the window.
IS_WITHIN_THE_WINDOW = """(one) => {
  const { left, right, top, bottom } = one.getBoundingClientRect();
  return right > left && left >= 0 && right <= innerWidth && top >= 0 && bottom <= innerHeight;
}"""


def test_a_term_is_explained_by_keyboard_pointer_and_touch(browser: Browser, app_url: str) -> None:
    context = new_context(browser, viewport=PHONE, has_touch=True)
    context.set_default_timeout(MAX_WAIT_MS)
    page = context.new_page()
    open_page(page, f"{app_url}/train")
    open_parts(page)
    button = page.get_by_role("button", name="Help for pre-token")
    tooltip = page.locator(".help-text", has_text=GLOSSARY["Pre-token"])
    expect(tooltip).to_be_hidden()
    button.focus()
    expect(tooltip).to_be_visible()
    expect(button).to_have_accessible_description(GLOSSARY["Pre-token"])
    button.blur()
    expect(tooltip).to_be_hidden()
    button.hover()
    expect(tooltip).to_be_visible()
    page.mouse.move(0, 0)
    expect(tooltip).to_be_hidden()
    button.tap()
    expect(tooltip).to_be_visible()
    page.wait_for_function(IS_WITHIN_THE_WINDOW, arg=tooltip.element_handle())
    context.close()
