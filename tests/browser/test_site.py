"""The static site, offline, framed or from a folder, and the documentation, in a browser."""

from __future__ import annotations

import io
import json
import random
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, Literal
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, BrowserContext, FrameLocator, Page, expect
from tokenizers import Tokenizer

import bpe_core as bpe
from bpe_core.formats import write_huggingface
from bpe_core.tokenizer import gpt2
from static_site.build import build, first_use_size
from tests.browser.conftest import DESK
from tests.browser.serving import QuietHandler, new_context, served
from tests.browser.test_accessibility import SCHEMES, broken_rules, in_halves
from tests.new_process import ROOT
from tests.oracles import TOKENIZERS, opened_by_name
from ui.token_boundaries import FIRST_TEXT
from ui.train.result_card import result_sentence

SENTENCE = "Straße, naïveté 🧩 日本語 12345"
LESSON = "lesson-hug-words.html"
GAME = "you-against-bpe.html"
PAGES = (
    "index.html",
    "merge-loop.html",
    "token-boundaries.html",
    "train.html",
    "lessons.html",
    GAME,
    LESSON,
)
TEXT = "\n".join(
    f"Line {n} of the text: how much wood would {n % 7} woodchucks chuck, naïvely 🧩 and {n * n}?"
    for n in range(600)
)
IS_DRAWN = ":is(.tile, .token, .cards li, pre, #own-text)"
READ_ONE_AFTER_THE_PRESS = """
const pressed = new Promise((resolve) => {
  document.addEventListener("submit", () => setTimeout(resolve));
});
const read = File.prototype.arrayBuffer;
File.prototype.arrayBuffer = async function () {
  if (this.name === "9.txt") await pressed;
  return read.call(this);
};
"""
PRESS_BEFORE_STORAGE_ANSWERS = """(() => {
  document.addEventListener("DOMContentLoaded", () => {
    document.querySelector("#own-text").value = "how much wood would a woodchuck chuck ".repeat(9);
    document.querySelector("#train").click();
  });
})()"""
CANCEL_AT_A_MERGE = """
new MutationObserver(() => {
  if (/^Merge [1-9]/.test(document.querySelector("#pace").textContent))
    document.querySelector("#cancel").click();
}).observe(document.querySelector("#pace"), { childList: true });
"""
BLOCKED_STORAGE = "IDBFactory.prototype.open = () => { throw new Error('blocked'); };"
DEAF_WORKER = "globalThis.Worker = class extends EventTarget { postMessage() {} };"
IS_STORED = """async () => {
  await navigator.serviceWorker.ready;
  return (await caches.keys()).length;
}"""

NOTE_SHIFTS = """
globalThis.shifted = 0;
new PerformanceObserver((list) => {
  for (const { value } of list.getEntries()) globalThis.shifted += value;
}).observe({ type: "layout-shift", buffered: true });
"""
MAX_SHIFTED = 0.1
"""Up to here browsers call it good."""


class ShorteningHandler(QuietHandler):
    """Redirects a.html to a, as some hosts do."""

    def send_head(self) -> io.BytesIO | BinaryIO | None:
        path, mark, query = self.path.partition("?")
        if path.endswith(".html"):
            self.send_response(308)
            self.send_header("Location", path.removesuffix(".html") + mark + query)
            self.end_headers()
            return None
        if "." not in path and not path.endswith("/"):
            self.path = f"{path}.html"
        return super().send_head()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site, with a page as its documentation."""
    folder = tmp_path_factory.mktemp("site")
    docs = folder / "docs"
    docs.mkdir()
    (docs / "index.html").write_text("<!doctype html><title>Docs</title>", "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BPE_EXPLORER_TOKENIZERS", str(TOKENIZERS))
        build(folder)
    return folder


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    with served(site) as found:
        yield found


@pytest.fixture
def fresh_context(browser: Browser) -> Iterator[BrowserContext]:
    """Return a context without anything stored, whose pages may log no error."""
    context = new_context(browser, viewport=DESK, color_scheme="light", reduced_motion="reduce")
    problems: list[str] = []
    context.on("weberror", lambda found: problems.append(str(found.error)))
    context.on("console", lambda found: problems.append(found.text))
    yield context
    context.close()
    assert problems == []


def ids_shown(page: Page | FrameLocator) -> Callable[[list[int]], None]:
    """Return a function that waits until the page shows these ids."""
    ids = page.locator(".ids")
    return lambda expected: expect(ids).to_have_text(" ".join(map(str, expected)))


def train_on(page: Page, text: str) -> None:
    """Train on a text on the open page, until its verdict is there."""
    page.get_by_label("Text", exact=True).fill(text)
    page.get_by_role("button", name="Train", exact=True).click()
    expect(page.get_by_role("heading", name="Trained")).to_be_focused()
    expect(page.locator("#verdict .verdict")).to_be_visible()


def opened_by_tokenizers(page: Page, folder: Path) -> Tokenizer:
    """Download tokenizer.json, and open it with Hugging Face's library."""
    with page.expect_download() as started:
        page.get_by_role("link", name="tokenizer.json").click()
    assert started.value.suggested_filename == "tokenizer.json"
    path = folder / "tokenizer.json"
    started.value.save_as(path)
    return Tokenizer.from_file(str(path))


