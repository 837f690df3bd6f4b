"""Copying from the token view gives the exact text, whole or in part."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from tests.browser.token_view import COPY, HOSTILE, show_tokens

CONTROLS = (
    "\ufeff\ufeffa\x00b\rc\r\nd\x1b\x7f\u0085\u2028\u202ee\u202c\u2066f\u2069\u200b\u00ad\tg \n"
)
SCRIPTS = (
    "العربية שלום नमस्ते क्षेत्र ภาษาไทย Z̴̢̛͎a̸̡͝l̷̨̛g̶̡͠o̵̢̕ \u0301x 👩\u200d👩\u200d👧🏳️\u200d🌈🧩日本 e\u0301 ﷺ\n"
)
MARKUP = (
    HOSTILE + "&#x41;&nbsp;\n# h\n- l\n|a|b|\n\\frac{1}{2} $$x$$ ~~s~~ <!-- c --> ]]> {{ x }} %s\n"
)

# Selects from one UTF-16 offset to another, as dragging over the letters does.
SELECT = """(scroller, [start, end]) => {
    const walker = document.createTreeWalker(scroller.querySelector(".text"), NodeFilter.SHOW_TEXT);
    const points = [];
    let at = 0;
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        for (const offset of [start, end].slice(points.length)) {
            if (offset <= at + node.length) points.push([node, offset - at]);
            else break;
        }
        at += node.length;
    }
    getSelection().setBaseAndExtent(...points[0], ...points[1]);
}"""


def copied(scroller: Locator) -> str | None:
    return scroller.evaluate(COPY)


def test_any_part_of_a_text_is_copied_exactly(offline_page: Page, tmp_path: Path) -> None:
    text = CONTROLS + SCRIPTS + MARKUP
    scroller = show_tokens(offline_page, tmp_path, text)
    assert scroller.evaluate("(s) => s.textContent") == text
    scroller.focus()
    scroller.press("Control+a")
    assert copied(scroller) == text
    starts = [len(text[:k].encode("utf-16-le")) // 2 for k in range(len(text) + 1)]
    places = [len(CONTROLS) + 3, len(CONTROLS) + 40, len(CONTROLS + SCRIPTS) + 9, len(text)]
    for first, last in [(0, 1), (1, 3), (2, len(text) - 1), (4, 5), *pairwise([12, *places])]:
        scroller.evaluate(SELECT, [starts[first], starts[last]])
        assert copied(scroller) == text[first:last]
    assert offline_page.evaluate("window.harmed") is None


def test_a_selection_is_kept_while_more_is_drawn_and_until_a_click_elsewhere(
    offline_page: Page, tmp_path: Path
) -> None:
    text = "".join(
        f"{n}: a line that is so long that few of them fill a block.\n" for n in range(900)
    )
    scroller = show_tokens(offline_page, tmp_path, text)
    last = scroller.locator(".block").last
    expect(last).to_have_class("block")
    scroller.evaluate(SELECT, [7, len(text) - 9])
    scroller.evaluate("(s) => { s.scrollTop = s.scrollHeight; }")
    expect(last).to_have_class("block drawn")
    assert copied(scroller) == text[7:-9]
    scroller.focus()
    scroller.press("Control+a")
    assert copied(scroller) == text
    last.locator(".token").first.click()
    assert copied(scroller) is None


def test_a_selection_that_leaves_the_pane_copies_the_text_to_its_end(
    offline_page: Page, tmp_path: Path
) -> None:
    scroller = show_tokens(offline_page, tmp_path, "one two three")
    scroller.evaluate(
        """(scroller) => {
            const [first, , third] = scroller.querySelectorAll(".token");
            const after = scroller.parentElement.querySelector(".remarks");
            getSelection().setBaseAndExtent(third, 0, after.firstChild, 3);
        }"""
    )
    assert copied(scroller) == " three"
