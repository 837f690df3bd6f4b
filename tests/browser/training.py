"""What browser tests do on Train: choose a corpus and settings, press Train, wait for the run."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.helpers import wait_until_idle

_RUN_IN_ADDRESS = re.compile(r"[?&]run=([0-9a-f]{32})")


def choose(page: Page, name: str) -> None:
    """Presses one segment of a segmented control."""
    page.get_by_test_id("stMain").get_by_text(name, exact=True).click()
    wait_until_idle(page)


def choose_sample(page: Page, title: str) -> None:
    """Chooses one of the samples, which are where the corpus comes from at first."""
    box = page.get_by_role("combobox", name="Sample")
    # Before it is opened: scrolling closes the list.
    box.scroll_into_view_if_needed()
    wait_until_idle(page)
    box.click()
    page.get_by_role("option", name=title).click()
    wait_until_idle(page)


def upload(page: Page, path: Path) -> None:
    """Makes a file the corpus."""
    choose(page, "Upload")
    give_file(page, path)


def give_file(page: Page, path: Path) -> None:
    """Gives a file where uploads are asked for already."""
    page.get_by_test_id("stFileUploader").locator("input").set_input_files(path)
    expect(page.get_by_role("button", name=f"Remove {path.name}")).to_be_visible()
    wait_until_idle(page)


def set_vocabulary(page: Page, size: int) -> None:
    """Moves the slider to one of the sizes that it offers."""
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
    """Presses Train, waits for the result, and gives the id of the new run in the address."""
    before = run_of_address(page.url)
    page.get_by_role("button", name="Train", exact=True).click()
    page.wait_for_url(lambda url: run_of_address(url) not in (None, before))
    expect(page.get_by_role("heading", name="Trained")).to_be_visible()
    wait_until_idle(page)
    found = run_of_address(page.url)
    assert found
    return found


def run_of_address(url: str) -> str | None:
    """The id of the run that an address names."""
    found = _RUN_IN_ADDRESS.search(url)
    return found[1] if found else None
