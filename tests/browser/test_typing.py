"""Text that is typed or pasted, small or large, shows its tokens; the times are printed."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from bpe_core.tokenizer import gpt2
from tests.browser.conftest import ShowFigures
from tests.browser.helpers import SLACK, assert_no_traceback, go_to_address, open_page
from tests.browser.token_view import (
    COPY,
    expect_tokens,
    figures,
)
from tests.browser.training import choose

MILLISECONDS = 300

# The time from the last letter until its tokens are painted.
TYPE_AND_WAIT = """async (area, [text, nBytes]) => {
    const figures = window.tokenFigures;
    const started = performance.now();
    area.value = text;
    area.dispatchEvent(new Event("input", {bubbles: true}));
    while (!figures.textContent.includes(`${nBytes} bytes`)) {
        await new Promise(requestAnimationFrame);
    }
    return performance.now() - started;
}"""

PASTE = """(area, text) => {
    const data = new DataTransfer();
    data.setData("text/plain", text);
    area.dispatchEvent(new ClipboardEvent("paste", {clipboardData: data, bubbles: true}));
}"""


@pytest.fixture(scope="module")
def page(context: BrowserContext, app_url: str) -> Iterator[Page]:
    """Open a page with GPT-2's tokens for all tests; each starts by typing its own text."""
    page = context.new_page()
    open_page(page, f"{app_url}/token_boundaries?tokenizer=GPT-2")
    yield page
    page.close()


def field(page: Page) -> Locator:
    return page.locator("textarea")


def type_text(page: Page, text: str) -> Locator:
    """Put a text into the field in one step, as pasting does, and return the pane of tokens."""
    field(page).evaluate(
        """(area, text) => {
            area.value = text;
            area.dispatchEvent(new Event("input", {bubbles: true}));
        }""",
        text,
    )
    n_tokens, n_bytes = len(gpt2().encode(text)), len(text.encode())
    expect(figures(page)).to_have_text(re.compile(f"^{n_tokens:,} tokens?{n_bytes:,} bytes?"))
    return page.locator(".view .scroller")


def test_tokens_follow_typing_after_a_pause(page: Page, show_figures: ShowFigures) -> None:
    type_text(page, "old")
    figures(page).evaluate("(figures) => { window.tokenFigures = figures; }")
    words = "a short text that grows as one types it in"
    lengths = range(10, len(words), 6)
    milliseconds = [field(page).evaluate(TYPE_AND_WAIT, [words[:n], n]) for n in lengths]
    show_figures("milliseconds from the last letter to the tokens of a short text", milliseconds)
    assert min(milliseconds) <= SLACK * MILLISECONDS


def test_one_sentence_answers_where_the_text_is_cut_and_on_a_phone_tokens_come_first(
    page: Page,
) -> None:
    answer = page.locator(".view .answer")
    for text in ("a woodchuck", "हिन्दी", "ภาษาไทย", "العربية", "我们", "🧩"):
        scroller = type_text(page, text)
        n = len(gpt2().encode(text))
        cost = len(gpt2().encode(" woodchuck")) if text == "a woodchuck" else 0
        expect(answer).to_have_text(re.compile(rf"^GPT-2 reads {n} pieces; .+ costs \d+\.$"))
        expect(answer).to_contain_text(f"woodchuck costs {cost}." if cost else "costs")
    before = page.viewport_size
    for width, is_phone in ((390, True), (1440, False)):
        page.set_viewport_size({"width": width, "height": 900})
        tokens, typed = scroller.bounding_box(), field(page).bounding_box()
        assert tokens is not None
        assert typed is not None
        assert (tokens["y"] < typed["y"]) == is_phone
    assert before is not None
    page.set_viewport_size(before)


def test_no_letter_is_lost_while_tokens_arrive_during_typing(page: Page) -> None:
    scroller = type_text(page, "x")
    expect(field(page)).to_be_editable()
    words = " no rest"
    for delay in (5, 60, 130):  # faster and slower than tokens arrive
        field(page).press_sequentially(words, delay=delay)
    expect(scroller).to_have_text("x" + 3 * words, use_inner_text=False)
    expect(field(page)).to_have_value("x" + 3 * words)


def test_typed_text_is_kept_in_the_address(page: Page) -> None:
    scroller = type_text(page, "old")
    expect(field(page)).to_be_editable()
    field(page).press_sequentially(" and new")
    expect(scroller).to_contain_text("old and new")
    page.wait_for_url("**text=old+and+new**")
    page.reload()
    expect(field(page)).to_have_value("old and new")
    pasted = page.get_by_text("The pasted text has carriage returns")
    expect(pasted).to_be_hidden()
    field(page).evaluate(PASTE, "one\r\ntwo")
    expect(pasted).to_be_visible()


def test_the_copied_text_has_the_same_tokens_when_pasted(page: Page) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    text = "\ufefftab\there  two\n\u202eback\u202c 日本 🧩 e\u0301 end "
    scroller = type_text(page, text)
    scroller.focus()
    page.keyboard.press("Control+a")
    page.keyboard.press("Control+c")
    assert page.evaluate("navigator.clipboard.readText()") == text
    expect(field(page)).to_be_editable()
    field(page).fill("")
    expect(scroller).to_contain_text("No text yet")
    field(page).press("Control+v")
    expect_tokens(page, text)


