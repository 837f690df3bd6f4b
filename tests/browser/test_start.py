"""The start page: a sentence is learned as it is typed, and doors lead on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import quote

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.app_pages import START
from tests.browser.conftest import ShowFigures
from tests.browser.helpers import SLACK, go_to_address, wait_until_idle

SHELLS = "she sells sea shells by the sea shore"
MILLISECONDS_TO_LIFE = 1_000
# Half a character can be in no report of a failure, so the field is compared by a script.
IS_BACK = "(field) => field.value.startsWith('<b>hug</b>') && field.value.endsWith('hugs')"

# The times, in milliseconds, at which the heading and the first tile appeared.
WATCH = """(() => {
    const seen = {};
    const isTile = (one) => Boolean(one.shadowRoot?.querySelector(".loop .tile"));
    const look = () => {
        const heading = document.querySelector("h1");
        if (heading?.getBoundingClientRect().height) seen.heading ??= performance.now();
        if ([...document.querySelectorAll("*")].some(isTile)) seen.tile ??= performance.now();
        if (seen.tile) window.seen = seen;
        else requestAnimationFrame(look);
    };
    look();
})()"""


@pytest.fixture
def still_tab(tab: Page) -> Iterator[Page]:
    """Return the tab of a visitor who asks for reduced motion."""
    tab.emulate_media(reduced_motion="reduce")
    yield tab
    tab.emulate_media(reduced_motion="no-preference")


def field(page: Page) -> Locator:
    return page.get_by_role("textbox", name="Your sentence")


def words(page: Page) -> Locator:
    """Return the words shown; a screen reader reads the tokens of each in its label."""
    return page.locator(".loop .word")


def length(page: Page) -> Locator:
    return page.locator(".loop .length")


def scrubber(page: Page) -> Locator:
    return page.get_by_role("slider", name="Merges done")


def scrub_to(page: Page, step: int) -> None:
    scrubber(page).fill(str(step))


def last_step(page: Page) -> int:
    return int(scrubber(page).get_attribute("max") or 0)


def wait_until_kept(page: Page, sentence: str) -> None:
    """Wait until the address holds what was typed; until then it comes back on the next visit."""
    is_kept = "(sentence) => new URL(location).searchParams.get('sentence') === sentence"
    page.wait_for_function(is_kept, arg=sentence)


def candidate(page: Page, name: str) -> Locator:
    return page.locator(".candidate").filter(has=page.get_by_role("img", name=name, exact=True))


def test_the_bare_address_is_alive_and_leads_to_three_merges_to_guess(
    page: Page, app_url: str, show_figures: ShowFigures
) -> None:
    waits: list[float] = []
    page.add_init_script(WATCH)
    while len(waits) < 3 and (not waits or min(waits) > SLACK * MILLISECONDS_TO_LIFE):
        page.goto(app_url)
        page.wait_for_function("() => window.seen")
        seen = page.evaluate("() => window.seen")
        waits.append(seen["tile"] - seen["heading"])
    show_figures("milliseconds from the start page's heading to its first tile", waits)
    assert min(waits) <= SLACK * MILLISECONDS_TO_LIFE

    expect(page.get_by_role("heading", level=1)).to_have_text(START)
    # It begins to play by itself.
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    expect(length(page)).to_have_text(re.compile("69 characters, now 6[4-8] tokens"))
    scrub_to(page, last_step(page) - 4)
    page.get_by_role("button", name="Play").click()
    sentence = page.locator(".loop .sentence")
    expect(sentence).to_have_text("Your turn, 1 of 3. Which pair is joined next?")
    expect(page.locator(".loop .pair")).to_have_count(0)  # nothing rings the answer
    expect(page.locator(".candidate .times")).to_have_text(["?"] * 4)
    candidate(page, "l, d").click()
    expect(page.locator(".verdict")).to_contain_text("Right.")
    expect(candidate(page, "l, d").locator(".times")).to_have_text("twice")
    page.get_by_role("button", name="Join them").click()
    expect(sentence).to_contain_text("Your turn, 2 of 3.")
    candidate(page, "space, c").click()
    expect(page.locator(".verdict")).to_contain_text("Not this one.")
    page.get_by_role("button", name="Join them").click()
    expect(sentence).to_contain_text("Your turn, 3 of 3.")
    page.get_by_role("button", name="Show me").click()
    page.get_by_role("button", name="Join them").click()
    expect(sentence).to_contain_text("1 of 2 right. Nothing is left to learn")
    expect(page.locator(".loop .why")).to_contain_text("You did what BPE does:")
    expect(length(page)).to_have_text("69 characters, now 24 tokens")


def test_a_typed_name_is_cut_and_learned_without_the_server_or_written_twice(tab: Page) -> None:
    go_to_address(tab, "/")
    asked = tab.evaluate("() => window.timesAsked")
    field(tab).fill("")
    expect(tab.get_by_text("Type your name, or any sentence:")).to_be_visible()
    field(tab).press_sequentially("Ada Ada")
    expect(words(tab)).to_have_count(2)
    scrub_to(tab, last_step(tab))
    expect(length(tab)).to_have_text("7 characters, now 3 tokens")
    for word, label in zip(words(tab).all(), ("Ada", "space, Ada"), strict=True):
        expect(word).to_have_attribute("aria-label", label)
    expect(tab.locator(".loop .sentence")).to_contain_text("Nothing is left to learn")
    wait_until_kept(tab, "Ada Ada")

    field(tab).fill("Grace Hopper")
    expect(tab.locator(".loop .sentence")).to_have_text(
        "Nothing to learn yet: within pieces, every pair of neighbours occurs only once."
    )
    expect(tab.get_by_role("button", name="Play")).to_be_disabled()
    tab.get_by_role("button", name="Write it twice").click()
    expect(field(tab)).to_have_value("Grace Hopper Grace Hopper")
    expect(tab.get_by_role("button", name="Write it twice")).to_be_hidden()
    expect(length(tab)).to_contain_text("25 characters")
    wait_until_kept(tab, "Grace Hopper Grace Hopper")
    assert tab.evaluate("() => window.timesAsked") == asked


def test_keys_and_the_slider_step_and_guess(still_tab: Page) -> None:
    go_to_address(still_tab, f"/?sentence={quote(SHELLS)}")
    # Reduced motion shows a middle step that stands still.
    expect(length(still_tab)).to_have_text("37 characters, now 26 tokens")
    expect(still_tab.get_by_role("button", name="Play")).to_be_enabled()
    animations = "() => document.getAnimations().filter((one) => !(one instanceof CSSTransition))"
    assert still_tab.evaluate(f"{animations}.length") == 0

    scrub_to(still_tab, 5)
    sentence = still_tab.locator(".loop .sentence")
    expect(sentence).to_have_text("Merge 6: ll + s occur together 2 times within pieces.")
    expect(still_tab.locator(".loop .why")).to_have_text("No other pair occurs as often.")
    expect(sentence.get_by_role("img").first).to_have_attribute("aria-label", "ll")
    expect(still_tab.locator(".loop .pair")).to_have_count(2)
    still_tab.get_by_role("heading", level=1).click()  # the keys work outside of the loop too
    still_tab.keyboard.press("ArrowRight")
    expect(length(still_tab)).to_have_text("37 characters, now 20 tokens")
    still_tab.keyboard.press("ArrowLeft")
    still_tab.locator(".loop").focus()
    for key, tokens in (("ArrowRight", 20), ("ArrowLeft", 22), ("Home", 37)):
        still_tab.keyboard.press(key)
        expect(length(still_tab)).to_have_text(f"37 characters, now {tokens} tokens")

    scrub_to(still_tab, 3)
    still_tab.get_by_role("button", name="Guess the next three merges").focus()
    for _ in range(3):
        still_tab.keyboard.press("Enter")  # begins, or joins what was guessed
        expect(still_tab.locator(".candidate").first).to_be_focused()
        still_tab.keyboard.press("Enter")
        expect(still_tab.get_by_role("button", name="Join them")).to_be_focused()
    still_tab.keyboard.press("Enter")
    expect(sentence).to_contain_text("of 3 right. Nothing is left")
    still_tab.get_by_role("link", name="Next: why some pairs never join").press("Enter")
    next_scene = still_tab.get_by_role("heading", name="The text is cut first")
    expect(next_scene).to_be_focused()
    expect(next_scene).to_be_in_viewport()

    scrub_to(still_tab, last_step(still_tab) - 3)
    still_tab.locator(".loop").focus()
    still_tab.keyboard.press(" ")
    expect(still_tab.get_by_role("button", name="Pause")).to_be_visible()
    expect(still_tab.locator(".spoken").first).to_contain_text("tokens")

    # Outside the field, the letters are Streamlit's shortcuts, and the space plays.
    field(still_tab).fill("Ada Lovelace")
    for _ in range(8):
        field(still_tab).press("ArrowLeft")
    still_tab.keyboard.type("cr r", delay=60)
    expect(field(still_tab)).to_have_value("Ada cr rLovelace")
    assert field(still_tab).evaluate("(field) => field.selectionStart") == 8
    wait_until_kept(still_tab, "Ada cr rLovelace")


def test_hostile_and_long_text_stays_text_within_a_phone(still_tab: Page) -> None:
    hostile = "<img src=x onerror=window.harmed=1>\u202ea\u202c سلام " + "a" * 400
    still_tab.set_viewport_size({"width": 390, "height": 900})
    go_to_address(still_tab, f"/?sentence={quote(hostile)}")
    note = "Only the first 300 characters are used here. Train takes longer texts."
    expect(still_tab.get_by_text(note)).to_be_visible()
    expect(length(still_tab)).to_contain_text("300 characters")
    expect(still_tab.locator(".loop .code-point").first).to_have_text("U+202E")
    assert still_tab.evaluate("() => window.harmed") is None
    assert still_tab.locator(".loop img").count() == 0
    main = still_tab.get_by_test_id("stMain")
    for step in (0, 4, 7):
        scrub_to(still_tab, step)
        assert main.evaluate("(main) => main.scrollWidth - main.clientWidth") == 0
    # The address holds only the part of the pasted text that is used.
    still_tab.wait_for_function("() => new URL(location).searchParams.get('sentence').length < 310")
    field(still_tab).fill("سلام سلام")
    expect(words(still_tab)).to_have_count(2)
    first, second = (word.evaluate("(word) => word.offsetLeft") for word in words(still_tab).all())
    assert first > second
    wait_until_kept(still_tab, "سلام سلام")


def test_a_door_takes_the_sentence_along_and_back_finds_it(still_tab: Page) -> None:
    go_to_address(still_tab, "/")
    half = "<b>hug</b> \\ud83e hugs"  # and half a character
    field(still_tab).evaluate(
        f"""(field) => {{
          field.value = "{half}";
          field.dispatchEvent(new InputEvent("input", {{ bubbles: true }}));
        }}"""
    )
    still_tab.wait_for_function("() => location.search.includes('hugs')")
    door = still_tab.get_by_role("link", name="What does GPT-2 do to it?")
    # The press shows within a frame, before the server answers.
    assert door.evaluate("(door) => { door.click(); return door.getAttribute('aria-busy'); }")
    expect(still_tab.get_by_role("heading", level=1)).to_have_text("Token boundaries")
    expect(still_tab.get_by_label("Your text")).to_have_value("<b>hug</b> ? hugs")
    expect(still_tab.get_by_test_id("stMain")).to_contain_text("GPT-2 exact")
    wait_until_idle(still_tab)
    assert "sentence" not in still_tab.url
    still_tab.go_back()
    expect(still_tab.get_by_role("heading", level=1)).to_have_text(START)
    still_tab.wait_for_function(IS_BACK, arg=field(still_tab).element_handle())
    wait_until_idle(still_tab)
    # The navigation's own link leads to the same sentence.
    for name, heading in (("Lab", "Lab"), ("Start", START)):
        still_tab.get_by_role("link", name=name, exact=True).click()
        expect(still_tab.get_by_role("heading", level=1)).to_have_text(heading)
        wait_until_idle(still_tab)
    still_tab.wait_for_function(IS_BACK, arg=field(still_tab).element_handle())
