"""Open pages of the app, and wait until they are drawn, for all browser tests."""

from __future__ import annotations

import base64
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Literal

import streamlit
from playwright.sync_api import Download, Locator, Page
from playwright.sync_api import TimeoutError as BrowserTimeoutError

from tests.browser.serving import MAX_WAIT_MS

FONTS = Path(streamlit.__file__).parent / "static" / "static" / "media"
WRONG_LABELS = (Path(__file__).parent / "chart_labels.js").read_text(encoding="utf-8")
# Measured times are printed. A busy machine is slower, so a test fails only if the best of several
# tries misses its goal by this factor.
SLACK = 4
# A chart is drawn once before and once after it starts to listen to clicks. Clicks in between are
# lost.
CHART_LISTENS = """(chart) => {
  for (const one of document.querySelectorAll(".js-plotly-plot")) {
    if (!one._ev || one.isWatched) continue;
    one.isWatched = true;
    one.on("plotly_afterplot", () => (window.framesUndrawn = 0));
    window.framesUndrawn = 0;
  }
  const isListening = chart._ev?.listenerCount("plotly_selected") > 0;
  window.framesUndrawn = isListening ? window.framesUndrawn + 1 : 0;
  return window.framesUndrawn > 10;
}"""
MIDDLE_ON_SURFACE = """(bar, surface) => {
  const box = bar.getBoundingClientRect();
  const ground = surface.getBoundingClientRect();
  return {
    x: box.left + Math.min(20, box.width / 2) - ground.left,
    y: box.top + box.height / 2 - ground.top,
  };
}"""
IS_DARK = "() => matchMedia('(prefers-color-scheme: dark)').matches"
# Right after connecting, the page may not send requests yet, so callers repeat this.
GO_TO_ADDRESS = """(address) => {
  const asked = window.timesAsked;
  history.pushState(null, "", address);
  dispatchEvent(new PopStateEvent("popstate"));
  return window.timesAsked > asked;
}"""


def font_data(file: str) -> str:
    """Return a font that Streamlit ships in base64, by the start of its file's name."""
    (path,) = FONTS.glob(f"{file}.*.woff2")
    return base64.b64encode(path.read_bytes()).decode("ascii")


def open_page(page: Page, url: str) -> None:
    """Load an address of the app, and wait until its script has run to the end."""
    page.goto(url)
    wait_until_idle(page)


def go_to_address(page: Page, address: str) -> None:
    """Go to an address of the app without loading it again, as the browser's Back does.

    `address` begins with "/" and should lead to another page, because a page that stays open keeps
    its choices. The visitor's session, with the run and their own text, stays as it is.
    """
    page.wait_for_function(GO_TO_ADDRESS, arg=address)
    wait_until_idle(page)


def start_new_session(page: Page) -> None:
    """Go to Lessons with a new session, as a new visitor, without loading the app again."""
    wait_until_idle(page)  # a script left unfinished by the old session would never end
    if "/lessons" not in page.url:
        go_to_address(page, "/lessons")  # the one page whose address names no run
    page.evaluate("() => window.startNewSession()")
    page.wait_for_function("() => window.isConnected()")
    # The browser too forgets the choices on a page once it is left, here for the lightest page.
    go_to_address(page, "/")
    go_to_address(page, "/lessons")


def switch_theme(page: Page, scheme: Literal["light", "dark"]) -> None:
    """Switch the system's theme, and wait until Python too has drawn the page for it.

    The page notices the switch only after a while. Going to another page meanwhile would fail: the
    server answers the last of two requests, which would still come from the old page.
    """
    if page.evaluate(IS_DARK) == (scheme == "dark"):
        return
    asked = page.evaluate("() => window.timesAsked")
    page.emulate_media(color_scheme=scheme)
    page.wait_for_function("(asked) => window.timesAsked > asked", arg=asked)
    wait_until_idle(page)