def test_a_pasted_text_becomes_a_tokenizer_that_stays_until_it_is_deleted(
    fresh_context: BrowserContext, address: str, tmp_path: Path
) -> None:
    page = fresh_context.new_page()
    page.goto(f"{address}/train.html")
    page.get_by_role("spinbutton", name="Vocabulary size").fill("700")
    expect(page.locator("#size-sentence")).to_have_text(
        "Join the most frequent pair up to 443 times. "
        "Vocabulary size 700 = 256 bytes + 1 special + room for 443"
    )
    train_on(page, TEXT)
    assert page.url == f"{address}/train.html?size=700"  # never the text
    # What is held out begins at a line.
    start = TEXT.encode().rindex(b"\n", 0, round(0.92 * len(TEXT.encode()))) + 1
    training, held_out = TEXT.encode()[:start].decode(), TEXT.encode()[start:].decode()
    expected = bpe.train([training], vocab_size=700, min_frequency=2)
    expect(page.locator("#result-sentence")).to_have_text(f"Your text: {result_sentence(expected)}")
    expect(page.locator("#tokens")).to_have_text(f"{expected.tokens_after[-1]:,}")
    ids = expected.tokenizer.encode(held_out)
    expect(page.locator("#method")).to_contain_text("No interval: it takes 20 documents")
    on_new = f"{len(held_out.encode()) / len(ids):.2f} on text it never saw"
    expect(page.locator("#on-new")).to_have_text(on_new)
    opened = opened_by_tokenizers(page, tmp_path)
    assert opened.encode(held_out).ids == ids
    assert (tmp_path / "tokenizer.json").read_bytes() == write_huggingface(expected.tokenizer)
    expect(page.locator("#rivals")).to_contain_text(f"{len(gpt2().encode(held_out)):,}")
    for button, encoding in (
        ("Add GPT-4o (1 MB)", "o200k_base"),
        ("Add GPT-4 (0.5 MB)", "cl100k_base"),
        ("Add Qwen 3 (0.7 MB)", "qwen3"),
    ):
        page.get_by_role("button", name=button).click()
        counted = f"{len(opened_by_name(encoding).encode(held_out)):,}"
        expect(page.locator("#rivals")).to_contain_text(counted)
    expect(page.get_by_role("button", name="Add GPT")).to_be_hidden()

    page.reload()
    expect(page.get_by_label("Text", exact=True)).to_have_value(TEXT)
    page.get_by_role("link", name="Watch it learn").click()
    expect(page.get_by_role("link", name="Yours")).to_have_attribute("aria-current", "true")
    page.get_by_role("button", name="Last: after all merges").click()
    expect(page.locator(".player")).to_contain_text(f"{len(expected.merges):,}")
    page.goto(f"{address}/token-boundaries.html?tokenizer=own&text=woodchucks+chuck")
    ids_shown(page)(expected.tokenizer.encode("woodchucks chuck"))
    page.get_by_role("radio", name="GPT-2").check()
    ids_shown(page)(gpt2().encode("woodchucks chuck"))

    page.goto(f"{address}/train.html")
    page.get_by_role("button", name="Delete this run").click()
    expect(page.get_by_label("Text", exact=True)).to_have_value("")
    page.reload()
    expect(page.get_by_role("heading", name="What you will get")).to_be_visible()
    page.goto(f"{address}/merge-loop.html?run=own")
    expect(page.locator("#problem")).to_contain_text("No run of yours")


