"""Compare in a browser: rings, panes that scroll together, print, and added tokenizers."""

from __future__ import annotations

import json
import re
from urllib.parse import quote

from playwright.sync_api import Locator, Page, expect

import bpe_core as bpe
from bpe_core.comparison.comparison import disagreements
from bpe_core.corpus import load_sample
from bpe_core.formats import dumps
from bpe_core.formats.gguf.gguf_vocabulary import write_gguf
from tests.browser.conftest import KeepRun
from tests.browser.helpers import (
    assert_fits,
    choose_option,
    download,
    go_to_address,
    wait_until_idle,
)
from tests.browser.training import add_files, choose
from tests.loopback_hub import LoopbackHub
from ui.compare.passage import typical_excerpt
from ui.storage import SAMPLE_RUN_ID, load_run


def sample_disagreements() -> tuple[str, int]:
    stored = load_run(SAMPLE_RUN_ID)
    encoders = [stored.run.tokenizer, bpe.gpt2()]
    gain = bpe.compare(stored.held_out, encoders).verdict().percent_fewer_tokens
    text = typical_excerpt(stored.held_out, encoders, gain).text
    found = disagreements(stored.run.tokenizer.segments(text), bpe.gpt2().segments(text), text)
    return text, len(found)


def open_passage(page: Page) -> None:
    go_to_address(page, "/compare?part=Passage")
    expect(page.locator(".side-1 .token").first).to_be_attached()


def test_the_panes_ring_disagreements_and_scroll_together(tab: Page) -> None:
    tab.set_viewport_size({"width": 1440, "height": 1300})
    open_passage(tab)
    tab.get_by_role("button", name="Next").click()
    expect(tab.locator(".steps b")).to_have_text("2")
    focused = [
        tab.locator(f".side-{side} .ring.focused").first.get_attribute("data-span")
        for side in (0, 1)
    ]
    assert focused[0] == focused[1]
    expect(tab.locator(".current")).to_contain_text("Disagreement 2")

    text, n = sample_disagreements()
    tab.get_by_role("button", name="All").click()
    for side in (0, 1):
        pane = tab.locator(f".side-{side} .scroller")
        assert pane.evaluate("(s) => s.textContent") == text
        rings = pane.locator(".ring").evaluate_all("(rs) => rs.map((r) => r.dataset.span)")
        assert sorted(set(rings), key=int) == [str(k) for k in range(n)]
        assert pane.locator(".ring .agreed").count() == 0
        assert pane.locator(".token:not(.agreed, .none)").count() == (
            pane.locator(".ring .token").count()
        )
    expect(tab.locator(".steps")).to_contain_text(f"1 of {n} disagreements")

    left = tab.locator(".side-0 .scroller")
    right = tab.locator(".side-1 .scroller")
    left.evaluate("(s) => { s.scrollTop = s.scrollHeight; }")
    tab.wait_for_function(
        "(s) => s.scrollTop > 0 && s.scrollHeight - s.clientHeight - s.scrollTop < 60",
        arg=right.element_handle(),
    )
    left.evaluate("(s) => { s.scrollTop = 0; }")
    left.locator(".ring .token").first.hover()
    tab.wait_for_function(
        """(s) => [...s.querySelectorAll(".token")].some(
            (token) => getComputedStyle(token).boxShadow.includes("inset"))""",
        arg=right.element_handle(),
    )


def test_what_differs_and_how_structure_is_cut_fit_a_phone(tab: Page) -> None:
    tab.set_viewport_size({"width": 390, "height": 844})
    go_to_address(tab, "/compare?part=What differs")
    expect(tab.locator(".verdict")).to_contain_text("into other tokens")
    expect(tab.get_by_role("heading", name="Only in one of them")).to_be_visible()
    assert_fits(tab)
    choose(tab, "Figures")
    expect(tab.get_by_text("Ways to cut 0 to 9999")).to_be_visible()
    expect(tab.get_by_text("The first number and the first name")).to_be_visible()
    assert_fits(tab)


