"""What browser tests share: opening a page of the app, and waiting until it is drawn."""

from __future__ import annotations

from playwright.sync_api import Page

LONGEST_WAIT_MS = 60_000
# What was measured is printed. A machine that does other work besides is slower, so a goal fails
# only where the best of some tries misses it so many times over.
SLACK = 4


def open_page(page: Page, url: str) -> None:
    """Goes to an address of the app and waits until its script has run to the end."""
    page.goto(url)
    wait_until_idle(page)


def wait_until_idle(page: Page) -> None:
    """Waits until the server has answered all that the page asked, and that is drawn."""
    page.wait_for_function("() => window.appAtRest()", timeout=LONGEST_WAIT_MS)


def assert_no_traceback(page: Page) -> None:
    """Fails where the page shows an exception instead of a message."""
    assert page.locator('[data-testid="stException"]').count() == 0
