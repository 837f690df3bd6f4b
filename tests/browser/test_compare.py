"""Compare in a browser: rings, panes that scroll together, the report, and more tokenizers."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from bpe_core.comparison.alignment import disagreements
from bpe_core.comparison.comparison import compare
from bpe_core.corpus.corpus import Corpus
from bpe_core.runs.train import train
from bpe_core.tokenizer.gpt2 import gpt2
from bpe_core.types import TrainingConfig
from tests import foreign_models as models
from tests.browser.conftest import KeepRun
from tests.browser.helpers import go_to_address
from tests.browser.training import choose
from ui.compare.passage import typical_excerpt
from ui.storage.run_store import SAMPLE_RUN_ID, load_run


def sample_disagreements() -> tuple[str, int]:
    stored = load_run(SAMPLE_RUN_ID)
    encoders = [stored.run.tokenizer, gpt2()]
    gain = compare(stored.held_out, encoders).verdict().percent_fewer_tokens
    text = typical_excerpt(stored.held_out, encoders, gain).text
    found = disagreements(stored.run.tokenizer.segments(text), gpt2().segments(text), text)
    return text, len(found)


@pytest.fixture
def page(tab: Page) -> Page:
    """Return a tab in which the charts are already loaded."""
    return tab


def open_passage(page: Page) -> None:
    go_to_address(page, "/compare?part=Passage")
    expect(page.locator(".side-1 .token").first).to_be_attached()


def test_the_panes_ring_disagreements_and_scroll_together(page: Page) -> None:
    page.set_viewport_size({"width": 1440, "height": 1300})
    open_passage(page)
    page.get_by_role("button", name="Next").click()
    expect(page.locator(".steps b")).to_have_text("2")
    focused = [
        page.locator(f".side-{side} .ring.focused").first.get_attribute("data-span")
        for side in (0, 1)
    ]
    assert focused[0] == focused[1]
    expect(page.locator(".current")).to_contain_text("Disagreement 2")
    page.get_by_role("button", name="Previous").click()
    page.get_by_role("button", name="Previous").click()
    total = page.locator(".steps").inner_text()
    last = re.search(r"of (\d+)", total)
    assert last is not None
    expect(page.locator(".steps b")).to_have_text(last[1])
    for side in (0, 1):
        page.locator(f".side-{side} .scroller").scroll_into_view_if_needed()
        expect(page.locator(f".side-{side} .ring.focused").first).to_be_in_viewport()
    page.get_by_role("button", name="Next").click()
    expect(page.locator(".steps b")).to_have_text("1")

    text, n = sample_disagreements()
    page.get_by_role("button", name="All").click()
    for side in (0, 1):
        pane = page.locator(f".side-{side} .scroller")
        assert pane.evaluate("(s) => s.textContent") == text
        rings = pane.locator(".ring").evaluate_all("(rs) => rs.map((r) => r.dataset.span)")
        assert sorted(set(rings), key=int) == [str(k) for k in range(n)]
        assert pane.locator(".ring .agreed").count() == 0
        assert pane.locator(".token:not(.agreed, .none)").count() == (
            pane.locator(".ring .token").count()
        )
    expect(page.locator(".steps")).to_contain_text(f"1 of {n} disagreements")

    left = page.locator(".side-0 .scroller")
    right = page.locator(".side-1 .scroller")
    left.evaluate("(s) => { s.scrollTop = s.scrollHeight; }")
    page.wait_for_function(
        "(s) => s.scrollTop > 0 && s.scrollHeight - s.clientHeight - s.scrollTop < 60",
        arg=right.element_handle(),
    )
    left.evaluate("(s) => { s.scrollTop = 0; }")
    left.locator(".ring .token").first.hover()
    page.wait_for_function(
        """(s) => [...s.querySelectorAll(".token")].some(
            (token) => getComputedStyle(token).boxShadow.includes("inset"))""",
        arg=right.element_handle(),
    )


def test_the_figures_are_explained_and_the_report_opens_offline(
    page: Page, offline_page: Page, tmp_path: Path
) -> None:
    open_passage(page)
    expect(page.locator(".badge")).to_have_text(re.compile(r"✓ exact: (\d+) of \1"))
    choose(page, "Figures")
    expect(page.locator("td.better").first).to_be_visible()

    name = page.locator("summary").get_by_text("Tokens per word", exact=True)
    meaning = page.locator("summary + p").filter(has_text="Fertility")
    expect(meaning).to_be_hidden()
    name.focus()
    page.keyboard.press("Enter")
    expect(meaning).to_be_visible()
    name.click()
    expect(meaning).to_be_hidden()

    choose(page, "Terms and cost")
    page.get_by_role("textbox", name="Your terms, one per line").fill("zwölf Tokenizer")
    page.get_by_role("spinbutton", name="Price per million tokens").fill("2.5")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Cost of held-out text")).to_be_visible()
    choose(page, "Verdict")
    expect(page.locator(".verdict")).to_contain_text("fewer tokens than GPT-2, with about")
    said = page.locator(".verdict p").first.inner_text()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the report").click()
    assert download.value.suggested_filename == "tokenizers-compared.html"
    saved = tmp_path / "report.html"
    download.value.save_as(saved)
    for scheme, width in (("light", 1_000), ("dark", 390)):
        offline_page.set_viewport_size({"width": width, "height": 800})
        offline_page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        offline_page.goto(saved.as_uri())
        expect(offline_page.locator("blockquote")).to_contain_text(said)
        expect(offline_page.locator("body")).to_contain_text("zwölf Tokenizer")
        expect(offline_page.locator("body")).to_contain_text("At 2.50 per million tokens")
        expect(offline_page.locator("h2", has_text="How to cite")).to_be_visible()
        assert (
            offline_page.evaluate(
                "document.documentElement.scrollWidth - document.documentElement.clientWidth"
            )
            == 0
        )


def test_text_of_token_boundaries_and_a_typed_word_are_compared_as_text(
    page: Page,
) -> None:
    text = "<script>window.harmed=1</script> naïveté"
    go_to_address(page, f"/token_boundaries?text={quote(text)}")
    expect(page.locator(".view .token").first).to_be_attached()
    page.get_by_role("link", name="Compare").click()
    expect(page.get_by_role("heading", level=1, name="Compare")).to_be_visible()
    choose(page, "Passage")
    choose(page, "Your own text")
    expect(page.get_by_role("textbox", name="Your text")).to_have_value(text)
    expect(page.locator(".side-1 .scroller")).to_contain_text("naïveté")

    page.get_by_text("One word under each tokenizer").click()
    field = page.get_by_label("A word; a leading space matters")
    word = " <img src=x onerror=harmed=1>"
    field.fill(word)
    field.press("Enter")
    expect(page.locator(".word .tile", has_text="=").first).to_be_visible()
    for side in page.locator(".word").all():
        tokens = side.locator(".tree > li > .tile:first-child").all_text_contents()
        # A space is drawn as a glyph and has no text.
        assert "".join(tokens) == word.replace(" ", "")
    assert page.locator(".word").count() == 2
    assert page.evaluate("window.harmed") is None
    assert page.locator(".word img").count() == 0


def test_a_third_tokenizer_is_added_from_a_file_with_a_hostile_name(page: Page) -> None:
    open_passage(page)
    peer = models.word_piece().to_str().encode()
    name = "<img src=x onerror=harmed=1>\u202e.json"
    page.get_by_role("button", name="Add a tokenizer").click()
    add = page.get_by_role("button", name="Add from files")
    expect(add).to_be_disabled()
    # The button is disabled until the file has been sent, so this click waits for that.
    page.locator('input[type="file"]').set_input_files(
        {"name": name, "mimeType": "application/json", "buffer": peer}
    )
    add.click()
    expect(page.locator(".side-2 .token").first).to_be_attached()
    expect(page.locator("h2").filter(has_text="reading")).to_have_text(
        "One passage, three readings"
    )
    text, _ = sample_disagreements()
    for side in range(3):
        assert page.locator(f".side-{side} .scroller").evaluate("(s) => s.textContent") == text
    page.locator(".side-2 .scroller").focus()
    page.keyboard.press("ArrowRight")
    focused = [
        page.locator(f".side-{side} .ring.focused").first.get_attribute("data-span")
        for side in range(3)
    ]
    assert len(set(focused)) == 1
    page.locator(".side-2 .scroller").evaluate("(s) => { s.scrollTop = s.scrollHeight; }")
    expect(page.locator(".side-0 .scroller")).to_have_js_property("scrollLeft", 0)
    page.wait_for_function(
        "() => { const all = []; const find = (root) => { for (const e of"
        " root.querySelectorAll('*')) { if (e.matches('.pane .scroller')) all.push(e);"
        " if (e.shadowRoot) find(e.shadowRoot); } }; find(document);"
        " return all.length === 3 && all.every((s) => s.scrollTop > 0); }"
    )
    page.keyboard.press("Escape")
    choose(page, "Verdict")
    row = page.locator(".rivals tbody tr").filter(has_text="U+202E.json")
    expect(row).to_contain_text("encoded by tokenizers")
    row.get_by_role("button", name="Remove <img").click()
    expect(row).to_have_count(0)
    choose(page, "Passage")
    expect(page.locator(".side-1 .token").first).to_be_attached()
    expect(page.locator(".side-2")).to_have_count(0)
    assert page.evaluate("window.harmed") is None


@pytest.fixture
def five_runs(keep_run: KeepRun) -> dict[str, str]:
    """Return the ids of five runs by their names."""
    corpus = Corpus.from_text("hug hugs pug pugs bun " * 20)
    ids = {f"Run {letter}": f"5ab1e{n}" + "0" * 26 for n, letter in enumerate("ABCDE")}
    for size, (name, run_id) in enumerate(ids.items(), 258):
        keep_run(run_id, name, train(corpus, TrainingConfig(size)))
    return ids


def test_a_word_under_five_tokenizers_is_in_one_row(page: Page, five_runs: dict[str, str]) -> None:
    shelf = ",".join(f"run-{run_id}" for run_id in list(five_runs.values())[:4])
    go_to_address(page, f"/compare?with={shelf}&word=hugs")
    trees = page.get_by_role("group", name="The word under each tokenizer")
    expect(trees.locator(".word")).to_have_count(5)
    assert trees.evaluate("(trees) => trees.scrollWidth - trees.clientWidth") == 0
    tops = trees.locator(".word").evaluate_all("(all) => all.map((one) => one.offsetTop)")
    assert len(set(tops)) == 1


def test_five_more_tokenizers_fit_beside_each_other(page: Page, five_runs: dict[str, str]) -> None:
    page.set_viewport_size({"width": 1280, "height": 900})
    go_to_address(
        page,
        f"/compare?part=Figures&with={','.join(f'run-{run_id}' for run_id in five_runs.values())}",
    )
    room = page.get_by_role("group", name="Figures of the tokenizers")
    expect(room.locator("thead th")).to_have_text(["Your tokenizer", *five_runs])
    assert room.evaluate("(room) => room.scrollWidth - room.clientWidth") == 0


def test_another_run_is_added_by_its_address_after_a_wrong_one_was_reported(
    page: Page, keep_run: KeepRun
) -> None:
    run_id = "c0ffee" + "0" * 26
    keep_run(run_id, "Hugs", train(Corpus.from_text("hug hugs " * 20), TrainingConfig(260)))
    go_to_address(page, "/compare")
    page.get_by_role("button", name="Add a tokenizer").click()
    field = page.get_by_role("textbox", name="A run by its address")
    field.fill("hug")
    page.get_by_role("button", name="Add run").click()
    expect(page.get_by_role("alert")).to_contain_text("Expected the address of a run, got “hug”")
    expect(field).to_have_value("")
    field.fill(f"https://example.org/merge_loop?run={run_id}&step=3")
    field.press("Enter")
    expect(page.locator(".rivals tbody tr", has_text="Hugs")).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)
    expect(field).to_have_value("")
    page.wait_for_url(f"**with=gpt2%2Crun-{run_id}*")
    assert "?run=" not in page.url


def test_cuts_and_disagreements_run_in_the_direction_of_their_text(tab: Page) -> None:
    text = quote("שלום עולם טוב ")
    go_to_address(tab, f"/compare?part=Passage&on=Your+own+text&text={text * 4}")
    for side in tab.locator(".current .tiles").all():
        expect(side).to_have_attribute("dir", "rtl")
    expect(tab.locator(".current .tiles .tile")).not_to_have_count(0)
    go_to_address(tab, f"/train?corpus=paste&pasted={text * 4}")
    tab.get_by_role("button", name="Cuts").click()
    expect(tab.locator(".strip")).to_have_attribute("dir", "rtl")


def test_the_verdict_names_the_strongest_until_another_row_is_pressed(
    page: Page, keep_run: KeepRun
) -> None:
    texts = [f"word{n % 9} of a text {n}\n" * 30 for n in range(300)]
    training, held_out = Corpus.from_documents(texts).split(0.1)
    run = train(training, TrainingConfig(600))
    run_id = "d" * 32
    keep_run(run_id, "Words", run, held_out=held_out)
    go_to_address(page, f"/compare?run={run_id}&with=gpt2,run-sample")
    verdict, rows = page.locator(".verdict"), page.locator(".rivals tbody tr")
    expect(rows).to_have_count(2)
    expect(verdict).to_contain_text("On documents it has never seen")
    first, second = rows.first.locator("b").inner_text(), rows.last.locator("b").inner_text()
    expect(rows.first).to_have_class(re.compile("chosen"))
    expect(verdict).to_contain_text(f"than {first} (95% interval")
    rows.last.locator("button.name").click()
    expect(verdict).to_contain_text(f"than {second} (95% interval")
    expect(rows.last.locator("button.name")).to_have_attribute("aria-pressed", "true")
    expect(page).to_have_url(re.compile("against="))
    page.reload()
    expect(verdict).to_contain_text(f"than {second} (95% interval")


def test_a_part_is_kept_in_the_address_without_an_entry_in_the_history(page: Page) -> None:
    go_to_address(page, "/compare")
    entries = page.evaluate("history.length")
    shown = {
        "Passage": page.locator(".side-1 .token").first,
        "Figures": page.get_by_role("group", name="Figures of the tokenizers"),
        "Terms and cost": page.get_by_role("textbox", name="Your terms, one per line"),
        "Languages": page.get_by_text("Tokens for the same sentences in all languages:"),
        "Verdict": page.locator(".verdict"),
    }
    for part, content in shown.items():
        choose(page, part)
        expect(content).to_be_visible()
        assert sum(other.count() > 0 for other in shown.values()) == 1
        expect(page).to_have_url(re.compile(f"part={quote(part).replace('%20', '(%20|[+])')}"))
        assert page.evaluate("history.length") == entries
    choose(page, "Figures")
    page.reload()
    expect(shown["Figures"]).to_be_visible()
