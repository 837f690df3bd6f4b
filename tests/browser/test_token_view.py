"""The token view shows every token of any text as it is, and hands exactly that text back."""

from __future__ import annotations

import json
from urllib.parse import quote

import pytest
from playwright.sync_api import Locator, Page, expect

from bpe_core.gpt2 import gpt2
from tests.browser.helpers import assert_no_traceback, open_page

pytestmark = pytest.mark.browser

HOSTILE = (
    '<script>window.harmed = 1</script><img src=x onerror="window.harmed = 1"> '
    "a<b<c &amp; &lt; **bold** `code` $x^2$ [link](javascript:window.harmed=1) </script>"
)
AWKWARD = "\ufeffa\tb  c\r\nd\re\x00\u202ef\u2028 日本 🧩👩\u200d👩\u200d👧 e\u0301 נ x\n\n end "

COPY = """(scroller) => {
    const data = new DataTransfer();
    const options = {clipboardData: data, bubbles: true, cancelable: true};
    const event = new ClipboardEvent("copy", options);
    scroller.dispatchEvent(event);
    return event.defaultPrevented ? data.getData("text/plain") : null;
}"""

PASTE = """(area, text) => {
    const data = new DataTransfer();
    data.setData("text/plain", text);
    area.dispatchEvent(new ClipboardEvent("paste", {clipboardData: data, bubbles: true}));
}"""

WALK = """async (scroller) => {
    const seen = new Set();
    for (const block of scroller.querySelectorAll(".block")) {
        block.scrollIntoView();
        while (!block.classList.contains("drawn")) await new Promise(requestAnimationFrame);
        for (const token of block.querySelectorAll(".token")) seen.add(token.dataset.i);
    }
    return seen.size;
}"""


def open_text(page: Page, app_url: str, text: str, special: bool = True) -> Locator:
    """Opens GPT-2's tokens of a text; gives the pane that holds them."""
    query = f"tokenizer=GPT-2&text={quote(text)}" + ("" if special else "&special=false")
    open_page(page, f"{app_url}/token_boundaries?{query}")
    scroller = page.locator(".view .scroller")
    expect(scroller.locator(".token").first).to_be_attached()
    return scroller


def type_text(page: Page, text: str) -> None:
    """Puts a text into the field at once, as pasting does."""
    page.locator("textarea").evaluate(
        """(area, text) => {
            area.value = text;
            area.dispatchEvent(new Event("input", {bubbles: true}));
        }""",
        text,
    )


def figures(page: Page) -> Locator:
    return page.locator(".view .figures")


def tokens_in_page(scroller: Locator) -> int:
    return scroller.evaluate(
        "(s) => new Set([...s.querySelectorAll('.token')].map((t) => t.dataset.i)).size"
    )


def test_markup_is_shown_as_text_and_nothing_of_it_runs(page: Page, app_url: str) -> None:
    scroller = open_text(page, app_url, HOSTILE)
    assert scroller.evaluate("(s) => s.textContent") == HOSTILE
    assert scroller.locator("script, img, a, b, code, strong").count() == 0
    assert page.evaluate("window.harmed") is None
    assert tokens_in_page(scroller) == len(gpt2().encode(HOSTILE))
    assert_no_traceback(page)


def test_a_cut_emoji_shows_its_bytes_each_with_its_owner(page: Page, app_url: str) -> None:
    scroller = open_text(page, app_url, "x 🧩")
    cut = scroller.locator(".cut")
    expect(cut).to_have_count(1)
    assert cut.evaluate("(c) => c.textContent") == "🧩"
    owners = cut.locator(".token").evaluate_all(
        "(parts) => parts.map((p) => [p.dataset.hex, Number(p.dataset.id)])"
    )
    ids = gpt2().encode("x 🧩")[1:]
    assert owners == [["F0 9F", ids[0]], ["A7", ids[1]], ["A9", ids[2]]]
    expect(page.locator(".details")).to_contain_text("A character cut in three")
    assert "\ufffd" not in page.locator(".view").inner_text()


def test_right_to_left_text_reads_from_the_right(page: Page, app_url: str) -> None:
    text = "العربية جميلة"
    scroller = open_text(page, app_url, text)
    assert scroller.evaluate("(s) => s.textContent") == text
    boxes = scroller.locator(".block > *").evaluate_all(
        "(pieces) => pieces.map((piece) => piece.getBoundingClientRect().left)"
    )
    assert boxes[0] > boxes[-1]
    assert boxes == sorted(boxes, reverse=True)


