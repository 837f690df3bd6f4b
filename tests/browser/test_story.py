"""The scenes below the start page's first screen: each by keyboard, and with every figure right."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, ViewportSize, expect

import bpe_core as bpe
from tests.browser.helpers import go_to_address
from tests.browser.test_accessibility import broken_rules
from ui.components import story_data

PHONE: ViewportSize = {"width": 390, "height": 844}


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
        expect(far.locator(".seen-label b")).to_have_text(f"{1_800 / run.tokens_after[step]:.2f}")
    before = slider.input_value()
    still_tab.keyboard.press("PageUp")
    expect(slider).not_to_have_value(before)
    far.get_by_text("As a table").click()
    expect(far.get_by_role("row").filter(has_text="462")).to_have_text("4624703.832301.74")

    own = "मेरा नाम, اسمي, 我的名字, benim adım 🧩 hugs. " * 20
    type_sentence(still_tab, own)
    expect(far.get_by_text("Shakespeare stands in")).to_be_hidden()
    expect(far.locator(".seen-bytes")).not_to_have_text("1,800 bytes")
    sizes = [far.locator(f".{name}-bytes").inner_text() for name in ("seen", "unseen")]
    total = sum(int(size.removesuffix(" bytes").replace(",", "")) for size in sizes)
    assert total == len(own.encode())


def test_the_scenes_are_accessible_and_fit_a_phone(still_tab: Page) -> None:
    still_tab.set_viewport_size(PHONE)
    go_to_address(still_tab, "/")
    for title in ("How far to go",):
        scene(still_tab, title)
    main = still_tab.get_by_test_id("stMain")
    assert main.evaluate("(main) => main.scrollWidth - main.clientWidth") == 0
    assert broken_rules(still_tab) == []
