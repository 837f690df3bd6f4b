"""A large paste is opened as a file is, and the page stays usable meanwhile."""

from __future__ import annotations

from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import ShowFigures
from tests.browser.helpers import (
    SLACK,
    open_page,
    wait_until_idle,
)
from tests.browser.token_view import expect_tokens

LINE = "All the world’s a stage, and all the men and women merely players.\r\n"
MEGABYTE = LINE * (1_200_000 // len(LINE.encode()))
MAX_TASK_MS = 500

PASTE = """(area, [text, start, end]) => {
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
    return area.evaluate(PASTE, [text, *(selected or (None, None))])


def test_a_pasted_megabyte_is_opened_without_freezing_the_page(
    page: Page, app_url: str, show_figures: ShowFigures
) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    open_page(page, f"{app_url}/token_boundaries?tokenizer=GPT-2&text=mine")
    area = page.locator("textarea")
    area.focus()
    page.evaluate("(text) => navigator.clipboard.writeText(text)", MEGABYTE)
    page.evaluate(WATCH_TASKS)
    page.keyboard.press("Control+a")
    page.keyboard.press("Control+v")
    opened = page.locator(".opened")
    expect(opened).to_contain_text("Pasted text")
    expect(opened).to_contain_text("1.2 MB")
    expect_tokens(page, MEGABYTE)
    tasks: list[float] = page.evaluate("window.tasks")
    show_figures("milliseconds of a task while a megabyte is pasted", tasks or [0])
    assert max(tasks, default=0) <= SLACK * MAX_TASK_MS
    assert not area.is_editable()
    assert len(area.input_value()) <= 2_000
    opened.get_by_role("button", name="Close").click()
    expect(area).to_have_value("mine")
    expect(area).to_be_editable()
    expect(opened).to_be_hidden()


def test_a_large_paste_goes_to_the_cursor_and_keeps_the_rest(page: Page, app_url: str) -> None:
    open_page(page, f"{app_url}/token_boundaries?tokenizer=GPT-2&text=a%0D%0Abcd")
    area = page.locator("textarea")
    large = "x y\r\n" * 40_010
    area.focus()
    page.keyboard.press("Control+End")
    page.keyboard.type("!")  # not sent yet when the paste comes
    # In the field the line end counts as one character.
    assert paste(area, large, (3, 4))
    expect(page.locator(".opened")).to_contain_text("200 kB")
    expect_tokens(page, f"a\r\nb{large}d!")
    page.get_by_role("button", name="Close").click()
    expect_tokens(page, "a\r\nbcd!")


def test_small_pastes_are_left_to_the_browser_and_can_be_undone(page: Page, app_url: str) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    open_page(page, f"{app_url}/token_boundaries?tokenizer=GPT-2&text=mine")
    area = page.locator("textarea")
    page.evaluate("(text) => navigator.clipboard.writeText(text)", "small " * 1_000)
    area.focus()
    page.keyboard.press("End")
    page.keyboard.press("Control+v")
    expect(area).to_have_value("mine" + "small " * 1_000)
    expect(page.locator(".opened")).to_be_hidden()
    page.keyboard.press("Control+z")
    expect(area).to_have_value("mine")


def test_an_opened_text_is_replaced_only_as_a_whole(page: Page, app_url: str) -> None:
    open_page(page, f"{app_url}/token_boundaries?tokenizer=GPT-2&text=mine")
    area = page.locator("textarea")
    assert area.evaluate(DROP, MEGABYTE)
    expect(page.locator(".opened")).to_contain_text("1.2 MB")
    expect(area).to_have_attribute("readonly", "")
    assert paste(area, "other", (5, 5))
    expect(page.locator(".problem")).to_contain_text("Close it first, or select all")
    area.select_text()
    assert paste(area, "other words here")
    expect(area).to_have_value("other words here")
    expect(page.locator(".opened")).to_be_hidden()
    expect_tokens(page, "other words here")


def test_a_megabyte_pasted_on_train_is_the_corpus(page: Page, app_url: str) -> None:
    open_page(page, f"{app_url}/train")
    page.get_by_text("Paste", exact=True).click()
    wait_until_idle(page)
    area = page.get_by_label("Text to train on")
    area.fill("typed before")

    assert not paste(area, "small")
    page.evaluate(WATCH_TASKS)
    assert paste(area, MEGABYTE, (0, 12))
    main = page.get_by_test_id("stMain")
    expect(main.get_by_text("Pasted text", exact=True)).to_be_visible()
    expect(main).to_contain_text("1.2 MB")
    expect(page.locator("textarea:disabled")).to_be_visible()
    assert max(page.evaluate("window.tasks"), default=0) <= SLACK * MAX_TASK_MS
    main.get_by_role("button", name="Close").click()
    expect(page.locator("textarea:enabled")).to_have_value("typed before")