def test_a_press_before_the_form_is_filled_trains_with_the_settings_of_the_address(
    fresh_context: BrowserContext, address: str
) -> None:
    page = fresh_context.new_page()
    page.add_init_script(PRESS_BEFORE_STORAGE_ANSWERS)
    page.goto(f"{address}/train.html?size=262")
    expect(page.locator("#result-sentence")).to_contain_text(": 5 merges. ")


def test_many_documents_give_the_verdict_an_interval(
    fresh_context: BrowserContext, address: str
) -> None:
    page = fresh_context.new_page()
    page.add_init_script(READ_ONE_AFTER_THE_PRESS)
    page.goto(f"{address}/train.html?size=500")
    lines = TEXT.splitlines(keepends=True)
    page.get_by_label("Choose files").set_input_files(
        [
            {"name": f"{n}.txt", "mimeType": "", "buffer": "".join(lines[n : n + 40]).encode()}
            for n in range(270)
        ]
    )
    # Pressed while files are being read, it waits for all of them.
    page.get_by_role("button", name="Train", exact=True).click()
    expect(page.locator("#result-sentence")).to_contain_text("270 documents: ")
    verdict = page.locator("#verdict .verdict")
    expect(verdict).to_contain_text(re.compile(r"\(95% interval .+ over documents\)"))
    expect(page.locator("#rivals .interval")).to_have_count(1)
    expect(page.locator("#method")).to_contain_text("2,000 resamples")


def test_own_words_are_cut_as_the_text_and_a_run_is_deleted_where_nothing_is_stored(
    fresh_context: BrowserContext, address: str
) -> None:
    page = fresh_context.new_page()
    page.goto(f"{address}/train.html?size=512&cut=o200k")
    train_on(page, TEXT)
    words = "woodChuck I've 1234567"
    expected = bpe.train([TEXT], vocab_size=512, pretokenizer="o200k").tokenizer
    n_words = len(expected.pretokenizer.split(words))
    assert n_words != len(gpt2().pretokenizer.split(words))
    page.goto(f"{address}/merge-loop.html?run=own&step=1&words={quote(words)}")
    expect(page.locator(".words .word")).to_have_count(n_words)
    page.get_by_label("Your words").fill("wood")
    expect(page.locator(".words .word")).to_have_count(1)

    blocked = fresh_context.new_page()
    blocked.add_init_script(BLOCKED_STORAGE)
    blocked.goto(f"{address}/train.html")
    train_on(blocked, TEXT)
    expect(blocked.locator("#kept")).to_contain_text("This browser keeps nothing")
    blocked.get_by_role("button", name="Delete this run").click()
    expect(blocked.get_by_role("heading", name="What you will get")).to_be_visible()
    expect(blocked.get_by_label("Text", exact=True)).to_have_value("")


def test_a_training_is_cancelled_and_one_that_was_interrupted_can_begin_again(
    fresh_context: BrowserContext, address: str
) -> None:
    page = fresh_context.new_page()
    page.goto(f"{address}/train.html?size=100000&least=1")
    page.evaluate(CANCEL_AT_A_MERGE)
    drawn = random.Random(1)
    words = ["".join(drawn.choices("abcdefghij", k=9)) for _ in range(60_000)]
    page.get_by_label("Choose files").set_input_files(
        {"name": "a.txt", "mimeType": "text/plain", "buffer": " ".join(words).encode()}
    )
    page.get_by_role("button", name="Train", exact=True).click()
    expect(page.locator("#badge")).to_have_text("stopped early")
    page.close()
    interrupted = fresh_context.new_page()
    interrupted.add_init_script(DEAF_WORKER)
    interrupted.goto(f"{address}/train.html")
    expect(interrupted.locator("#documents")).to_contain_text("a.txt")
    interrupted.get_by_role("button", name="Train", exact=True).click()
    expect(interrupted.get_by_role("button", name="Cancel")).to_be_visible()
    expect(interrupted.locator("#pace")).to_contain_text("Counting")  # so the text is kept
    interrupted.close()
    page = fresh_context.new_page()
    page.goto(f"{address}/train.html")
    expect(page.locator("#problem")).to_contain_text("interrupted before it ended")
    expect(page.locator("#documents")).to_contain_text("a.txt")


