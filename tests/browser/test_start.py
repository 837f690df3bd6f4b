"""The start page: a sentence is learned as it is typed, doors lead on, and old links still work."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import quote

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.app_pages import START
from tests.browser.conftest import ShowFigures
from tests.browser.helpers import SLACK, open_page, wait_until_idle

SHELLS = "she sells sea shells by the sea shore"
MILLISECONDS_TO_LIFE = 1_000

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
def still_page(page: Page) -> Page:
    """Return a tab of a visitor who asks for reduced motion."""
    page.emulate_media(reduced_motion="reduce")
    return page


def field(page: Page) -> Locator:
    return page.get_by_role("textbox", name="Your sentence")


def words(page: Page) -> list[str | None]:
    """Return the label of each word shown, in which a screen reader reads its tokens."""
    found = page.locator(".loop .word")
    return [found.nth(i).get_attribute("aria-label") for i in range(found.count())]


def length(page: Page) -> Locator:
    return page.locator(".loop .length")


def scrub_to(page: Page, step: int) -> None:
    page.get_by_role("slider", name="Merges done").fill(str(step))


def test_the_bare_address_is_alive_within_a_second_of_its_heading(
    new_page: Callable[[], Page], app_url: str, show_figures: ShowFigures
) -> None:
    waits: list[float] = []
    while len(waits) < 3 and (not waits or min(waits) > SLACK * MILLISECONDS_TO_LIFE):
        page = new_page()
        page.add_init_script(WATCH)
        page.goto(app_url)
        page.wait_for_function("() => window.seen")
        seen = page.evaluate("() => window.seen")
        waits.append(seen["tile"] - seen["heading"])
        expect(page.get_by_role("heading", level=1)).to_have_text(START)
        # It begins to play by itself.
        expect(page.get_by_role("button", name="Pause")).to_be_visible()
    show_figures("milliseconds from the start page's heading to its first tile", waits)
    assert min(waits) <= SLACK * MILLISECONDS_TO_LIFE


def test_a_typed_name_is_cut_and_learned_without_the_server(page: Page, app_url: str) -> None:
    open_page(page, app_url)
    asked = page.evaluate("() => window.timesAsked")
    field(page).fill("")
    expect(page.get_by_text("Type your name, or any sentence:")).to_be_visible()
    field(page).press_sequentially("Ada Ada")
    assert words(page) == ["A, d, a", "space, A, d, a"]
    assert page.locator(".loop .word .tile:not(.symbol)").count() == 0
    expect(length(page)).to_have_text("7 characters, now 7 tokens")
    expect(length(page)).to_have_text("7 characters, now 3 tokens")
    assert words(page) == ["Ada", "space, Ada"]
    expect(page.locator(".loop .word .tile:not(.symbol)")).to_have_count(2)
    expect(page.locator(".loop .sentence")).to_contain_text("Nothing is left to learn")
    expect(page.get_by_role("button", name="Play")).to_be_enabled()
    page.wait_for_function("() => location.search === '?sentence=Ada+Ada'")
    assert page.evaluate("() => window.timesAsked") == asked


def test_typing_in_the_middle_leaves_the_caret_there(still_page: Page, app_url: str) -> None:
    open_page(still_page, app_url)
    field(still_page).fill("Ada Lovelace")
    for _ in range(8):
        field(still_page).press("ArrowLeft")
    # Outside the field, the letters are Streamlit's shortcuts, and the space plays.
    still_page.keyboard.type("cr r", delay=60)
    expect(field(still_page)).to_have_value("Ada cr rLovelace")
    assert field(still_page).evaluate("(field) => field.selectionStart") == 8


def test_a_name_that_repeats_nothing_can_be_written_twice(page: Page, app_url: str) -> None:
    open_page(page, f"{app_url}/?sentence=Grace+Hopper")
    expect(page.locator(".loop .sentence")).to_have_text(
        "Nothing to learn yet: every pair of neighbours occurs only once."
    )
    expect(page.get_by_role("button", name="Play")).to_be_disabled()
    page.get_by_role("button", name="Write it twice").click()
    expect(field(page)).to_have_value("Grace Hopper Grace Hopper")
    expect(page.get_by_role("button", name="Write it twice")).to_be_hidden()
    expect(length(page)).to_have_text("25 characters, now 11 tokens")
    expect(page.locator(".loop .sentence")).to_contain_text("Your turn, 1 of 3.")


def test_reduced_motion_shows_a_middle_step_that_stands_still(
    still_page: Page, app_url: str
) -> None:
    open_page(still_page, f"{app_url}/?sentence={quote(SHELLS)}")
    expect(length(still_page)).to_have_text("37 characters, now 26 tokens")
    still_page.wait_for_timeout(1_500)
    expect(length(still_page)).to_have_text("37 characters, now 26 tokens")
    animations = "() => document.getAnimations().filter((one) => !(one instanceof CSSTransition))"
    assert still_page.evaluate(f"{animations}.length") == 0


def test_keys_and_the_slider_step_through_the_merges(still_page: Page, app_url: str) -> None:
    open_page(still_page, f"{app_url}/?sentence={quote(SHELLS)}")
    scrub_to(still_page, 5)
    expect(length(still_page)).to_have_text("37 characters, now 22 tokens")
    sentence = still_page.locator(".loop .sentence")
    expect(sentence).to_have_text("Merge 6: se + a occur together 2 times.")
    expect(still_page.locator(".loop .why")).to_have_text("No pair occurs more often.")
    assert sentence.get_by_role("img").first.get_attribute("aria-label") == "space se"
    expect(still_page.locator(".loop .pair")).to_have_count(2)
    still_page.locator(".loop").focus()
    for key, tokens in (("ArrowRight", 20), ("ArrowLeft", 22), ("Home", 37), ("End", 20)):
        still_page.keyboard.press(key)
        expect(length(still_page)).to_have_text(f"37 characters, now {tokens} tokens")
    still_page.keyboard.press(" ")
    expect(still_page.get_by_role("button", name="Pause")).to_be_visible()
    expect(still_page.locator(".spoken").first).to_contain_text("tokens")


def test_hostile_and_long_text_stays_text(still_page: Page, app_url: str) -> None:
    still_page.add_init_script("window.harmed = 0")
    hostile = "<img src=x onerror=harmed=1>\u202ea\u202c" + "a" * 400
    open_page(still_page, f"{app_url}/?sentence={quote(hostile)}")
    note = "Only the first 300 characters are used here. Train takes longer texts."
    expect(still_page.get_by_text(note)).to_be_visible()
    expect(length(still_page)).to_contain_text("300 characters")
    expect(still_page.locator(".loop .code-point").first).to_have_text("U+202E")
    assert still_page.evaluate("() => window.harmed") == 0
    assert still_page.locator(".loop img").count() == 0
    still_page.set_viewport_size({"width": 390, "height": 900})
    for step in (0, 4, 7):
        scrub_to(still_page, step)
        main = still_page.get_by_test_id("stMain")
        assert main.evaluate("(main) => main.scrollWidth - main.clientWidth") == 0
    # The address holds only the part of the pasted text that is used.
    still_page.wait_for_function(
        "() => new URL(location).searchParams.get('sentence').length < 310"
    )


def test_words_of_a_script_from_the_right_stand_from_the_right(
    still_page: Page, app_url: str
) -> None:
    open_page(still_page, f"{app_url}/?sentence={quote('سلام سلام')}")
    boxes = [still_page.locator(".loop .word").nth(i).bounding_box() for i in (0, 1)]
    assert boxes[0] is not None
    assert boxes[1] is not None
    assert boxes[0]["x"] > boxes[1]["x"]


def test_the_page_keeps_its_height_while_merges_play(still_page: Page, app_url: str) -> None:
    open_page(still_page, app_url)
    door = still_page.locator(".door").first
    slider = still_page.get_by_role("slider", name="Merges done")
    places: set[float] = set()
    for step in range(int(slider.get_attribute("max") or 0) + 1):
        scrub_to(still_page, step)
        box = door.bounding_box()
        assert box is not None
        places.add(round(box["y"]))
    still_page.get_by_role("button", name="Guess the last three merges").click()
    for name in ("Show me", "Join them"):
        box = door.bounding_box()
        assert box is not None
        places.add(round(box["y"]))
        still_page.get_by_role("button", name=name).click()
    assert len(places) == 1


def candidate(page: Page, name: str) -> Locator:
    return page.locator(".candidate").filter(has=page.get_by_role("img", name=name, exact=True))


def test_playing_leads_to_three_merges_to_guess(page: Page, app_url: str) -> None:
    open_page(page, app_url)
    start = page.evaluate("performance.now()")
    expect(length(page)).to_have_text("69 characters, now 64 tokens")
    assert page.evaluate("performance.now()") - start > 2_000  # the first merge can be read
    bars = page.locator(".loop .race li:not(.leaving)")
    expect(bars).to_have_count(4)
    expect(bars.filter(has_text="next")).to_contain_text("5")
    sentence = page.locator(".loop .sentence")
    expect(sentence).to_have_text("Your turn, 1 of 3. Which pair is joined next?")
    expect(page.locator(".loop .pair")).to_have_count(0)  # nothing rings the answer
    expect(page.locator(".candidate .times")).to_have_text(["?"] * 4)
    candidate(page, "space, a").click()
    expect(page.locator(".verdict")).to_contain_text("Right.")
    expect(candidate(page, "space, a").locator(".times")).to_have_text("twice")
    page.get_by_role("button", name="Join them").click()
    expect(sentence).to_contain_text("Your turn, 2 of 3.")
    candidate(page, "o, w").click()
    expect(page.locator(".verdict")).to_contain_text("Not this one.")
    page.get_by_role("button", name="Join them").click()
    expect(sentence).to_contain_text("Your turn, 3 of 3.")
    page.get_by_role("button", name="Show me").click()
    page.get_by_role("button", name="Join them").click()
    expect(sentence).to_contain_text("1 of 2 right. Nothing is left to learn")
    expect(length(page)).to_have_text("69 characters, now 24 tokens")


def test_guessing_on_start_needs_the_keyboard_alone(still_page: Page, app_url: str) -> None:
    open_page(still_page, f"{app_url}/?sentence={quote(SHELLS)}")
    still_page.get_by_role("button", name="Guess the next three merges").focus()
    for _ in range(3):
        still_page.keyboard.press("Enter")  # begins, or joins what was guessed
        expect(still_page.locator(".candidate").first).to_be_focused()
        still_page.keyboard.press("Enter")
        expect(still_page.get_by_role("button", name="Join them")).to_be_focused()
    still_page.keyboard.press("Enter")
    expect(still_page.locator(".loop .sentence")).to_contain_text("of 3 right. Nothing is left")
    still_page.locator(".loop").focus()
    still_page.keyboard.press("Home")
    expect(length(still_page)).to_have_text("37 characters, now 37 tokens")


def test_the_sentence_is_shown_as_gpt2_cuts_it(still_page: Page, app_url: str) -> None:
    open_page(still_page, app_url)
    field(still_page).fill("<b>hug</b> hugs")
    door = still_page.get_by_role("link", name="What does GPT-2 do to it?")
    # The press shows within a frame, before the server answers.
    assert door.evaluate("(door) => { door.click(); return door.getAttribute('aria-busy'); }")
    expect(still_page.get_by_role("heading", level=1)).to_have_text("Token boundaries")
    expect(still_page.get_by_label("Your text")).to_have_value("<b>hug</b> hugs")
    expect(still_page.get_by_test_id("stMain")).to_contain_text("GPT-2 exact")


def test_half_a_character_does_not_stop_the_way_to_gpt2(still_page: Page, app_url: str) -> None:
    open_page(still_page, app_url)
    field(still_page).evaluate(
        """(field) => {
          field.value = "hug \\ud83e hug";
          field.dispatchEvent(new InputEvent("input", { bubbles: true }));
        }"""
    )
    still_page.get_by_role("link", name="What does GPT-2 do to it?").click()
    expect(still_page.get_by_label("Your text")).to_have_value("hug ? hug")


@pytest.mark.parametrize(
    ("link", "heading"),
    [
        ("Train on a whole text", "Train"),
        ("What does GPT-2 do to it?", "Token boundaries"),
        ("Learn step by step", "Lessons"),
    ],
)
def test_each_door_leads_on_and_back_finds_the_sentence(
    still_page: Page, app_url: str, link: str, heading: str
) -> None:
    open_page(still_page, app_url)
    field(still_page).fill(SHELLS)
    still_page.wait_for_function("() => location.search.includes('shells')")
    still_page.get_by_role("link", name=link).click()
    expect(still_page.get_by_role("heading", level=1)).to_have_text(heading)
    wait_until_idle(still_page)
    assert "sentence" not in still_page.url
    still_page.go_back()
    expect(still_page.get_by_role("heading", level=1)).to_have_text(START)
    expect(field(still_page)).to_have_value(SHELLS)
    # The navigation's own link leads to the same sentence.
    still_page.get_by_role("link", name="Lab").click()
    expect(still_page.get_by_role("heading", level=1)).to_have_text("Lab")
    still_page.get_by_role("link", name="Start", exact=True).click()
    expect(field(still_page)).to_have_value(SHELLS)


@pytest.mark.parametrize(
    ("address", "heading", "path"),
    [
        ("/?run=unknown", "Train", "/train?run=unknown"),
        ("/?goto=merge_loop&step=5", "Merge loop", "/merge_loop?step=5"),
    ],
)
def test_old_links_to_the_bare_address_lead_where_they_led(
    page: Page, app_url: str, address: str, heading: str, path: str
) -> None:
    open_page(page, app_url + address)
    expect(page.get_by_role("heading", level=1)).to_have_text(heading)
    assert page.url == app_url + path


def test_in_a_narrow_window_the_navigation_is_a_menu(still_page: Page, app_url: str) -> None:
    open_page(still_page, app_url)
    menu = still_page.get_by_role("button", name="Menu", exact=True)
    expect(menu).to_have_count(0)
    still_page.set_viewport_size({"width": 390, "height": 844})
    expect(menu).to_be_visible()
    main = still_page.get_by_test_id("stMain")
    assert main.evaluate("(main) => main.scrollWidth - main.clientWidth") == 0
    shown = menu.evaluate("(menu) => getComputedStyle(menu, '::after').content")
    assert shown == '"Menu"'
    expect(menu.get_by_test_id("stIconMaterial")).to_be_hidden()
    menu.click()
    names = still_page.get_by_test_id("stSidebarNavLink")
    expect(names).to_have_text(
        [
            "Start",
            "Lessons",
            "Train",
            "Merge loop",
            "Pair frequencies",
            "Token boundaries",
            "Vocabulary",
            "Compare",
            "Adapt",
            "Lab",
        ]
    )
    groups = still_page.get_by_test_id("stSidebarNavLinkContainer").evaluate_all(
        """(links) => links.map((link) => getComputedStyle(link, "::before").content)
             .filter((name) => name !== "none")"""
    )
    assert groups == ['"Learn"', '"Your tokenizer"', '"For engineers"']
    names.nth(1).click()
    expect(still_page.get_by_role("heading", level=1)).to_have_text("Lessons")
