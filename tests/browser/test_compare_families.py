"""Compare in a browser: published tokenizers by name, a GGUF and a SentencePiece file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page, expect

from bpe_core.corpus.samples import load_sample
from bpe_core.formats.gguf.gguf_file import write_gguf
from bpe_core.formats.sentencepiece_model import BYTE, NORMAL, UNKNOWN, Piece, write_model
from bpe_core.published.cache import VARIABLE
from bpe_core.runs.train import train
from bpe_core.types import TrainingConfig
from tests.browser.helpers import assert_no_traceback, open_page, scroll_to, wait_until_idle
from tests.browser.serving import new_context, running_app
from tests.oracles import TOKENIZERS

pytestmark = pytest.mark.slow
NAMES = ("Qwen 2", "Mistral 7B", "Claude 2")


@pytest.fixture
def page(browser: Browser, tmp_path: Path) -> Iterator[Page]:
    """Return a tab of a server that has the published tokenizers."""
    with running_app(tmp_path, {VARIABLE: str(TOKENIZERS)}) as url:
        context = new_context(browser, viewport={"width": 1440, "height": 1200})
        page = context.new_page()
        open_page(page, f"{url}/compare")
        yield page
        context.close()


def gguf() -> bytes:
    config = TrainingConfig(700, pretokenizer="qwen2")
    return write_gguf(train(load_sample("multilingual"), config).tokenizer)


def sentencepiece() -> bytes:
    pieces = [Piece("<unk>", 0, UNKNOWN), Piece("▁", -1, NORMAL), Piece("▁t", -2, NORMAL)]
    pieces += [Piece(letter, -9, NORMAL) for letter in "etaoinshr"]
    pieces += [Piece(f"<0x{byte:02X}>", 0, BYTE) for byte in range(256)]
    return write_model(pieces, "BPE")


def open_additions(page: Page) -> None:
    """Open the ways to add a tokenizer, which stay open after one was added."""
    if not page.get_by_role("combobox", name="Published tokenizer").is_visible():
        page.get_by_role("button", name="Add a tokenizer").click()


def test_names_a_gguf_and_a_sentencepiece_file_get_a_verdict(page: Page) -> None:
    for name in NAMES:
        open_additions(page)
        box = page.get_by_role("combobox", name="Published tokenizer")
        scroll_to(box)
        box.click()
        page.get_by_role("option", name=re.compile(re.escape(name))).click()
        page.get_by_role("button", name="Add by name").click()
        expect(page.locator(".rivals tbody tr").filter(has_text=name)).to_have_count(1)
        wait_until_idle(page)
    for file, data in (("small.gguf", gguf()), ("small.model", sentencepiece())):
        open_additions(page)
        page.locator('input[type="file"]').set_input_files(
            {"name": file, "mimeType": "application/octet-stream", "buffer": data}
        )
        page.get_by_role("button", name="Add from files").click()
        expect(page.locator(".rivals tbody tr").filter(has_text=file)).to_have_count(1)
        wait_until_idle(page)
    page.keyboard.press("Escape")
    engines = {"small.gguf": "encoded by bpe_core", "small.model": "encoded by bpe_core"}
    for file, engine in engines.items():
        expect(page.locator(".rivals tbody tr").filter(has_text=file)).to_contain_text(engine)
    verdict = page.locator(".verdict")
    for name in ("GPT-2", *NAMES, *engines):
        expect(page.locator(".rivals")).to_contain_text(name)
    expect(verdict).to_contain_text(re.compile(r"\d% (fewer|more)"))
    text = quote("The ﬁrst ﬁle has ﬁve parts. ")
    open_page(page, f"{page.url}&part=Passage&on=Your+own+text&text={text}")
    page.get_by_text("Changed before the text is cut").click()
    expect(page.locator(".normalized mark").first).to_be_visible()
    assert_no_traceback(page)
