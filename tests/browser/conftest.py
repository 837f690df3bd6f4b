"""Provide the app on a free port and a headless Chromium as fixtures."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Page,
    TimeoutError,
    ViewportSize,
    expect,
    sync_playwright,
)

import bpe_core as bpe
from bpe_core.formats import VARIABLE
from tests.browser.helpers import (
    MAX_WAIT_MS,
    assert_no_traceback,
    open_page,
    start_new_session,
    switch_theme,
)
from tests.browser.serving import launch_browser, new_context, running_app
from tests.conftest import MEASURED
from tests.loopback_hub import LoopbackHub, loopback_hub
from tests.oracles import TOKENIZERS
from ui.storage import Trained, write_run

DESK: ViewportSize = {"width": 1440, "height": 900}
# The app keeps the ids of a visitor's runs in the browser, where the next tab would find them.
EACH_TAB_IS_A_VISITOR = """if (location.protocol === "http:" && !sessionStorage.hasVisited) {
  localStorage.clear();
  sessionStorage.hasVisited = true;
}"""
ShowFigures = Callable[[str, Sequence[float]], None]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of this folder."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


class KeepRun(Protocol):
    """Return a function that stores a run under an id on the shared server."""

    def __call__(
        self,
        run_id: str,
        title: str,
        run: bpe.TrainingRun,
        *,
        training: bpe.Corpus | None = None,
        held_out: bpe.Corpus | None = None,
    ) -> None: ...


@pytest.fixture
def show_figures(record_property: Callable[[str, object], None]) -> ShowFigures:
    """Return a function whose figures are printed after all tests, whether they pass or fail."""

    def show(what: str, figures: Sequence[float]) -> None:
        middle, most = statistics.median(figures), max(figures)
        measured = f"{what}: median {middle:.1f}, longest {most:.1f}, n {len(figures)}"
        record_property(MEASURED, measured)

    return show


@pytest.fixture(scope="session")
def app_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the shared server's runs and log."""
    return tmp_path_factory.mktemp("app")


@pytest.fixture(scope="session")
def hub() -> Iterator[LoopbackHub]:
    """Return the hub that the shared server asks for models by their names."""
    with loopback_hub() as started:
        yield started


@pytest.fixture(scope="session")
def app_url(app_folder: Path, hub: LoopbackHub) -> Iterator[str]:
    """Start the server shared by all browser tests of this process, and yield its address.

    It has the published tokenizers.
    """
    environment = {
        VARIABLE: str(TOKENIZERS),
        "HF_ENDPOINT": hub.address,
        "HF_HUB_CACHE": str(app_folder / "hub"),
    }
    with running_app(app_folder, environment) as url:
        yield url


@pytest.fixture(scope="session")
def keep_run(app_folder: Path) -> KeepRun:
    """Return a function that stores a run under an id on the shared server."""
    store = app_folder / "runs"
    store.mkdir(exist_ok=True)
    _, nothing_held_out = bpe.Corpus.from_text("x").split(0.0)

    def keep(
        run_id: str,
        title: str,
        run: bpe.TrainingRun,
        *,
        training: bpe.Corpus | None = None,
        held_out: bpe.Corpus | None = None,
    ) -> None:
        # A worker may run a module's fixtures twice, and then the run is already stored.
        if not (store / run_id).exists():
            held_out = nothing_held_out if held_out is None else held_out
            write_run(store / run_id, Trained(title, run, held_out, training=training))

    return keep


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Launch a headless Chromium; without one, the tests fail rather than skip."""
    expect.set_options(timeout=MAX_WAIT_MS)
    with sync_playwright() as playwright:
        chromium = launch_browser(playwright)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def context(browser: Browser) -> BrowserContext:
    """Return the context shared by all pages, so that only the first loads the app's files."""
    context = new_context(browser, viewport=DESK, color_scheme="light", accept_downloads=True)
    context.add_init_script(EACH_TAB_IS_A_VISITOR)
    return context


@pytest.fixture
def new_page(context: BrowserContext) -> Iterator[Callable[[], Page]]:
    """Return a function that opens a tab as a new visitor, in the light theme on a desktop."""
    tabs: list[Page] = []

    def opened() -> Page:
        tabs.append(context.new_page())
        return tabs[-1]

    yield opened
    for tab in tabs:
        assert_no_traceback(tab)
        tab.close()


@pytest.fixture
def page(new_page: Callable[[], Page]) -> Page:
    """Return a tab of a new visitor."""
    return new_page()


@pytest.fixture(scope="session")
def open_tab(context: BrowserContext, app_url: str) -> Page:
    """Load the app once in a tab for all tests of this process that use `tab`."""
    tab = context.new_page()
    open_page(tab, f"{app_url}/lessons")
    return tab


@pytest.fixture
def tab(open_tab: Page, app_url: str) -> Iterator[Page]:
    """Return the shared tab on Lessons with a new session, in the light theme on a desktop.

    Going to another page within the app takes a tenth of the time of loading it; on pages with
    charts, less than a third.
    """
    try:
        start_new_session(open_tab)
    except TimeoutError:
        # A failed test may have left the tab in any state, so load the app again.
        open_page(open_tab, f"{app_url}/lessons")
    open_tab.set_viewport_size(DESK)
    switch_theme(open_tab, "light")
    yield open_tab
    assert_no_traceback(open_tab)


@pytest.fixture
def offline_page(browser: Browser) -> Iterator[Page]:
    """Yield a page without network; fail if it logs to the console or requests anything else."""
    context = browser.new_context(offline=True, viewport=DESK)
    context.set_default_timeout(MAX_WAIT_MS)
    page = context.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: complaints.append(message.text))
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    yield page
    context.close()
    assert complaints == []
    assert [url for url in requests if not url.startswith(("file:", "data:"))] == []
