"""A visitor's runs are listed after a reload and in another tab; the browser keeps their ids."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

import bpe_core as bpe
from tests.browser.conftest import DESK, KeepRun
from tests.browser.helpers import (
    assert_no_traceback,
    go_to_address,
    open_page,
    wait_until_idle,
)
from tests.browser.serving import new_context
from tests.browser.training import choose, train_to_the_end, upload
from ui.storage.run_store import MAX_CHARACTERS_KEPT

SAMPLE = "Python’s built-in help 4,096 tokens"
RUNS = {f"{n}" * 32: f"Kept {n}" for n in range(2)}
RUNS_KEPT = "localStorage.getItem('bpe-explorer.runs')"
KEPT = f"() => {RUNS_KEPT}"
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
        keep_run(
            run_id,
            title,
            bpe.train(bpe.Corpus.from_text("hug hugs " * 20), bpe.TrainingConfig(260)),
        )


@pytest.fixture(scope="module")
def own_context(browser: Browser) -> Iterator[BrowserContext]:
    """Return the context of this module's tests, so that only the first loads the app's files."""
    context = new_context(browser, viewport=DESK)
    yield context
    context.close()


@pytest.fixture
def one_browser(own_context: BrowserContext) -> Iterator[BrowserContext]:
    """Return a browser whose tabs all belong to one new visitor."""
    yield own_context
    own_context.pages[0].evaluate("localStorage.clear()")
    for page in own_context.pages:
        page.close()


def expect_in_picker(page: Page, labels: list[str]) -> None:
    """Open the run picker, and wait for the labels of these runs."""
    page.get_by_role("button", name="Run: ").click()
    items = page.get_by_role("menuitem")
    expect(items).to_have_text(labels, use_inner_text=True)
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


def test_a_reload_another_tab_and_a_new_session_list_the_runs_again_and_ask_once_more_for_it(
    one_browser: BrowserContext, app_url: str
) -> None:
    # Other pages also request the progress of their background work.
    address = f"{app_url}/pair_frequencies?part=Pairs"
    first, second = RUNS
    page = one_browser.new_page()
    open_page(page, address)  # a server's first visitor is redirected through app.py
    of_new_visitor = load(page, address)
    assert page.evaluate(KEPT) is None
    # The address names the only run that the browser kept.
    for _ in range(2):
        assert load(page, f"{address}&run={first}") == of_new_visitor
    go_to_address(page, f"/merge_loop?run={second}")
    go_to_address(page, f"/pair_frequencies?part=Pairs&run={second}")
    expected = [SAMPLE, *(f"{title} 260 tokens" for title in reversed(RUNS.values()))]
    expect_in_picker(page, expected)
    assert load(page, page.url) > of_new_visitor
    expect_in_picker(page, expected)
    other = one_browser.new_page()
    load(other, f"{app_url}/compare", beside=page)
    expect_in_picker(other, expected)
    # The open run is the sample, because the address names no run.
    expect(other.get_by_role("button", name=f"Run: {SAMPLE}")).to_be_visible()
    assert "run=" not in other.url
    for tab in (page, other):
        assert json.loads(tab.evaluate(KEPT)) == list(reversed(RUNS))
        assert_no_traceback(tab)
    assert not [cookie for cookie in one_browser.cookies() if "run" in cookie.get("name", "")]
    other.evaluate(LOSE_SESSION)
    other.wait_for_function("() => window.isConnected()")
    # A page that has begun background work requests itself again, which would undo an earlier
    # click.
    wait_until_idle(other)
    other.get_by_role("link", name="Train", exact=True).click()
    expect(other.get_by_role("heading", level=1)).to_have_text("Train")
    wait_until_idle(other)
    expect_in_picker(other, expected)


def pick(page: Page, label: str) -> None:
    """Choose an option of the run picker."""
    page.get_by_role("button", name="Run: ").click()
    page.get_by_role("menuitem", name=label).click()
    wait_until_idle(page)


def test_only_the_browser_that_trained_a_run_renames_and_deletes_it(
    one_browser: BrowserContext, page: Page, app_url: str
) -> None:
    own = one_browser.new_page()
    open_page(own, f"{app_url}/train")
    choose(own, "Paste")
    own.get_by_label("Text to train on").fill("hug hugs pug " * 20)
    address = f"{app_url}/merge_loop?run={train_to_the_end(own)}"
    own.evaluate(BLEMISH)
    open_page(own, address)  # in a new session, which asks the browser for its keys
    own.wait_for_function(IS_CLEAN)
    wait_until_idle(own)
    pick(own, "Rename this run…")
    name = own.get_by_role("dialog").get_by_role("textbox", name="Name")
    expect(name).to_have_value("Pasted text")
    name.fill(" ")
    own.get_by_role("button", name="Rename", exact=True).click()
    expect(own.get_by_text("Type a name first.")).to_be_visible()
    name.fill("My *hugs*")
    own.get_by_role("button", name="Rename", exact=True).click()
    expect(own.get_by_role("dialog")).to_have_count(0)
    expect(own.get_by_role("button", name="Run: My *hugs*")).to_be_visible()

    open_page(page, address)  # another visitor, by the address that was shared
    page.get_by_role("button", name="Run: My *hugs*").click()
    items = page.get_by_role("menuitem")
    expect(items).to_have_count(2)
    expect(items.filter(has_text="this run")).to_have_count(0)
    page.keyboard.press("Escape")

    pick(own, "Delete this run…")
    own.get_by_role("button", name="Keep it").click()
    expect(own.get_by_role("dialog")).to_have_count(0)
    pick(own, "Delete this run…")
    own.get_by_role("button", name="Delete", exact=True).click()
    expect(own.get_by_role("button", name=f"Run: {SAMPLE}")).to_be_visible()
    own.wait_for_function(f"{RUNS_KEPT} === null")
    expect(own).not_to_have_url(re.compile("run="))
    for tab in (page, own):
        open_page(tab, address)
        expect(
            tab.get_by_text("This run was deleted by the visitor who trained it.")
        ).to_be_visible()


# What the browser may hold in place of the runs and of the corpus.
HOSTILE = (
    ("[" * 100_000, "<img src=x onerror=harmed=1>"),
    ('{"length": 8}', "upload=../x"),
    (
        json.dumps(
            [None, 5, "<img src=x onerror=harmed=1>", "../../etc/passwd", "A" * 32]
            + [f"{n:032x}" for n in range(1, 50_000)]
        ),
        "upload=",
    ),
)


def test_the_page_works_whatever_the_storage_holds_and_drops_invalid_entries(
    one_browser: BrowserContext, app_url: str
) -> None:
    page = one_browser.new_page()
    open_page(page, f"{app_url}/train")
    for runs, corpus in HOSTILE:
        page.evaluate(
            """([runs, corpus]) => {
              localStorage.setItem("bpe-explorer.runs", runs);
              localStorage.setItem("bpe-explorer.corpus", corpus);
            }""",
            [runs, corpus],
        )
        page.reload()
        page.wait_for_function(f"{RUNS_KEPT} === null && {CORPUS} === null")
        wait_until_idle(page)
        expect(page.get_by_role("combobox", name="Sample")).to_be_visible()
        assert_no_traceback(page)
    go_to_address(page, "/merge_loop")
    expect_in_picker(page, [SAMPLE])


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
    mark = other.get_by_role("checkbox", name="Shows the corpus", include_hidden=True)
    expect(mark).to_be_checked()
    expect(mark).to_be_hidden()
    go_to_address(other, "/adapt")
    expect(other.get_by_text("Uploaded before: large.txt")).to_be_visible()
    choose(other, "Sample")
    other.wait_for_function(f"{CORPUS} === null")
    open_page(page, f"{app_url}/train")
    expect(page.get_by_role("combobox", name="Sample")).to_be_visible()
    assert "corpus=" not in page.url


def test_the_page_works_if_storage_is_blocked(new_page: Callable[[], Page], app_url: str) -> None:
    page = new_page()
    page.add_init_script(BLOCKED)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    open_page(page, f"{app_url}/merge_loop?run={next(iter(RUNS))}")
    expect_in_picker(page, [SAMPLE, "Kept 0 260 tokens"])
    assert_no_traceback(page)
    assert not [error for error in errors if "run_memory" in error]
