"""Detective in a browser: from the samples of the app to own ones, on a desktop and a phone."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.helpers import (
    assert_no_label_is_cut,
    assert_no_traceback,
    download,
    go_to_address,
    switch_theme,
    wait_until_idle,
)
from tests.browser.training import choose


def test_shares_of_shipped_and_of_own_samples_are_shown(tab: Page, tmp_path: Path) -> None:
    tab.set_viewport_size({"width": 1440, "height": 1000})
    go_to_address(tab, "/detective")
    # The sample run was trained on Python's built-in help.
    sentence = tab.get_by_text(re.compile("^By the order of its merges, 9[0-9]%"))
    expect(sentence.first).to_contain_text("Reference text")
    expect(tab.get_by_role("heading", name="The merges that say so")).to_be_visible()
    rows = download(tab, "CSV").path().read_text("utf-8").splitlines()
    assert rows[0].lstrip("\ufeff") == "category,share,low,high,sample_bytes"
    assert len(rows) == 7
    choose(tab, "Your own")
    expect(tab.get_by_text("Upload two or more samples")).to_be_visible()
    # A kind's name is a file's name, and may look like markup.
    files = [tmp_path / name for name in ("hugs <b>.txt", f"{'long-name-' * 9}.txt")]
    for file, words in zip(files, ("hug hugs hugging ", "pun punning 日本語 "), strict=True):
        file.write_text(words * 60, "utf-8")
    tab.get_by_test_id("stFileUploader").locator("input").set_input_files(files)
    nearest = tab.get_by_text(re.compile("^Of these samples, ")).first
    expect(nearest).to_contain_text("comes nearest")
    expect(tab.get_by_text("These samples do not fit")).to_be_visible()
    wait_until_idle(tab)
    switch_theme(tab, "dark")
    for width in (390, 1440):
        tab.set_viewport_size({"width": width, "height": 1000})
        expect(nearest).to_be_visible()
        main = tab.get_by_test_id("stMain")
        assert main.evaluate("(main) => main.scrollWidth - main.clientWidth") == 0
        assert_no_label_is_cut(tab)
    assert_no_traceback(tab)
