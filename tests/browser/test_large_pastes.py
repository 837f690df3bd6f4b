"""A large paste is opened as a file is, and the page stays usable meanwhile."""

from __future__ import annotations

from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import ShowFigures
from tests.browser.helpers import SLACK, go_to_address
from tests.browser.token_view import expect_tokens
from tests.browser.training import choose

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
