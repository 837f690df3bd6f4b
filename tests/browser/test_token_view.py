"""The token view shows every token of any text, and copies exactly that text."""

from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.parse import quote

from playwright.sync_api import Locator, Page, expect

from bpe_core.tokenizer.gpt2 import gpt2
from tests.browser.helpers import open_page
from tests.browser.token_view import (
    COPY,
    expect_tokens,
    expect_tokens_near_the_window_alone,
    figures,
    show_tokens,
    tokens_in_page,
)

AWKWARD = "\ufeffa\tb  c\r\nd\re\x00\u202ef\u2028 日本 🧩👩\u200d👩\u200d👧 e\u0301 נ x\n\n end "

WALK = """async (scroller) => {
    const seen = new Set();
    for (const block of scroller.querySelectorAll(".block")) {
        block.scrollIntoView();
        while (!block.classList.contains("drawn")) await new Promise(requestAnimationFrame);
        for (const token of block.querySelectorAll(".token")) seen.add(token.dataset.i);
    }
    return seen.size;
}"""


def test_a_split_emoji_shows_which_token_has_each_byte(offline_page: Page, tmp_path: Path) -> None:
    scroller = show_tokens(offline_page, tmp_path, "x 🧩")
    cut = scroller.locator(".cut")
    expect(cut).to_have_count(1)
    assert cut.evaluate("(c) => c.textContent") == "🧩"
    owners = cut.locator(".token").evaluate_all(
        "(parts) => parts.map((p) => [p.dataset.hex, Number(p.dataset.id)])"
    )
    ids = gpt2().encode("x 🧩")[1:]
    assert owners == [["F0 9F", ids[0]], ["A7", ids[1]], ["A9", ids[2]]]
    expect(offline_page.locator(".details")).to_contain_text("A character split in three")
    assert "\ufffd" not in offline_page.locator(".view").inner_text()


def test_right_to_left_text_reads_from_the_right(offline_page: Page, tmp_path: Path) -> None:
    text = "العربية جميلة"
    scroller = show_tokens(offline_page, tmp_path, text)
    assert scroller.evaluate("(s) => s.textContent") == text
    boxes = scroller.locator(".block > *").evaluate_all(
        "(pieces) => pieces.map((piece) => piece.getBoundingClientRect().left)"
    )
    assert boxes[0] > boxes[-1]
    assert boxes == sorted(boxes, reverse=True)


def test_right_to_left_text_reads_from_the_right_where_its_characters_are_split(
    offline_page: Page, tmp_path: Path
) -> None:
    # GPT-2 splits the first and the last letter.
    text = "say שלום"
    scroller = show_tokens(offline_page, tmp_path, text)
    assert scroller.evaluate("(s) => s.textContent") == text
    assert scroller.locator(".cut").all_inner_texts() == ["ש", "ם"]
    found = scroller.locator(".cut, .block > .token").evaluate_all(
        "(pieces) => pieces.map((one) => [one.textContent, one.getBoundingClientRect().left])"
    )
    lefts = [left for piece, left in found if set(piece) & set("שלום")]
    assert len(lefts) >= 3
    assert lefts == sorted(lefts, reverse=True)


def test_a_token_has_the_same_colour_in_the_text_and_beside_it(
    offline_page: Page, tmp_path: Path
) -> None:
    # The second of two equal tokens has another colour than the first.
    scroller = show_tokens(offline_page, tmp_path, " the the the")
    slots: set[str] = set()
    for i in range(3):
        token = scroller.locator(f'.token[data-i="{i}"]')
        token.hover()
        slot = next(name for name in class_names(token) if name.startswith("slot-"))
        expect(offline_page.locator(".details .tile.big")).to_have_class(re.compile(rf"\b{slot}\b"))
        slots.add(slot)
    assert len(slots) > 1


def class_names(element: Locator) -> list[str]:
    return (element.get_attribute("class") or "").split()


