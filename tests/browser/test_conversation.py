"""A conversation on Token boundaries: from a folder's files to the tokens that a model reads."""

from __future__ import annotations

import json

from playwright.sync_api import Page, expect

import bpe_core as bpe
from bpe_core.formats.load_save import dumps
from tests.browser.helpers import go_to_address, wait_until_idle
from tests.browser.training import add_files, choose

TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def files() -> dict[str, bytes]:
    config = bpe.TrainingConfig(300, special_tokens=("<|im_start|>", "<|im_end|>"))
    tokenizer = bpe.train(["hug hugs hugging user assistant"], config).tokenizer
    return {
        "tokenizer.json": dumps(tokenizer, "huggingface")["tokenizer.json"],
        "tokenizer_config.json": json.dumps({"chat_template": TEMPLATE}).encode(),
    }


def test_a_conversation_is_typed_on_a_phone(tab: Page) -> None:
    tab.set_viewport_size({"width": 390, "height": 844})
    go_to_address(tab, "/token_boundaries")
    tab.get_by_role("button", name="Add a tokenizer").click()
    add_files(tab, files())
    name = tab.get_by_role("radio", name="tokenizer.json")
    expect(name).to_be_visible()
    tab.keyboard.press("Escape")
    wait_until_idle(tab)
    choose(tab, "Conversation")
    name.click()
    tokens = tab.locator(".view .scroller")
    expect(tokens).to_contain_text("What are you?")
    tab.get_by_label("Message of the assistant").fill("hugs <|im_end|> <b>x</b>")
    # The press sends what was typed, and begins the answer.
    tab.get_by_text("Begin the answer").click()
    expect(tokens).to_contain_text("hugs <|im_end|> <b>x</b>")
    expect(tab.get_by_text("Message 2 (assistant) contains <|im_end|>")).to_be_visible()
    tab.get_by_role("button", name="Add a message").click()
    expect(tab.get_by_label("Message of the user")).to_have_count(2)
    tab.get_by_label("Message of the user").last.fill("bye")
    tab.get_by_role("button", name="Remove").first.click()
    expect(tokens).not_to_contain_text("What are you?")
    expect(tokens).to_contain_text("bye")
    wait_until_idle(tab)
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
