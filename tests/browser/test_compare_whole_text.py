"""Compare in a browser with a file that another library runs, on 3 MB of held-out text."""

from __future__ import annotations

import random
import re
import time

from playwright.sync_api import Page, expect

import bpe_core as bpe
from bpe_core.corpus.samples import load_sample
from tests import foreign_models as models
from tests.browser.conftest import KeepRun, ShowFigures
from tests.browser.helpers import SLACK, go_to_address
from tests.browser.training import add_files

RUN = "5107" + "0" * 28
# Includes sending the uploaded file, and opening the uploaded file in a separate process.
SECONDS_TO_FIRST_FIGURE = 5
TIME_LEFT = re.compile(r"Whole text: .+ of .+, .+ a second, about \d+ (s|min) left")
LINE = "the a and of which through possible society people would larger hugs, naïve; nothing"


def long_text(n_lines: int) -> str:
    draw = random.Random(0)
    return "".join(f"{n} {' '.join(draw.choices(LINE.split(), k=12))}.\n" for n in range(n_lines))


def test_the_first_figure_is_there_while_the_whole_text_is_compared(
    tab: Page, keep_run: KeepRun, show_figures: ShowFigures
) -> None:
    run = bpe.train(load_sample("notebook"), bpe.TrainingConfig(280))
    keep_run(RUN, "Long", run, held_out=bpe.Corpus.from_text(long_text(40_000)))
    # Leave GPT-2 out, because a slow machine could still show its first figure at the click.
    go_to_address(tab, f"/compare?run={RUN}&with=none")
    expect(tab.get_by_text("Nothing to compare with yet")).to_be_visible()
    tab.get_by_role("button", name="Add a tokenizer").click()
    first = tab.get_by_text("First figure, from a sample of")
    assert first.count() == 0
    clicked = time.perf_counter()
    add_files(tab, {"unigram.json": models.unigram().to_str().encode()})
    expect(first).to_be_visible()
    seconds = time.perf_counter() - clicked
    show_figures("milliseconds from a click to the first figure of 3 MB", [1_000 * seconds])
    assert seconds < SLACK * SECONDS_TO_FIRST_FIGURE
    expect(tab.locator(".verdict")).to_contain_text("On a sample of")
    expect(tab.get_by_role("progressbar").first).to_be_visible()
    expect(tab.get_by_role("button", name="Cancel")).to_be_visible()
    expect(tab.locator(".st-key-compare_whole_watched")).to_contain_text(TIME_LEFT)
    expect(first).to_have_count(0, timeout=60_000)
    expect(tab.locator(".verdict")).not_to_contain_text("sample")
