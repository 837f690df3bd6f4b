"""Test the lessons in a real browser: questions, steps by keyboard, and the visitor's own words."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, expect

from tests.app_pages import START
from tests.browser.helpers import go_to_address, open_page, start_new_session, wait_until_idle
from tests.browser.serving import new_context

MAIN = "document.querySelector('[data-testid=stMain]')"
PRESS_AND_READ = "(one) => { one.click(); return one.closest('.question').innerText; }"


def open_step(page: Page, query: str) -> None:
    go_to_address(page, "/")
    go_to_address(page, f"/lessons?{query}")


def question(page: Page) -> Locator:
    return page.get_by_role("group", name="Question")


def test_steps_are_taken_by_keyboard_with_the_code_left_open_and_kept_in_the_address(
    tab: Page,
) -> None:
    heading = tab.get_by_role("heading", level=2).first  # the game, which is left, has several
    expect(tab.get_by_role("heading", name="Your list")).to_be_visible()
    wait_until_idle(tab)
    tab.get_by_text("Hug words", exact=True).click()
    expect(heading).to_have_text("From words to symbols")
    question(tab).get_by_role("button", name="Show me").press("Enter")
    expect(question(tab).get_by_role("status")).to_be_focused()
    expect(tab.get_by_role("region", name="Source of split_symbols")).to_be_hidden()
    tab.get_by_text("Show the code").click()
    expect(tab.get_by_role("region", name="Source of split_symbols")).to_be_visible()
    wait_until_idle(tab)
    following = tab.get_by_role("button", name="Next", exact=True)
    following.press("Enter")
    expect(heading).to_have_text("Count the neighbours")
    expect(question(tab)).to_contain_text("How often does the pair (u, g) occur?")
    source = tab.get_by_role("region", name="Source of count_pairs")
    expect(source).to_have_count(0)
    # The verdict is there in the frame of the press, before the server answers.
    said = question(tab).get_by_role("button", name="10", exact=True).evaluate(PRESS_AND_READ)
    assert "Not quite. (u, g): hug 10 + ugg 5 = 15." in said
    expect(source).to_be_visible()
    expect(question(tab).get_by_role("button", name="15")).to_be_disabled()
    wait_until_idle(tab)
    following.press("Enter")
    expect(heading).to_have_text("Choose the most frequent")
    expect(tab.get_by_text("Step 3 of 6")).to_be_visible()
    wait_until_idle(tab)
    tab.get_by_role("button", name="Back", exact=True).click()
    expect(question(tab)).to_contain_text("Not quite.")  # it is not asked again
    wait_until_idle(tab)
    following.click()
    expect(heading).to_have_text("Choose the most frequent")
    wait_until_idle(tab)
    address = tab.url
    start_new_session(tab)
    expect(tab.get_by_role("heading", name="Your list")).to_be_visible()
    open_step(tab, address.partition("?")[2])
    expect(heading).to_have_text("Choose the most frequent")


def test_back_and_forward_go_through_the_steps_before_they_leave_the_lessons(tab: Page) -> None:
    go_to_address(tab, "/")
    tab.get_by_role("link", name="Lessons", exact=True).click()
    expect(tab.get_by_role("heading", name="Your list")).to_be_visible()
    heading = tab.get_by_role("heading", level=2).first  # the game, which is left, has several
    for name, headed in (
        ("Hug words", "From words to symbols"),
        ("Next", "Count the neighbours"),
        ("Next", "Choose the most frequent"),
        ("Repeat", "Repeat"),
        ("Four documents", "Cut at white space"),
        ("Next", "What the vocabulary starts with"),
    ):
        wait_until_idle(tab)
        tab.get_by_test_id("stMain").get_by_text(name, exact=True).click()
        expect(heading).to_have_text(headed)
    steps = ["Cut at white space", "Repeat", "Choose the most frequent", "Count the neighbours"]
    for headed in (*steps, "From words to symbols"):
        wait_until_idle(tab)
        tab.go_back()
        expect(heading).to_have_text(headed)
    wait_until_idle(tab)
    tab.go_forward()
    expect(heading).to_have_text(steps[-1])
    wait_until_idle(tab)
    # A step that is taken here is a step like the first ones.
    tab.get_by_role("button", name="Next", exact=True).click()
    expect(heading).to_have_text(steps[-2])
    for headed in (steps[-1], "From words to symbols"):
        wait_until_idle(tab)
        tab.go_back()
        expect(heading).to_have_text(headed)
    wait_until_idle(tab)
    tab.go_back()
    expect(tab.get_by_role("heading", name="Your list")).to_be_visible()
    wait_until_idle(tab)
    tab.go_back()
    expect(tab.get_by_role("heading", level=1)).to_have_text(START)
    wait_until_idle(tab)


def test_a_lesson_for_print_is_on_all_pages_of_the_paper(tab: Page) -> None:
    open_step(tab, "step_of_1=Words")
    tab.get_by_role("button", name="For teachers").click()
    link = tab.get_by_role("link", name="This lesson for print").get_attribute("href")
    assert link is not None
    open_step(tab, f"{link[1:]}")
    wait_until_idle(tab)
    expect(question(tab)).to_have_count(12)
    tab.emulate_media(media="print")
    expect(tab.get_by_test_id("stHeader")).to_be_hidden()
    expect(tab.get_by_test_id("stMain")).to_have_css("position", "static")
    n_pages = len(re.findall(rb"/Type\s*/Page[^s]", tab.pdf(format="A4")))
    assert n_pages >= 4
    tab.emulate_media(media="screen")
    tab.get_by_role("button", name="Back to the lesson").click()
    expect(question(tab)).to_have_count(1)


def test_the_lesson_follows_the_visitor_s_words_and_escapes_them(tab: Page) -> None:
    alarms: list[str] = []
    tab.on("dialog", lambda dialog: alarms.append(dialog.message))
    open_step(tab, "step_of_1=Choice")
    question(tab).get_by_role("button", name="Show me").click()
    pairs = tab.get_by_role("list", name="The most frequent pairs")
    expect(pairs.get_by_role("listitem").first).to_contain_text("18")
    tab.get_by_test_id("stExpander").locator("summary").click()
    tab.get_by_role("textbox", name="Change the words and their counts").fill(
        "<img/src=x/onerror=alert(1)> 40\nbanana 7"
    )
    expect(pairs.get_by_role("listitem").first).to_contain_text("80")
    tab.get_by_text("Show the code").click()
    result = tab.get_by_role("region", name="The call and its result")
    expect(result).to_contain_text("('e', 'r')")
    tab.get_by_role("button", name="Reset to the example").click()
    expect(pairs.get_by_role("listitem").first).to_contain_text("18")
    assert alarms == []


def test_a_visitor_is_taught_about_their_own_language(tab: Page, app_url: str) -> None:
    browser = tab.context.browser
    assert browser is not None
    german = new_context(browser, locale="de-DE")
    own = german.new_page()
    open_page(own, f"{app_url}/lessons?lesson=Why+token+counts+differ+between+languages")
    expect(question(own)).to_contain_text("The same sentence in German and in English.")
    german.close()


def type_merges(page: Page, tokens: str) -> None:
    """Join pairs by the tokens that they make."""
    field = page.get_by_role("textbox", name="or type the token you want")
    for token in tokens.split():
        field.fill(token)
        field.press("Enter")


def test_the_game_is_played_by_keyboard_by_pointer_and_undone(tab: Page) -> None:
    open_step(tab, "lesson=You+against+BPE")
    game = tab.locator(".game")
    yours, theirs, verdict = (game.locator(f) for f in (".you b", ".bpe b", ".verdict"))
    expect(yours).to_have_text("1,800")
    type_merges(tab, "th the in er ou an ␣a re ing")
    expect(theirs).to_have_text("?")
    expect(game.locator(".theirs li").first).to_be_empty()
    type_merges(tab, "he")
    expect(yours).to_have_text("1,649")
    expect(theirs).to_have_text("1,572")
    expect(verdict).to_have_text("BPE leads by 77 tokens.")
    grips = game.locator(".grip")
    grips.nth(9).focus()
    for key in ["Space", *["ArrowUp"] * 9, "Space"]:
        tab.keyboard.press(key)
    expect(yours).to_have_text("1,665")
    expect(game.locator(".so")).to_have_text("16 words split differently: 16 tokens more.")
    expect(grips.first).to_be_focused()
    for _ in range(9):
        tab.keyboard.press("Control+z")
    expect(yours).to_have_text("1,649")
    # The same by the pointer.
    grips.nth(9).scroll_into_view_if_needed()
    start, goal = grips.nth(9).bounding_box(), grips.first.bounding_box()
    assert start is not None
    assert goal is not None
    tab.mouse.move(start["x"] + 9, start["y"] + 9)
    tab.mouse.down()
    tab.mouse.move(start["x"] + 9, goal["y"] + 9, steps=8)
    tab.mouse.up()
    expect(yours).to_have_text("1,665")
    expect(game.locator("[aria-live]")).to_contain_text("he moved from 10 to 1. 1,665 tokens.")
    grips.first.focus()
    tab.keyboard.press("Delete")
    expect(theirs).to_have_text("?")
    expect(verdict).to_have_text("1 merge left.")


def test_a_visitor_can_win_on_the_text_made_for_it(tab: Page) -> None:
    open_step(tab, "lesson=You+against+BPE")
    tab.get_by_role("radio", name="A text you can beat").check()
    type_merges(tab, "re he here")
    expect(tab.locator(".game .verdict")).to_have_text("You win by 3 tokens.")
    expect(tab.locator(".game .why")).to_contain_text("You looked further ahead than BPE")
    # On a phone the buttons move a merge.
    tab.set_viewport_size({"width": 390, "height": 844})
    tab.get_by_role("button", name="Move h and e up").click()
    expect(tab.locator(".game .what")).to_have_text("he moved from 2 to 1.")
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390


def test_on_a_projector_a_lesson_fills_the_screen(tab: Page) -> None:
    tab.set_viewport_size({"width": 1920, "height": 1080})
    for lesson in ("Hug+words", "You+against+BPE"):
        open_step(tab, f"lesson={lesson}")
        wait_until_idle(tab)
        box = tab.locator(".st-key-lesson_page").bounding_box()
        assert box is not None
        assert box["width"] > 0.8 * 1920


def test_a_remote_control_takes_steps_in_full_screen_and_the_focus_stays(tab: Page) -> None:
    tab.set_viewport_size({"width": 1920, "height": 500})
    open_step(tab, "lesson=Hug+words")
    heading = tab.get_by_role("heading", level=2).first
    expect(heading).to_have_text("From words to symbols")
    full = tab.get_by_role("button", name="Full screen")
    full.press("Enter")
    tab.wait_for_function("() => document.documentElement.matches(':fullscreen')")
    expect(tab.get_by_test_id("stHeader")).to_be_hidden()
    for key, headed in (
        ("ArrowRight", "Count the neighbours"),
        ("ArrowRight", "Choose the most frequent"),
        ("ArrowLeft", "Count the neighbours"),
        ("PageUp", "From words to symbols"),
    ):
        tab.keyboard.press(key)
        expect(heading).to_have_text(headed)
        expect(full).to_be_focused()
        wait_until_idle(tab)
    tab.keyboard.press("PageDown")  # shows the rest of the step first
    tab.wait_for_function(f"() => {MAIN}.scrollTop > 0")
    expect(heading).to_have_text("From words to symbols")
    # In a field, and outside of full screen, the keys are the browser's.
    tab.get_by_text("Change the words and their counts").first.click()
    tab.get_by_role("textbox").first.press("ArrowRight")
    full.press("Enter")
    tab.wait_for_function("() => !document.fullscreenElement")
    full.press("ArrowRight")
    wait_until_idle(tab)
    expect(heading).to_have_text("From words to symbols")
