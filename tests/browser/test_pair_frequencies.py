"""Pair frequencies in a real browser: sliders, a click on a bar, the table, a phone."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Locator, Page, expect

from bpe_core.runs.pair_statistics import pair_matrix
from tests.browser.helpers import (
    assert_no_label_is_cut,
    chart_surface,
    click_bar,
    go_to_address,
    wait_until_idle,
)
from tests.browser.training import choose
from ui.look.labels import token_label
from ui.run.results import N_TOP_PAIRS
from ui.storage.run_store import SAMPLE_RUN_ID, load_run

CHARTS_ARE_DRAWN = """() => {
  const charts = [...document.querySelectorAll(".js-plotly-plot")];
  return charts.length === 7 && charts.every((chart) => chart.querySelector(".main-svg"));
}"""


@pytest.fixture
def page(tab: Page) -> Page:
    """Return a tab in which the charts are already loaded."""
    return tab


def open_charts(page: Page, query: str) -> None:
    """Open the page and wait for all charts, because each one moves what is below it."""
    go_to_address(page, f"/pair_frequencies?{query}")
    page.wait_for_function(CHARTS_ARE_DRAWN)


def chart(page: Page, key: str) -> Locator:
    return page.locator(f".st-key-{key} .js-plotly-plot")


def test_choices_are_in_the_address_and_survive_a_reload(page: Page) -> None:
    go_to_address(page, "/pair_frequencies?step=45")
    choose(page, "How large?")
    run = load_run(SAMPLE_RUN_ID).run
    vocab = run.tokenizer.vocab

    further = page.get_by_test_id("stMetric").nth(2)
    expect(further).to_contain_text("Next 1,000 merges")
    cut = page.get_by_role("slider", name="Merges kept")
    cut.focus()
    page.keyboard.press("End")
    expect(further).to_contain_text("Further merges")
    expect(page).to_have_url(re.compile(rf"merges={len(run.merges)}"))
    training = page.get_by_test_id("stMetric").nth(0)
    expect(training).to_contain_text(f"{run.corpus_bytes / run.tokens_after[-1]:.2f}")

    page.reload()
    expect(further).to_contain_text("Further merges")
    choose(page, "Pairs")
    page.wait_for_function(CHARTS_ARE_DRAWN)
    left_field = page.get_by_role("textbox", name="Left symbol")
    right_field = page.get_by_role("textbox", name="Right symbol")
    left_field.fill("t")
    left_field.press("Tab")
    page.keyboard.type("h")
    page.keyboard.press("Enter")
    ids = {token: id for id, token in vocab.items()}
    expect(page).to_have_url(re.compile(f"pair={ids[b't']}-{ids[b'h']}"))
    expect(page.get_by_role("strong").filter(has_text="t + h")).to_be_visible()

    matrix = pair_matrix(run.pair_counts(45), N_TOP_PAIRS, including=run.merges[45].pair)
    row, column = 3, 7
    cells = chart_surface(chart(page, "pair_matrix_sample_45"))
    size = cells.evaluate("(cells) => cells.getBoundingClientRect().toJSON()")
    cells.click(
        position={
            "x": size["width"] * (column + 0.5) / len(matrix.right),
            "y": size["height"] * (row + 0.5) / len(matrix.left),
        }
    )
    left, right = matrix.left[row], matrix.right[column]
    expect(page).to_have_url(re.compile(f"pair={left}-{right}"))
    for is_reloaded in (False, True):
        if is_reloaded:
            page.reload()
        expect(left_field).to_have_value(token_label(vocab[left]))
        expect(right_field).to_have_value(token_label(vocab[right]))


def test_on_a_phone_clicking_a_bar_opens_the_merge_of_its_pair_or_reports_that_it_has_none(
    page: Page,
) -> None:
    run = load_run(SAMPLE_RUN_ID).run
    n_merges = len(run.merges)
    page.set_viewport_size({"width": 390, "height": 844})
    open_charts(page, f"step={n_merges}")
    assert_nothing_is_cut_off(page)
    click_bar(chart(page, f"top_pairs_sample_{n_merges}"), 0)
    expect(page.get_by_text("This pair never merges in this run")).to_be_visible()
    left, right, _ = run.top_pairs(n_merges, 1)[0]
    expect(page).to_have_url(re.compile(f"pair={left}-{right}"))
    expect(page.get_by_text("It never merges: after the last merge")).to_be_visible()
    expect(page.get_by_role("heading", level=1)).to_have_text("Pair frequencies")

    number = page.get_by_role("spinbutton", name="Merge, by number")
    number.fill("2001")
    number.press("Enter")
    expect(page.get_by_role("heading", name="The pairs before merge 2,001")).to_be_visible()
    expect(page).to_have_url(re.compile("step=2000"))
    slider = page.get_by_role("slider", name="Merge, by slider")
    slider.focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("heading", name="The pairs before merge 2,002")).to_be_visible()
    expect(number).to_have_value("2002")
    expect(chart(page, "top_pairs_sample_2001").locator(".main-svg").first).to_be_attached()
    wait_until_idle(page)
    page.wait_for_function(CHARTS_ARE_DRAWN)
    assert_nothing_is_cut_off(page)

    left, right, _ = run.top_pairs(2001, 12)[2]
    rank = next(merge.rank for merge in run.merges[2001:] if merge.pair == (left, right))
    assert rank != 2001
    click_bar(chart(page, "top_pairs_sample_2001"), 2)
    expect(page.get_by_role("heading", level=1)).to_have_text("Merge loop")
    expect(page).to_have_url(re.compile(rf"/merge_loop\?.*step={rank}"))


def assert_nothing_is_cut_off(page: Page) -> None:
    width = page.evaluate(
        "() => [document.querySelector('[data-testid=stMain]'), document.documentElement]"
        ".map(e => e.scrollWidth - e.clientWidth)"
    )
    assert width == [0, 0]
    assert_no_label_is_cut(page)


def test_charts_follow_the_theme_and_their_pngs_have_its_background(
    page: Page, tmp_path: Path
) -> None:
    open_charts(page, "step=45")
    chosen = page.locator(".barlayer .point path").first
    dark, light = "rgb(255, 144, 102)", "rgb(173, 52, 7)"
    expect(chosen).to_have_css("fill", light)
    check_png_of_a_chart(page, tmp_path, (253, 252, 250))
    page.emulate_media(color_scheme="dark")
    expect(chosen).to_have_css("fill", dark)
    check_png_of_a_chart(page, tmp_path, (23, 22, 20))
    page.emulate_media(color_scheme="light")
    expect(chosen).to_have_css("fill", light)


def check_png_of_a_chart(page: Page, tmp_path: Path, ground: tuple[int, int, int]) -> None:
    corpus = chart(page, "corpus_tokens")
    of_theme = re.compile("background: rgb" + re.escape(str(ground)))
    expect(corpus.locator(".main-svg").first).to_have_attribute("style", of_theme)
    with page.expect_download() as download:
        page.get_by_role("button", name="PNG: corpus").click()
    file = tmp_path / download.value.suggested_filename
    download.value.save_as(file)
    box = corpus.bounding_box()
    assert file.name == "pythons-language-reference-run-corpus.png"
    assert box is not None
    with Image.open(file) as image:
        # The image has twice the resolution, and two more lines for its title.
        assert image.width == pytest.approx(2 * (box["width"] + 32), abs=4)
        assert image.height > 2 * (box["height"] + 60)
        pixels = np.asarray(image.convert("RGBA"))
    assert (pixels[..., 3] == 255).all()
    assert {tuple(pixels[y, x, :3].tolist()) for y in (0, -1) for x in (0, -1)} == {ground}
    title, what = pixels[32:80, :, :3], pixels[82:124, :, :3]
    for lines in (title, what):
        assert (np.abs(lines.astype(int) - ground).sum(axis=2) > 200).sum() > 500


def test_the_table_leads_to_the_life_of_a_pair_and_its_csv_holds_every_pair(
    page: Page, tmp_path: Path
) -> None:
    go_to_address(page, "/pair_frequencies?step=45")
    with page.expect_download() as download:
        page.locator(".st-key-pairs_csv").get_by_role("button", name="CSV").click()
    path = tmp_path / "pairs.csv"
    download.value.save_as(path)
    run = load_run(SAMPLE_RUN_ID).run
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {(int(row["left id"]), int(row["right id"])): int(row["count"]) for row in rows} == (
        run.pair_counts(45)
    )
    assert all(
        bytes.fromhex(row["left bytes in hex"]) == run.tokenizer.vocab[int(row["left id"])]
        for row in rows
    )

    left, right, _ = run.top_pairs(45, 3)[2]
    rank = next(merge.rank for merge in run.merges[45:] if merge.pair == (left, right))
    page.get_by_text("Show as table").click()
    table = page.get_by_test_id("stDataFrame")
    expect(table.locator("canvas").first).to_be_visible()
    wait_until_idle(page)
    table.scroll_into_view_if_needed()
    row_height = 35  # the header's too; a click in the first column selects a row
    table.click(position={"x": 16, "y": row_height * 3 + row_height // 2})
    expect(page).to_have_url(re.compile(f"pair={left}-{right}"))
    page.get_by_role("link", name=f"Watch merge {rank + 1:,}").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Merge loop")
    expect(page).to_have_url(re.compile(rf"/merge_loop\?.*step={rank}"))
