"""Pair frequencies in a real browser: sliders, a click on a bar, the table, a phone."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import Locator, Page, Position, expect

from bpe_core.trainers.statistics import pair_matrix
from tests.browser.helpers import (
    assert_no_label_is_cut,
    chart_surface,
    click_bar,
    download,
    go_to_address,
    press_until_heard,
    switch_theme,
    wait_until_idle,
)
from tests.browser.training import choose
from ui.look import token_label
from ui.run.run_figures import N_TOP_PAIRS
from ui.storage import SAMPLE_RUN_ID, load_run

POSITION_AT = """(surface, [across, down]) => {
  const { width, height } = surface.getBoundingClientRect();
  return { x: width * across, y: height * down };
}"""
CHARTS_ARE_DRAWN = """() => {
  const charts = [...document.querySelectorAll(".js-plotly-plot")];
  return charts.length === 7 && charts.every((chart) => chart.querySelector(".main-svg"));
}"""


def open_charts(page: Page, query: str) -> None:
    """Open the page and wait for all charts, because each one moves what is below it."""
    go_to_address(page, f"/pair_frequencies?{query}")
    page.wait_for_function(CHARTS_ARE_DRAWN)


def chart(page: Page, key: str) -> Locator:
    return page.locator(f".st-key-{key} .js-plotly-plot")


def test_choices_are_in_the_address_and_survive_a_reload(tab: Page) -> None:
    open_charts(tab, "step=45")
    run = load_run(SAMPLE_RUN_ID).run
    vocab = run.tokenizer.vocab
    left_field = tab.get_by_role("textbox", name="Left symbol")
    right_field = tab.get_by_role("textbox", name="Right symbol")
    left_field.fill("t")
    left_field.press("Tab")
    tab.keyboard.type("h")
    tab.keyboard.press("Enter")
    ids = {token: id for id, token in vocab.items()}
    expect(tab).to_have_url(re.compile(f"pair={ids[b't']}-{ids[b'h']}"))
    expect(tab.get_by_role("strong").filter(has_text="t + h")).to_be_visible()
    wait_until_idle(tab)

    matrix = pair_matrix(run.pair_counts(45), N_TOP_PAIRS, including=run.merges[45].pair)
    row, column = 3, 7
    share = [(column + 0.5) / len(matrix.right), (row + 0.5) / len(matrix.left)]

    def press_cell() -> None:
        cells = chart_surface(chart(tab, "pair_matrix_sample_45"))
        cells.click(position=cells.evaluate(POSITION_AT, share))

    press_until_heard(tab, press_cell)
    left, right = matrix.left[row], matrix.right[column]
    expect(tab).to_have_url(re.compile(f"pair={left}-{right}"))
    expect(left_field).to_have_value(token_label(vocab[left]))
    expect(right_field).to_have_value(token_label(vocab[right]))
    wait_until_idle(tab)
    choose(tab, "How large?")
    further = tab.get_by_test_id("stMetric").nth(2)
    expect(further).to_contain_text("Next 1,000 merges")
    tab.get_by_role("slider", name="Merges kept").press("End")
    expect(further).to_contain_text("Further merges")
    expect(tab).to_have_url(re.compile(rf"merges={len(run.merges)}"))
    tab.reload()
    expect(further).to_contain_text("Further merges")
    choose(tab, "Pairs")
    expect(left_field).to_have_value(token_label(vocab[left]))
    expect(right_field).to_have_value(token_label(vocab[right]))


def test_on_a_phone_clicking_a_bar_opens_the_merge_of_its_pair_or_reports_that_it_has_none(
    tab: Page,
) -> None:
    run = load_run(SAMPLE_RUN_ID).run
    n_merges = len(run.merges)
    tab.set_viewport_size({"width": 390, "height": 844})
    open_charts(tab, f"step={n_merges}")
    click_bar(chart(tab, f"top_pairs_sample_{n_merges}"), 0)
    expect(tab.get_by_text("This pair never merges in this run")).to_be_visible()
    left, right, _ = run.top_pairs(n_merges, 1)[0]
    expect(tab).to_have_url(re.compile(f"pair={left}-{right}"))
    expect(tab.get_by_text("It never merges: after the last merge")).to_be_visible()
    expect(tab.get_by_role("heading", level=1)).to_have_text("Pair frequencies")

    number = tab.get_by_role("spinbutton", name="Merge, by number")
    number.fill("2001")
    number.press("Enter")
    expect(tab.get_by_role("heading", name="The pairs before merge 2,001")).to_be_visible()
    expect(tab).to_have_url(re.compile("step=2000"))
    slider = tab.get_by_role("slider", name="Merge, by slider")
    slider.press("ArrowRight")
    expect(tab.get_by_role("heading", name="The pairs before merge 2,002")).to_be_visible()
    expect(number).to_have_value("2002")
    expect(chart(tab, "top_pairs_sample_2001").locator(".main-svg").first).to_be_attached()
    wait_until_idle(tab)
    tab.wait_for_function(CHARTS_ARE_DRAWN)
    assert_no_label_is_cut(tab)

    left, right, _ = run.top_pairs(2001, 12)[2]
    rank = next(merge.rank for merge in run.merges[2001:] if merge.pair == (left, right))
    assert rank != 2001
    click_bar(chart(tab, "top_pairs_sample_2001"), 2)
    expect(tab.get_by_role("heading", level=1)).to_have_text("Merge loop")
    expect(tab).to_have_url(re.compile(rf"/merge_loop\?.*step={rank}"))


def test_charts_follow_the_theme_and_their_pngs_have_its_background(
    tab: Page, tmp_path: Path
) -> None:
    open_charts(tab, "step=45")
    for scheme in ("light", "dark"):
        switch_theme(tab, scheme)
        corpus = chart(tab, "corpus_tokens")
        ground = tab.get_by_test_id("stApp").evaluate(
            "(app) => getComputedStyle(app).backgroundColor"
        )
        drawn = re.compile("background: " + re.escape(ground))
        expect(corpus.locator(".main-svg").first).to_have_attribute("style", drawn)
        saved = download(tab, "PNG: corpus")
        assert saved.suggested_filename == "pythons-built-in-help-run-corpus.png"
        file = tmp_path / f"{scheme}.png"
        saved.save_as(file)
        with Image.open(file) as image:
            pixels = np.asarray(image.convert("RGB"))
        corners = {tuple(pixels[y, x].tolist()) for y in (0, -1) for x in (0, -1)}
        assert corners == {tuple(int(value) for value in re.findall(r"\d+", ground))}
        assert (pixels != pixels[0, 0]).any(axis=2).sum() > 1_000


def test_the_table_leads_to_the_life_of_a_pair(tab: Page) -> None:
    go_to_address(tab, "/pair_frequencies?step=45")
    run = load_run(SAMPLE_RUN_ID).run
    left, right, _ = run.top_pairs(45, 3)[2]
    rank = next(merge.rank for merge in run.merges[45:] if merge.pair == (left, right))
    tab.get_by_text("Show as table").click()
    table = tab.get_by_test_id("stDataFrame")
    expect(table.locator("canvas").first).to_be_visible()
    row_height = 35  # the header's too; a click in the first column selects a row
    third_row: Position = {"x": 16, "y": row_height * 3 + row_height / 2}
    press_until_heard(tab, lambda: table.click(position=third_row))
    expect(tab).to_have_url(re.compile(f"pair={left}-{right}"))
    tab.get_by_role("link", name=f"Watch merge {rank + 1:,}").click()
    expect(tab.get_by_role("heading", level=1)).to_have_text("Merge loop")
    expect(tab).to_have_url(re.compile(rf"/merge_loop\?.*step={rank}"))