def test_what_cannot_be_trained_is_told_in_a_sentence(
    fresh_context: BrowserContext, address: str, tmp_path: Path
) -> None:
    page = fresh_context.new_page()
    page.goto(f"{address}/train.html")
    problem, remarks = page.locator("#problem"), page.locator("#remarks")
    train = page.get_by_role("button", name="Train", exact=True)
    train.click()
    # Below the button, which stays where it is.
    expect(page.locator(".ways + #problem")).to_contain_text("Paste a text or choose a file first")
    huge = tmp_path / "huge.txt"
    with huge.open("wb") as file:
        file.truncate(200_000_001)
    page.get_by_label("Choose files").set_input_files(huge)
    expect(problem).to_contain_text("With huge.txt the text would have 200 MB. Up to 200 MB")
    for name, data, place, said in (
        ("a.bin", bytes(90), problem, "a.bin is not text: 90 of its 90 bytes are NUL"),
        ("a.txt", b"caf\xe9 caf\xe9", remarks, "U+FFFD in 2 places; the first is 0xE9 at byte 3"),
    ):
        page.get_by_label("Choose files").set_input_files(
            {"name": name, "mimeType": "", "buffer": data}
        )
        expect(place).to_contain_text(said)
    page.get_by_role("spinbutton", name="Vocabulary size").fill("12")
    train.click()
    expect(problem).to_contain_text("Expected a vocabulary size from 257 to 1,000,000")
    page.get_by_role("spinbutton", name="Vocabulary size").fill("")
    expect(page).to_have_url(f"{address}/train.html")
    for script, said in (
        ("delete globalThis.WebAssembly", "This browser has no WebAssembly"),
        ("globalThis.Worker = class { constructor() { throw new Error('no'); } }", "blocked"),
    ):
        old = fresh_context.new_page()
        old.add_init_script(script)
        old.goto(f"{address}/train.html")
        old.get_by_label("Text", exact=True).fill("hug hugs")
        old.get_by_role("button", name="Train", exact=True).click()
        expect(old.locator("#problem")).to_contain_text(said)
        expect(old.get_by_label("Text", exact=True)).to_have_value("hug hugs")
        old.reload()
        expect(old.get_by_label("Text", exact=True)).to_have_value("hug hugs")
        expect(old.locator("#problem")).to_have_text("")  # It ended, so nothing was interrupted.
        old.close()


def test_a_tokenizer_file_is_opened_or_refused_with_a_reason(
    fresh_context: BrowserContext, address: str
) -> None:
    page = fresh_context.new_page()
    page.goto(f"{address}/token-boundaries.html?text=hug+hugs")
    made = bpe.train([TEXT], vocab_size=400, pretokenizer="cl100k").tokenizer
    word_piece = json.dumps({"model": {"type": "WordPiece", "vocab": {}}}).encode()
    choose = page.get_by_label("Open a tokenizer.json")
    for data, said in ((b"{", "It is not JSON"), (word_piece, "got WordPiece. Open it in the app")):
        choose.set_input_files({"name": "other.json", "mimeType": "", "buffer": data})
        expect(page.locator("#problem")).to_contain_text(said)
    ids_shown(page)(gpt2().encode("hug hugs"))
    choose.set_input_files(
        {"name": "tokenizer.json", "mimeType": "", "buffer": write_huggingface(made)}
    )
    ids_shown(page)(made.encode("hug hugs"))
    expect(page.get_by_role("radio", name="tokenizer.json")).to_be_checked()
    normalizing = bpe.train([TEXT], vocab_size=400, pretokenizer="NFC+gpt2").tokenizer
    choose.set_input_files(
        {"name": "nfc.json", "mimeType": "", "buffer": write_huggingface(normalizing)}
    )
    page.get_by_label("Your text").fill("cafe\u0301 hugs")
    ids_shown(page)(normalizing.encode("cafe\u0301 hugs"))
    expect(page.locator(".view")).to_contain_text("The tokenizer normalizes text first")
    page.get_by_role("radio", name="GPT-2").check()
    fresh_context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.evaluate("text => navigator.clipboard.writeText(text)", TEXT * 10)
    field = page.get_by_label("Your text")
    field.press("Control+A")
    field.press("Control+V")
    expect(page.locator(".opened")).to_contain_text("Long text")
    expect(page.locator(".view .figures")).to_contain_text(
        f"{len(gpt2().encode(TEXT * 10)):,} tokens"
    )


