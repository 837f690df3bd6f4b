"""Check that components stay whole when a draw overtakes the one before while scripts load."""

from __future__ import annotations

from playwright.sync_api import Page

from tests.browser.helpers import go_to_address, open_page, wait_until_idle

# Streamlit loads components' scripts from blobs. These wait until `window.letScriptsRun()`.
SCRIPTS_WAIT = """(() => {
  window.scriptsMayRun = new Promise((run) => { window.letScriptsRun = run; });
  const makeUrl = URL.createObjectURL;
  URL.createObjectURL = (blob) =>
    makeUrl.call(URL, blob.type === "text/javascript"
      ? new Blob(["await window.scriptsMayRun;\\n", blob], { type: blob.type })
      : blob);
})()"""
# A component has its script's elements; the invisible ones have none.
WHICH_HAVE_ELEMENTS = """() =>
  [...document.querySelectorAll('[data-testid="stBidiComponentIsolated"]')].map(
    ({ shadowRoot }) => shadowRoot.querySelector(":not(style, :has(style))") !== null)"""
PAGE_IS_LIGHT = """() => {
  const ground = getComputedStyle(document.querySelector('[data-testid="stApp"]')).backgroundColor;
  return Number(ground.match(/\\d+/)[0]) > 127;
}"""


def test_components_stay_when_the_theme_is_switched_before_their_scripts_run(
    tab: Page, page: Page, app_url: str
) -> None:
    go_to_address(tab, "/token_boundaries")
    expected = tab.evaluate(WHICH_HAVE_ELEMENTS)
    assert any(expected)
    page.emulate_media(color_scheme="dark")
    page.add_init_script(SCRIPTS_WAIT)
    open_page(page, f"{app_url}/token_boundaries")
    page.emulate_media(color_scheme="light")
    page.wait_for_function(PAGE_IS_LIGHT)
    asked = page.evaluate("() => window.timesAsked")
    page.evaluate("() => window.letScriptsRun()")
    # The page is still watched: it asks Python to draw charts for the new theme.
    page.wait_for_function("(asked) => window.timesAsked > asked", arg=asked)
    wait_until_idle(page)
    assert page.evaluate(WHICH_HAVE_ELEMENTS) == expected
