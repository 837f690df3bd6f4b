"""The scenes below the start page's first screen: each by keyboard, and with every figure right."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, ViewportSize, expect

import bpe_core as bpe
from tests.browser.helpers import assert_fits, go_to_address, open_page
from tests.browser.serving import new_context
from tests.browser.test_accessibility import broken_rules
from tests.oracles import opened_by_name
from ui.components import story_data

VISITORS = {
    "यह किताब मेरी है, और वह किताब मेरे भाई की है": "hi",
    "ที่นี่มีที่จอดรถที่ดีที่สุด": "th",
    "بِسْمِ اللَّهِ الرَّحْمَٰنِ، بِسْمِ اللَّهِ": "ar",
    "我的名字，我的家，我的村庄！": "zh",
    "İki ılık ışık, İzmir’de ılık bir kış: IŞIK, ışık, ILIK, ılık": "tr",
    "👩\u200d👩\u200d👧 <b>hugs</b>, 🧩🧩 hugs, hugs": "",
}
TITLES = (
    "The text is cut first",
    "The list of merges is the tokenizer",
    "How far to go",
    "What a model sees",
)
CUTS = {"GPT-4o": "o200k", "No cut": "none", "GPT-2": "gpt2"}
SENTENCE = story_data()["readings"]["sentence"]["text"]
MAX_WORDS = 60
# Without the visitor's own and the examples, and what only a screen reader reads.
COUNT_WORDS = """(scene) => {
  const examples = ".pieces, .label bdi, .ids, ol, .fall, .asked, .prices, table, .doors";
  const unseen = ".unseen-text, .spoken, legend";
  const words = (node) => {
    const isText = node.nodeType === Node.TEXT_NODE;
    if (isText) return node.textContent.match(/\\S*\\p{L}\\S*/gu)?.length ?? 0;
    if (!(node instanceof Element) || node.matches(`${examples}, ${unseen}`)) return 0;
    if (!node.checkVisibility()) return 0;
    return [...node.childNodes].reduce((sum, one) => sum + words(one), 0);
  };
  return words(scene);
}"""
# Notes, each time that scripts have run, in which scenes they changed what, and how many bars.
NOTE_CHANGES = """(scene) => {
  globalThis.changes = [];
  new MutationObserver((records) => {
    const elements = records.map(({ target }) => target).filter((one) => one instanceof Element);
    const scenes = elements.map((one) => one.closest("section")?.id).filter(Boolean);
    const bars = elements.filter((one) => one.matches(".ribbon path"));
    globalThis.changes.push({ scenes: [...new Set(scenes)], bars: new Set(bars).size });
  }).observe(scene.getRootNode(), { subtree: true, childList: true, attributes: true });
}"""
HAVE_CHANGED = """(ids) => {
  const scenes = globalThis.changes.flatMap((change) => change.scenes);
  return ids.every((id) => scenes.includes(id));
}"""
ZOOMED: ViewportSize = {"width": 720, "height": 450}  # a window of 1440 by 900 at 200 %
PHONE: ViewportSize = {"width": 390, "height": 844}
TALL: ViewportSize = {"width": 1440, "height": 5000}


@pytest.fixture
def still_tab(tab: Page) -> Iterator[Page]:
    """Return the tab of a visitor who asks for reduced motion."""
    tab.emulate_media(reduced_motion="reduce")
    yield tab
    tab.emulate_media(reduced_motion="no-preference")


def scene(page: Page, title: str) -> Locator:
    """Scroll to a scene, and return it."""
    found = page.get_by_role("region", name=title)
    found.scroll_into_view_if_needed()
    return found


def type_sentence(page: Page, text: str) -> None:
    page.get_by_role("textbox", name="Your sentence").fill(text)


def tokens_after_ten_merges(text: str, pretokenizer: str) -> int:
    """Return the tokens of a text after what it teaches a small tokenizer of characters."""
    config = bpe.TrainingConfig(
        len(set(text)) + 10,
        pretokenizer=pretokenizer,
        base="characters",
        special_tokens=(),
        min_frequency=2,
        tie_break="smallest-pair",
    )
    return int(bpe.train(bpe.Corpus.from_text(text), config).tokens_after[-1])


def test_the_cut_is_turned_by_keyboard_and_every_count_is_right(still_tab: Page) -> None:
    go_to_address(still_tab, "/")
    cut = scene(still_tab, "The text is cut first")
    # It opens without a cut, and turns to GPT-2's once.
    expect(cut.get_by_role("radio", name="GPT-2")).to_be_checked()
    fixed = {each["name"]: each["text"] for each in story_data()["languages"]}
    own = cut.get_by_role("listitem").filter(has_text="Your sentence")
    for sentence, language in VISITORS.items():
        type_sentence(still_tab, sentence)
        expect(own.locator(".unseen-text")).to_contain_text(sentence)
        expect(own.locator(".pieces")).to_have_attribute("lang", language)
        direction = "rtl" if language == "ar" else "ltr"
        expect(own.locator(".pieces")).to_have_attribute("dir", direction)
        cut.locator("input:checked").focus()
        heights = set[float]()
        for name, pretokenizer in CUTS.items():
            still_tab.keyboard.press("ArrowRight")
            expect(cut.get_by_role("radio", name=name)).to_be_checked()
            n_tokens: list[int] = []
            for row, text in {"Your sentence": sentence, **fixed}.items():
                found = cut.get_by_role("listitem").filter(has_text=row)
                n_tokens.append(tokens_after_ten_merges(text, pretokenizer))
                expect(found.locator(".size b")).to_have_text(str(n_tokens[-1]))
                pieces = bpe.get_pretokenizer(pretokenizer).split(text)
                expect(found.locator(".piece")).to_have_count(len(pieces))
            counts = ", ".join(
                f"{row} {n}" for row, n in zip(["Your sentence", *fixed], n_tokens, strict=True)
            )
            expect(cut.get_by_role("status")).to_have_text(f"{name}, tokens: {counts}.")
            heights.add(cut.evaluate("(cut) => cut.getBoundingClientRect().height"))
        assert len(heights) == 1


def test_the_list_replays_on_a_typed_word(still_tab: Page) -> None:
    go_to_address(still_tab, "/")
    merges = scene(still_tab, "The list of merges is the tokenizer")
    rows = merges.get_by_role("listitem").locator(".unseen-text")
    word = merges.get_by_role("textbox", name="A new word")
    ends = merges.get_by_role("status")
    expect(word).to_have_value("woodchucks")
    expect(rows).to_have_count(13)
    expect(rows.nth(12)).to_have_text("merge 13: space wood + chuck, fired")
    expect(rows.nth(8)).to_have_text("merge 9: space + a")
    expect(ends).to_have_text("2 tokens: space woodchuck, s. s is in no merge: it stays a letter.")
    word.fill("")
    word.press_sequentially("chr")  # letters that are shortcuts of the app elsewhere
    expect(word).to_be_focused()
    expect(ends).to_have_text("3 tokens: space, ch, r. r is in no merge: it stays a letter.")
    expect(merges.locator(".merge").locator("visible=true")).to_have_count(13)
    # What GPT-2's cut leaves without a merge is cut as GPT-4o does.
    type_sentence(still_tab, "मेरा नाम मेरा घर मेरा गाँव मेरा देश")
    expect(merges.get_by_text("4 merges from your sentence, cut by GPT-4o")).to_be_visible()
    word.fill("मेरे")
    expect(ends).to_have_text(
        re.compile("^4 tokens: space, मे, र, े. र and े are in merges, but none joins")
    )
    type_sentence(still_tab, "Grace Hopper")
    expect(merges.get_by_text("13 merges from “how much wood…”, in order")).to_be_visible()
    type_sentence(still_tab, "بسم الله الرحمن الرحيم، بسم الله، والله الرحمن")
    expect(rows).to_have_count(10)
    word.fill("<img src=x>")
    expect(merges.locator("img")).to_have_count(0)
    word.fill("الرحمنب")
    expect(merges.locator(".fall")).to_have_attribute("dir", "rtl")


def test_scenes_that_open_on_an_empty_sentence_show_samples(still_tab: Page) -> None:
    go_to_address(still_tab, "/")
    type_sentence(still_tab, "")
    merges = scene(still_tab, "The list of merges is the tokenizer")
    expect(merges.get_by_text("13 merges from “how much wood…”, in order")).to_be_visible()
    expect(merges.get_by_role("listitem").locator(".unseen-text")).to_have_count(13)
    sees = scene(still_tab, "What a model sees")
    ids = opened_by_name("o200k_base").encode(SENTENCE)
    expect(sees.locator(".back")).to_have_text([str(id) for id in ids])


def test_how_far_to_go_is_counted_at_every_step(still_tab: Page) -> None:
    seen, unseen = story_data()["seen"], story_data()["unseen"]
    run = bpe.train(bpe.Corpus.from_text(seen), bpe.TrainingConfig(100_000, special_tokens=()))
    go_to_address(still_tab, "/")
    far = scene(still_tab, "How far to go")
    slider = far.get_by_role("slider", name="Merges")
    expect(slider).to_have_attribute("max", str(len(run.merges)))
    slider.focus()
    for key, step in (("Home", 0), ("ArrowRight", 1), ("End", 462), ("ArrowLeft", 461)):
        still_tab.keyboard.press(key)
        n_unseen = len(run.tokenizer.truncated(step).encode(unseen))
        expect(far.locator(".seen-tokens")).to_have_text(f"{run.tokens_after[step]:,}")
        expect(far.locator(".unseen-tokens")).to_have_text(f"{n_unseen:,}")
        said = f"seen {run.tokens_after[step]:,} tokens, unseen {n_unseen:,}"
        assert said in (slider.get_attribute("aria-valuetext") or "")
        size = "small: the next" if step < 195 else f"large: the last {step - 195}"
        expect(far.locator(".how-large")).to_contain_text(f"Too {size} ")
        expect(far.locator(".seen-label b")).to_have_text(f"{1_800 / run.tokens_after[step]:.2f}")
    before = slider.input_value()
    still_tab.keyboard.press("PageUp")
    expect(slider).not_to_have_value(before)
    far.get_by_text("Table", exact=True).click()
    expect(far.get_by_role("row").filter(has_text="462")).to_have_text("4624703.832301.74")

    own = "मेरा नाम, اسمي, 我的名字, benim adım 🧩 hugs. " * 20
    type_sentence(still_tab, own)
    expect(far.get_by_text("until you type")).to_be_hidden()
    expect(far.locator(".seen-bytes")).not_to_have_text("1,800 bytes")
    sizes = [far.locator(f".{name}-bytes").text_content() or "" for name in ("seen", "unseen")]
    total = sum(int(size.removesuffix(" bytes").replace(",", "")) for size in sizes)
    assert total == len(own.encode())


def test_each_part_of_the_work_is_bounded(still_tab: Page) -> None:
    """A slow processor draws no two scenes in one task, and of the ribbons only what fuses."""
    go_to_address(still_tab, "/")
    cut = still_tab.get_by_role("region", name="The text is cut first")
    cut.evaluate(NOTE_CHANGES)
    still_tab.set_viewport_size(TALL)  # all scenes come near the view at the same time
    slider = still_tab.get_by_role("slider", name="Merges", exact=True)
    expect(slider).to_be_enabled()
    merges = still_tab.get_by_role("region", name="The list of merges is the tokenizer")
    type_sentence(still_tab, "she sells sea shells by the sea shore, she sells")
    expect(merges.get_by_text("merges from your sentence")).to_be_visible()
    expect(cut.get_by_role("listitem").first.locator(".unseen-text")).to_contain_text("she sells")
    sees = still_tab.get_by_role("region", name="What a model sees")
    expect(sees.locator(".back").first).to_be_attached()
    # The last that is written of how far to go, and its ribbons, which are drawn later.
    expect(slider).to_have_attribute("aria-valuetext", re.compile("seen"))
    for ribbon in still_tab.get_by_role("region", name="How far to go").locator(".ribbon").all():
        expect(ribbon.locator("path").first).to_be_attached()
    still_tab.wait_for_function(HAVE_CHANGED, arg=["list", "far", "model"])
    changes = still_tab.evaluate("globalThis.changes.splice(0)")
    assert max(len(change["scenes"]) for change in changes) == 1
    # The last merge joins a pair that occurs once: in one row, or in two if a row ends there.
    n_merges = int(slider.input_value())
    slider.press("ArrowLeft")
    expect(slider).to_have_value(str(n_merges - 1))
    still_tab.wait_for_function("() => globalThis.changes.some(({ bars }) => bars > 0)")
    bars = [change["bars"] for change in still_tab.evaluate("globalThis.changes")]
    assert 0 < sum(bars) <= 6


def test_a_model_is_given_the_ids_of_the_sentence(still_tab: Page) -> None:
    go_to_address(still_tab, "/")
    sees = scene(still_tab, "What a model sees")
    tokens = sees.locator(".ids button")
    gpt4o = opened_by_name("o200k_base")
    ids = gpt4o.encode(SENTENCE)
    expect(tokens).to_have_count(len(ids))
    for sentence in VISITORS:
        type_sentence(still_tab, sentence)
        ids = gpt4o.encode(sentence)
        expect(sees.locator(".back")).to_have_text([str(id) for id in ids])
        expect(sees.get_by_text("Cut by GPT-4o")).to_be_visible()
    sees.get_by_role("radio", name="You see").focus()
    still_tab.keyboard.press("ArrowRight")
    expect(sees.get_by_role("radio", name="Model sees")).to_be_checked()
    given = f"The model is given {len(ids)} numbers: {', '.join(map(str, ids))}."
    expect(sees.get_by_role("status")).to_have_text(given)
    # Its letters stay in the page for a screen reader, and the token in focus is clear.
    tokens.first.focus()
    still_tab.keyboard.press("ArrowRight")
    expect(tokens.nth(1)).to_be_focused()
    expect(tokens.nth(1)).to_have_attribute("aria-label", re.compile(f": {ids[1]}$"))
    expect(tokens.nth(1).locator(".letters")).to_have_css("filter", "none")
    expect(tokens.nth(2).locator(".letters")).to_have_css("filter", "blur(4px)")
    expect(sees.locator(".given-ids")).to_have_text("101830")
    expect(sees.locator(".sum-ids")).to_have_text(["7633 19", "9130", "22538 18"])
    expect(sees.locator(".coins b")).to_have_text(["10", "10", "48", "11"])
    for row, count in enumerate((10, 10, 48, 11)):
        expect(sees.locator(".meter").nth(row).locator("i")).to_have_count(count)


def test_the_last_door_takes_the_language_of_the_sentence_along(still_tab: Page) -> None:
    go_to_address(still_tab, "/")
    type_sentence(still_tab, "我的名字我的家我的村庄我的国家")
    doors = still_tab.get_by_role("navigation", name="And now?")
    doors.scroll_into_view_if_needed()
    doors.get_by_role("link", name="Train on a whole text").click()
    expect(still_tab.get_by_role("heading", level=1)).to_have_text("Train")
    expect(still_tab.get_by_role("combobox", name="Sample")).to_have_value(re.compile("孔乙己"))


def test_the_scenes_are_accessible_and_fit_a_phone(still_tab: Page) -> None:
    still_tab.set_viewport_size(PHONE)
    go_to_address(still_tab, "/")
    for title in TITLES:
        found = scene(still_tab, title)
        expect(found.locator(".made .tile, .piece, .ribbon svg, .token").first).to_be_visible()
        n_words = found.evaluate(COUNT_WORDS)
        assert 20 < n_words <= MAX_WORDS, (title, n_words)
    still_tab.get_by_role("radio", name="Model sees").check()
    main = still_tab.get_by_test_id("stMain")
    assert main.evaluate("(main) => main.scrollWidth - main.clientWidth") == 0
    assert broken_rules(still_tab) == []


@pytest.mark.parametrize(("viewport", "has_touch"), [(ZOOMED, False), (PHONE, True)])
def test_each_scene_answers_to_mouse_and_touch_while_it_moves(
    browser: Browser, app_url: str, viewport: ViewportSize, has_touch: bool
) -> None:
    context = new_context(browser, viewport=viewport, has_touch=has_touch, device_scale_factor=2)
    page = context.new_page()
    open_page(page, f"{app_url}/")

    def press(part: Locator) -> None:
        if has_touch:
            part.tap()
        else:
            part.click()

    for sentence in (next(iter(VISITORS)), "İki ılık ışık, İki ılık ışık"):
        type_sentence(page, sentence)
        cut = scene(page, "The text is cut first")
        own = cut.get_by_role("listitem").filter(has_text="Your sentence")
        expect(own.locator(".unseen-text")).to_contain_text(sentence)
        for name, pretokenizer in CUTS.items():
            press(cut.locator("label").filter(has_text=name))
            expect(cut.get_by_role("radio", name=name)).to_be_checked()
            n = tokens_after_ten_merges(sentence, pretokenizer)
            expect(own.locator(".size b")).to_have_text(str(n))
    merges = scene(page, "The list of merges is the tokenizer")
    word = merges.get_by_role("textbox", name="A new word")
    press(word)
    word.fill("ışıklar")
    expect(merges.get_by_role("status")).to_contain_text("tokens: ")
    press(merges.get_by_role("button", name="Run again"))
    expect(merges.locator(".end")).to_contain_text("tokens.")
    far = scene(page, "How far to go")
    slider = far.get_by_role("slider", name="Merges", exact=True)
    expect(far.locator(".seen-tokens")).to_have_text("470")
    if has_touch:
        slider.tap(position={"x": 12, "y": 8})
    else:
        slider.click(position={"x": 12, "y": 8})
    expect(far.locator(".how-large")).to_contain_text("Too small: ")
    sees = scene(page, "What a model sees")
    press(sees.locator("label").filter(has_text="Model sees"))
    expect(sees.get_by_role("status")).to_contain_text("The model is given ")
    assert_fits(page)
    context.close()
