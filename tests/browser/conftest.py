"""The app on a free port, and a headless Chromium beside it, as fixtures."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.browser.helpers import LONGEST_WAIT_MS
from tests.browser.serving import launch_browser, running_app

ShowFigures = Callable[[str, Sequence[float]], None]


@pytest.fixture
def show_figures(capsys: pytest.CaptureFixture[str]) -> ShowFigures:
    """Prints measured figures past the capture: they are for the reader, pass or fail."""

    def show(what: str, figures: Sequence[float]) -> None:
        with capsys.disabled():
            middle, most = statistics.median(figures), max(figures)
            print(f"\n{what}: median {middle:.1f}, longest {most:.1f}, n {len(figures)}")  # noqa: T201

    return show


@pytest.fixture(scope="session")
def app_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server that all browser tests of this process share."""
    with running_app(tmp_path_factory.mktemp("app")) as url:
        yield url


@pytest.fixture
def fresh_app_url(tmp_path: Path) -> Iterator[str]:
    """The address of a server that nobody has visited yet."""
    with running_app(tmp_path) as url:
        yield url


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A headless Chromium; the tests fail, not skip, where there is none."""
    expect.set_options(timeout=LONGEST_WAIT_MS)
    with sync_playwright() as playwright:
        chromium = launch_browser(playwright)
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page of its own visitor, 1440 by 900, in the light theme."""
    context = browser.new_context(
        viewport={"width": 1440, "height": 900}, color_scheme="light", accept_downloads=True
    )
    context.set_default_timeout(LONGEST_WAIT_MS)
    yield context.new_page()
    context.close()


@pytest.fixture
def offline_page(browser: Browser) -> Iterator[Page]:
    """A page that can reach nothing but the disk; the test fails where its console complains."""
    context = browser.new_context(offline=True, viewport={"width": 1440, "height": 900})
    context.set_default_timeout(LONGEST_WAIT_MS)
    page = context.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda said: complaints.append(said.text))
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    yield page
    context.close()
    assert complaints == []
    assert [url for url in requests if not url.startswith(("file:", "data:"))] == []
