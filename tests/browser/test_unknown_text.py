"""Text that a tokenizer cannot encode is shown on the pages with tokens."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from bpe_core.corpus.corpus import Corpus
from bpe_core.runs.train import train
from bpe_core.types import TrainingConfig
from tests.browser.conftest import KeepRun
from tests.browser.helpers import go_to_address
from tests.browser.training import choose


@pytest.fixture
def page(tab: Page) -> Page:
    """Return the tab in which the app is already loaded."""
    return tab


RUN_ID = "3" * 32


@pytest.fixture(scope="module")
def classroom_run(keep_run: KeepRun) -> str:
    """Store a run with the alphabet of a few words, and return its id."""
    config = TrainingConfig(
        vocab_size=20,
        pretokenizer="whitespace",
        base="characters",
        alphabet="seen",
        end_of_word="</w>",
        special_tokens=(),
    )
    run = train(Corpus.from_word_counts({"hug": 10, "ugg": 5, "gin": 3}), config)
    keep_run(RUN_ID, "words", run)
    return RUN_ID


def test_text_in_no_token_is_shown_in_a_disagreement_and_named_beside_the_verdict(
    page: Page, classroom_run: str
) -> None:
    go_to_address(
        page, f"/compare?run={classroom_run}&part=Passage&on=Your+own+text&text=zzz+yyy+www"
    )
    side = page.locator(".current .side").first
    expect(side).to_contain_text("zzz")
    expect(side).to_contain_text("in no token")
    expect(page.locator(".current")).not_to_contain_text("no token no token")
    choose(page, "Verdict")
    verdict = page.locator(".verdict")
    expect(verdict).to_contain_text("yours has no token for 9 bytes that its alphabet lacks")
    expect(verdict).not_to_contain_text("fewer tokens")
