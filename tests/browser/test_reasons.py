"""The card "Why this pair?" matches a recount of the words."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Locator, Page

from bpe_core.runs.run import TrainingRun
from bpe_core.types import Pair
from tests.browser.player import Player, saved_replay
from tests.recounting import Recount, train_with_ties

TIED_STEP = 12


def spoken(run: TrainingRun, ids: list[int] | Pair) -> str:
    return ", ".join(run.tokenizer.vocab[id].decode() for id in ids)


def said(element: Locator) -> str:
    return " ".join((element.text_content() or "").split())


def test_the_card_of_a_tie_matches_a_recount(offline_page: Page, tmp_path: Path) -> None:
    run = train_with_ties("smallest-pair")
    player = Player.on(offline_page, saved_replay(run, tmp_path, title="reasons"))
    card = offline_page.locator(".player .why")
    offline_page.locator(".player .ties").evaluate("ties => { ties.open = true; }")
    player.go_to(f"{TIED_STEP + 1}")
    player.expect_step(TIED_STEP)
    recount = Recount.of(run, TIED_STEP)
    tied = recount.tied("smallest-pair")
    assert len(tied) > 1
    assert said(card.locator(".occurrences")) == f"{recount.count:,}"
    assert "The tie rule decides" in said(card.locator(".because"))
    rows = card.locator(".tie-list li").evaluate_all("all => all.map(e => e.firstChild.ariaLabel)")
    assert rows == [spoken(run, pair) for pair in tied]
    assert said(card.locator(".margin")).startswith("0 ties with ")
    n_given, n_words = len(recount.given), len(run.pretokens.words)
    assert said(card.locator(".n-words")) == f"{n_given:,} of {n_words:,}"
    assert said(card.locator(".overlaps")) == f"{recount.n_overlapping or 'none'}"
    given = card.locator(".gave li")
    for row, (wanted, word) in zip(given.all(), recount.given[:3], strict=True):
        assert said(row.locator("> :last-child")).split("= ")[-1] == f"{wanted:,}"
        assert row.locator(".given").get_attribute("aria-label") == spoken(run, word)
    for name, sign, mark in (("risen", 1, "+"), ("fallen", -1, "−")):
        listed = card.locator(f".{name} li").all_inner_texts()
        moved = [f"{mark}{by:,}" for by, _ in recount.moved(sign)]
        assert [row.split()[-1] for row in listed] == (moved or ["none"])