def test_training_works_by_keyboard(fresh_context: BrowserContext, address: str) -> None:
    page = fresh_context.new_page()
    page.goto(f"{address}/train.html")
    page.get_by_label("Text", exact=True).focus()
    page.keyboard.insert_text(TEXT)
    pressed: list[str] = []
    for _ in range(6):
        page.keyboard.press("Tab")
        pressed.append(page.evaluate("document.activeElement.id || document.activeElement.name"))
        if pressed[-1] == "amount":
            page.keyboard.press("ArrowLeft")
        if pressed[-1] == "train":
            break
    assert pressed[:2] == ["amount", "size"]
    assert pressed[-1] == "train"
    expect(page.get_by_role("spinbutton", name="Vocabulary size")).to_have_value("512")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Trained")).to_be_focused()


def test_a_sentence_goes_from_the_loop_to_both_tokenizers(
    fresh_context: BrowserContext, address: str
) -> None:
    page = fresh_context.new_page()
    page.goto(f"{address}/index.html")
    page.get_by_role("textbox", name="Your sentence").fill(SENTENCE)
    expect(page.locator(".length")).to_contain_text(f"{len(SENTENCE)} characters")
    sees = page.get_by_role("region", name="What a model sees")
    sees.scroll_into_view_if_needed()
    ids = opened_by_name("o200k_base").encode(SENTENCE)
    expect(sees.locator(".back")).to_have_text([str(id) for id in ids])
    page.get_by_role("link", name="What does GPT-2 do to it?").click()
    expect(page.get_by_label("Your text")).to_have_value(SENTENCE)
    ids_shown(page)(gpt2().encode(SENTENCE))
    page.get_by_role("radio", name="GPT-4", exact=True).check()
    ids_shown(page)(opened_by_name("cl100k_base").encode(SENTENCE))
    page.get_by_role("radio", name="Qwen 3").check()
    ids_shown(page)(opened_by_name("qwen3").encode(SENTENCE))
    page.get_by_role("radio", name="GPT-4o").check()
    ids_shown(page)(opened_by_name("o200k_base").encode(SENTENCE))
    page.get_by_label("Your text").fill("a <b>")
    ids_shown(page)(opened_by_name("o200k_base").encode("a <b>"))
    expect(page).to_have_url(f"{address}/token-boundaries.html?text=a+%3Cb%3E&tokenizer=o200k_base")
    page.reload()
    ids_shown(page)(opened_by_name("o200k_base").encode("a <b>"))
    in_app = page.get_by_role("link", name="Open in the app")
    in_app.focus()
    path = "token_boundaries?text=a+%3Cb%3E"
    expect(in_app).to_have_attribute("href", f"app.html?open={quote(path, safe='')}")
    in_app.click()
    local = page.get_by_role("link", name="Open it at")
    expect(local).to_have_attribute("href", f"http://127.0.0.1:8501/{path}")


def test_a_recorded_run_plays_and_takes_own_words(
    fresh_context: BrowserContext, address: str
) -> None:
    page = fresh_context.new_page()
    page.goto(f"{address}/merge-loop.html")
    page.get_by_role("link", name="Chinese").click()
    expect(page.locator("#about-run")).to_contain_text("Lu Xun")
    page.get_by_role("button", name="First: before any merge").click()
    page.get_by_role("button", name="One merge forward").click()
    expect(page).to_have_url(f"{address}/merge-loop.html?run=kong-yiji&step=1")
    page.get_by_role("radio", name="Yours").check()
    page.get_by_label("Your words").fill("hug 孔")
    expect(page.locator(".words .word")).to_have_count(2)
    expect(page).to_have_url(f"{address}/merge-loop.html?run=kong-yiji&step=1&words=hug+%E5%AD%94")


