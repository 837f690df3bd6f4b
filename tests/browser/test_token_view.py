"""The token view shows every token of any text, with its details, and copies it exactly."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path
from urllib.parse import quote

from playwright.sync_api import Locator, Page, expect

import bpe_core as bpe
from bpe_core.tokenizer import gpt2
from tests.browser.conftest import KeepRun
from tests.browser.helpers import go_to_address, wait_until_idle
from tests.browser.token_view import COPY, HOSTILE, figures, show_tokens, tokens_in_page
from tests.foreign_models import byte_fallback, described, library_encoder, word_piece

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


def test_pointing_at_a_token_highlights_it_and_switches_change_how_it_is_drawn(
    offline_page: Page, tmp_path: Path
) -> None:
    scroller = show_tokens(offline_page, tmp_path, " the the cat")
    details = offline_page.locator(".details")
    slots: set[str] = set()
    for i in (0, 1):  # neighbours have different colours, though they are equal
        token = scroller.locator(f'[data-i="{i}"]')
        token.hover()
        expect(details).to_contain_text(f"Token {i + 1}")
        expect(details).to_contain_text("twice")
        expect(offline_page.locator(f'.ids [data-i="{i}"]')).to_have_css("font-weight", "700")
        expect(token).to_have_css("outline-style", "solid")
        slot = re.search(r"\bslot-\d\b", token.get_attribute("class") or "")
        assert slot is not None
        expect(details.locator(".tile.big")).to_have_class(re.compile(rf"\b{slot[0]}\b"))
        slots.add(slot[0])
    assert len(slots) == 2
    glyph = "(s) => getComputedStyle(s.querySelector('.sp')).backgroundImage"
    shown = scroller.evaluate(glyph)
    offline_page.get_by_role("switch", name="Glyphs for white space").click()
    offline_page.get_by_role("switch", name="Pre-token borders").click()
    expect(scroller).to_have_class("scroller no-glyphs borders")
    assert scroller.evaluate(glyph) != shown


def test_invisible_characters_are_shown_by_code_point(offline_page: Page, tmp_path: Path) -> None:
    scroller = show_tokens(offline_page, tmp_path, "\ufeffa\u202eb\u200b\u00a0\r")
    codes = scroller.locator(".code").evaluate_all("(cs) => cs.map((c) => c.dataset.code)")
    # Two of them are split, into three and two pieces; each is shown only once.
    assert scroller.locator(".cut").count() == 2
    assert codes == ["U+FEFF", "U+202E", "U+200B", "U+00A0", "U+000D"]
    assert tokens_in_page(scroller) == len(gpt2().encode("\ufeffa\u202eb\u200b\u00a0\r"))


def test_every_token_of_a_long_text_is_drawn_when_scrolled_to(
    offline_page: Page, tmp_path: Path
) -> None:
    # More blocks than are drawn at once: distant ones become plain text again.
    text = "".join(f"{n}: the café’s 日本 line, naïvely.\n" for n in range(1_200))
    scroller = show_tokens(offline_page, tmp_path, text)
    n_tokens = len(gpt2().encode(text))
    expect(figures(offline_page)).to_contain_text(f"{n_tokens:,} tokens")
    assert scroller.evaluate("(s) => s.textContent") == text
    assert tokens_in_page(scroller) < n_tokens / 4
    assert scroller.evaluate(WALK) == n_tokens


def test_on_a_phone_the_details_of_a_tapped_token_appear_at_it(
    offline_page: Page, tmp_path: Path
) -> None:
    offline_page.set_viewport_size({"width": 390, "height": 844})
    scroller = show_tokens(offline_page, tmp_path, "the cat saw the cat\n" * 30)
    details = offline_page.locator(".details")
    expect(details).to_be_hidden()
    for index in (1, 40):
        scroller.locator(f'[data-i="{index}"]').click()
        expect(details.locator(".label")).to_have_text(f"Token {index + 1}")
        expect(details).to_be_in_viewport(ratio=1)
    details.get_by_role("button", name="Close").click()
    expect(details).to_be_hidden()


def test_buttons_copy_ids_tokens_and_working_python_code(
    offline_page: Page, tmp_path: Path
) -> None:
    text = 'A "quoted" 🧩\r\nline\\'
    offline_page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    show_tokens(offline_page, tmp_path, text)

    def copied(button: str) -> str:
        offline_page.evaluate("navigator.clipboard.writeText('')")
        offline_page.get_by_role("button", name=button).click()
        offline_page.wait_for_function("async () => await navigator.clipboard.readText()")
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


SWITCH = "As its file writes tokens"


def drawn(pane: Locator) -> list[str]:
    """Return what is drawn for each token, by style or as text."""
    return pane.evaluate(
        """(pane) => [...pane.querySelectorAll(".token")].map((token) => {
            const before = getComputedStyle(token, "::before").content;
            return before === "none" ? token.textContent : JSON.parse(before);
        })"""
    )


def test_a_file_with_bytes_is_spelled_with_its_marks(page: Page, tmp_path: Path) -> None:
    encoder = library_encoder(described(byte_fallback()))
    text = "ab a日"
    pane = show_tokens(page, tmp_path, text, encoder)
    assert drawn(pane) == ["ab", " a", "E6", "97", "A5"]
    page.get_by_role("switch", name=SWITCH).click()
    written = [encoder.written(id) for id in encoder.encode(text)]
    assert drawn(pane) == written
    assert "<0xE6>" in written
    assert pane.evaluate("(pane) => pane.textContent") == text
    expect(page.locator(".remarks")).to_contain_text("▁ stands for a space. <0x…> is one byte")

    pane = show_tokens(page, tmp_path, "日", encoder)
    assert drawn(pane) == ["▁", "E6", "97", "A5"]
    pane.locator(".token.marker").hover()
    expect(page.locator(".details")).to_contain_text("it stands for nothing in your text")


def test_a_continued_word_is_spelled_in_small_letters_with_its_mark(
    page: Page, tmp_path: Path
) -> None:
    encoder = library_encoder(described(word_piece()))
    text = "Unbelievably naïve"
    pane = show_tokens(page, tmp_path, text, encoder)
    assert "".join(drawn(pane)) == text
    page.get_by_role("switch", name=SWITCH).click()
    written = [encoder.written(id) for id in encoder.encode(text)]
    assert [token for token in drawn(pane) if token != " "] == written
    assert any(token.startswith("##") for token in written if token)
    pane.locator(".token[data-written^='##']").first.hover()
    expect(page.locator(".details")).to_contain_text("## means that the word continues")


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


HOSTILE_RUN = "5" * 32
HOSTILE_LINE = (
    '<script>window.harmed = 1</script> <img src=x onerror="window.harmed = 1"> &amp; **b** $x^2$ '
    "\ufeff\u202e\x00 zug"
)


def test_no_markup_in_a_text_or_in_what_was_trained_on_runs(tab: Page, keep_run: KeepRun) -> None:
    training = bpe.Corpus.from_documents([f"{HOSTILE_LINE}\n" * 4], names=["<b>a</b>.txt"])
    run = bpe.train(training, bpe.TrainingConfig(300))
    keep_run(HOSTILE_RUN, "<i>markup</i>", run, training=training)
    go_to_address(tab, f"/token_boundaries?run={HOSTILE_RUN}&text={quote(HOSTILE_LINE)}")
    tab.locator(".view .scroller").focus()
    tab.keyboard.press("Home")
    origin = tab.locator(".origin")
    expect(origin.locator(".lines .place").first).to_have_text("<b>a</b>.txt, line 1")
    for n in range(1, len(run.tokenizer.encode(HOSTILE_LINE)) + 1):
        expect(tab.locator(".details .label")).to_have_text(f"Token {n}")
        tab.keyboard.press("ArrowRight")
    wait_until_idle(tab)
    harmful = tab.locator(".view, .origin").locator("script, img, b:not(.figures b), em, code, a")
    assert harmful.count() == 0
    assert tab.evaluate("window.harmed") is None
