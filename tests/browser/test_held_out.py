"""Choose what is held out on Train, and read the verdict on Compare in each case."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.helpers import (
    choose_option,
    go_to_address,
    open_page,
)
from tests.browser.training import (
    open_parts,
    set_vocabulary,
    train_to_the_end,
    upload,
)
from tests.projects import projects
from tests.zipping import make_zip


def test_own_files_are_held_out_and_judged_on(page: Page, app_url: str, tmp_path: Path) -> None:
    documents = projects()
    own = {f"new {n}.txt": f"Quite another text, number {n}. " * 30 for n in range(25)}
    for name, given in (
        ("projects.zip", documents),
        ("own.zip", own | {"copy.txt": documents["0/0.txt"]}),
    ):
        (tmp_path / name).write_bytes(make_zip({name: t.encode() for name, t in given.items()}))
    open_page(page, f"{app_url}/train")
    upload(page, tmp_path / "projects.zip")
    open_parts(page)
    choose_option(page.get_by_role("combobox", name="What is held out"), "Your own files")
    expect(page.get_by_text("Nothing is held out yet")).to_be_visible()
    chooser = page.locator(".st-key-corpus_held_files")
    chooser.locator("input").set_input_files(tmp_path / "own.zip")
    held_out = page.get_by_text(re.compile("^Your own files, .* in 26 documents, are held out"))
    expect(held_out).to_contain_text("1 document of the corpus is also in them")
    page.keyboard.press("Escape")
    page.reload()
    open_parts(page)
    expect(held_out).to_contain_text("1 document of the corpus is also in them")
    page.keyboard.press("Escape")
    set_vocabulary(page, 512)
    run_id = train_to_the_end(page)
    go_to_address(page, f"/compare?run={run_id}&with=gpt2")
    verdict = page.locator(".verdict")
    expect(verdict).to_contain_text(re.compile("On your own files, your tokenizer needs .* more"))
    expect(page.get_by_text("95% intervals over whole documents")).to_be_visible()