def download(page: Page, name: str) -> Download:
    """Press a download button once the page is at rest, and return the download.

    Streamlit drops a press that comes during a redraw, for example when background work ends. So
    this presses a second time, as a visitor would.
    """
    wait_until_idle(page)
    button = page.get_by_role("button", name=name)
    try:
        with page.expect_download(timeout=MAX_WAIT_MS / 4) as first:
            button.click()
        return first.value
    except BrowserTimeoutError:
        wait_until_idle(page)
    with page.expect_download() as second:
        button.click()
    return second.value


def choose_option(box: Locator, name: str) -> None:
    """Type an option's name into a combobox and choose it.

    Streamlit closes the list if it redraws the page meanwhile, for example when background work
    ends. So this empties the field and types again, as a visitor would: the list opens only when
    the field's text changes.
    """
    option = box.page.get_by_role("option", name=name, exact=True)
    for _ in range(3):
        wait_until_idle(box.page)
        scroll_to(box)
        box.fill("")
        box.fill(name)
        with suppress(BrowserTimeoutError):
            option.click(timeout=MAX_WAIT_MS / 4)
            return
    option.click()


def scroll_to(box: Locator) -> None:
    """Bring a combobox into view before its list opens.

    Scrolling closes an open list, which may open again later, over what is pressed next.
    """
    box.scroll_into_view_if_needed()
    wait_until_idle(box.page)


def wait_until_idle(page: Page) -> None:
    """Wait until the server has answered all requests of the page and the answers are drawn."""
    try:
        page.wait_for_function("() => window.appAtRest()", timeout=MAX_WAIT_MS)
    except BrowserTimeoutError as error:
        error.add_note(f"{page.url} is not at rest: {page.evaluate('() => window.unrest()')}")
        raise


def assert_fits(page: Page, *names: str) -> None:
    """Fail if the page, or a part of it, is wider than its place, once all is drawn."""
    wait_until_idle(page)
    main = page.get_by_test_id("stMain")
    assert main.evaluate("(m) => m.scrollWidth - m.clientWidth") == 0
    for name in names:
        for part in page.locator(name).all():
            assert part.evaluate("(e) => e.scrollWidth - e.clientWidth") <= 0


def assert_no_traceback(page: Page) -> None:
    """Fail if the page shows an exception instead of a message."""
    assert page.locator('[data-testid="stException"]').count() == 0


def assert_no_label_is_cut(page: Page) -> None:
    """Fail if a chart's text is cut off or two of its labels touch."""
    # A resized chart is drawn again a moment later, so wait for the last drawing.
    is_right = f"() => (\n{WRONG_LABELS}\n)().length === 0"
    with suppress(BrowserTimeoutError):
        page.wait_for_function(is_right, timeout=10_000)
    assert page.evaluate(WRONG_LABELS) == []


def chart_surface(chart: Locator) -> Locator:
    """Return the layer of a Plotly chart that takes clicks, once the chart listens to them."""
    chart.page.wait_for_function(CHART_LISTENS, arg=chart.element_handle())
    return chart.locator(".nsewdrag")


def press_until_heard(page: Page, press: Callable[[], None]) -> None:
    """Press something that makes a request, and press again if it does not.

    A chart or a table that is drawn again meanwhile hears no click, so a visitor clicks again too.
    """
    for timeout in (MAX_WAIT_MS / 4, MAX_WAIT_MS):
        wait_until_idle(page)
        asked = page.evaluate("() => window.timesAsked")
        press()
        with suppress(BrowserTimeoutError):
            is_heard = "(asked) => window.timesAsked > asked"
            page.wait_for_function(is_heard, arg=asked, timeout=timeout)
            return
    raise AssertionError("Nothing heard two presses.")


def click_bar(chart: Locator, place: int) -> None:
    """Click a bar of a Plotly chart by its index."""

    def press() -> None:
        surface = chart_surface(chart)
        bar = chart.locator(".barlayer .point path").nth(place)
        surface.click(position=bar.evaluate(MIDDLE_ON_SURFACE, surface.element_handle()))

    press_until_heard(chart.page, press)
