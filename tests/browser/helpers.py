"""What browser tests share: opening a page of the app, and waiting until it is drawn."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from playwright.sync_api import Locator, Page

LONGEST_WAIT_MS = 60_000
WRONG_LABELS = (Path(__file__).parent / "chart_labels.js").read_text(encoding="utf-8")
# What was measured is printed. A machine that does other work besides is slower, so a goal fails
# only where the best of some tries misses it so many times over.
SLACK = 4
# Drawn before it listens, and once more after it has begun to, a chart loses what is clicked in
# between.
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
# Right after connecting, the page may not send yet what it is asked to: then once more.
GO_TO_ADDRESS = """(address) => {
  const asked = window.timesAsked;
  history.pushState(null, "", address);
  dispatchEvent(new PopStateEvent("popstate"));
  return window.timesAsked > asked;
}"""


def open_page(page: Page, url: str) -> None:
    """Goes to an address of the app and waits until its script has run to the end."""
    page.goto(url)
    wait_until_idle(page)


def go_to_address(page: Page, address: str) -> None:
    """Leads an open page to an address of the app as the browser's Back does, loading nothing.

    `address` begins with "/". It counts from another page of the app: a page that stays keeps what
    is chosen on it. What a visitor takes along, as the run and the text of one's own, stays too.
    """
    page.wait_for_function(GO_TO_ADDRESS, arg=address)
    wait_until_idle(page)


def come_anew(page: Page) -> None:
    """Comes to Lessons as a visitor whom the server does not know; nothing is loaded again."""
    wait_until_idle(page)  # a run that the lost session leaves unfinished would never end
    if "/lessons" not in page.url:
        go_to_address(page, "/lessons")  # the one page whose address names no run
    page.evaluate("() => window.comeAnew()")
    page.wait_for_function("() => window.isConnected()")
    # The browser too forgets what was chosen on a page when that is left.
    go_to_address(page, "/lab")
    go_to_address(page, "/lessons")


def switch_theme(page: Page, scheme: Literal["light", "dark"]) -> None:
    """Has the system ask for a theme, and waits until Python too has drawn the page for it.

    The page notices only after a while. A way to another page begun just then would be lost: the
    server takes the last of two requests, and that one still comes from the page before.
    """
    if page.evaluate(IS_DARK) == (scheme == "dark"):
        return
    asked = page.evaluate("() => window.timesAsked")
    page.emulate_media(color_scheme=scheme)
    page.wait_for_function("(asked) => window.timesAsked > asked", arg=asked)
    wait_until_idle(page)


def wait_until_idle(page: Page) -> None:
    """Waits until the server has answered all that the page asked, and that is drawn."""
    page.wait_for_function("() => window.appAtRest()", timeout=LONGEST_WAIT_MS)


def assert_no_traceback(page: Page) -> None:
    """Fails where the page shows an exception instead of a message."""
    assert page.locator('[data-testid="stException"]').count() == 0


def assert_no_label_is_cut(page: Page) -> None:
    """Fails where a text of a chart is not whole, or a label of it touches another."""
    assert page.evaluate(WRONG_LABELS) == []


def chart_surface(chart: Locator) -> Locator:
    """The layer that takes the clicks of a Plotly chart, once the chart listens to them."""
    chart.page.wait_for_function(CHART_LISTENS, arg=chart.element_handle())
    return chart.locator(".nsewdrag")


def click_bar(chart: Locator, place: int) -> None:
    """Clicks a bar of a Plotly chart: the one of that place, counted from 0."""
    surface = chart_surface(chart)
    bar = chart.locator(".barlayer .point path").nth(place)
    surface.click(position=bar.evaluate(MIDDLE_ON_SURFACE, surface.element_handle()))
