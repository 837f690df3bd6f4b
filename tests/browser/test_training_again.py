"""Several trainings whose runs have the same name, and links to these runs."""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Iterable
from itertools import cycle
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.app_pages import PAGES
from tests.browser.helpers import (
    go_to_address,
    start_new_session,
)
from tests.browser.training import choose, set_vocabulary, train_to_the_end, upload


def picker_labels(page: Page) -> list[str]:
    """Open the run picker, read its labels, and close it."""
    page.get_by_role("button", name="Run: ").click()
    labels = page.get_by_role("menuitem").all_inner_texts()
    page.keyboard.press("Escape")
    expect(page.get_by_role("menuitem")).to_have_count(0)
    return [" ".join(label.split()) for label in labels]


def assert_whole_labels(page: Page) -> None:
    """Fail if a label of the run picker is cut off, because its end distinguishes runs."""
    page.get_by_role("button", name="Run: ").click()
    for label in page.get_by_role("menuitem").locator("p").all():
        box = label.bounding_box()
        assert box
        assert box["x"] + box["width"] <= page.evaluate("document.documentElement.clientWidth")
        assert label.evaluate("(p) => p.scrollWidth <= p.clientWidth")
    page.keyboard.press("Escape")


def assert_open_for_a_new_visitor(page: Page, addresses: Iterable[tuple[str, str]]) -> None:
    """Open each run on a page as a new visitor."""
    start_new_session(page)
    for name, run_id in addresses:
        go_to_address(page, f"/{name}?run={run_id}")
        expect(page.get_by_role("heading", level=1)).to_have_text(PAGES[name])
        expect(page.get_by_role("alert").filter(has_text="instead")).to_have_count(0)


def test_one_file_is_trained_twice_with_other_settings(tab: Page, tmp_path: Path) -> None:
    # With the run's settings, this name is wider than a phone.
    file = tmp_path / "the-parser-of-arguments.py"
    shutil.copy(argparse.__file__, file)
    go_to_address(tab, "/train")
    upload(tab, file)
    set_vocabulary(tab, 257)
    first = train_to_the_end(tab)
    choose(tab, "GPT-4")
    set_vocabulary(tab, 257)
    second = train_to_the_end(tab)
    assert picker_labels(tab)[1:] == [
        f"{file.name} 257 tokens, pre-tokenizer cl100k",
        f"{file.name} 257 tokens, pre-tokenizer gpt2",
    ]
    tab.set_viewport_size({"width": 390, "height": 900})
    assert_whole_labels(tab)
    assert_open_for_a_new_visitor(tab, zip(PAGES, cycle([first, second]), strict=False))
