"""What was typed or pasted counts with the next press, and no press, help or draw is lost."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Browser, Locator, Page, expect
from streamlit.proto.BackMsg_pb2 import BackMsg

from tests.browser.helpers import go_to_address, open_page, wait_until_idle
from tests.browser.player import Player
from tests.browser.serving import new_context
from tests.browser.training import choose, open_parts
from ui.look.labels import GLOSSARY

NewPage = Callable[[], Page]

HUGS = "hug hugs pug pun bun " * 30
# Each place of a button in the window, from frame to frame, without repetitions.
RECORD_TOP = """(button) => {
  const tops = (window.tops = []);
  (function frame() {
    if (window.tops !== tops) return;
    const { top } = button.getBoundingClientRect();
    if (top !== tops.at(-1)) tops.push(top);
    requestAnimationFrame(frame);
  })();
}"""
# Keeps what the page sends. Once `late` is the number of a message, sends that again right after
# the next one: a page that is being left does so, if the pause before its report ends then.
KEEP_SENT = """() => {
  const { send } = WebSocket.prototype;
  globalThis.sent = [];
  WebSocket.prototype.send = function (data) {
    send.call(this, data);
    globalThis.sent.push(new Uint8Array(data));
    if (globalThis.late !== undefined) send.call(this, globalThis.sent[globalThis.late]);
    delete globalThis.late;
  };
}"""
RUN = re.compile(r"[?&]run=[0-9a-f]{32}")


def hold(button: Locator) -> None:
    """Press a button as slowly as a person with a heavy hand: the page may change meanwhile.

    Playwright sees to it that the press begins on the button, wherever a redraw moves it before.
    """
    button.click(delay=600)


def button(page: Page, name: str) -> Locator:
    return page.get_by_role("button", name=name, exact=True)


def paste(page: Page, text: str) -> None:
    """Paste into the field that has the focus, as a person does."""
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.evaluate("(text) => navigator.clipboard.writeText(text)", text)
    page.keyboard.press("Control+v")


def test_a_paste_counts_without_leaving_the_field_and_a_slow_press_trains_on_it(
    tab: Page,
) -> None:
    go_to_address(tab, "/train")
    choose(tab, "Paste")
    train, area = button(tab, "Train"), tab.get_by_label("Text to train on")
    train.click()
    expect(tab.get_by_text("Choose a text first.")).to_be_visible()
    area.click()
    train.evaluate(RECORD_TOP)
    paste(tab, HUGS)
    expect(tab.get_by_test_id("stMain")).to_contain_text("nothing set aside")
    expect(area).to_be_focused()
    wait_until_idle(tab)
    assert len(tab.evaluate("window.tops")) == 1
    press_and_leave(train)
    wait_until_idle(tab)
    expect(train).to_be_enabled()
    assert "job=" not in tab.url
    area.click()
    paste(tab, HUGS)
    hold(train)
    tab.wait_for_url(RUN)
    expect(tab.get_by_test_id("stMain")).to_contain_text("Pasted text: ")


def press_and_leave(button: Locator) -> None:
    """Press a button, and leave it before letting go, which is no press."""
    box = button.bounding_box()
    assert box is not None
    mouse = button.page.mouse
    mouse.move(box["x"] + 20, box["y"] + 10)
    mouse.down()
    mouse.move(box["x"] + 20, box["y"] - 200, steps=4)
    mouse.up()


def test_text_typed_in_several_rests_is_complete(tab: Page) -> None:
    go_to_address(tab, "/train")
    choose(tab, "Paste")
    area = tab.get_by_label("Text to train on")
    for word in HUGS.split()[:4]:
        area.press_sequentially(f"{word} ", delay=30)
        tab.wait_for_timeout(450)
    expect(area).to_have_value("hug hugs pug pun ")
    button(tab, "Train").click()
    tab.wait_for_url(RUN)
    expect(area).to_have_value("hug hugs pug pun ")


def test_words_and_a_number_typed_just_before_the_press_count(tab: Page) -> None:
    go_to_address(tab, "/train")
    choose(tab, "Weighted words")
    tab.get_by_label("One word and its count per line").fill("ab 3\ncd 2")
    hold(button(tab, "Train"))
    tab.wait_for_url(RUN)
    expect(tab.get_by_test_id("stMain")).to_contain_text("ab, cd: 2 merges")
    wait_until_idle(tab)
    before = tab.url
    tab.get_by_label("Exact vocabulary size").fill("258")
    hold(button(tab, "Train"))
    tab.wait_for_url(lambda url: RUN.search(url) is not None and url != before)
    expect(tab.get_by_test_id("stMain")).to_contain_text("1 merge")


def test_a_press_counts_if_the_button_moves_away(tab: Page) -> None:
    go_to_address(tab, "/pair_frequencies?part=How large?")
    one = button(tab, "Check the text")
    one.scroll_into_view_if_needed()
    box = one.bounding_box()
    assert box is not None
    tab.mouse.move(box["x"] + 20, box["y"] + 10)
    tab.mouse.down()
    one.evaluate("(button) => { button.style.transform = 'translateY(-90px)'; }")
    tab.mouse.up()
    expect(one).to_be_hidden()


def test_the_help_of_a_switch_does_not_press_it(tab: Page) -> None:
    go_to_address(tab, "/token_boundaries?tokenizer=GPT-2&text=<|endoftext|>")
    switch = tab.get_by_test_id("stCheckbox").first
    box = switch.locator("input")
    was = box.is_checked()
    switch.get_by_test_id("stTooltipIcon").click()
    wait_until_idle(tab)
    assert box.is_checked() is was


def test_the_menu_of_a_narrow_window_takes_and_returns_the_focus_and_closes(
    new_page: NewPage, app_url: str
) -> None:
    page = new_page()
    page.set_viewport_size({"width": 390, "height": 844})
    open_page(page, f"{app_url}/train")
    menu, links = button(page, "Menu"), page.get_by_test_id("stSidebarNavLink")
    link = links.get_by_text("Lab", exact=True)
    for focused in (page.get_by_test_id("stSkipToContent"), menu):
        page.keyboard.press("Tab")  # the links of the closed menu are passed over
        expect(focused).to_be_focused()
    page.keyboard.press("Enter")
    expect(links.filter(has_text="Train")).to_be_focused()
    page.keyboard.press("Escape")
    expect(menu).to_be_focused()
    expect(link).to_be_hidden()

    menu.click()
    page.reload()
    wait_until_idle(page)
    expect(menu).to_be_visible()
    expect(link).to_be_hidden()
    menu.click()
    links.last.focus()
    page.keyboard.press("Tab")  # leaves the menu
    expect(link).to_be_hidden()
    expect(page.get_by_test_id("stMainMenuButton")).to_be_focused()

    menu.click()
    link.click()
    expect(page.get_by_role("heading", name="Lab", exact=True)).to_be_in_viewport()
    expect(link).to_be_hidden()
    expect(page.get_by_test_id("stMain")).to_be_focused()


def test_back_goes_page_by_page_with_the_choices_made(new_page: NewPage, app_url: str) -> None:
    page = new_page()
    open_page(page, f"{app_url}/start")
    entries = page.evaluate("history.length")
    page.get_by_role("link", name="Vocabulary", exact=True).click()
    expect(page.get_by_role("heading", name="Vocabulary", exact=True)).to_be_visible()
    wait_until_idle(page)
    for view in ("Trie", "Table"):
        choose(page, view)
    search = page.get_by_role("searchbox", name="Search the tokens")
    search.fill(" the")
    page.wait_for_url("**find=*the*")
    wait_until_idle(page)
    chosen = page.url
    for title in ("Merge loop", "Compare"):
        page.get_by_role("link", name=title, exact=True).click()
        expect(page.get_by_role("heading", name=title, exact=True)).to_be_visible()
        wait_until_idle(page)
    assert page.evaluate("history.length") == entries + 3
    for title in ("Merge loop", "Vocabulary"):
        page.go_back()
        expect(page.get_by_role("heading", name=title, exact=True)).to_be_visible()
        wait_until_idle(page)
    assert page.url == chosen
    expect(search).to_have_value(" the")
    page.go_back()
    page.wait_for_function("() => location.pathname === '/'")
    wait_until_idle(page)
    page.go_forward()
    expect(page.get_by_role("heading", name="Vocabulary", exact=True)).to_be_visible()
    wait_until_idle(page)
    assert page.url == chosen
    page.reload()
    expect(page.get_by_role("heading", name="Vocabulary", exact=True)).to_be_visible()
    expect(search).to_have_value(" the")


PHONE = {"width": 390, "height": 844}
# Shown, and then wholly within the window.
IS_WITHIN_THE_WINDOW = """(one) => {
  const { left, right, top, bottom } = one.getBoundingClientRect();
  return right > left && left >= 0 && right <= innerWidth && top >= 0 && bottom <= innerHeight;
}"""


def test_a_term_is_explained_by_keyboard_pointer_and_touch(browser: Browser, app_url: str) -> None:
    context = new_context(browser, viewport=PHONE, has_touch=True)
    page = context.new_page()
    open_page(page, f"{app_url}/train")
    open_parts(page)
    button = page.get_by_role("button", name="Help for pre-token")
    tooltip = page.locator(".help-text", has_text=GLOSSARY["Pre-token"])
    expect(tooltip).to_be_hidden()
    button.focus()
    expect(tooltip).to_be_visible()
    expect(button).to_have_accessible_description(GLOSSARY["Pre-token"])
    button.blur()
    expect(tooltip).to_be_hidden()
    button.hover()
    expect(tooltip).to_be_visible()
    page.mouse.move(0, 0)
    expect(tooltip).to_be_hidden()
    button.tap()
    expect(tooltip).to_be_visible()
    page.wait_for_function(IS_WITHIN_THE_WINDOW, arg=tooltip.element_handle())
    context.close()


# Streamlit loads components' scripts from blobs. These wait until `window.letScriptsRun()`.
SCRIPTS_WAIT = """(() => {
  window.scriptsMayRun = new Promise((run) => { window.letScriptsRun = run; });
  const makeUrl = URL.createObjectURL;
  URL.createObjectURL = (blob) =>
    makeUrl.call(URL, blob.type === "text/javascript"
      ? new Blob(["await window.scriptsMayRun;\\n", blob], { type: blob.type })
      : blob);
})()"""
# A component has its script's elements; the invisible ones have none.
WHICH_HAVE_ELEMENTS = """() =>
  [...document.querySelectorAll('[data-testid="stBidiComponentIsolated"]')].map(
    ({ shadowRoot }) => shadowRoot.querySelector(":not(style, :has(style))") !== null)"""
ALL_HAVE_ELEMENTS = f"""() => {{
  const which = ({WHICH_HAVE_ELEMENTS})();
  return which.length > 0 && which.every(Boolean);
}}"""
PAGE_IS_LIGHT = """() => {
  const ground = getComputedStyle(document.querySelector('[data-testid="stApp"]')).backgroundColor;
  return Number(ground.match(/\\d+/)[0]) > 127;
}"""


def test_components_stay_when_the_theme_is_switched_before_their_scripts_run(
    tab: Page, page: Page, app_url: str
) -> None:
    go_to_address(tab, "/token_boundaries")
    tab.wait_for_function(ALL_HAVE_ELEMENTS)  # a component draws after the page is idle
    expected = tab.evaluate(WHICH_HAVE_ELEMENTS)
    page.emulate_media(color_scheme="dark")
    page.add_init_script(SCRIPTS_WAIT)
    open_page(page, f"{app_url}/token_boundaries")
    page.emulate_media(color_scheme="light")
    page.wait_for_function(PAGE_IS_LIGHT)
    asked = page.evaluate("() => window.timesAsked")
    page.evaluate("() => window.letScriptsRun()")
    # The page is still watched: it asks Python to draw charts for the new theme.
    page.wait_for_function("(asked) => window.timesAsked > asked", arg=asked)
    wait_until_idle(page)
    page.wait_for_function(ALL_HAVE_ELEMENTS)
    assert page.evaluate(WHICH_HAVE_ELEMENTS) == expected


def test_a_report_that_comes_after_a_link_does_not_empty_the_page(page: Page, app_url: str) -> None:
    player = Player.open(page, f"{app_url}/merge_loop")
    player.expect_merges()
    wait_until_idle(page)
    page.evaluate(KEEP_SENT)
    player.press("forward")
    expect(page).to_have_url(re.compile("step="))
    wait_until_idle(page)
    sent = page.evaluate("globalThis.sent.map((data) => [...data])")
    asked = [BackMsg.FromString(bytes(data)).rerun_script.fragment_id for data in sent]
    report = max(place for place, part in enumerate(asked) if part)
    page.evaluate("(place) => { globalThis.late = place; }", report)
    page.get_by_role("link", name="Token boundaries", exact=True).click()
    expect(page.get_by_role("heading", level=1, name="Token boundaries")).to_be_visible()
    wait_until_idle(page)
    expect(page.get_by_role("heading", level=1, name="Token boundaries")).to_be_visible()
    expect(page.locator(".scroller").first).to_be_visible()


def test_what_was_chosen_on_one_page_is_not_called_an_unknown_choice_on_another(
    page: Page, app_url: str
) -> None:
    open_page(page, f"{app_url}/compare")
    page.get_by_role("link", name="Start", exact=True).click()
    page.get_by_role("link", name="What does GPT-2 do to it?").first.click()
    expect(page.get_by_role("heading", level=1, name="Token boundaries")).to_be_visible()
    expect(page.locator(".scroller").first).to_be_visible()
    wait_until_idle(page)
    expect(page.get_by_test_id("stAlert")).to_have_count(0)
