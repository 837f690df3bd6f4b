"""Each field of "Why this pair?" at random steps: against counts made anew from the words."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Locator, Page

from bpe_core.corpus.corpus import Corpus
from bpe_core.runs.run import TrainingRun
from bpe_core.runs.train import train
from bpe_core.trainers.base_vocabulary import symbols_of
from bpe_core.trainers.reference import apply_merge, count_pairs
from bpe_core.types import Pair, TieBreak, TrainingConfig
from tests.browser.player import Player, saved_replay

pytestmark = pytest.mark.browser

N_STEPS = 12


def words_with_runs_and_ties(seed: int) -> dict[str, int]:
    """Short words over few letters: full of ties, and of overlaps as in `aaa`."""
    draw = np.random.default_rng(seed)
    words: dict[str, int] = {}
    for _ in range(90):
        letters = draw.choice(list("aabcé"), size=draw.integers(2, 11))
        words["".join(letters)] = int(draw.integers(1, 9))
    return words


@dataclass(frozen=True, slots=True)
class Reasons:
    """What the card has to say of one merge, by counting everything before and after it."""

    winner: Pair
    before: Counter[Pair]
    after: Counter[Pair]
    given: list[tuple[int, list[int]]]
    """How often each word that changes gave the pair, most first, and its symbols before."""

    @classmethod
    def of(cls, run: TrainingRun, step: int) -> Reasons:
        base_ids = run.tokenizer.base_ids
        words = [
            [base_ids[symbol] for symbol in symbols_of(word, run.tokenizer.base)]
            for word in run.pretokens.words
        ]
        counts: list[int] = run.pretokens.counts.tolist()
        for merge in run.merges[:step]:
            words = [apply_merge(word, merge.pair, merge.id) for word in words]
        merge = run.merges[step]
        merged = [apply_merge(word, merge.pair, merge.id) for word in words]
        given = [
            ((len(old) - len(new)) * n, old)
            for old, new, n in zip(words, merged, counts, strict=True)
            if len(new) < len(old)
        ]
        return cls(
            winner=merge.pair,
            before=Counter(count_pairs(words, counts)),
            after=Counter(count_pairs(merged, counts)),
            given=sorted(given, key=lambda one: -one[0]),
        )

    @property
    def count(self) -> int:
        return self.before[self.winner]

    @property
    def n_tied(self) -> int:
        return sum(n == self.count for n in self.before.values())

    def tied(self, tie_break: TieBreak) -> list[Pair]:
        """The pairs that tie, in the order of the rule; they are counted as they are seen."""
        pairs = [pair for pair, n in self.before.items() if n == self.count]
        return sorted(pairs) if tie_break == "smallest-pair" else pairs

    def moved(self, sign: int) -> list[tuple[str, Pair]]:
        """The three pairs that rise most, or fall most, as the card writes them."""
        by = {
            pair: sign * (self.after[pair] - self.before[pair])
            for pair in {*self.before, *self.after} - {self.winner}
        }
        order = sorted((pair for pair in by if by[pair] > 0), key=lambda pair: (-by[pair], pair))
        return [(f"{'+' if sign > 0 else '−'}{by[pair]:,}", pair) for pair in order[:3]]


def spoken(run: TrainingRun, ids: list[int] | Pair) -> str:
    return ", ".join(run.tokenizer.vocab[id].decode() for id in ids)


def said(element: Locator) -> str:
    return " ".join((element.text_content() or "").split())


@pytest.mark.parametrize("tie_break", ["smallest-pair", "first-seen"])
def test_every_field_of_the_card_is_what_recounting_finds(
    offline_page: Page, tmp_path: Path, tie_break: TieBreak
) -> None:
    config = TrainingConfig(
        70, pretokenizer="none", base="characters", special_tokens=(), tie_break=tie_break
    )
    run = train(Corpus.from_word_counts(words_with_runs_and_ties(1)), config)
    player = Player.on(offline_page, saved_replay(run, tmp_path, title="reasons"))
    card = offline_page.locator(".player .why")
    offline_page.locator(".player .ties").evaluate("ties => { ties.open = true; }")
    steps = np.random.default_rng(2).choice(len(run.merges), N_STEPS, replace=False).tolist()
    for step in [0, *steps]:
        player.go_to(str(step + 1))
        player.expect_step(step)
        reasons = Reasons.of(run, step)
        count, tied = reasons.count, reasons.n_tied

        assert said(card.locator(".occurrences")) == f"{count:,}"
        because = said(card.locator(".because"))
        assert ("The tie rule decides" in because) == (tied > 1)
        ties = card.locator(".tie-list li")
        assert ties.evaluate_all("rows => rows.map(row => row.firstChild.ariaLabel)") == (
            [spoken(run, pair) for pair in reasons.tied(tie_break)] if tied > 1 else []
        )
        others = len(reasons.before) - tied
        assert f"other {others:,} pairs" in because or others < 2
        behind = max((n for n in reasons.before.values() if n < count), default=None)
        margin = said(card.locator(".margin"))
        if behind is None:
            assert margin == (f"all {tied} tie" if tied > 1 else "no rival")
        else:
            assert margin.startswith(f"{count - behind:,} over ")
        assert said(card.locator(".n-words")) == (
            f"{len(reasons.given):,} of {len(run.pretokens.words):,}"
        )
        overlaps = count - sum(given for given, _ in reasons.given)
        assert said(card.locator(".overlaps")) == (f"{overlaps:,}" if overlaps else "none")

        given = card.locator(".gave li")
        assert given.count() == min(3, len(reasons.given))
        for n, (wanted, word) in enumerate(reasons.given[:3]):
            row = given.nth(n)
            assert said(row.locator("> :last-child")).split("= ")[-1] == f"{wanted:,}"
            assert row.locator(".given").get_attribute("aria-label") == spoken(run, word)
        for name, sign in (("risen", 1), ("fallen", -1)):
            listed = card.locator(f".{name} li")
            moved = reasons.moved(sign)
            assert [row.split()[-1] for row in listed.all_inner_texts()] == (
                [by for by, _ in moved] or ["none"]
            )
            for n, (_, pair) in enumerate(moved):
                ids = (
                    listed.nth(n)
                    .locator(".tile")
                    .evaluate_all("tiles => tiles.map(tile => tile.textContent)")
                )
                assert ids == [run.tokenizer.vocab[id].decode() for id in pair]
