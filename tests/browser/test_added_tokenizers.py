"""Compare in a browser: tokenizers added by name, from the hub with Cancel, and from a file."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, expect

import bpe_core as bpe
from bpe_core.corpus.samples import load_sample
from bpe_core.formats.gguf.gguf_file import write_gguf
from bpe_core.formats.load_save import dumps
from tests.browser.helpers import choose_option, go_to_address, wait_until_idle
from tests.browser.training import add_files, choose
from tests.loopback_hub import LoopbackHub

CLAUDE = "Claude 2 (Anthropic): downloaded"
HOSTILE_NAME = "<img src=x onerror=harmed=1>\u202e.gguf"


def open_additions(page: Page) -> None:
    """Open the ways to add a tokenizer, which stay open after one was added."""
    wait_until_idle(page)
    if not page.get_by_role("button", name="Add model").is_visible():
        page.get_by_role("button", name="Add a tokenizer").click()
        wait_until_idle(page)


def add_model(page: Page, name: str) -> None:
    open_additions(page)
    page.get_by_role("textbox", name="A model on Hugging Face’s hub").fill(name)
    page.get_by_role("button", name="Add model").click()


def rival(page: Page, name: str) -> Locator:
    return page.locator(".rivals tbody tr").filter(has_text=name)


def test_a_published_name_a_model_of_the_hub_and_a_gguf_file_get_a_verdict(
    tab: Page, hub: LoopbackHub
) -> None:
    config = bpe.TrainingConfig(700, pretokenizer="qwen2")
    tokenizer = bpe.train(load_sample("multilingual"), config).tokenizer
    commit = hub.add("org/model", dumps(tokenizer, "transformers"))
    hub.add("org/slow", {"tokenizer.json": b" " * 100_000}, "slow")
    go_to_address(tab, "/compare")

    open_additions(tab)
    choose_option(tab.get_by_role("combobox", name="Published tokenizer"), CLAUDE)
    tab.get_by_role("button", name="Add by name").click()
    expect(rival(tab, "Claude 2")).to_have_count(1)
    add_model(tab, "org/model")
    expect(rival(tab, "org/model")).to_contain_text(f"From hf:org/model@{commit}")
    open_additions(tab)
    add_files(tab, {HOSTILE_NAME: write_gguf(tokenizer)})
    expect(rival(tab, "U+202E.gguf")).to_contain_text("encoded by bpe_core")
    for name in ("Claude 2", "org/model", "U+202E.gguf"):
        expect(rival(tab, name)).to_contain_text(re.compile(r"\d% (fewer|more)"))
    add_model(tab, "org/slow")
    tab.get_by_role("button", name="Cancel").click()
    expect(tab.get_by_text("Fetching org/slow")).to_have_count(0)
    tab.keyboard.press("Escape")
    wait_until_idle(tab)
    assert f"hf:org/model@{commit}" in tab.evaluate("decodeURIComponent(location.search)")

    choose(tab, "Passage")
    expect(tab.locator(".side-4 .token").first).to_be_attached()
    tab.locator(".side-4 .scroller").press("ArrowRight")
    focused = {
        tab.locator(f".side-{side} .ring.focused").first.get_attribute("data-span")
        for side in range(5)
    }
    assert len(focused) == 1
    # Claude 2 changes a text before it cuts it.
    choose(tab, "Your own text")
    tab.get_by_role("textbox", name="Your text").fill("The ﬁrst ﬁle has ﬁve parts.")
    tab.get_by_text("Changed before the text is cut").click()
    expect(tab.locator(".normalized mark").first).to_be_visible()
    choose(tab, "Verdict")
    rival(tab, "U+202E.gguf").get_by_role("button", name="Remove <img").click()
    expect(rival(tab, "U+202E.gguf")).to_have_count(0)
    assert tab.evaluate("window.harmed") is None
