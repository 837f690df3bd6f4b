"""Adapt in a browser: from an uploaded file to an extended run and the files for a model."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from tests.browser.helpers import assert_no_traceback, open_page, wait_until_idle
from tests.browser.training import choose, give_file

pytestmark = pytest.mark.browser


def test_an_uploaded_text_extends_gpt2_and_its_files_are_downloaded(
    page: Page, app_url: str, tmp_path: Path
) -> None:
    text = tmp_path / "ships.txt"
    lines = (f"Die Donaudampfschifffahrtsgesellschaft Nummer {n} fährt.\n" for n in range(400))
    text.write_text("".join(lines), encoding="utf-8")
    open_page(page, f"{app_url}/adapt")
    choose(page, "Upload")
    give_file(page, text)
    number = page.get_by_role("spinbutton").first
    number.fill("12")
    number.press("Enter")
    wait_until_idle(page)
    page.get_by_role("button", name="Extend", exact=True).click()
    expect(page.get_by_text("fewer tokens").first).to_be_visible()
    expect(page.get_by_text("With 12 new tokens, held-out text takes")).to_be_visible()
    page.reload()
    expect(page.get_by_text("With 12 new tokens, held-out text takes")).to_be_visible()
    wait_until_idle(page)
    with page.expect_download() as started:
        page.get_by_role("button", name="embedding_rows.json").click()
    rows = json.loads(Path(started.value.path()).read_bytes())
    assert len(rows["old_ids"]) == 50_257 + 12
    assert len(rows["parts"]) == 12
    with page.expect_download() as started:
        page.get_by_role("button", name="old_ids.npy").click()
    old_ids = np.load(io.BytesIO(Path(started.value.path()).read_bytes()))
    assert old_ids.tolist() == rows["old_ids"]
    assert_no_traceback(page)