def test_a_hundred_thousand_letters_without_a_space_are_shown_and_copied(page: Page) -> None:
    text = "abcdefghij" * 10_000
    scroller = type_text(page, text)
    n_tokens = len(gpt2().encode(text))
    scroller.focus()
    page.keyboard.press("End")
    expect(page.locator(".details .label")).to_have_text(f"Token {n_tokens:,}")
    expect(page.get_by_text("It has 100,000 bytes, so only the steps")).to_be_visible()
    page.keyboard.press("Control+a")
    assert scroller.evaluate(COPY) == text
    main = page.locator('[data-testid="stMain"]')
    assert main.evaluate("(m) => m.scrollWidth - m.clientWidth") == 0
    assert_no_traceback(page)


LINE = "All the world’s a stage, and all the men and women merely players.\r\n"
MEGABYTE = LINE * (1_200_000 // len(LINE.encode()))
MAX_TASK_MS = 500

PASTE_PART = """(area, [text, start, end]) => {
    area.focus();
    if (start !== null) area.setSelectionRange(start, end);
    const data = new DataTransfer();
    data.setData("text/plain", text);
    const options = {clipboardData: data, bubbles: true, cancelable: true, composed: true};
    return !area.dispatchEvent(new ClipboardEvent("paste", options));
}"""
DROP = """(area, text) => {
    const data = new DataTransfer();
    data.setData("text/plain", text);
    const options = {dataTransfer: data, bubbles: true, cancelable: true, composed: true};
    return !area.dispatchEvent(new DragEvent("drop", options));
}"""
WATCH_TASKS = """() => {
    window.tasks = [];
    const observer = new PerformanceObserver((list) => {
        for (const { duration } of list.getEntries()) window.tasks.push(duration);
    });
    observer.observe({ entryTypes: ["longtask"] });
}"""


def paste(area: Locator, text: str, selected: tuple[int, int] | None = None) -> bool:
    """Dispatch a paste event; return True if the page handled it instead of the browser."""
    return area.evaluate(PASTE_PART, [text, *(selected or (None, None))])


def test_a_paste_is_undone_if_small_and_opened_as_a_file_if_large(
    tab: Page, show_figures: ShowFigures
) -> None:
    tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    go_to_address(tab, "/token_boundaries?tokenizer=GPT-2&text=a%0D%0Abcd")
    area, opened = tab.locator("textarea"), tab.locator(".opened")
    tab.evaluate("(text) => navigator.clipboard.writeText(text)", "small " * 1_000)
    area.focus()
    tab.keyboard.press("Control+End")
    tab.keyboard.press("Control+v")
    expect(area).to_have_value("a\nbcd" + "small " * 1_000)
    expect(opened).to_be_hidden()
    tab.keyboard.press("Control+z")
    expect(area).to_have_value("a\nbcd")

    tab.keyboard.type("!")  # not sent yet when the paste comes
    large = "x y\r\n" * 40_010
    # In the field the line end counts as one character.
    assert paste(area, large, (3, 4))
    expect(opened).to_contain_text("200 kB")
    expect_tokens(tab, f"a\r\nb{large}d!")
    opened.get_by_role("button", name="Close").click()
    expect_tokens(tab, "a\r\nbcd!")

    expect(area).to_be_editable()
    tab.evaluate("(text) => navigator.clipboard.writeText(text)", MEGABYTE)
    tab.evaluate(WATCH_TASKS)
    area.focus()
    tab.keyboard.press("Control+a")
    tab.keyboard.press("Control+v")
    expect(opened).to_contain_text("Pasted text")
    expect(opened).to_contain_text("1.2 MB")
    expect_tokens(tab, MEGABYTE)
    tasks: list[float] = tab.evaluate("window.tasks")
    show_figures("milliseconds of a task while a megabyte is pasted", tasks or [0])
    assert max(tasks, default=0) <= SLACK * MAX_TASK_MS

    # An opened text is replaced only as a whole.
    expect(area).to_have_attribute("readonly", "")
    assert len(area.input_value()) <= 2_000
    assert paste(area, "other", (5, 5))
    expect(tab.locator(".problem")).to_contain_text("Close it first, or select all")
    area.select_text()
    assert paste(area, "other words here")
    expect(area).to_have_value("other words here")
    expect(opened).to_be_hidden()
    expect_tokens(tab, "other words here")
    expect(area).to_be_editable()
    assert area.evaluate(DROP, MEGABYTE)
    expect(opened).to_contain_text("1.2 MB")


def test_a_megabyte_pasted_on_train_is_the_corpus(tab: Page) -> None:
    go_to_address(tab, "/train")
    choose(tab, "Paste")
    area = tab.get_by_label("Text to train on")
    area.fill("typed before")
    assert not paste(area, "small")
    assert paste(area, MEGABYTE, (0, 12))
    main = tab.get_by_test_id("stMain")
    expect(main.get_by_text("Pasted text", exact=True)).to_be_visible()
    expect(main).to_contain_text("1.2 MB")
    expect(tab.locator("textarea:disabled")).to_be_visible()
    main.get_by_role("button", name="Close").click()
    expect(tab.locator("textarea:enabled")).to_have_value("typed before")
