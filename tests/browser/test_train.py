"""The Train page in a browser: from an uploaded file to a run that others can open."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from playwright.sync_api import Page, ViewportSize, expect
from tokenizers import Tokenizer as HuggingFaceTokenizer

import bpe_core as bpe
from tests.browser.helpers import (
    choose_option,
    download,
    go_to_address,
    open_page,
    wait_until_idle,
)
from tests.browser.training import (
    choose,
    give_file,
    open_parts,
    set_vocabulary,
    train_to_the_end,
)

# A real file present on every machine, whose text depends on the version of Python.
REAL_FILE = Path(argparse.__file__)


def test_text_size_and_button_share_the_first_screen(tab: Page) -> None:
    go_to_address(tab, "/train")
    sizes: list[ViewportSize] = [{"width": 1440, "height": 900}, {"width": 390, "height": 844}]
    for size in sizes:
        tab.set_viewport_size(size)
        for part in (
            tab.get_by_role("combobox", name="Sample"),
            tab.get_by_text("8% set aside"),
            tab.locator(".st-key-settings_byte_size"),
            tab.get_by_role("spinbutton", name="Exact vocabulary size"),
            tab.get_by_role("button", name="Train", exact=True),
            tab.get_by_role("heading", name="Example"),
        ):
            expect(part).to_be_in_viewport(ratio=0.99)
        assert tab.get_by_test_id("stMain").evaluate("(main) => main.scrollTop") == 0


def test_a_bad_file_is_refused_and_a_good_one_becomes_a_run_to_download(
    page: Page, app_url: str, tmp_path: Path
) -> None:
    picture = tmp_path / "picture.txt"
    picture.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20)
    training, held_out = bpe.read_corpus([REAL_FILE]).split(0.08, seed=0)
    expected = bpe.train(training, bpe.TrainingConfig(vocab_size=512))
    tokens = f"{int(expected.tokens_after[-1]):,}"

    page.set_viewport_size({"width": 1_200, "height": 600})  # the result is below what is visible
    open_page(page, f"{app_url}/train")
    choose(page, "Upload")
    give_file(page, picture)
    expect(page.get_by_role("alert")).to_contain_text("picture.txt")
    expect(page.get_by_text("3,839 merges.")).to_be_visible()
    page.get_by_role("button", name="Remove picture.txt").click()
    expect(page.get_by_role("alert")).to_have_count(0)

    give_file(page, REAL_FILE)
    open_parts(page)
    expect(page.get_by_text(f"{training.n_bytes:,}", exact=True)).to_be_visible()
    expect(page.get_by_text(f"{held_out.n_bytes:,} more bytes")).to_be_visible()
    page.keyboard.press("Escape")
    set_vocabulary(page, 512)
    run_id = train_to_the_end(page)
    expect(page.get_by_test_id("stMetricValue").nth(1)).to_have_text(tokens)

    page.reload()
    wait_until_idle(page)
    expect(page.get_by_test_id("stMetricValue").nth(1)).to_have_text(tokens)
    expect(page.get_by_role("button", name=f"Run: {REAL_FILE.name}")).to_be_visible()

    target = tmp_path / "tokenizer.json"
    page.get_by_text("For engineers: download the tokenizer").click()
    download(page, "tokenizer.json").save_as(target)
    theirs = HuggingFaceTokenizer.from_file(str(target))
    assert theirs.get_vocab_size() == 512
    text = "for i in range(10):\n    print(i)"
    assert theirs.decode(theirs.encode(text).ids) == text

    page.get_by_role("link", name="Merge loop").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Merge loop")
    page.wait_for_url(re.compile(f"run={run_id}"))


def test_the_pretokens_of_a_custom_pattern_are_shown_and_fit_a_phone(tab: Page) -> None:
    tab.set_viewport_size({"width": 390, "height": 900})
    go_to_address(tab, "/train")
    tab.get_by_role("button", name="First divided").click()
    tab.get_by_test_id("stPopoverBody").get_by_text("my own settings").click()
    wait_until_idle(tab)
    tab.keyboard.press("Escape")
    choose_option(tab.get_by_role("combobox", name="Pre-tokenizer"), "your own regular expression")
    wait_until_idle(tab)
    pattern = tab.get_by_role("textbox", name="Regular expression")
    pattern.fill(r"\d")
    pattern.press("Enter")
    line = tab.get_by_label("A line to try the cuts on")
    line.fill("<b>12</b>")
    line.press("Control+Enter")
    expect(tab.locator(".strip .tile")).to_have_text(["<b>", "1", "2", "</b>"])
    wait_until_idle(tab)
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390


def test_held_arrow_keys_do_not_outrun_the_page(tab: Page) -> None:
    go_to_address(tab, "/train")
    slider = tab.get_by_role("slider", name="Vocabulary size")
    field = tab.get_by_role("spinbutton", name="Exact vocabulary size")
    sentence = tab.get_by_text(re.compile(r"^Vocabulary size [\d,]+ ="))
    slider.press("Home")
    expect(field).to_have_value("257")
    wait_until_idle(tab)
    # Ten steps right, ten back, and 14 right: any lost step would change the last size.
    for keys in (["ArrowRight"] * 10, ["ArrowLeft"] * 10, ["ArrowRight"] * 14):
        for key in keys:
            tab.keyboard.press(key)
            tab.wait_for_timeout(33)  # as often as a held key is repeated
    expect(sentence).to_contain_text("Vocabulary size 24,576 =")
    wait_until_idle(tab)
    expect(sentence).to_contain_text("Vocabulary size 24,576 =")
    expect(field).to_have_value("24576")
    for typed, shown in (("1e3", "1000"), ("", "4096")):
        wait_until_idle(tab)  # the size typed before may bring another place's field
        field.fill("")
        field.press_sequentially(typed)
        field.press("Enter")
        expect(sentence).to_contain_text(f"Vocabulary size {int(shown):,} =")
        wait_until_idle(tab)  # meanwhile the field may be there twice, old and new
        expect(field).to_have_value(shown)