def test_the_figures_are_explained_and_written_as_json(tab: Page) -> None:
    open_passage(tab)
    expect(tab.locator(".badge")).to_have_text(re.compile(r"✓ exact: (\d+) of \1"))
    choose(tab, "Figures")
    expect(tab.locator("td.better").first).to_be_visible()

    tab.locator("summary").get_by_text("Tokens per word", exact=True).press("Enter")
    expect(tab.locator("summary + p").filter(has_text="Fertility")).to_be_visible()

    choose(tab, "Terms and cost")
    terms = "\n".join(["zwölf Tokenizer", "<img src=x>", *map("Kubernetes {}".format, range(28))])
    tab.get_by_role("textbox", name="Your terms, one per line").fill(terms)
    tab.get_by_role("spinbutton", name="Price per million tokens").fill("2.5")
    tab.keyboard.press("Enter")
    expect(tab.get_by_text("Cost of held-out text")).to_be_visible()
    rows = tab.locator("tbody tr:has(td.cut)")
    expect(rows).to_have_count(20)
    tab.get_by_role("button", name="Show 10 more").click()
    expect(rows).to_have_count(30)
    # The button no longer exists, so the focus moves to the first new row.
    expect(rows.nth(20).locator("th")).to_be_focused()
    assert rows.locator("img").count() == 0
    choose(tab, "Verdict")
    expect(tab.locator(".verdict")).to_contain_text("fewer tokens than GPT-2 (95% interval")
    said = tab.locator(".verdict p").first.inner_text().strip()
    record = json.loads(download(tab, "comparison.json").path().read_bytes())
    assert record["verdict"]["sentence"] == said
    assert "zwölf Tokenizer" in [row["term"] for row in record["terms"]["rows"]]
    assert record["costs"]["price"] == 2.5
    assert "Cost of held-out text" in record["costs"]["rows"]
    assert record["languages"]["reference"] == "English"
    assert {"training", "held_out"} <= record["composition"].keys()
    assert record["runs"].keys() == {"The example"}

    tab.emulate_media(media="print")
    expect(tab.locator(".verdict")).to_be_visible()
    for hidden in ("Add a tokenizer", "comparison.json", "CSV", "PNG"):
        expect(tab.get_by_role("button", name=hidden)).to_be_hidden()
    expect(tab.get_by_role("link", name="Pair frequencies")).to_be_hidden()
    tab.emulate_media(media="screen")

    # The price stays on the other page and after a reload.
    tab.get_by_role("link", name="Pair frequencies").click()
    choose(tab, "How large?")
    expect(tab.get_by_role("heading", name="What this size costs")).to_be_visible()
    tab.reload()
    expect(tab.get_by_role("spinbutton", name="Price per million tokens")).to_have_value("2.5")


def test_text_of_token_boundaries_and_a_typed_word_are_compared_as_text(
    tab: Page,
) -> None:
    text = "<script>window.harmed=1</script> naïveté"
    go_to_address(tab, f"/token_boundaries?text={quote(text)}")
    expect(tab.locator(".view .token").first).to_be_attached()
    tab.get_by_role("link", name="Compare").click()
    expect(tab.get_by_role("heading", level=1, name="Compare")).to_be_visible()
    choose(tab, "Passage")
    choose(tab, "Your own text")
    expect(tab.get_by_role("textbox", name="Your text")).to_have_value(text)
    expect(tab.locator(".side-1 .scroller")).to_contain_text("naïveté")

    tab.get_by_text("One word under each tokenizer").click()
    field = tab.get_by_label("A word; a leading space matters")
    word = " <img src=x onerror=harmed=1>"
    field.fill(word)
    field.press("Enter")
    expect(tab.locator(".word .tile", has_text="=").first).to_be_visible()
    for side in tab.locator(".word").all():
        tokens = side.locator(".tree > li > .tile:first-child").all_text_contents()
        # A space is drawn as a glyph and has no text.
        assert "".join(tokens) == word.replace(" ", "")
    assert tab.locator(".word").count() == 2
    assert tab.evaluate("window.harmed") is None
    assert tab.locator(".word img").count() == 0

    tab.get_by_role("textbox", name="Your text").fill("שלום עולם טוב " * 4)
    sides = tab.locator(".current .tiles")
    expect(sides.filter(has=tab.locator(".tile"))).to_have_count(2)
    for side in sides.all():
        expect(side).to_have_attribute("dir", "rtl")


