"""Experiment in a browser: from a choice to the run of a row, on a desktop and on a phone."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.browser.helpers import (
    assert_no_traceback,
    download,
    go_to_address,
    switch_theme,
    wait_until_idle,
)
from tests.browser.test_accessibility import SCHEMES, find_faults
from tests.browser.training import choose, read_run_id

TEXT = "\n".join(f"The bare bytes of line {n}, for reader {n * n}." for n in range(200))


def test_a_choice_leads_to_an_answer_and_an_opened_run(tab: Page) -> None:
    tab.set_viewport_size({"width": 1440, "height": 1000})
    go_to_address(tab, "/experiments")
    choose(tab, "Paste")
    box = tab.get_by_role("textbox", name="Text")
    box.fill(TEXT)
    box.blur()
    wait_until_idle(tab)
    for size in ("2,048", "4,096"):
        choose(tab, size)
    tab.get_by_role("button", name="Measure").click()
    answer = tab.get_by_text(re.compile("^Take [0-9,]+ tokens"))
    expect(answer.first).to_be_visible(timeout=60_000)
    expect(tab.locator(".js-plotly-plot")).to_have_count(2)
    csv = download(tab, "table.csv").path().read_text("utf-8")
    assert csv.count("\n") == 5
    for scheme, width in SCHEMES:
        switch_theme(tab, scheme)
        tab.set_viewport_size({"width": width, "height": 1000})
        expect(answer.first).to_be_visible()
        assert find_faults(tab, scheme) == []
    tab.get_by_role("button", name="Open its run").click()
    expect(tab.get_by_role("heading", name="Merge loop")).to_be_visible()
    wait_until_idle(tab)
    assert read_run_id(tab.url) is not None
    assert_no_traceback(tab)
