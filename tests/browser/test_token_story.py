"""A chosen token shows how its word was merged, and the training lines that contain it."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect

from bpe_core.corpus.corpus import Corpus
from bpe_core.runs.train import train
from bpe_core.types import TrainingConfig
from bpe_core.vocabulary.provenance import token_origin
from tests.browser.conftest import KeepRun
from tests.browser.helpers import open_page, wait_until_idle
from ui.storage.run_store import SAMPLE_RUN_ID, load_run

TEXT = "the iterator yields 日本 🧩"
HOSTILE_RUN = "5" * 32
HOSTILE_LINE = (
    '<script>window.harmed = 1</script> <img src=x onerror="window.harmed = 1"> &amp; **b** $x^2$ '
    "\ufeff\u202e\x00 zug"
)


def times_in_training(token: bytes) -> int:
    """Return how often a token of the sample run occurs in its training text."""
    run = load_run(SAMPLE_RUN_ID).run
    return token_origin(
        run, next(id for id, found in run.tokenizer.vocab.items() if found == token)
    ).n_made


@pytest.fixture(scope="module")
def hostile_url(app_url: str, keep_run: KeepRun) -> str:
    """Return the address of the app with a run trained on markup."""
    training = Corpus.from_documents([f"{HOSTILE_LINE}\n" * 4], names=["<b>a</b>.txt"])
    run = train(training, TrainingConfig(vocab_size=300))
    keep_run(HOSTILE_RUN, "markup", run, training=training)
    return app_url


def steps(page: Page) -> Locator:
    return page.get_by_role("table", name="The pre-token after each merge")


def origin(page: Page) -> Locator:
    return page.locator(".origin")


def broken_rules(page: Page) -> list[tuple[str, list[object]]]:
    """Return axe's rules that the page breaks, with the elements that break them."""
    page.wait_for_function(
        "() => !document.getAnimations().some((a) => a instanceof CSSTransition)"
    )
    violations = Axe().run(page).response["violations"]
    return [(v["id"], [node["target"] for node in v["nodes"]]) for v in violations]


def overflow(page: Page) -> int:
    """Return how many pixels of the page are outside the window's width."""
    main = page.locator('[data-testid="stMain"]')
    return main.evaluate("(m) => m.scrollWidth - m.clientWidth")


def test_clicking_a_token_shows_its_steps_and_training_lines_accessibly(
    page: Page, app_url: str
) -> None:
    open_page(page, f"{app_url}/token_boundaries?text={quote(TEXT)}")
    token = page.locator(".view .scroller .token").filter(has_text="iterator")
    token.click()
    expect(page.get_by_text("The pre-token ␣iterator.")).to_be_visible()
    expect(steps(page).locator("tbody tr")).to_have_count(9)
    expect(steps(page).locator("tbody tr").last).to_contain_text("iterator")
    expect(origin(page)).to_contain_text(
        f"{times_in_training(b' iterator')} times in the training text"
    )
    expect(origin(page).locator(".lines li")).to_have_count(6)
    for hit in origin(page).locator(".lines .hit").all_inner_texts():
        assert hit == " iterator"
    assert overflow(page) == 0
    assert broken_rules(page) == []
    # Choose another token by keyboard, and then another text with other tokens.
    scroller = page.locator(".view .scroller")
    scroller.focus()
    page.keyboard.press("Home")
    expect(page.get_by_text("The pre-token the.")).to_be_visible()
    page.locator("textarea").fill("classes")
    expect(page.get_by_text("The pre-token classes.")).to_be_visible()


def test_training_text_is_shown_as_text_and_no_markup_in_it_runs(
    page: Page, hostile_url: str
) -> None:
    open_page(page, f"{hostile_url}/token_boundaries?run={HOSTILE_RUN}&text={quote(HOSTILE_LINE)}")
    scroller = page.locator(".view .scroller")
    scroller.focus()
    page.keyboard.press("Home")
    expect(origin(page).locator(".lines .place").first).to_have_text("<b>a</b>.txt, line 1")
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    expect(page.locator(".details .label")).to_have_text("Token 5")
    wait_until_idle(page)
    assert origin(page).locator("script, img, b, a").count() == 0
    assert page.evaluate("window.harmed") is None


def test_on_a_dark_phone_the_details_of_a_token_are_below_the_text_and_accessible(
    page: Page, app_url: str
) -> None:
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size({"width": 390, "height": 900})
    open_page(page, f"{app_url}/token_boundaries?text={quote(TEXT)}")
    page.locator(".view .scroller .token").filter(has_text="iterator").click()
    expect(origin(page)).to_contain_text(
        f"{times_in_training(b' iterator')} times in the training text"
    )
    # The details are right below the text, where the visitor tapped.
    details = page.locator(".view .details").bounding_box()
    ids = page.locator(".view .ids").bounding_box()
    assert details is not None
    assert ids is not None
    assert details["y"] < ids["y"]
    assert overflow(page) == 0
    assert broken_rules(page) == []
