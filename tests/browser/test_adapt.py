"""Adapt in a browser: from an uploaded file to an extended run and the files for a model."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
from playwright.sync_api import Page, expect

from tests.browser.helpers import (
    download,
    go_to_address,
    wait_until_idle,
)
from tests.browser.training import choose, give_file


def test_an_uploaded_text_extends_gpt2_and_its_files_are_downloaded(
    tab: Page, tmp_path: Path
) -> None:
    text = tmp_path / "ships.txt"
    lines = (f"Die Donaudampfschifffahrtsgesellschaft Nummer {n} fährt.\n" for n in range(400))
    text.write_text("".join(lines), encoding="utf-8")
    go_to_address(tab, "/adapt")
    choose(tab, "Upload")
    give_file(tab, text)
    number = tab.get_by_role("spinbutton").first
    number.fill("12")
    number.press("Enter")
    wait_until_idle(tab)
    tab.get_by_role("textbox", name="Domain terms, one per line").fill("Nummer\n<b>x</b>")
    tab.get_by_role("button", name="Extend", exact=True).click()
    expect(tab.get_by_text("With 12 new tokens, held-out text takes")).to_be_visible()
    expect(tab.get_by_text("“<b>x</b>”. The base’s pre-tokenizer cuts it")).to_be_visible()
    wait_until_idle(tab)
    tab.reload()
    expect(tab.get_by_text("With 12 new tokens, held-out text takes")).to_be_visible()
    wait_until_idle(tab)
    rows = json.loads(Path(download(tab, "embedding_rows.json").path()).read_bytes())
    assert len(rows["old_ids"]) == 50_257 + 12
    assert len(rows["parts"]) == 12
    old_ids = np.load(io.BytesIO(Path(download(tab, "old_ids.npy").path()).read_bytes()))
    assert old_ids.tolist() == rows["old_ids"]
