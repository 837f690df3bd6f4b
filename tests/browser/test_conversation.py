"""A conversation on Token boundaries: from a folder's files to the tokens that a model reads."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from bpe_core.formats.load_save import dumps
from bpe_core.runs.train import train
from bpe_core.types import TrainingConfig
from tests.browser.helpers import assert_no_traceback, open_page, wait_until_idle
from tests.browser.serving import new_context

pytestmark = pytest.mark.slow
TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


@pytest.fixture
def phone(browser: Browser, app_url: str) -> Iterator[Page]:
    context = new_context(browser, viewport={"width": 390, "height": 844})
    page = context.new_page()
    open_page(page, f"{app_url}/token_boundaries")
    yield page
    context.close()


def files() -> dict[str, bytes]:
    config = TrainingConfig(300, special_tokens=("<|im_start|>", "<|im_end|>"))
    tokenizer = train(["hug hugs hugging user assistant"], config).tokenizer
    return {
        "tokenizer.json": dumps(tokenizer, "huggingface")["tokenizer.json"],
        "tokenizer_config.json": json.dumps({"chat_template": TEMPLATE}).encode(),
    }


def test_a_conversation_is_typed_on_a_phone(phone: Page) -> None:
    phone.get_by_role("button", name="Add a tokenizer").click()
    phone.locator('input[type="file"]').last.set_input_files(
        [
            {"name": name, "mimeType": "application/json", "buffer": data}
            for name, data in files().items()
        ]
    )
    phone.get_by_role("button", name="Add from files").click()
    name = phone.get_by_role("radio", name="tokenizer.json")
    expect(name).to_be_visible()
    phone.keyboard.press("Escape")
    phone.get_by_role("radio", name="Conversation").click()
    name.click()
    tokens = phone.locator(".view .scroller")
    expect(tokens).to_contain_text("What are you?")
    phone.get_by_label("Message of the assistant").fill("hugs <|im_end|> <b>x</b>")
    # The press sends what was typed, and begins the answer.
    phone.get_by_text("Begin the answer").click()
    expect(tokens).to_contain_text("hugs <|im_end|> <b>x</b>")
    expect(phone.get_by_text("Message 2 (assistant) contains <|im_end|>")).to_be_visible()
    expect(phone.get_by_test_id("stMain")).to_contain_text("of the template")
    phone.get_by_role("button", name="Add a message").click()
    expect(phone.get_by_label("Message of the user")).to_have_count(2)
    phone.get_by_label("Message of the user").last.fill("bye")
    phone.get_by_role("button", name="Remove").first.click()
    expect(tokens).not_to_contain_text("What are you?")
    expect(tokens).to_contain_text("bye")
    wait_until_idle(phone)
    assert_no_traceback(phone)
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390
    phone.reload()
    expect(tokens).to_contain_text("bye")
