"""The card "Why this pair?" matches a recount of the words."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Locator, Page

from bpe_core.runs.run import TrainingRun
from bpe_core.types import Pair
from tests.browser.player import Player, saved_replay
from tests.recounting import Recount, train_with_ties

STEPS = (0, 17, 41)


def spoken(run: TrainingRun, ids: list[int] | Pair) -> str:
    return ", ".join(run.tokenizer.vocab[id].decode() for id in ids)


def said(element: Locator) -> str:
    return " ".join((element.text_content() or "").split())


def test_every_field_of_the_card_matches_a_recount(offline_page: Page, tmp_path: Path) -> None:
    run = train_with_ties("smallest-pair")
    player = Player.on(offline_page, saved_replay(run, tmp_path, title="reasons"))
    card = offline_page.locator(".player .why")
    offline_page.locator(".player .ties").evaluate("ties => { ties.open = true; }")
    n_ties = 0
    for step in STEPS:
        player.go_to(str(step + 1))
        player.expect_step(step)
        recount = Recount.of(run, step)
        tied = recount.tied("smallest-pair")
        n_ties += len(tied) > 1
        assert said(card.locator(".occurrences")) == f"{recount.count:,}"
        assert ("The tie rule decides" in said(card.locator(".because"))) == (len(tied) > 1)
        ties = card.locator(".tie-list li")
        assert ties.evaluate_all("rows => rows.map(row => row.firstChild.ariaLabel)") == (
            [spoken(run, pair) for pair in tied] if len(tied) > 1 else []
        )
        assert recount.next_count is not None
        lead = recount.count - recount.next_count
        margin = "0 ties with " if len(tied) > 1 else f"{lead:,} over "
        assert said(card.locator(".margin")).startswith(margin)
        assert said(card.locator(".n-words")) == (
            f"{len(recount.given):,} of {len(run.pretokens.words):,}"
        )
        assert said(card.locator(".overlaps")) == f"{recount.n_overlapping or 'none'}"
        given = card.locator(".gave li")
        assert given.count() == min(3, len(recount.given))
        for n, (wanted, word) in enumerate(recount.given[:3]):
            row = given.nth(n)
            assert said(row.locator("> :last-child")).split("= ")[-1] == f"{wanted:,}"
            assert row.locator(".given").get_attribute("aria-label") == spoken(run, word)
        for name, sign, mark in (("risen", 1, "+"), ("fallen", -1, "−")):
            listed = card.locator(f".{name} li").all_inner_texts()
            moved = [f"{mark}{by:,}" for by, _ in recount.moved(sign)]
            assert [row.split()[-1] for row in listed] == (moved or ["none"])
    assert 0 < n_ties < len(STEPS)
