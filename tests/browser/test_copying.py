"""What is copied from the token view is the text itself, whole or in part, wherever it is drawn."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from bpe_core.gpt2 import gpt2
from tests.browser.helpers import assert_no_traceback
from tests.browser.test_token_view import COPY, HOSTILE, figures, open_text, type_text

pytestmark = pytest.mark.browser

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


def copied(scroller: Locator) -> str:
    return scroller.evaluate(COPY)


@pytest.mark.parametrize("text", [CONTROLS, SCRIPTS, MARKUP], ids=["controls", "scripts", "markup"])
def test_any_part_of_a_text_is_copied_as_it_is(page: Page, app_url: str, text: str) -> None:
    scroller = open_text(page, app_url, text)
    assert scroller.evaluate("(s) => s.textContent") == text
    scroller.focus()
    scroller.press("Control+a")
    assert copied(scroller) == text
    starts = [len(text[:k].encode("utf-16-le")) // 2 for k in range(len(text) + 1)]
    for first, last in [(0, 1), (1, 3), (2, len(text) - 1), (len(text) // 2, len(text)), (4, 5)]:
        scroller.evaluate(SELECT, [starts[first], starts[last]])
        assert copied(scroller) == text[first:last]
    assert page.evaluate("window.harmed") is None
    assert_no_traceback(page)


def test_the_clipboard_gets_the_text_and_pasting_it_gives_the_same_tokens(
    page: Page, app_url: str
) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    text = "\ufefftab\there  two\n\u202eback\u202c 日本 🧩 e\u0301 end "
    scroller = open_text(page, app_url, text)
    scroller.focus()
    page.keyboard.press("Control+a")
    page.keyboard.press("Control+c")
    assert page.evaluate("navigator.clipboard.readText()") == text
    area = page.locator("textarea")
    area.fill("")
    expect(figures(page)).to_contain_text("0 tokens")
    area.press("Control+v")
    expect(figures(page)).to_contain_text(f"{len(gpt2().encode(text))} tokens")
    assert scroller.evaluate("(s) => s.textContent") == text


def test_what_is_selected_stays_so_while_more_is_drawn(page: Page, app_url: str) -> None:
    scroller = open_text(page, app_url, "x")
    text = "".join(
        f"{n}: a line that is so long that few of them fill a block.\n" for n in range(900)
    )
    type_text(page, text)
    expect(figures(page)).to_contain_text(f"{len(gpt2().encode(text)):,} tokens")
    blocks = scroller.locator(".block")
    last = blocks.last
    expect(blocks.first).to_have_class("block drawn")
    expect(last).to_have_class("block")
    scroller.evaluate(SELECT, [7, len(text) - 9])
    scroller.evaluate("(s) => { s.scrollTop = s.scrollHeight; }")
    expect(last).to_have_class("block drawn")
    assert copied(scroller) == text[7:-9]


def test_a_selection_that_leaves_the_pane_gives_the_text_up_to_its_end(
    page: Page, app_url: str
) -> None:
    scroller = open_text(page, app_url, "one two three")
    scroller.evaluate(
        """(scroller) => {
            const [first, , third] = scroller.querySelectorAll(".token");
            const after = scroller.parentElement.querySelector(".remarks");
            getSelection().setBaseAndExtent(third, 0, after.firstChild, 3);
        }"""
    )
    assert copied(scroller) == " three"


def test_a_hundred_thousand_letters_without_a_space_are_shown_and_copied(
    page: Page, app_url: str
) -> None:
    scroller = open_text(page, app_url, "x")
    text = "abcdefghij" * 10_000
    type_text(page, text)
    n_tokens = len(gpt2().encode(text))
    expect(figures(page)).to_contain_text(f"{n_tokens:,} tokens")
    scroller.focus()
    page.keyboard.press("End")
    expect(page.locator(".details .label")).to_have_text(f"Token {n_tokens:,}")
    expect(page.get_by_text("This pre-token has 100,000 bytes")).to_be_visible()
    page.keyboard.press("Control+a")
    assert copied(scroller) == text
    main = page.locator('[data-testid="stMain"]')
    assert main.evaluate("(m) => m.scrollWidth - m.clientWidth") == 0
    assert_no_traceback(page)


def test_every_token_of_hostile_text_tells_its_details_as_text(page: Page, app_url: str) -> None:
    text = "<b>x</b>&lt;</script>\x00\r🧩\u202e*a*$y$`"
    scroller = open_text(page, app_url, text)
    scroller.focus()
    page.keyboard.press("Home")
    for n in range(1, len(gpt2().encode(text)) + 1):
        expect(page.locator(".details .label")).to_have_text(f"Token {n}")
        page.keyboard.press("ArrowRight")
    harmful = page.locator(".view, .origin").locator("script, img, b:not(.figures b), em, code, a")
    assert harmful.count() == 0
    assert_no_traceback(page)
