"""A visitor's runs are listed after a reload and in another tab; the browser keeps their ids."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from bpe_core.corpus.corpus import Corpus
from bpe_core.runs.train import train
from bpe_core.types import TrainingConfig
from tests.browser.conftest import DESK, KeepRun
from tests.browser.helpers import (
    MAX_WAIT_MS,
    assert_no_traceback,
    go_to_address,
    open_page,
    wait_until_idle,
)
from tests.browser.serving import new_context
from tests.browser.training import choose, upload
from ui.storage.run_corpus import MAX_CHARACTERS_KEPT

SAMPLE = "Python’s language reference 4,096 tokens"
RUNS = {f"{n}" * 32: f"Kept {n}" for n in range(3)}
KEPT = "() => localStorage.getItem('bpe-explorer.runs')"
CORPUS = "localStorage.getItem('bpe-explorer.corpus')"
# The component rewrites invalid storage, so a rewrite shows that it has been read.
BLEMISH = """() => localStorage.setItem(
  "bpe-explorer.runs", (localStorage.getItem("bpe-explorer.runs") ?? "[]") + " "
)"""
IS_CLEAN = "() => !localStorage.getItem('bpe-explorer.runs')?.endsWith(' ')"
LOSE_SESSION = """() => {
  const kept = localStorage.getItem("bpe-explorer.runs");
  window.startNewSession();
  localStorage.setItem("bpe-explorer.runs", kept);
}"""
BLOCKED = """Object.defineProperty(window, "localStorage", {
  get() { throw new DOMException("The operation is insecure.", "SecurityError"); },
});"""


@pytest.fixture(scope="module", autouse=True)
def stored_runs(keep_run: KeepRun) -> None:
    for run_id, title in RUNS.items():
        keep_run(run_id, title, train(Corpus.from_text("hug hugs " * 20), TrainingConfig(260)))


@pytest.fixture
def one_browser(browser: Browser) -> Iterator[BrowserContext]:
    """Return a browser whose tabs all belong to one visitor."""
    context = new_context(browser, viewport=DESK)
    context.set_default_timeout(MAX_WAIT_MS)
    yield context
    context.close()


def expect_in_picker(page: Page, labels: list[str]) -> None:
    """Open the run picker, wait for the expected number of runs, and compare their labels."""
    page.get_by_role("button", name="Run: ").click()
    items = page.get_by_role("menuitem")
    expect(items).to_have_count(len(labels))
    assert [" ".join(label.split()) for label in items.all_inner_texts()] == labels
    page.keyboard.press("Escape")
    expect(items).to_have_count(0)


def load(page: Page, address: str, *, beside: Page | None = None) -> int:
    """Load an address; return how many requests the page makes, including that for kept runs.

    `beside` is a tab of the same visitor, for a `page` that has not opened the app yet.
    """
    (beside or page).evaluate(BLEMISH)
    open_page(page, address)
    page.wait_for_function(IS_CLEAN)
    wait_until_idle(page)
    return page.evaluate("() => window.timesAsked")


def test_a_reload_and_another_tab_list_the_runs_again(
    one_browser: BrowserContext, app_url: str
) -> None:
    page = one_browser.new_page()
    open_page(page, f"{app_url}/lessons")
    for run_id in RUNS:
        go_to_address(page, f"/merge_loop?run={run_id}")
    expected = [SAMPLE, *(f"{title} 260 tokens" for title in reversed(RUNS.values()))]
    expect_in_picker(page, expected)
    load(page, page.url)
    expect_in_picker(page, expected)
    other = one_browser.new_page()
    load(other, f"{app_url}/compare", beside=page)
    expect_in_picker(other, expected)
    # The open run is the sample, because the address names no run.
    expect(other.get_by_role("button", name=f"Run: {SAMPLE}")).to_be_visible()
    assert "run=" not in other.url
    other.get_by_role("button", name="Add a tokenizer").click()
    other.get_by_role("button", name="Another run").click()
    expect(other.get_by_role("menuitem")).to_have_count(len(RUNS))
    for tab in (page, other):
        assert json.loads(tab.evaluate(KEPT)) == list(reversed(RUNS))
        assert_no_traceback(tab)
    assert not [cookie for cookie in one_browser.cookies() if "run" in cookie.get("name", "")]


def test_the_page_reruns_only_if_there_are_runs_to_list(
    one_browser: BrowserContext, app_url: str
) -> None:
    run_id = next(iter(RUNS))
    # Other pages also request the progress of their background work.
    address = f"{app_url}/pair_frequencies"
    page = one_browser.new_page()
    open_page(page, address)  # a server's first visitor is redirected through app.py
    of_new_visitor = load(page, address)
    assert page.evaluate(KEPT) is None
    assert load(page, f"{address}?run={run_id}") == of_new_visitor
    # The address names the only run that the browser kept.
    assert load(page, f"{address}?run={run_id}") == of_new_visitor
    assert load(page, address) > of_new_visitor
    expect_in_picker(page, [SAMPLE, "Kept 0 260 tokens"])


def test_the_runs_are_listed_again_when_the_server_has_lost_the_session(
    one_browser: BrowserContext, app_url: str
) -> None:
    page = one_browser.new_page()
    open_page(page, f"{app_url}/lessons")
    page.evaluate("(kept) => localStorage.setItem('bpe-explorer.runs', kept)", json.dumps([*RUNS]))
    load(page, f"{app_url}/vocabulary")
    for name in ("Train", "Vocabulary"):
        page.evaluate(LOSE_SESSION)
        page.wait_for_function("() => window.isConnected()")
        # A page that has begun background work requests itself again, which would undo an earlier
        # click.
        wait_until_idle(page)
        page.get_by_role("link", name=name, exact=True).click()
        expect(page.get_by_role("heading", level=1)).to_have_text(name)
        expect_in_picker(page, [SAMPLE, *(f"{title} 260 tokens" for title in RUNS.values())])


HOSTILE = (
    "{",
    '{"length": 8}',
    "[" * 100_000,
    json.dumps([None, 5, "<img src=x onerror=harmed=1>", "../../etc/passwd", "A" * 32]),
    json.dumps([f"{n:032x}" for n in range(1, 50_000)]),
)


def test_the_page_works_whatever_the_storage_holds_and_drops_invalid_entries(
    one_browser: BrowserContext, app_url: str
) -> None:
    page = one_browser.new_page()
    open_page(page, f"{app_url}/merge_loop")
    for kept in HOSTILE:
        page.evaluate("(kept) => localStorage.setItem('bpe-explorer.runs', kept)", kept)
        page.reload()
        page.wait_for_function("() => localStorage.getItem('bpe-explorer.runs') === null")
        wait_until_idle(page)
        expect_in_picker(page, [SAMPLE])
        assert_no_traceback(page)


def test_a_corpus_stays_given_in_another_tab_until_another_is_chosen(
    one_browser: BrowserContext, app_url: str, tmp_path: Path
) -> None:
    path = tmp_path / "large.txt"
    path.write_text("".join(f"{n} lines of a text\n" for n in range(110_000)))
    assert path.stat().st_size > MAX_CHARACTERS_KEPT
    page = one_browser.new_page()
    open_page(page, f"{app_url}/train")
    upload(page, path)
    kept = page.evaluate(CORPUS)
    assert kept is not None
    other = one_browser.new_page()
    open_page(other, f"{app_url}/train")
    expect(other.get_by_text("Uploaded before: large.txt")).to_be_visible()
    assert kept in other.url
    go_to_address(other, "/lessons")
    go_to_address(other, "/adapt")
    expect(other.get_by_text("Uploaded before: large.txt")).to_be_visible()
    choose(other, "Sample")
    other.wait_for_function(f"{CORPUS} === null")
    third = one_browser.new_page()
    open_page(third, f"{app_url}/train")
    expect(third.get_by_role("combobox", name="Sample")).to_be_visible()
    assert "corpus=" not in third.url


@pytest.mark.parametrize("corpus", ["<img src=x onerror=harmed=1>", "upload=../x", "file=1"])
def test_a_corpus_that_is_named_wrongly_is_forgotten(
    one_browser: BrowserContext, app_url: str, corpus: str
) -> None:
    page = one_browser.new_page()
    open_page(page, f"{app_url}/train")
    page.evaluate("(corpus) => localStorage.setItem('bpe-explorer.corpus', corpus)", corpus)
    page.reload()
    page.wait_for_function(f"{CORPUS} === null")
    wait_until_idle(page)
    expect(page.get_by_role("combobox", name="Sample")).to_be_visible()
    assert_no_traceback(page)


def test_the_page_works_if_storage_is_blocked(new_page: Callable[[], Page], app_url: str) -> None:
    page = new_page()
    page.add_init_script(BLOCKED)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    open_page(page, f"{app_url}/merge_loop?run={next(iter(RUNS))}")
    expect_in_picker(page, [SAMPLE, "Kept 0 260 tokens"])
    assert_no_traceback(page)
    assert not [error for error in errors if "run_memory" in error]


def test_labels_of_runs_of_one_name_are_whole_on_a_phone(tab: Page, keep_run: KeepRun) -> None:
    # With the run's settings, this name is wider than a phone.
    name = "the-parser-of-arguments.py"
    for run_id, pretokenizer in (("a1" * 16, "gpt2"), ("a2" * 16, "cl100k")):
        config = TrainingConfig(260, pretokenizer=pretokenizer)
        keep_run(run_id, name, train(Corpus.from_text("hug hugs " * 20), config))
        go_to_address(tab, f"/merge_loop?run={run_id}")
    tab.set_viewport_size({"width": 390, "height": 900})
    tab.get_by_role("button", name="Run: ").click()
    labels = tab.get_by_role("menuitem").filter(has_text=name).locator("p")
    expect(labels).to_have_count(2)
    for label in labels.all():
        # The end distinguishes the runs.
        box = label.bounding_box()
        assert box
        assert box["x"] + box["width"] <= tab.evaluate("document.documentElement.clientWidth")
        assert label.evaluate("(p) => p.scrollWidth <= p.clientWidth")
    tab.keyboard.press("Escape")
