"""Adapt in a browser: from an uploaded file to an extended run and the files for a model."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from tests.browser.helpers import (
    download,
    go_to_address,
    wait_until_idle,
)
from tests.browser.training import choose, give_file


@pytest.fixture
def page(tab: Page) -> Page:
    """Return a tab in which the app is already loaded."""
    return tab


def test_an_uploaded_text_extends_gpt2_and_its_files_are_downloaded(
    page: Page, tmp_path: Path
) -> None:
    text = tmp_path / "ships.txt"
    lines = (f"Die Donaudampfschifffahrtsgesellschaft Nummer {n} fährt.\n" for n in range(400))
    text.write_text("".join(lines), encoding="utf-8")
    go_to_address(page, "/adapt")
    choose(page, "Upload")
    give_file(page, text)
    number = page.get_by_role("spinbutton").first
    number.fill("12")
    number.press("Enter")
    wait_until_idle(page)
    page.get_by_role("textbox", name="Domain terms, one per line").fill("Nummer\n<b>x</b>")
    page.get_by_role("button", name="Extend", exact=True).click()
    expect(page.get_by_text("With 12 new tokens, held-out text takes")).to_be_visible()
    expect(page.get_by_text("“<b>x</b>”. The base’s pre-tokenizer cuts it")).to_be_visible()
    wait_until_idle(page)
    page.reload()
    expect(page.get_by_text("With 12 new tokens, held-out text takes")).to_be_visible()
    wait_until_idle(page)
    rows = json.loads(Path(download(page, "embedding_rows.json").path()).read_bytes())
    assert len(rows["old_ids"]) == 50_257 + 12
    assert len(rows["parts"]) == 12
    old_ids = np.load(io.BytesIO(Path(download(page, "old_ids.npy").path()).read_bytes()))
    assert old_ids.tolist() == rows["old_ids"]
