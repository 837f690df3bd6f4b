"""Test the lessons in a real browser: questions, steps by keyboard, and the visitor's own words."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, expect

from tests.app_pages import START
from tests.browser.helpers import go_to_address, open_page, start_new_session, wait_until_idle

PRESS_AND_READ = "(one) => { one.click(); return one.closest('.question').innerText; }"


def open_step(page: Page, query: str) -> None:
    go_to_address(page, "/")
    go_to_address(page, f"/lessons?{query}")


def question(page: Page) -> Locator:
    return page.get_by_role("group", name="Question")


def test_steps_are_taken_by_keyboard_with_the_code_left_open_and_kept_in_the_address(
    tab: Page,
) -> None:
    heading = tab.get_by_role("heading", level=2)
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
    expect(heading).to_have_text("From words to symbols")
    open_step(tab, address.partition("?")[2])
    expect(heading).to_have_text("Choose the most frequent")


def test_back_and_forward_go_through_the_steps_before_they_leave_the_lessons(tab: Page) -> None:
    go_to_address(tab, "/")
    tab.get_by_role("link", name="Lessons", exact=True).click()
    heading = tab.get_by_role("heading", level=2)
    for name, headed in (
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
    german = browser.new_context(locale="de-DE")
    german.add_init_script(path="tests/browser/at_rest.js")
    own = german.new_page()
    open_page(own, f"{app_url}/lessons?lesson=Why+token+counts+differ+between+languages")
    expect(question(own)).to_contain_text("The same sentence in German and in English.")
    german.close()