def test_a_lesson_asks_before_it_shows(fresh_context: BrowserContext, address: str) -> None:
    page = fresh_context.new_page()
    page.goto(f"{address}/lessons.html")
    page.get_by_role("link", name="Hug words").click()
    tile = page.locator("#step-1 .tile").first
    expect(tile).to_be_hidden()
    page.locator("#step-1").get_by_role("button", name="4", exact=True).click()
    expect(tile).to_be_visible()
    page.get_by_role("link", name="Next").click()
    expect(page.get_by_role("heading", name="Count the neighbours")).to_be_focused()
    expect(page).to_have_url(f"{address}/{LESSON}#step-2")
    page.get_by_role("button", name="Full screen").click()
    expect(page.locator("header")).to_be_hidden()
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("heading", name="From words to symbols")).to_be_focused()


def test_all_pages_are_there_offline_after_the_first(
    fresh_context: BrowserContext, site: Path
) -> None:
    page = fresh_context.new_page()
    with served(site) as found:
        page.goto(found)
        assert page.evaluate(IS_STORED) == 1
    # Nothing answers at this address any more.
    for file in PAGES:
        page.goto(f"{found}/{file}?embed=0")
        expect(page.locator(IS_DRAWN).first).to_be_attached()
        expect(page.locator("link[href='fonts.css']")).to_be_attached()
    page.goto(f"{found}/train.html")
    train_on(page, TEXT)
    assert (
        page.evaluate("async () => (await document.fonts.load('16px \"Source Sans\"')).length") == 1
    )
    assert first_use_size(site) < 3e6


def test_copies_at_two_paths_of_a_host_that_shortens_addresses_are_both_stored(
    fresh_context: BrowserContext, site: Path, tmp_path: Path
) -> None:
    for name in ("one", "two"):
        (tmp_path / name).symlink_to(site)
    page = fresh_context.new_page()
    with served(tmp_path, ShorteningHandler) as found:
        for n_stored, name in enumerate(("one", "two"), 1):
            page.goto(f"{found}/{name}/")
            assert page.evaluate(IS_STORED) == n_stored
        page.get_by_role("link", name="Merge loop").click()
        expect(page.locator(".words .tile").first).to_be_visible()


def test_a_page_opens_although_there_is_no_room_to_store_it(
    fresh_context: BrowserContext, address: str
) -> None:
    page = fresh_context.new_page()
    page.goto(f"{address}/token-boundaries.html")
    page.evaluate(IS_STORED)
    page.reload()
    devtools = fresh_context.new_cdp_session(page)
    devtools.send("Storage.overrideQuotaForOrigin", {"origin": address, "quotaSize": 1})
    page.get_by_role("radio", name="GPT-4o").check()
    ids_shown(page)(opened_by_name("o200k_base").encode(FIRST_TEXT))


def test_a_tokenizer_that_could_not_be_loaded_can_be_chosen_again(
    browser: Browser, address: str
) -> None:
    context = new_context(browser, viewport=DESK, service_workers="block")
    page = context.new_page()
    page.goto(f"{address}/token-boundaries.html")
    ids_shown(page)(gpt2().encode(FIRST_TEXT))
    page.route("**/o200k_base.js", lambda route: route.abort())
    page.get_by_role("radio", name="GPT-4o").check()
    alert = page.locator("#problem")
    expect(alert).to_contain_text("could not be loaded")
    page.get_by_role("radio", name="GPT-2").check()
    expect(alert).to_be_empty()
    page.unroute("**/o200k_base.js")
    page.get_by_role("radio", name="GPT-4o").check()
    ids_shown(page)(opened_by_name("o200k_base").encode(FIRST_TEXT))
    context.close()


def test_a_page_of_another_origin_frames_the_site(
    fresh_context: BrowserContext, address: str, tmp_path: Path
) -> None:
    frame = f'<iframe src="{address}/token-boundaries.html?embed=1" width="800" height="600">'
    (tmp_path / "favicon.ico").write_bytes(b"")
    (tmp_path / "index.html").write_text(f"<!doctype html>{frame}</iframe>", "utf-8")
    page = fresh_context.new_page()
    with served(tmp_path) as other:
        page.goto(other.replace("127.0.0.1", "localhost"))
        inside = page.frame_locator("iframe")
        inside.get_by_label("Your text").fill("framed")
        ids_shown(inside)(gpt2().encode("framed"))
        expect(inside.get_by_role("heading", name="Token boundaries")).to_be_hidden()
        expect(inside.get_by_role("link", name="Open in BPE Explorer")).to_be_visible()


