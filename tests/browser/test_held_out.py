"""Choose what is held out on Train, and read the verdict on Compare in each case."""

from __future__ import annotations

import re
from pathlib import Path
from zipfile import ZipFile

from playwright.sync_api import Locator, Page, expect

from tests.browser.helpers import (
    choose_option,
    go_to_address,
    open_page,
    wait_until_idle,
)
from tests.browser.training import (
    open_parts,
    read_run_id,
    set_vocabulary,
    train_to_the_end,
    upload,
)
from tests.projects import projects


def pack(path: Path, documents: dict[str, str]) -> Path:
    with ZipFile(path, "w") as archive:
        for name, text in documents.items():
            archive.writestr(name, text)
    return path


def hold_out(page: Page, what: str) -> None:
    """Open the choice of what is held out, and choose."""
    open_parts(page)
    choose_option(page.get_by_role("combobox", name="What is held out"), what)
    wait_until_idle(page)


def verdict_on(page: Page, run_id: str) -> Locator:
    """Open Compare on a run, and return the verdict against GPT-2."""
    go_to_address(page, f"/compare?run={run_id}&with=gpt2")
    verdict = page.locator(".verdict")
    expect(verdict).to_be_visible()
    return verdict


def test_own_files_are_judged_on_after_a_bad_one_was_refused(
    page: Page, app_url: str, tmp_path: Path
) -> None:
    documents = projects()
    own = {f"new {n}.txt": f"Quite another text, number {n}. " * 30 for n in range(25)}
    picture = tmp_path / "picture.png"
    picture.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)))
    open_page(page, f"{app_url}/train")
    upload(page, pack(tmp_path / "projects.zip", documents))
    hold_out(page, "Your own files")
    expect(page.get_by_text("Nothing is held out yet")).to_be_visible()
    chooser = page.locator(".st-key-corpus_held_files")
    chooser.locator("input").set_input_files(picture)
    expect(page.get_by_role("alert")).to_contain_text("picture.png")
    chooser.get_by_role("button", name="Remove picture.png").click()
    expect(page.get_by_role("alert")).to_have_count(0)
    copy = {"copy.txt": documents["0/0.txt"]}
    chooser.locator("input").set_input_files(pack(tmp_path / "own.zip", own | copy))
    held_out = page.get_by_text(re.compile("^Your own files, .* in 26 documents, are held out"))
    expect(held_out).to_contain_text("1 document of the corpus is also in them")
    page.keyboard.press("Escape")
    page.reload()
    open_parts(page)
    expect(held_out).to_contain_text("1 document of the corpus is also in them")
    page.keyboard.press("Escape")
    set_vocabulary(page, 512)
    run_id = train_to_the_end(page)
    assert read_run_id(page.url) == run_id
    verdict = verdict_on(page, run_id)
    expect(verdict).to_contain_text(re.compile("On your own files, your tokenizer needs .* more"))
    expect(page.get_by_text("95% intervals over whole documents")).to_be_visible()