def test_characters_without_a_picture_are_shown_by_code_point(page: Page, app_url: str) -> None:
    scroller = open_text(page, app_url, "\ufeffa\u202eb\u200b\u00a0\r")
    codes = scroller.locator(".code").evaluate_all("(cs) => cs.map((c) => c.dataset.code)")
    # Two of them are cut, in three and in two: each is shown once all the same.
    assert scroller.locator(".cut").count() == 2
    assert codes == ["U+FEFF", "U+202E", "U+200B", "U+00A0", "U+000D"]
    assert tokens_in_page(scroller) == len(gpt2().encode("\ufeffa\u202eb\u200b\u00a0\r"))


def test_copying_gives_the_exact_text_whole_and_in_part(page: Page, app_url: str) -> None:
    scroller = open_text(page, app_url, AWKWARD)
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


def test_what_is_typed_is_shown_after_a_pause_and_kept_in_the_address(
    page: Page, app_url: str
) -> None:
    scroller = open_text(page, app_url, "old")
    page.locator("textarea").press_sequentially(" and new", delay=20)
    expect(scroller).to_contain_text("old and new")
    page.wait_for_url("**text=old+and+new**")
    page.reload()
    expect(page.locator("textarea")).to_have_value("old and new")
    pasted = page.get_by_text("What was pasted has carriage returns")
    expect(pasted).to_be_hidden()
    page.locator("textarea").evaluate(PASTE, "one\r\ntwo")
    expect(pasted).to_be_visible()


def test_typing_keeps_the_line_ends_of_what_stood_there(page: Page, app_url: str) -> None:
    scroller = open_text(page, app_url, "one\r\ntwo\rthree\nfour\r\n")
    expect(page.locator(".note").first).to_contain_text("carriage returns")
    area = page.locator("textarea")
    for typed, kept in [
        ("one\ntwo!\nthree\nfour\n", "one\r\ntwo!\rthree\nfour\r\n"),
        ("one\ntwo!\n2\nthree\nfour\n", "one\r\ntwo!\r2\nthree\nfour\r\n"),
        ("one\nfour\n", "one\r\nfour\r\n"),
        ("one\nnew\nfour\n", "one\r\nnew\r\nfour\r\n"),
        ("all new\n", "all new\r\n"),
    ]:
        area.fill(typed)
        expect(area).to_have_value(typed)
        expect(figures(page)).to_contain_text(f"{len(kept)} bytes")
        assert scroller.evaluate("(s) => s.textContent") == kept


def test_an_empty_text_says_what_will_be_here(page: Page, app_url: str) -> None:
    scroller = open_text(page, app_url, "x")
    page.locator("textarea").fill("")
    expect(scroller).to_contain_text("No text yet")
    expect(figures(page)).to_have_text("0 tokens0 bytes")


def test_half_a_character_is_named_and_the_view_stays(page: Page, app_url: str) -> None:
    scroller = open_text(page, app_url, "old")
    page.locator("textarea").evaluate(
        """(area) => {
            area.value = "ab\\ud83ec";
            area.dispatchEvent(new Event("input", {bubbles: true}));
        }"""
    )
    expect(page.locator(".problem")).to_contain_text("At position 3")
    expect(page.locator(".problem")).to_contain_text("U+D83E")
    expect(scroller).to_contain_text("old")
    type_text(page, "mended")
    expect(scroller).to_contain_text("mended")
    expect(page.locator(".problem")).to_be_hidden()
    assert_no_traceback(page)


def test_every_token_of_a_long_text_is_there_when_scrolled_to(page: Page, app_url: str) -> None:
    scroller = open_text(page, app_url, "x")
    text = "".join(f"{n}: the café’s 日本 line, naïvely.\n" for n in range(1_500))
    type_text(page, text)
    n_tokens = len(gpt2().encode(text))
    expect(figures(page)).to_contain_text(f"{n_tokens:,} tokens")
    assert scroller.evaluate("(s) => s.textContent") == text
    assert scroller.evaluate(WALK) == n_tokens