def test_pages_work_from_a_folder(
    fresh_context: BrowserContext, site: Path, tmp_path: Path
) -> None:
    page = fresh_context.new_page()
    page.goto(f"{(site / 'token-boundaries.html').as_uri()}?text=hug")
    ids_shown(page)(gpt2().encode("hug"))
    page.goto((site / "train.html").as_uri())
    train_on(page, TEXT)
    assert opened_by_tokenizers(page, tmp_path).encode("woodchuck").ids
    page.get_by_role("link", name="Watch it learn").click()
    expect(page.get_by_role("link", name="Yours")).to_have_attribute("aria-current", "true")
    expect(page.locator(".words .tile").first).to_be_visible()


@pytest.mark.parametrize(("scheme", "width", "pages"), in_halves([*PAGES, "app.html"]))
def test_pages_are_accessible_and_fit(
    browser: Browser,
    address: str,
    scheme: Literal["light", "dark"],
    width: int,
    pages: Sequence[str],
) -> None:
    context = new_context(
        browser,
        viewport={"width": width, "height": 900},
        color_scheme=scheme,
        reduced_motion="reduce",
    )
    context.add_init_script(NOTE_SHIFTS)
    page = context.new_page()
    for file in pages:
        page.goto(f"{address}/{file}")
        if file == LESSON:
            page.get_by_role("button", name="Show me").click()
        if file == "train.html":
            train_on(page, TEXT)
            page.locator("#cuts summary").click()
        expect(page.locator(IS_DRAWN).first).to_be_visible()
        assert broken_rules(page) == [], file
        assert page.evaluate("document.documentElement.scrollWidth") <= width, file
        if file not in (LESSON, "train.html"):  # whose answer moves what is below it
            assert page.evaluate("shifted") < MAX_SHIFTED, file
    context.close()


DOC_PAGES = {"light": ("index", "cli"), "dark": ("decide", "operations")}
# Material's own: its dialog for the search has no name, its buttons to copy code are in unnamed
# landmarks, and its wide tables scroll without a tab stop, which Chromium gives them itself.
OF_THE_THEME = ("aria-dialog-name", "landmark-unique", "scrollable-region-focusable")


@pytest.fixture(scope="module")
def docs_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Build the documentation as `make docs` does, serve it, and yield its address."""
    folder = tmp_path_factory.mktemp("docs")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-d", str(folder)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    with served(folder) as address:
        yield address


@pytest.mark.parametrize(("scheme", "width"), SCHEMES)
def test_pages_load_nothing_from_other_hosts_are_accessible_and_searched(
    browser: Browser, docs_url: str, scheme: Literal["light", "dark"], width: int
) -> None:
    context = new_context(
        browser,
        color_scheme=scheme,
        viewport={"width": width, "height": 900},
        reduced_motion="reduce",
    )
    page = context.new_page()
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("requestfailed", lambda asked: problems.append(f"{asked.url}: {asked.failure}"))
    page.on(
        "request",
        lambda asked: (
            None
            if asked.url.startswith(("http://127.0.0.1:", "data:", "blob:"))
            else problems.append(asked.url)
        ),
    )
    allowed = {rule: {"enabled": False} for rule in OF_THE_THEME}
    for name in DOC_PAGES[scheme]:
        page.goto(f"{docs_url}/{name}.html")
        expect(page.locator("article h1")).to_be_visible()
        excess = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert excess <= 0, f"{name} is {excess} pixels too wide"
        assert broken_rules(page, rules=allowed) == [], name
    page.keyboard.press("/")
    # The search listens to keys, which filling in a text doesn't press.
    page.locator("input.md-search__input").press_sequentially("bootstrap")
    expect(page.locator(".md-search-result__item").first).to_contain_text("Held-out text")
    context.close()
    assert problems == []
