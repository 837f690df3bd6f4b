"""Test the Vocabulary page in a real browser: search, filters, tree and trie, by mouse and keys."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Locator, Page, ViewportSize, expect

import bpe_core as bpe
from bpe_core.vocabulary import Audit
from tests.browser.conftest import DESK, KeepRun, ShowFigures
from tests.browser.helpers import SLACK, assert_fits, click_bar, go_to_address, wait_until_idle
from tests.browser.training import choose
from ui.storage import SAMPLE_RUN_ID, load_run

PHONE: ViewportSize = {"width": 390, "height": 844}
HOSTILE = "<img src=x onerror=window.harmed=1>"
LARGE_ID = "200000".rjust(32, "b")
SECONDS_TO_ANSWER = 0.6
# Timed from the last keystroke, so the pause that detects the end of typing is included.
SECONDS_FROM_KEY_TO_ROWS = """(table, letter) => ({
  seconds: new Promise((resolve) => {
    let typed = Infinity;
    table.addEventListener("input", () => (typed = performance.now()), { once: true });
    const watch = new MutationObserver(() => {
      if (table.querySelector("tbody th")?.textContent !== letter) return;
      watch.disconnect();
      resolve((performance.now() - typed) / 1000);
    });
    watch.observe(table.querySelector("tbody"), { childList: true, subtree: true });
  }),
})"""


def sample_tokens() -> list[bytes]:
    vocab = load_run(SAMPLE_RUN_ID).run.tokenizer.vocab
    return [vocab[id] for id in sorted(vocab)]


def open_vocabulary(page: Page, query: str = "") -> None:
    go_to_address(page, f"/vocabulary?{query}")
    expect(page.locator(".card .big")).to_be_visible()


def search_field(page: Page) -> Locator:
    return page.get_by_role("searchbox", name="Search the tokens")


def test_findings_and_lengths_filter_the_table(tab: Page) -> None:
    open_vocabulary(tab)
    status = tab.locator(".found [role=status]")
    expect(status).to_have_text("All 4,096 tokens")
    run = load_run(SAMPLE_RUN_ID).run
    audited = Audit.of(run.tokenizer, run.count_uses())
    finding = tab.get_by_role("button", name="Scaffold only")
    finding.click()
    expect(status).to_have_text(f"{len(audited.scaffolds)} of 4,096 tokens")
    expect(finding).to_have_attribute("aria-pressed", "true")
    click_bar(tab.locator(".js-plotly-plot", has=tab.locator(".barlayer .point")), 3)
    chosen = [id for id in audited.scaffolds if len(run.tokenizer.vocab[id]) == 4]
    expect(status).to_have_text(f"{len(chosen)} of 4,096 tokens")
    expect(tab.get_by_label("Shortest length in bytes")).to_have_value("4")
    finding.click()
    four = [token for token in sample_tokens() if len(token) == 4]
    expect(status).to_have_text(f"{len(four)} of 4,096 tokens")


def test_tokens_that_look_untrained_by_a_file_filter_the_table(tab: Page, tmp_path: Path) -> None:
    lines = ["id,bytes,kind,candidate,input_norm,bigram"]
    for id, token in load_run(SAMPLE_RUN_ID).run.tokenizer.vocab.items():
        is_candidate = id in (300, 301)
        lines.append(f"{id},{token.hex()},token,{is_candidate},{0.1 if is_candidate else 1.5},")
    (tmp_path / "rows.csv").write_text("\n".join(lines), "utf-8")
    open_vocabulary(tab)
    section = tab.locator(".st-key-rows_section")
    section.locator("summary").click()
    section.get_by_test_id("stFileUploader").locator("input").set_input_files(tmp_path / "rows.csv")
    expect(section.get_by_text("look as little trained")).to_be_visible()
    tab.set_viewport_size(PHONE)
    tab.get_by_role("button", name="Looks untrained").click()
    expect(tab.locator(".found [role=status]")).to_have_text("2 of 4,096 tokens")
    expect(tab.locator(".vocabulary td.id")).to_have_text(["300", "301"])
    assert_fits(tab)


def test_choices_made_at_once_are_all_kept(tab: Page) -> None:
    open_vocabulary(tab, "find=+the")
    status = tab.locator(".found [role=status]")
    found = sum(b" the" in token for token in sample_tokens())
    expect(status).to_have_text(f"{found} of 4,096 tokens")
    show_all = tab.get_by_role("button", name="Show all").element_handle()
    gpt2 = tab.get_by_role("radio", name="GPT-2").element_handle()
    # The second request leaves before the browser learns of the address that the first one changed.
    tab.evaluate(
        """async ([first, second]) => {
          first.click();
          await new Promise((resolve) => setTimeout(resolve, 20));
          second.click();
        }""",
        [show_all, gpt2],
    )
    expect(status).to_have_text("All 50,257 tokens")
    expect(tab).not_to_have_url(re.compile("find"))


def test_a_search_does_not_come_back_when_the_table_is_shown_again(tab: Page) -> None:
    open_vocabulary(tab)
    status = tab.locator(".found [role=status]")
    search_field(tab).press_sequentially(" the", delay=40)
    expect(status).not_to_have_text("All 4,096 tokens")
    expect(search_field(tab)).to_be_focused()
    choose_finding_beside_the_trie(tab)
    expect(search_field(tab)).to_have_value(" the")
    tab.get_by_role("button", name="Show all").click()
    expect(status).to_have_text("All 4,096 tokens")
    choose_finding_beside_the_trie(tab)
    expect(search_field(tab)).to_have_value("")
    expect(tab.get_by_role("button", name="Scaffold only")).to_have_attribute(
        "aria-pressed", "true"
    )
    wait_until_idle(tab)
    tab.locator(".vocabulary tbody tr button").nth(3).click()  # another request
    wait_until_idle(tab)
    assert "finding=scaffolds" in tab.url
    assert "find=" not in tab.url


def test_an_address_opens_a_node_of_the_trie_a_token_and_a_search(tab: Page) -> None:
    id = next(id for id, token in enumerate(sample_tokens()) if token == b" statement")
    tab.set_viewport_size(PHONE)
    open_vocabulary(
        tab,
        f"seen_as=Trie&prefix={HOSTILE.encode().hex()}&token={id}&find={quote(HOSTILE)}&by=regex",
    )
    walk_the_trie(tab)
    choose(tab, "Table")
    tab.set_viewport_size(DESK)
    follow_the_tree(tab, id)
    search_by_expression(tab)
    walk_the_rows(tab)
    tab.set_viewport_size(PHONE)
    wait_until_idle(tab)
    assert_fits(tab, ".vocabulary", ".card")
    assert tab.evaluate("window.harmed") is None


def choose_finding_beside_the_trie(page: Page) -> None:
    choose(page, "Trie")
    page.get_by_role("button", name="Scaffold only").click()
    page.wait_for_url("**finding=scaffolds*")
    choose(page, "Table")


def walk_the_trie(page: Page) -> None:
    """Move in the trie by typing and by arrow keys, starting from a prefix that no token has."""
    sentence = page.locator(".sentence")
    expect(sentence).to_contain_text("No token begins with <img")
    assert_fits(page, ".walk", ".card")
    field = page.get_by_role("searchbox", name="First characters of tokens")
    field.fill("")
    field.press_sequentially(" th", delay=40)
    below = [token for token in sample_tokens() if token.startswith(b" th")]
    expect(sentence).to_contain_text(f"{len(below)} tokens begin with ␣th.")
    page.keyboard.press("ArrowDown")
    expect(page.locator(".branch").first).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".path .step")).to_have_count(5)
    page.keyboard.press("ArrowLeft")
    expect(sentence).to_contain_text(f"{len(below)} tokens begin with ␣th.")


def follow_the_tree(page: Page, id: int) -> None:
    """Go from the open token to its first part, and back from the tokens built on that."""
    tokenizer = load_run(SAMPLE_RUN_ID).run.tokenizer
    parts = tokenizer.table.parts.get(id)
    assert parts is not None
    tree = page.locator(".tree button")
    expect(tree).to_have_count(2 * len(tokenizer.vocab[id]) - 1)
    tree.nth(1).click()
    expect(page.locator(".card dd").first).to_have_text(f"{parts[0]:,}")
    built = page.locator(f'.built button[aria-label$="id {id}"]')
    expect(built).to_have_count(1)
    built.click()
    expect(page.locator(".card dd").first).to_have_text(f"{id:,}")


def search_by_expression(page: Page) -> None:
    """Make an invalid search, which shows an error, and then a valid one."""
    expect(search_field(page)).to_have_value(HOSTILE)
    search_field(page).fill(f"({HOSTILE}")
    alert = page.locator(".vocabulary [role=alert]")
    expect(alert).to_contain_text("not a valid regular expression")
    expect(alert).to_contain_text(HOSTILE[:20])
    search_field(page).fill("(ab)+le$")
    expect(alert).to_be_hidden()
    expect(page.locator(".vocabulary tbody tr").first).to_contain_text("able")
    search_field(page).fill("")
    expect(page.locator(".found [role=status]")).to_have_text("All 4,096 tokens")


def walk_the_rows(page: Page) -> None:
    """Sort, turn to the next page and open a token, by keyboard."""
    sorter = page.get_by_role("button", name="Bytes", exact=True)
    sorter.focus()
    sorter.press("Enter")
    header = page.locator("th.bytes")
    expect(header).to_have_attribute("aria-sort", "descending")
    longest = max(map(len, sample_tokens()))
    expect(page.locator("td.bytes").first).to_have_text(f"{longest}")
    search_field(page).focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("PageDown")
    expect(page.locator(".pager span")).to_have_text("101–200 of 4,096")
    first = page.locator(".vocabulary tbody button").first
    expect(first).to_be_focused()
    page.keyboard.press("ArrowDown")
    second = page.locator(".vocabulary tbody tr").nth(1)
    id = second.locator("td.id").inner_text()
    page.keyboard.press("Enter")
    expect(page.locator(".card dd").first).to_have_text(id)
    expect(second.locator("button")).to_have_attribute("aria-current", "true")
    page.wait_for_url(f"**token={id.replace(',', '')}*")


@pytest.fixture(scope="module")
def large_run() -> bpe.TrainingRun:
    """Train on words of three letters, which allow for 200,000 merges."""
    letters = "".join(chr(place) for place in range(0x4E00, 0x4E00 + 60))
    words = {"".join(word): 1 for word in product(letters, repeat=3)}
    config = bpe.TrainingConfig(
        200_000, pretokenizer="none", base="characters", special_tokens=(), min_frequency=1
    )
    return bpe.train(bpe.Corpus.from_word_counts(words), config)


@pytest.fixture(scope="module")
def large_address(large_run: bpe.TrainingRun, keep_run: KeepRun) -> str:
    assert large_run.tokenizer.vocab_size == 200_000
    keep_run(LARGE_ID, "Words of three", large_run)
    return f"/vocabulary?run={LARGE_ID}"


@pytest.mark.more(why="its speed; the other tests search the same way")
def test_two_hundred_thousand_tokens_are_searched_while_typing(
    tab: Page, large_address: str, show_figures: ShowFigures
) -> None:
    go_to_address(tab, large_address)
    expect(tab.locator(".found [role=status]")).to_have_text("All 200,000 tokens")
    # The search for unreachable tokens would compete for the processor. It may end by itself.
    cancel = tab.get_by_role("button", name="Cancel")
    wait_until_idle(tab)
    cancel.evaluate_all("(buttons) => buttons.forEach((button) => button.click())")
    expect(cancel).to_have_count(0)
    field = search_field(tab)
    for by in ("", "regex"):
        tab.get_by_label("Search by").select_option(by)
        seconds: list[float] = []
        for letter in "丁七丈三":
            wait_until_idle(tab)
            field.press("Control+a")
            answered = tab.locator(".vocabulary").evaluate_handle(SECONDS_FROM_KEY_TO_ROWS, letter)
            field.press_sequentially(letter)
            seconds.append(answered.evaluate("async ({ seconds }) => await seconds"))
            answered.dispose()
        show_figures(f"s from the key to the rows, of 200,000, by {by or 'text'}", seconds)
        assert min(seconds) <= SLACK * SECONDS_TO_ANSWER
