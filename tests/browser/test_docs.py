"""The documentation builds strictly, loads nothing from other hosts, and can be searched."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import Literal

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.serving import served
from tests.browser.test_accessibility import SCHEMES, broken_rules
from tests.new_process import ROOT

PAGES = {"light": ("index", "cli"), "dark": ("decide", "operations")}
# Material's own: its dialog for the search has no name, its buttons to copy code are in unnamed
# landmarks, and its wide tables scroll without a tab stop, which Chromium gives them itself.
OF_THE_THEME = ("aria-dialog-name", "landmark-unique", "scrollable-region-focusable")


@pytest.fixture(scope="module")
def docs_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Build the documentation as `make docs` does, serve it, and yield its address."""
    folder = tmp_path_factory.mktemp("docs")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-d", str(folder)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    with served(folder) as address:
        yield address


@pytest.mark.parametrize(("scheme", "width"), SCHEMES)
def test_pages_load_nothing_from_other_hosts_are_accessible_and_searched(
    browser: Browser, docs_url: str, scheme: Literal["light", "dark"], width: int
) -> None:
    page = browser.new_page(
        color_scheme=scheme, viewport={"width": width, "height": 900}, reduced_motion="reduce"
    )
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("requestfailed", lambda asked: problems.append(f"{asked.url}: {asked.failure}"))
    page.on(
        "request",
        lambda asked: (
            None
            if asked.url.startswith(("http://127.0.0.1:", "data:", "blob:"))
            else problems.append(asked.url)
        ),
    )
    allowed = {rule: {"enabled": False} for rule in OF_THE_THEME}
    for name in PAGES[scheme]:
        page.goto(f"{docs_url}/{name}.html")
        expect(page.locator("article h1")).to_be_visible()
        excess = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert excess <= 0, f"{name} is {excess} pixels too wide"
        assert broken_rules(page, rules=allowed) == [], name
    page.keyboard.press("/")
    # The search listens to keys, which filling in a text doesn't press.
    page.locator("input.md-search__input").press_sequentially("bootstrap")
    expect(page.locator(".md-search-result__item").first).to_contain_text("Held-out text")
    page.close()
    assert problems == []
