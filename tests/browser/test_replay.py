"""A saved replay plays from disk, without a network, as on its page."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page, expect

import bpe_core as bpe
from tests.browser.helpers import download, go_to_address
from tests.browser.player import Player, saved_replay

HOSTILE = '</script><script>window.hacked=1</script><img src=x onerror="window.hacked=1">'


def test_the_button_saves_a_file_that_plays_to_the_end_offline(
    tab: Page, offline_page: Page, tmp_path: Path
) -> None:
    go_to_address(tab, "/merge_loop?step=3836&words=don%27t")
    expect(tab.locator(".player .position b")).to_have_text("3,836")
    saved = download(tab, "Save as a replay")
    file = tmp_path / saved.suggested_filename
    saved.save_as(file)
    player = Player.on(offline_page, file.as_uri())
    player.expect_step(3_836)
    player.choose("yours")
    expect(offline_page.locator(".player .word")).to_have_count(2)
    player.choose("8")
    player.press("play")
    player.expect_step(3_839)
    player.expect_playing(False)
    player.expect_sentence("It stopped because the vocabulary reached 4,096.")
    player.press("first")
    player.expect_step(0)


def test_markup_in_a_saved_run_is_text(offline_page: Page, tmp_path: Path) -> None:
    corpus = bpe.Corpus.from_text(" ".join([HOSTILE, "\x00", "🧩</w>"] * 4))
    run = bpe.train(corpus, bpe.TrainingConfig(400, pretokenizer="whitespace"))
    player = Player.on(offline_page, saved_replay(run, tmp_path, title=HOSTILE, text=HOSTILE))
    expect(offline_page.get_by_role("heading", level=1)).to_have_text(HOSTILE)
    player.press("last")
    expect(offline_page.locator(".player .words")).to_contain_text("<script>")
    player.choose("yours")
    expect(offline_page.locator(".player .words")).to_contain_text("onerror=")
    player.go_to(HOSTILE)
    expect(offline_page.locator(".player .jump-problem")).not_to_be_empty()
    assert offline_page.evaluate("window.hacked") is None
    assert offline_page.locator("img, .words script").count() == 0
