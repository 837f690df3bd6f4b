"""Adapt in a browser: from an uploaded file to an extended run and the files for a model."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from tests.browser.helpers import (
    choose_option,
    download,
    go_to_address,
    wait_until_downloads_are_checked,
    wait_until_idle,
)
from tests.browser.training import choose, give_file, read_run_id


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
    page.get_by_role("button", name="Extend", exact=True).click()
    expect(page.get_by_text("fewer tokens").first).to_be_visible()
    expect(page.get_by_text("With 12 new tokens, held-out text takes")).to_be_visible()
    page.reload()
    expect(page.get_by_text("With 12 new tokens, held-out text takes")).to_be_visible()
    wait_until_idle(page)
    rows = json.loads(Path(download(page, "embedding_rows.json").path()).read_bytes())
    assert len(rows["old_ids"]) == 50_257 + 12
    assert len(rows["parts"]) == 12
    old_ids = np.load(io.BytesIO(Path(download(page, "old_ids.npy").path()).read_bytes()))
    assert old_ids.tolist() == rows["old_ids"]


def test_terms_come_first_and_a_token_is_left_out_of_a_second_extension(page: Page) -> None:
    go_to_address(page, "/adapt")
    choose(page, "Paste")
    text = "".join(f"Kubernetes {n} und Donaudampfschifffahrt, kubelet <b>\n" for n in range(300))
    corpus = page.get_by_role("textbox", name="Text to train on")
    corpus.fill(text)
    corpus.press("Control+Enter")
    wait_until_idle(page)
    number = page.get_by_role("spinbutton").first
    number.fill("8")
    number.press("Enter")
    wait_until_idle(page)
    terms = page.get_by_role("textbox", name="Domain terms, one per line")
    terms.fill("kubelet\n<b>x</b>")
    terms.press("Control+Enter")
    wait_until_idle(page)
    page.get_by_role("button", name="Extend", exact=True).click()
    expect(page.get_by_text("With 8 new tokens, held-out text takes")).to_be_visible()
    wait_until_idle(page)
    expect(page.get_by_text("1 of 2 terms is one token.")).to_be_visible()
    table = page.get_by_role("table", name="What each term cost")
    expect(table.get_by_role("row", name="kubelet 2")).to_be_visible()
    expect(page.get_by_text("“<b>x</b>”. The base’s pre-tokenizer cuts it")).to_be_visible()
    new_tokens = page.get_by_role("table", name="New tokens and the tokens they replace")
    unwanted = new_tokens.get_by_role("rowheader").nth(2).inner_text()
    box = page.get_by_role("combobox", name="Leave out")
    wait_until_downloads_are_checked(page)
    choose_option(box, unwanted)
    box.press("Escape")
    wait_until_idle(page)
    before = read_run_id(page.url)
    page.get_by_role("button", name="Extend again").click()
    page.wait_for_url(lambda url: read_run_id(url) not in (None, before))
    expect(page.get_by_text("With 8 new tokens, held-out text takes")).to_be_visible()
    wait_until_idle(page)
    headers = new_tokens.get_by_role("rowheader").all_inner_texts()
    assert len(headers) == 8
    assert unwanted not in headers
    expect(page.get_by_role("button", name="Extend again")).to_be_enabled()