def test_the_verdict_names_the_strongest_until_another_row_is_pressed(
    tab: Page, keep_run: KeepRun
) -> None:
    texts = [f"word{n % 9} of a text {n}\n" * 30 for n in range(300)]
    training, held_out = bpe.Corpus.from_documents(texts).split(0.1)
    run = bpe.train(training, bpe.TrainingConfig(600))
    run_id = "d" * 32
    keep_run(run_id, "Words", run, held_out=held_out)
    go_to_address(tab, f"/compare?run={run_id}&with=gpt2,run-sample")
    verdict, rows = tab.locator(".verdict"), tab.locator(".rivals tbody tr")
    expect(rows).to_have_count(2)
    expect(verdict).to_contain_text("On documents it has never seen")
    first, second = rows.first.locator("b").inner_text(), rows.last.locator("b").inner_text()
    expect(rows.first).to_have_class(re.compile("chosen"))
    expect(verdict).to_contain_text(f"than {first} (95% interval")
    rows.last.locator("button.name").click()
    expect(verdict).to_contain_text(f"than {second} (95% interval")
    expect(rows.last.locator("button.name")).to_have_attribute("aria-pressed", "true")
    expect(tab).to_have_url(re.compile("against="))
    tab.reload()
    expect(verdict).to_contain_text(f"than {second} (95% interval")


CLAUDE = "Claude 2 (Anthropic): downloaded"
HOSTILE_NAME = "<img src=x onerror=harmed=1>\u202e.gguf"


def open_additions(page: Page) -> None:
    """Open the ways to add a tokenizer, which stay open after one was added."""
    wait_until_idle(page)
    if not page.get_by_role("button", name="Add model").is_visible():
        page.get_by_role("button", name="Add a tokenizer").click()
        wait_until_idle(page)


def add_model(page: Page, name: str) -> None:
    open_additions(page)
    page.get_by_role("textbox", name="A model on Hugging Face’s hub").fill(name)
    page.get_by_role("button", name="Add model").click()


def rival(page: Page, name: str) -> Locator:
    return page.locator(".rivals tbody tr").filter(has_text=name)


def test_a_published_name_a_model_of_the_hub_and_a_gguf_file_get_a_verdict(
    tab: Page, hub: LoopbackHub
) -> None:
    config = bpe.TrainingConfig(700, pretokenizer="qwen2")
    tokenizer = bpe.train(load_sample("multilingual"), config).tokenizer
    commit = hub.add("org/model", dumps(tokenizer, "transformers"))
    hub.add("org/slow", {"tokenizer.json": b" " * 100_000}, "slow")
    go_to_address(tab, "/compare")

    open_additions(tab)
    choose_option(tab.get_by_role("combobox", name="Published tokenizer"), CLAUDE)
    tab.get_by_role("button", name="Add by name").click()
    expect(rival(tab, "Claude 2")).to_have_count(1)
    add_model(tab, "org/model")
    expect(rival(tab, "org/model")).to_contain_text(f"From hf:org/model@{commit}")
    open_additions(tab)
    add_files(tab, {HOSTILE_NAME: write_gguf(tokenizer)})
    expect(rival(tab, "U+202E.gguf")).to_contain_text("encoded by bpe_core")
    for name in ("Claude 2", "org/model", "U+202E.gguf"):
        expect(rival(tab, name)).to_contain_text(re.compile(r"\d% (fewer|more)"))
    add_model(tab, "org/slow")
    tab.get_by_role("button", name="Cancel").click()
    expect(tab.get_by_text("Fetching org/slow")).to_have_count(0)
    tab.keyboard.press("Escape")
    wait_until_idle(tab)
    assert f"hf:org/model@{commit}" in tab.evaluate("decodeURIComponent(location.search)")

    choose(tab, "Passage")
    expect(tab.locator(".side-4 .token").first).to_be_attached()
    tab.locator(".side-4 .scroller").press("ArrowRight")
    focused = {
        tab.locator(f".side-{side} .ring.focused").first.get_attribute("data-span")
        for side in range(5)
    }
    assert len(focused) == 1
    # Claude 2 changes a text before it cuts it.
    choose(tab, "Your own text")
    tab.get_by_role("textbox", name="Your text").fill("The ﬁrst ﬁle has ﬁve parts.")
    tab.get_by_text("Changed before the text is cut").click()
    expect(tab.locator(".normalized mark").first).to_be_visible()
    choose(tab, "Verdict")
    rival(tab, "U+202E.gguf").get_by_role("button", name="Remove <img").click()
    expect(rival(tab, "U+202E.gguf")).to_have_count(0)
    assert tab.evaluate("window.harmed") is None
