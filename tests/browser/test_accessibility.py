"""Check every page against axe's rules, light on a desktop and dark on a phone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal
from urllib.parse import quote

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from bpe_core.adapting.extend import extend
from bpe_core.corpus.corpus import Corpus
from bpe_core.tokenizer.gpt2 import gpt2
from tests.app_pages import START
from tests.browser.conftest import KeepRun
from tests.browser.helpers import go_to_address, switch_theme
from tests.browser.training import choose

# Colours fade from one theme to the other, and half-way their contrast is too low. The charts
# change last, in a second run of the script.
COLOURS_HAVE_SETTLED = """(scheme) => {
  const isOfScheme = (ground) =>
    Boolean(ground) && ground.match(/\\d+/)[0] > 127 === (scheme === "light");
  const app = document.querySelector('[data-testid="stApp"]');
  const charts = [...document.querySelectorAll('[data-testid="stPlotlyChart"]')];
  const hasSettled =
    window.appAtRest() &&
    isOfScheme(getComputedStyle(app).backgroundColor) &&
    !document.getAnimations().some((one) => one instanceof CSSTransition) &&
    !document.querySelector('[data-testid="stSkeleton"]') &&
    charts.every((chart) => isOfScheme(chart.querySelector(".main-svg")?.style.background));
  window.framesSettled = hasSettled ? (window.framesSettled ?? 0) + 1 : 0;
  if (window.framesSettled <= 3) return false;
  window.framesSettled = 0;
  return true;
}"""
# Without this, axe fetches all stylesheets again, for a rule on media that the pages do not have.
RULES = {"resultTypes": ["violations"], "preload": False}
FIND_VIOLATIONS = "async (options) => (await axe.run(options)).violations"
# A short text has the same kinds of elements as a long one, and axe checks it faster.
TEXT = "Unbelievably, naïveté 日本語\t12,345 <b>"
RUN_ID = "ac" * 16
SCHEMES: list[tuple[Literal["light", "dark"], int]] = [("light", 1440), ("dark", 390)]


@pytest.fixture
def still_tab(tab: Page) -> Iterator[Page]:
    """Return the tab with reduced motion, because colours that fade in have less contrast."""
    tab.emulate_media(reduced_motion="reduce")
    yield tab
    tab.emulate_media(reduced_motion="no-preference")


@pytest.mark.parametrize(
    ("path", "heading"),
    [
        ("", START),
        ("train", "Train"),
        ("merge_loop", "Merge loop"),
        ("pair_frequencies", "Pair frequencies"),
        ("token_boundaries", "Token boundaries"),
        ("compare", "Compare"),
        (f"compare?part=Passage&on=Your+own+text&text={quote(TEXT)}", "Compare"),
        ("compare?part=Figures", "Compare"),
        ("compare?part=Terms and cost", "Compare"),
        ("compare?part=Languages", "Compare"),
        ("vocabulary?find=stat", "Vocabulary"),
        ("adapt", "Adapt"),
        ("lab", "Lab"),
        ("lessons", "Lessons"),
        ("lessons?print=true", "Lessons"),
    ],
)
def test_each_page_is_accessible_and_fits_its_window(
    still_tab: Page, path: str, heading: str
) -> None:
    go_to_address(still_tab, f"/{path}")
    expect(still_tab.get_by_role("heading", level=1)).to_have_text(heading)
    assert_accessible(still_tab)


def test_a_run_with_terms_and_tokens_left_out_is_accessible(
    still_tab: Page, keep_run: KeepRun
) -> None:
    corpus = Corpus.from_text("Kubernetes und Donaudampfschifffahrt, kubelet <b>\n" * 50)
    terms = ["kubelet", "New York", "PostgreSQL", b"bernet"]
    run = extend(gpt2(), corpus, 8, terms=terms, left_out=[b" Kubernetes"])
    keep_run(RUN_ID, "Terms", run, training=corpus, held_out=corpus)
    go_to_address(still_tab, f"/adapt?run={RUN_ID}")
    expect(still_tab.get_by_role("heading", name="Domain terms")).to_be_visible()
    # Leave Upload, because axe rejects a role in Streamlit's own uploader.
    choose(still_tab, "Paste")
    assert_accessible(still_tab)


def assert_accessible(tab: Page) -> None:
    """Check a page with axe in both colour schemes, and that it is no wider than its window."""
    expect(tab.get_by_role("dialog")).to_have_count(0)
    if not tab.evaluate("() => 'axe' in window"):
        tab.evaluate(Axe().axe_script)
    for scheme, width in SCHEMES:
        switch_theme(tab, scheme)
        tab.set_viewport_size({"width": width, "height": 900})
        tab.wait_for_function(COLOURS_HAVE_SETTLED, arg=scheme)
        main = tab.get_by_test_id("stMain")
        assert main.evaluate("(m) => m.scrollWidth - m.clientWidth") == 0
        violations = tab.evaluate(FIND_VIOLATIONS, RULES)
        broken = [
            f"{violation['id']}: {node['target']}"
            for violation in violations
            for node in violation["nodes"]
        ]
        assert not broken