def test_invisible_characters_are_shown_by_code_point(offline_page: Page, tmp_path: Path) -> None:
    scroller = show_tokens(offline_page, tmp_path, "\ufeffa\u202eb\u200b\u00a0\r")
    codes = scroller.locator(".code").evaluate_all("(cs) => cs.map((c) => c.dataset.code)")
    # Two of them are split, into three and two pieces; each is shown only once.
    assert scroller.locator(".cut").count() == 2
    assert codes == ["U+FEFF", "U+202E", "U+200B", "U+00A0", "U+000D"]
    assert tokens_in_page(scroller) == len(gpt2().encode("\ufeffa\u202eb\u200b\u00a0\r"))


def test_copying_gives_the_exact_text_whole_and_in_part(offline_page: Page, tmp_path: Path) -> None:
    scroller = show_tokens(offline_page, tmp_path, AWKWARD)
    assert scroller.evaluate("(s) => s.textContent") == AWKWARD
    scroller.evaluate("(s) => getSelection().selectAllChildren(s.querySelector('.text'))")
    assert scroller.evaluate(COPY) == AWKWARD
    segments = gpt2().segments(AWKWARD)
    whole = [
        i for i, s in enumerate(segments) if i and s.start != segments[i - 1].end - 1 and s.start
    ]
    for first, last in ((whole[1], whole[-1]), (whole[2], whole[3]), (0, whole[4])):
        scroller.evaluate(
            """(s, [first, last]) => {
                const token = (i) => s.querySelector(`[data-i="${i}"]`);
                const at = (i) => token(i).closest(".cut") ?? token(i);
                const range = document.createRange();
                range.setStartBefore(at(first));
                range.setEndBefore(at(last));
                const selection = getSelection();
                selection.setBaseAndExtent(
                    range.startContainer, range.startOffset, range.endContainer, range.endOffset);
            }""",
            [first, last],
        )
        assert scroller.evaluate(COPY) == AWKWARD[segments[first].start : segments[last].start]


def test_every_token_of_a_long_text_is_drawn_when_scrolled_to(
    offline_page: Page, tmp_path: Path
) -> None:
    # More blocks than are drawn at once: distant ones become plain text again.
    text = "".join(f"{n}: the café’s 日本 line, naïvely.\n" for n in range(1_200))
    scroller = show_tokens(offline_page, tmp_path, text)
    n_tokens = len(gpt2().encode(text))
    expect(figures(offline_page)).to_contain_text(f"{n_tokens:,} tokens")
    assert scroller.evaluate("(s) => s.textContent") == text
    assert scroller.evaluate(WALK) == n_tokens


def test_pointing_at_a_token_highlights_it_and_its_id(offline_page: Page, tmp_path: Path) -> None:
    scroller = show_tokens(offline_page, tmp_path, "the cat saw the cat")
    scroller.locator('[data-i="1"]').hover()
    expect(offline_page.locator(".details")).to_contain_text("Token 2")
    expect(offline_page.locator(".details")).to_contain_text("twice")
    expect(offline_page.locator('.ids [data-i="1"]')).to_have_css("font-weight", "700")
    assert scroller.locator('[data-i="1"]').evaluate("(t) => getComputedStyle(t).outlineStyle") == (
        "solid"
    )


def test_on_a_phone_the_details_of_a_tapped_token_appear_at_it(
    offline_page: Page, tmp_path: Path
) -> None:
    offline_page.set_viewport_size({"width": 390, "height": 844})
    scroller = show_tokens(offline_page, tmp_path, "the cat saw the cat\n" * 30)
    details = offline_page.locator(".details")
    expect(details).to_be_hidden()
    for index in (1, 40):
        token = scroller.locator(f'[data-i="{index}"]')
        token.click()
        expect(details.locator(".label")).to_have_text(f"Token {index + 1}")
        expect(details).to_be_in_viewport(ratio=1)
        box, panel = token.bounding_box(), details.bounding_box()
        assert box is not None
        assert panel is not None
        above, below = (
            box["y"] - panel["y"] - panel["height"],
            panel["y"] - box["y"] - box["height"],
        )
        assert 0 <= max(above, below) < 10
    details.get_by_role("button", name="Close").click()
    expect(details).to_be_hidden()


