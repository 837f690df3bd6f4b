"""Use Train in browser tests: choose a corpus and settings, press Train, wait for the run."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from playwright.sync_api import FilePayload, Page, expect

from tests.browser.helpers import scroll_to, wait_until_idle

_RUN_IN_ADDRESS = re.compile(r"[?&]run=([0-9a-f]{32})")


def choose(page: Page, name: str) -> None:
    """Press one segment of a segmented control."""
    page.get_by_test_id("stMain").get_by_text(name, exact=True).click()
    wait_until_idle(page)


def upload(page: Page, path: Path) -> None:
    """Choose Upload, and upload a file."""
    choose(page, "Upload")
    give_file(page, path)


def give_file(page: Page, path: Path) -> None:
    """Upload a file to the uploader on the page."""
    page.get_by_test_id("stFileUploader").locator("input").set_input_files(path)
    expect(page.get_by_role("button", name=f"Remove {path.name}")).to_be_visible()
    wait_until_idle(page)


def add_files(page: Page, files: Mapping[str, bytes]) -> None:
    """Add a tokenizer from files in the open list of ways to add one."""
    given: list[FilePayload] = [
        {"name": name, "mimeType": "application/octet-stream", "buffer": data}
        for name, data in files.items()
    ]
    page.locator('input[type="file"]').last.set_input_files(given)
    # The button is disabled until the files have been sent, so this press waits for that.
    page.get_by_role("button", name="Add from files").click()


def open_parts(page: Page) -> None:
    """Show what the text consists of, and the choice of what is held out."""
    button = page.get_by_role("button", name="What it consists of", exact=True)
    scroll_to(button)
    button.click()
    wait_until_idle(page)


def set_vocabulary(page: Page, size: int) -> None:
    """Move the slider to one of its sizes."""
    slider = page.get_by_role("slider", name="Vocabulary size")
    slider.press("Home")
    sentence = page.get_by_text(re.compile(r"^Vocabulary size [\d,]+ ="))
    expect(sentence).to_contain_text("Vocabulary size 257")
    while f"Vocabulary size {size:,} " not in sentence.inner_text():
        before = sentence.inner_text()
        slider.press("ArrowRight")
        expect(sentence).not_to_have_text(before)
    wait_until_idle(page)


def train_to_the_end(page: Page) -> str:
    """Press Train, wait for the result, and return the new run's id from the address."""
    before = read_run_id(page.url)
    page.get_by_role("button", name="Train", exact=True).click()
    page.wait_for_url(lambda url: read_run_id(url) not in (None, before))
    # The page scrolls to it, which would close a list that is open meanwhile.
    expect(page.get_by_role("heading", name="Trained")).to_be_in_viewport()
    wait_until_idle(page)
    found = read_run_id(page.url)
    assert found
    return found


def read_run_id(url: str) -> str | None:
    """Return the id of the run in an address; None if it has none."""
    found = _RUN_IN_ADDRESS.search(url)
    return found[1] if found else None
