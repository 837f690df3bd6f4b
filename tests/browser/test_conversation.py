"""Conversation in a browser: from an example with tools to what is learned, markup in a message."""

from __future__ import annotations

import json
import re

from playwright.sync_api import Page, expect

from bpe_core.formats import dumps
from tests.browser.helpers import (
    assert_no_label_is_cut,
    assert_no_traceback,
    choose_option,
    go_to_address,
    switch_theme,
    wait_until_idle,
)
from tests.browser.training import add_files, choose
from ui.storage import SAMPLE_RUN_ID, load_run

TEMPLATE = (
    "{% for t in tools or [] %}[{{ t.function.name }}]{% endfor %}{{ mood }}{% for m in messages %}"
    "<|{{ m.role }}|>{{ m.content }}<|endoftext|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
SAID = """(text) => text ===
  [...document.querySelectorAll(".chat-mask .learned")].map((each) => each.textContent).join("")"""
FITS = """(width) => {
  const main = document.querySelector("[data-testid=stMain]");
  return window.innerWidth === width && main.scrollWidth === main.clientWidth;
}"""


def test_tools_a_variable_and_markup_show_what_is_learned(tab: Page) -> None:
    tab.set_viewport_size({"width": 1440, "height": 1000})
    go_to_address(tab, "/token_boundaries?part=Conversation")
    tokenizer = dumps(load_run(SAMPLE_RUN_ID).run.tokenizer, "huggingface")["tokenizer.json"]
    tab.get_by_role("button", name="Add a tokenizer").click()
    config = json.dumps({"chat_template": TEMPLATE}).encode()
    add_files(tab, {"tokenizer.json": tokenizer, "tokenizer_config.json": config})
    wait_until_idle(tab)
    tab.keyboard.press("Escape")
    choose(tab, "tokenizer.json")
    choose_option(tab.get_by_role("combobox", name="Example"), "Tools")
    wait_until_idle(tab)
    view = tab.locator(".view .scroller")
    expect(view).to_contain_text("[weather]<|user|>Does it rain in Oslo?<|endoftext|>")
    mood = tab.get_by_label("mood", exact=True)
    tab.get_by_text("What else the template reads").click()
    mood.fill("calm")
    mood.press("Enter")
    expect(view).to_contain_text("[weather]calm<|user|>")
    learned = tab.get_by_text(re.compile("^A model learns to write "))
    expect(learned).to_contain_text(re.compile("[0-9]+ of [0-9]+ tokens; 0 faults"))
    tab.get_by_text("What is learned from").click()
    mask = tab.locator(".chat-mask")
    said = mask.locator(".learned")
    expect(said.first).to_be_visible()
    expect(mask).to_have_attribute("tabindex", "0")
    tab.wait_for_function(SAID, arg="<|endoftext|>Yes, it rains.<|endoftext|>")
    n, n_all = map(int, re.findall("[0-9]+", learned.inner_text())[:2])
    expect(said).to_have_count(n)
    expect(mask.locator("span")).to_have_count(n_all)
    choose(tab, "JSON")
    markup = "<img src=x onerror=alert(1)><b>Hug</b>"
    field = tab.get_by_label(re.compile("^A JSON object of messages"))
    talk = [{"role": "user", "content": "?"}, {"role": "assistant", "content": markup}]
    field.fill(json.dumps({"messages": talk}))
    field.press("Control+Enter")
    expect(view).to_contain_text(f"<|assistant|>{markup}<|endoftext|>")
    tab.wait_for_function(SAID, arg=f"{markup}<|endoftext|>")
    expect(mask.locator("img, b")).to_have_count(0)
    switch_theme(tab, "dark")
    for width in (390, 1440):
        tab.set_viewport_size({"width": width, "height": 1000})
        expect(mask).to_be_visible()
        tab.wait_for_function(FITS, arg=width)
        assert_no_label_is_cut(tab)
    # Ids that no text is cut into are shown next to those of their text.
    choose(tab, "Ids")
    own = load_run(SAMPLE_RUN_ID).run.tokenizer
    given = [[own.encode(letter)[0] for letter in word] for word in ("the", "class")]
    field = tab.get_by_role("textbox", name=re.compile("^Ids, a sequence"))
    field.fill("\n".join(map(json.dumps, given)))
    field.press("Control+Enter")
    drift = tab.locator(".chat-drift")
    expect(drift.locator("tbody tr")).to_have_count(2)
    expect(drift).to_contain_text("sequence 2, byte 0")
    letters = "".join(f"{letter}{id}" for letter, id in zip("class", given[1], strict=True))
    expect(drift.locator("tbody tr").last).to_contain_text(
        f"{letters}class{own.encode('class')[0]}"
    )
    for width in (390, 1440):
        tab.set_viewport_size({"width": width, "height": 1000})
        expect(drift).to_be_visible()
        tab.wait_for_function(FITS, arg=width)
    assert_no_traceback(tab)
