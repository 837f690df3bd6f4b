"""Check every page against axe's rules, light on a desktop and dark on a phone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal
from urllib.parse import quote

import pytest
from _pytest.mark.structures import ParameterSet
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

import bpe_core as bpe
from bpe_core.adapting import extend
from tests.browser.conftest import KeepRun
from tests.browser.helpers import assert_no_label_is_cut, go_to_address, switch_theme
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
    charts.every((chart) => isOfScheme(chart.querySelector(".main-svg")?.style.background));
  window.framesSettled = hasSettled ? (window.framesSettled ?? 0) + 1 : 0;
  if (window.framesSettled <= 3) return false;
  window.framesSettled = 0;
  return true;
}"""
# Without this, axe fetches all stylesheets again, for a rule on media that the pages do not have.
RULES: dict[str, Any] = {"resultTypes": ["violations"], "preload": False}
FIND_VIOLATIONS = "async (options) => (await axe.run(options)).violations"
SCHEMES: list[tuple[Literal["light", "dark"], int]] = [("light", 1440), ("dark", 390)]
# A short text has the same kinds of elements as a long one, and axe checks it faster. One word
# is wider than a phone.
TEXT = f"Unbelievably, naïveté 日本語\t12,345 <b> <|endoftext|> {'Pneumonoultramicroscopic' * 3}"
RUN_ID = "ac" * 16
# Every page follows another one, because a page that stays open keeps its choices.
PAGES = (
    "",
    "compare",
    "train",
    f"compare?part=Passage&on=Your+own+text&text={quote(TEXT)}",
    "merge_loop",
    "compare?part=Figures",
    "pair_frequencies",
    "compare?part=Terms and cost",
    f"token_boundaries?text={quote(TEXT)}",
    "compare?part=Languages",
    "vocabulary?find=stat",
    "compare?part=What differs",
    "pair_frequencies?part=Pairs",
    "adapt",
    "detective",
    "experiments",
    "lessons",
    f"adapt?run={RUN_ID}",
    "lab",
    "lessons?print=true",
)


def in_halves(pages: Sequence[str]) -> list[ParameterSet]:
    """Return schemes with half of the pages each; `make test-more` checks the other halves."""
    middle = len(pages) // 2
    halves = ("first", pages[:middle]), ("last", pages[middle:])
    more = pytest.mark.more(why="each page was checked in the other scheme")
    return [
        pytest.param(*scheme, half, id=f"{scheme[0]}-{name}", marks=more if at != place else ())
        for place, scheme in enumerate(SCHEMES)
        for at, (name, half) in enumerate(halves)
    ]


def broken_rules(page: Page, **options: Any) -> list[str]:
    """Return the rules that a page breaks, each with an element."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(Axe().axe_script)
    return [
        f"{violation['id']}: {node['target']}"
        for violation in page.evaluate(FIND_VIOLATIONS, RULES | options)
        for node in violation["nodes"]
    ]


def find_faults(page: Page, scheme: str) -> list[str]:
    """Return the rules that a page at rest breaks, each with an element, and what overflows."""
    page.wait_for_function(COLOURS_HAVE_SETTLED, arg=scheme)
    assert_no_label_is_cut(page)
    faults = broken_rules(page)
    main = page.get_by_test_id("stMain")
    if overflow := main.evaluate("(m) => m.scrollWidth - m.clientWidth"):
        faults.append(f"{overflow} pixels too wide")
    return faults


@pytest.mark.timeout(900)  # a walk over all pages, each of which axe checks for some seconds
@pytest.mark.parametrize(("scheme", "width", "pages"), in_halves(PAGES))
def test_every_page_is_accessible_and_fits_its_window(
    tab: Page,
    keep_run: KeepRun,
    scheme: Literal["light", "dark"],
    width: int,
    pages: Sequence[str],
) -> None:
    corpus = bpe.Corpus.from_text("Kubernetes und Donaudampfschifffahrt, kubelet <b>\n" * 50)
    terms = ["kubelet", "New York", "PostgreSQL", b"bernet"]
    run = extend(bpe.gpt2(), corpus, 8, terms=terms, left_out=[b" Kubernetes"])
    keep_run(RUN_ID, "Terms", run, training=corpus, held_out=corpus)
    tab.emulate_media(reduced_motion="reduce")  # colours that fade in have less contrast
    tab.set_viewport_size({"width": width, "height": 900})
    switch_theme(tab, scheme)
    faults: dict[str, list[str]] = {}
    for path in pages:
        go_to_address(tab, f"/{path}")
        if path.startswith("adapt?"):
            expect(tab.get_by_role("heading", name="Domain terms")).to_be_visible()
            # Leave Upload, because axe rejects a role in Streamlit's own uploader.
            choose(tab, "Paste")
        if path.endswith("What differs"):
            expect(tab.get_by_role("heading", name="Tokens and merges")).to_be_visible()
        if path == "detective":
            expect(tab.get_by_role("heading", name="The merges that say so")).to_be_visible()
        if path.startswith("token_boundaries"):
            tab.locator(".view .scroller .token").first.click()
            expect(tab.locator(".origin")).to_contain_text("training text")
        faults[path] = find_faults(tab, scheme)
    tab.emulate_media(reduced_motion="no-preference")
    assert {path: found for path, found in faults.items() if found} == {}
