"""The Train page in a browser: from an uploaded file to a run that others can open."""

from __future__ import annotations

import argparse
import random
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
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
from tests.browser.serving import running_app
from tests.browser.training import (
    choose,
    give_file,
    open_parts,
    set_vocabulary,
    train_to_the_end,
    upload,
)

# A real file present on every machine, whose text depends on the version of Python.
REAL_FILE = Path(argparse.__file__)
A_LETTER_FOR_EACH_BYTE = bytes(ord("a") + byte % 26 for byte in range(256))


def test_bad_files_are_refused_and_a_good_one_becomes_a_run_to_pick_download_and_share(
    page: Page, new_page: Callable[[], Page], app_url: str, tmp_path: Path
) -> None:
    picture = tmp_path / "picture.txt"
    picture.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20)
    training, held_out = bpe.read_corpus([REAL_FILE]).split(0.08, seed=0)
    expected = bpe.train(training, bpe.TrainingConfig(vocab_size=512))
    n_merges, tokens = len(expected.merges), f"{int(expected.tokens_after[-1]):,}"

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

    page.get_by_role("button", name=f"Run: {REAL_FILE.name}").click()
    page.get_by_role("menuitem", name="Python’s language reference 4,096 tokens").click()
    expect(page.get_by_text("3,839 merges.")).to_be_visible()
    assert "run=" not in page.url
    page.get_by_role("button", name="Run: Python’s language reference").click()
    page.get_by_role("menuitem", name=REAL_FILE.name).click()
    expect(page.get_by_text(f"{REAL_FILE.name}: {n_merges:,} merges.")).to_be_visible()
    page.wait_for_url(re.compile(f"run={run_id}"))

    page.reload()
    wait_until_idle(page)
    expect(page.get_by_test_id("stMetricValue").nth(1)).to_have_text(tokens)
    expect(page.get_by_role("button", name=f"Run: {REAL_FILE.name}")).to_be_visible()

    target = tmp_path / "tokenizer.json"
    download(page, "tokenizer.json").save_as(target)
    theirs = HuggingFaceTokenizer.from_file(str(target))
    assert theirs.get_vocab_size() == 512
    text = "for i in range(10):\n    print(i)"
    assert theirs.decode(theirs.encode(text).ids) == text

    page.get_by_role("link", name="Merge loop").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Merge loop")
    page.wait_for_url(re.compile(f"run={run_id}"))

    elsewhere = new_page()
    open_page(elsewhere, f"{app_url}/token_boundaries?run={run_id}")
    expect(elsewhere.get_by_role("button", name=f"Run: {REAL_FILE.name}")).to_be_visible()


def test_text_size_and_button_share_the_first_screen(tab: Page) -> None:
    go_to_address(tab, "/train")
    sizes: list[ViewportSize] = [{"width": 1440, "height": 900}, {"width": 390, "height": 844}]
    for size in sizes:
        tab.set_viewport_size(size)
        for part in (
            tab.get_by_role("combobox", name="Sample"),
            tab.get_by_text("8% held out"),
            tab.locator(".st-key-settings_byte_size"),
            tab.get_by_role("spinbutton", name="Exact vocabulary size"),
            tab.get_by_role("button", name="Train", exact=True),
            tab.get_by_role("heading", name="Example"),
        ):
            expect(part).to_be_in_viewport(ratio=0.99)
        assert tab.get_by_test_id("stMain").evaluate("(main) => main.scrollTop") == 0


@pytest.fixture
def app_url_without_compiler(tmp_path: Path) -> Iterator[str]:
    """Start a server whose trainings are slow because they run in plain Python."""
    with running_app(tmp_path, {"NUMBA_DISABLE_JIT": "1"}) as url:
        yield url


def leave_for(page: Page, name: str) -> None:
    """Follow a link of the navigation, with up to three clicks, because a redraw can drop one."""
    for milliseconds in (10_000, 10_000, 60_000):
        page.get_by_role("link", name=name).click()
        with suppress(AssertionError):
            expect(page.get_by_role("heading", level=1)).to_have_text(name, timeout=milliseconds)
            return
    pytest.fail(f"Three clicks did not lead to {name}.")


def test_a_long_training_shows_its_pace_and_can_be_cancelled(
    page: Page, app_url_without_compiler: str, tmp_path: Path
) -> None:
    # The name of Start in the address can be the first request to a server.
    open_page(page, f"{app_url_without_compiler}/start?sentence=hugs")
    page.wait_for_url(f"{app_url_without_compiler}/?sentence=hugs")
    expect(page.get_by_text("Page not found")).to_have_count(0)
    open_page(page, f"{app_url_without_compiler}/train")
    page.get_by_role("slider", name="Vocabulary size").press("End")
    expect(page.get_by_text(re.compile("^Vocabulary size 50,257 ="))).to_be_visible()
    # Merging long words with little in common takes half a minute.
    letters = random.Random(0).randbytes(2_000_000).translate(A_LETTER_FOR_EACH_BYTE)
    path = tmp_path / "words.txt"
    path.write_bytes(b" ".join(letters[at : at + 200] for at in range(0, len(letters), 200)))
    upload(page, path)
    page.get_by_role("button", name="Train", exact=True).click()
    expect(page.get_by_text(re.compile(r"Merge [\d,]+ of [\d,]+, [\d,]+ a second"))).to_be_visible()
    assert "job=" in page.url
    expect(page.get_by_role("button", name="Train", exact=True)).to_be_in_viewport()
    expect(page.get_by_role("heading", name="Training", exact=True)).to_be_in_viewport()

    # Leave, and come back by the address.
    address = page.url
    leave_for(page, "Lessons")
    page.goto(address)  # not `open_page`: redrawn twice a second, the page is hardly ever at rest
    expect(page.get_by_role("heading", name="Training")).to_be_visible()

    # On a phone, the sentence beside the button leaves its label whole.
    page.set_viewport_size({"width": 390, "height": 844})
    expect(page.get_by_text("See its progress")).to_be_visible()
    label = page.get_by_role("button", name="Train", exact=True).get_by_text("Train")
    assert label.evaluate("(label) => label.offsetWidth <= label.parentElement.clientWidth")

    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("It was cancelled.")).to_be_visible()


def test_the_pretokens_of_a_custom_pattern_are_shown_and_fit_a_phone(tab: Page) -> None:
    tab.set_viewport_size({"width": 390, "height": 900})
    go_to_address(tab, "/train")
    choose(tab, "Custom")
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
    for pause_ms in (0, 33):
        slider.press("Home")
        expect(field).to_have_value("257")
        wait_until_idle(tab)
        # Ten steps right, ten back, and 14 right: any lost step would change the last size.
        for key, n in (("ArrowRight", 10), ("ArrowLeft", 10), ("ArrowRight", 14)):
            for _ in range(n):
                tab.keyboard.press(key)
                tab.wait_for_timeout(pause_ms)
        expect(sentence).to_contain_text("Vocabulary size 24,576 =")
        wait_until_idle(tab)
        expect(sentence).to_contain_text("Vocabulary size 24,576 =")
        expect(field).to_have_value("24576")
    for typed, shown in (("1e3", "1000"), ("", "1024")):
        field.fill("")
        field.press_sequentially(typed)
        field.press("Enter")
        expect(sentence).to_contain_text(f"Vocabulary size {int(shown):,} =")
        wait_until_idle(tab)  # meanwhile the field may be there twice, old and new
        expect(field).to_have_value(shown)
