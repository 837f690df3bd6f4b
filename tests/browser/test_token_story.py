"""A chosen token shows how its word was merged, and the training lines that contain it."""

from __future__ import annotations

from urllib.parse import quote

from playwright.sync_api import Page, expect

import bpe_core as bpe
from tests.browser.conftest import KeepRun
from tests.browser.helpers import go_to_address, wait_until_idle

HOSTILE_RUN = "5" * 32
HOSTILE_LINE = (
    '<script>window.harmed = 1</script> <img src=x onerror="window.harmed = 1"> &amp; **b** $x^2$ '
    "\ufeff\u202e\x00 zug"
)


def test_no_markup_in_a_text_or_in_what_was_trained_on_runs(tab: Page, keep_run: KeepRun) -> None:
    training = bpe.Corpus.from_documents([f"{HOSTILE_LINE}\n" * 4], names=["<b>a</b>.txt"])
    run = bpe.train(training, bpe.TrainingConfig(300))
    keep_run(HOSTILE_RUN, "<i>markup</i>", run, training=training)
    go_to_address(tab, f"/token_boundaries?run={HOSTILE_RUN}&text={quote(HOSTILE_LINE)}")
    tab.locator(".view .scroller").focus()
    tab.keyboard.press("Home")
    origin = tab.locator(".origin")
    expect(origin.locator(".lines .place").first).to_have_text("<b>a</b>.txt, line 1")
    for n in range(1, len(run.tokenizer.encode(HOSTILE_LINE)) + 1):
        expect(tab.locator(".details .label")).to_have_text(f"Token {n}")
        tab.keyboard.press("ArrowRight")
    wait_until_idle(tab)
    harmful = tab.locator(".view, .origin").locator("script, img, b:not(.figures b), em, code, a")
    assert harmful.count() == 0
    assert tab.evaluate("window.harmed") is None