def test_buttons_copy_ids_tokens_and_working_python_code(
    offline_page: Page, tmp_path: Path
) -> None:
    text = 'A "quoted" 🧩\r\nline\\'
    offline_page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    show_tokens(offline_page, tmp_path, text)

    def copied(button: str) -> str:
        offline_page.get_by_role("button", name=button).click()
        expect(offline_page.locator(".actions [role=status]")).to_have_text("Copied.")
        return offline_page.evaluate("navigator.clipboard.readText()")

    assert json.loads(copied("Copy ids")) == gpt2().encode(text)
    tokens = [
        t.encode() if isinstance(t, str) else bytes(t) for t in json.loads(copied("Copy tokens"))
    ]
    assert b"".join(tokens) == text.encode()
    code = copied("Copy as Python")
    assert "tokenizer = bpe.gpt2()" in code
    scope = {"tokenizer": gpt2()}
    exec(code.split("tokenizer = bpe.gpt2()")[1], scope)  # it ends with an assertion on the ids
    assert scope["text"] == text


def test_switches_show_glyphs_and_pretokens(offline_page: Page, tmp_path: Path) -> None:
    scroller = show_tokens(offline_page, tmp_path, "unbelievably so")
    glyph = "(s) => getComputedStyle(s.querySelector('.sp')).backgroundImage"
    shown = scroller.evaluate(glyph)
    offline_page.get_by_role("switch", name="Glyphs for white space").click()
    assert scroller.evaluate(glyph) != shown
    starts = [s.start for s in gpt2().segments("unbelievably so")]
    assert len(starts) > 2
    assert scroller.locator(".token.starts").count() == 2
    offline_page.get_by_role("switch", name="Pre-token borders").click()
    expect(scroller).to_have_class("scroller no-glyphs borders")


def test_a_megabyte_is_drawn_only_near_the_viewport(offline_page: Page, tmp_path: Path) -> None:
    line = "All the world’s a stage, and all the men and women merely players.\n"
    text = line * (1_000_000 // len(line))
    scroller = show_tokens(offline_page, tmp_path, text)
    n_tokens = len(gpt2().encode(text))
    expect(figures(offline_page)).to_contain_text(f"{n_tokens:,} tokens")
    expect_tokens_near_the_window_alone(scroller, text)
    assert offline_page.locator(".ids span").count() == 2_000
    expect(offline_page.locator(".reading")).to_contain_text("“Copy ids” copies all")


def test_hostile_text_and_each_of_its_tokens_are_text_on_the_page(page: Page, app_url: str) -> None:
    text = '<img src=x onerror="window.harmed=1"><b>x</b>&lt;</script>\x00\r🧩\u202e*a*$y$`'
    open_page(page, f"{app_url}/token_boundaries?tokenizer=GPT-2&text={quote(text)}")
    scroller = page.locator(".view .scroller")
    expect_tokens(page, text)
    n_tokens = len(gpt2().encode(text))
    scroller.focus()
    page.keyboard.press("Home")
    for n in range(1, n_tokens + 1):
        expect(page.locator(".details .label")).to_have_text(f"Token {n}")
        page.keyboard.press("ArrowRight")
    harmful = page.locator(".view, .origin").locator("script, img, b:not(.figures b), em, code, a")
    assert harmful.count() == 0
    assert page.evaluate("window.harmed") is None


def test_the_merge_tree_of_white_space_is_folded(page: Page, app_url: str) -> None:
    text = "x" + " " * 27 + "y"
    open_page(page, f"{app_url}/token_boundaries?text={quote(text)}")
    scroller = page.locator(".view .scroller")
    scroller.focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".details .label")).to_have_text("Token 2")
    tree = page.locator(".details .tree")
    # The token of 26 spaces, and the parts of its last merge.
    expect(tree.locator("li")).to_have_count(3)
    expect(tree.locator("li li")).to_have_text(["folded", "folded"])


def test_nothing_overflows_on_a_phone(page: Page, app_url: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    text = "Pneumonoultramicroscopicsilicovolcanoconiosis" * 4 + " 日本語 <|endoftext|>"
    open_page(page, f"{app_url}/token_boundaries?tokenizer=GPT-2&text={quote(text)}")
    expect(page.locator(".view .scroller .special")).to_be_visible()
    main = page.locator('[data-testid="stMain"]')
    assert main.evaluate("(m) => m.scrollWidth - m.clientWidth") == 0