@pytest.mark.parametrize(
    "line",
    ["All the world’s a stage, and all the men and women merely players.\n", "seven ages "],
    ids=["in lines", "without line breaks"],
)
def test_a_megabyte_is_pasted_without_freezing(page: Page, app_url: str, line: str) -> None:
    scroller = open_text(page, app_url, "x")
    text = line * (1_000_000 // len(line))
    type_text(page, text)
    n_tokens = len(gpt2().encode(text))
    expect(figures(page)).to_contain_text(f"{n_tokens:,} tokens")
    assert scroller.evaluate("(s) => s.textContent.length") == len(text)
    drawn = tokens_in_page(scroller)
    assert 0 < drawn < n_tokens / 4
    scroller.evaluate("(s) => { s.scrollTop = s.scrollHeight; }")
    expect(scroller.locator(f'[data-i="{n_tokens - 1}"]')).to_be_attached()
    scroller.press("Home")
    expect(page.locator(".details")).to_contain_text("Token 1")
    assert page.locator(".ids span").count() == 2_000
    expect(page.locator(".reading")).to_contain_text("Copy ids gives all")


def test_pointing_lights_the_token_and_its_id(page: Page, app_url: str) -> None:
    scroller = open_text(page, app_url, "the cat saw the cat")
    scroller.locator('[data-i="1"]').hover()
    expect(page.locator(".details")).to_contain_text("Token 2")
    expect(page.locator(".details")).to_contain_text("twice")
    expect(page.locator('.ids [data-i="1"]')).to_have_css("font-weight", "700")
    assert scroller.locator('[data-i="1"]').evaluate("(t) => getComputedStyle(t).outlineStyle") == (
        "solid"
    )


def test_arrow_keys_go_from_token_to_token(page: Page, app_url: str) -> None:
    scroller = open_text(page, app_url, "one two three\nfour five six")
    scroller.focus()
    page.keyboard.press("Home")
    expect(page.locator(".details .label")).to_have_text("Token 1")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".details .label")).to_have_text("Token 2")
    page.keyboard.press("ArrowDown")
    expect(page.locator(".details .tile.big")).to_contain_text("five")
    page.keyboard.press("End")
    expect(page.locator(".details .tile.big")).to_contain_text("six")


def test_buttons_copy_ids_tokens_and_python_that_runs(page: Page, app_url: str) -> None:
    text = 'A "quoted" 🧩\r\nline\\'
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    open_text(page, app_url, text)

    def copied(button: str) -> str:
        page.get_by_role("button", name=button).click()
        expect(page.locator(".actions [role=status]")).to_have_text("Copied.")
        return page.evaluate("navigator.clipboard.readText()")

    assert json.loads(copied("Copy ids")) == gpt2().encode(text)
    tokens = [
        t.encode() if isinstance(t, str) else bytes(t) for t in json.loads(copied("Copy tokens"))
    ]
    assert b"".join(tokens) == text.encode()
    code = copied("Copy as Python")
    assert "tokenizer = bpe.gpt2()" in code
    scope = {"tokenizer": gpt2()}
    exec(code.split("tokenizer = bpe.gpt2()")[1], scope)  # ends in an assert on the ids
    assert scope["text"] == text


def test_switches_show_glyphs_and_pretokens(page: Page, app_url: str) -> None:
    scroller = open_text(page, app_url, "unbelievably so")
    glyph = "(s) => getComputedStyle(s.querySelector('.sp')).backgroundImage"
    shown = scroller.evaluate(glyph)
    page.get_by_role("switch", name="Glyphs for white space").click()
    assert scroller.evaluate(glyph) != shown
    starts = [s.start for s in gpt2().segments("unbelievably so")]
    assert len(starts) > 2
    assert scroller.locator(".token.starts").count() == 2
    page.get_by_role("switch", name="Pre-token borders").click()
    expect(scroller).to_have_class("scroller no-glyphs borders")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_overflows_on_a_phone(page: Page, app_url: str, scheme: str) -> None:
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.set_viewport_size({"width": 390, "height": 844})
    open_text(
        page, app_url, "Pneumonoultramicroscopicsilicovolcanoconiosis" * 4 + " 日本語 <|endoftext|>"
    )
    main = page.locator('[data-testid="stMain"]')
    assert main.evaluate("(m) => m.scrollWidth - m.clientWidth") == 0
