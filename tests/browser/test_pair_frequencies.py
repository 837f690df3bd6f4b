"""Pair frequencies in a real browser: sliders, a click on a bar, the table, a phone."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Page, expect

from bpe_core.frequencies import pair_matrix
from tests.browser.helpers import assert_no_traceback, open_page, wait_until_idle
from ui.labels import token_label
from ui.results import N_TOP_PAIRS
from ui.run_store import SAMPLE_RUN_ID, load_run

pytestmark = pytest.mark.browser


def _bar(page: Page, place: int) -> tuple[float, float]:
    """Where the bar of that place is on the screen."""
    bar = page.locator(".barlayer .point path").nth(place)
    bar.scroll_into_view_if_needed()
    box = bar.bounding_box()
    assert box is not None
    return box["x"] + 20, box["y"] + box["height"] / 2


def test_the_cut_moves_its_figures_and_survives_a_reload(page: Page, app_url: str) -> None:
    open_page(page, f"{app_url}/pair_frequencies")
    further = page.get_by_test_id("stMetric").nth(2)
    expect(further).to_contain_text("Next 1,000 merges")
    slider = page.get_by_role("slider", name="Merges kept")
    slider.focus()
    page.keyboard.press("End")
    expect(further).to_contain_text("Further merges")
    run = load_run(SAMPLE_RUN_ID).run
    expect(page).to_have_url(re.compile(rf"merges={len(run.merges)}"))
    training = page.get_by_test_id("stMetric").nth(0)
    expect(training).to_contain_text(f"{run.corpus_bytes / run.tokens_after[-1]:.2f}")
    page.reload()
    wait_until_idle(page)
    expect(further).to_contain_text("Further merges")
    assert_no_traceback(page)


def test_charts_follow_a_switch_of_the_theme(page: Page, app_url: str) -> None:
    open_page(page, f"{app_url}/pair_frequencies?step=45")
    bar = page.locator(".barlayer .point path").first
    expect(bar).to_have_css("fill", "rgb(173, 52, 7)")  # the chosen pair, in the light theme
    for scheme, fill in [("dark", "rgb(255, 144, 102)"), ("light", "rgb(173, 52, 7)")]:
        page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        expect(bar).to_have_css("fill", fill)


def test_number_and_slider_go_to_the_same_merge(page: Page, app_url: str) -> None:
    open_page(page, f"{app_url}/pair_frequencies")
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


def test_a_click_on_a_bar_opens_the_merge_of_its_pair(page: Page, app_url: str) -> None:
    open_page(page, f"{app_url}/pair_frequencies?step=45")
    run = load_run(SAMPLE_RUN_ID).run
    left, right, _ = run.top_pairs(45, 12)[2]
    rank = next(merge.rank for merge in run.merges[45:] if merge.pair == (left, right))
    assert rank != 45
    page.mouse.click(*_bar(page, 2))
    expect(page.get_by_role("heading", level=1)).to_have_text("Merge loop")
    expect(page).to_have_url(re.compile(rf"/merge_loop\?.*step={rank}"))


def test_a_pair_that_never_merges_says_so(page: Page, app_url: str) -> None:
    n_merges = len(load_run(SAMPLE_RUN_ID).run.merges)
    open_page(page, f"{app_url}/pair_frequencies?step={n_merges}")
    page.mouse.click(*_bar(page, 0))
    expect(page.get_by_text("This pair never merges in this run")).to_be_visible()
    left, right, _ = load_run(SAMPLE_RUN_ID).run.top_pairs(n_merges, 1)[0]
    expect(page).to_have_url(re.compile(f"pair={left}-{right}"))
    expect(page.get_by_text("It never merges: after the last merge")).to_be_visible()
    expect(page.get_by_role("heading", level=1)).to_have_text("Pair frequencies")


def test_a_click_on_a_cell_shows_the_life_of_its_pair(page: Page, app_url: str) -> None:
    open_page(page, f"{app_url}/pair_frequencies?step=45")
    run = load_run(SAMPLE_RUN_ID).run
    matrix = pair_matrix(run.pair_counts(45), N_TOP_PAIRS, including=run.merges[45].pair)
    row, column = 3, 7
    cells = page.locator(".st-key-pair_matrix_sample_45 .nsewdrag")
    cells.scroll_into_view_if_needed()
    box = cells.bounding_box()
    assert box is not None
    page.mouse.click(
        box["x"] + box["width"] * (column + 0.5) / len(matrix.right),
        box["y"] + box["height"] * (row + 0.5) / len(matrix.left),
    )
    left, right = matrix.left[row], matrix.right[column]
    expect(page).to_have_url(re.compile(f"pair={left}-{right}"))
    vocab = run.tokenizer.vocab
    expect(page.get_by_role("textbox", name="Left symbol")).to_have_value(token_label(vocab[left]))
    expect(page.get_by_role("textbox", name="Right symbol")).to_have_value(
        token_label(vocab[right])
    )
    page.reload()
    wait_until_idle(page)
    expect(page.get_by_role("textbox", name="Left symbol")).to_have_value(token_label(vocab[left]))


def test_two_symbols_are_typed_by_keyboard(page: Page, app_url: str) -> None:
    open_page(page, f"{app_url}/pair_frequencies")
    left = page.get_by_role("textbox", name="Left symbol")
    left.fill("t")
    left.press("Tab")
    page.keyboard.type("h")
    page.keyboard.press("Enter")
    vocab = load_run(SAMPLE_RUN_ID).run.tokenizer.vocab
    ids = {token: id for id, token in vocab.items()}
    expect(page).to_have_url(re.compile(f"pair={ids[b't']}-{ids[b'h']}"))
    expect(page.get_by_role("strong").filter(has_text="t + h")).to_be_visible()


def test_the_csv_holds_every_pair(page: Page, app_url: str, tmp_path: Path) -> None:
    open_page(page, f"{app_url}/pair_frequencies?step=45")
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
        bytes.fromhex(row["left bytes"]) == run.tokenizer.vocab[int(row["left id"])] for row in rows
    )


@pytest.mark.parametrize("step", [2000, 3839])
def test_nothing_is_cut_off_on_a_phone(page: Page, app_url: str, step: int) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    open_page(page, f"{app_url}/pair_frequencies?step={step}")
    expect(page.locator(".js-plotly-plot")).to_have_count(8)
    width = page.evaluate(
        "() => [document.querySelector('[data-testid=stMain]'), document.documentElement]"
        ".map(e => e.scrollWidth - e.clientWidth)"
    )
    assert width == [0, 0]
    cut = page.evaluate(
        """() => [...document.querySelectorAll('.js-plotly-plot')].flatMap(chart => {
            const room = chart.getBoundingClientRect();
            return [...chart.querySelectorAll('.main-svg text')].filter(text => {
                const box = text.getBoundingClientRect();
                return box.width && (box.left < room.left - 1 || box.right > room.right + 1
                    || box.top < room.top - 1 || box.bottom > room.bottom + 1);
            }).map(text => text.textContent);
        })"""
    )
    assert cut == []


@pytest.mark.parametrize(("scheme", "ground"), [("light", (253, 252, 250)), ("dark", (23, 22, 20))])
def test_a_chart_is_kept_as_a_png_with_its_title_on_the_ground_of_the_theme(
    page: Page,
    app_url: str,
    tmp_path: Path,
    scheme: Literal["light", "dark"],
    ground: tuple[int, int, int],
) -> None:
    page.emulate_media(color_scheme=scheme)
    open_page(page, f"{app_url}/pair_frequencies?step=45")
    chart = page.locator(".st-key-corpus_tokens .js-plotly-plot")
    expect(chart).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("button", name="PNG: corpus").click()
    file = tmp_path / download.value.suggested_filename
    download.value.save_as(file)
    box = chart.bounding_box()
    assert file.name == "pythons-language-reference-run-corpus.png"
    assert box is not None
    with Image.open(file) as image:
        # Twice as fine as the page; the title above takes two lines more.
        assert image.width == pytest.approx(2 * (box["width"] + 32), abs=4)
        assert image.height > 2 * (box["height"] + 60)
        pixels = np.asarray(image.convert("RGBA"))
    assert (pixels[..., 3] == 255).all()
    assert {tuple(pixels[y, x, :3].tolist()) for y in (0, -1) for x in (0, -1)} == {ground}
    title, what = pixels[32:80, :, :3], pixels[82:124, :, :3]
    for lines in (title, what):
        assert (np.abs(lines.astype(int) - ground).sum(axis=2) > 200).sum() > 500


def test_a_row_of_the_table_shows_the_life_of_its_pair(page: Page, app_url: str) -> None:
    open_page(page, f"{app_url}/pair_frequencies?step=45")
    run = load_run(SAMPLE_RUN_ID).run
    left, right, _ = run.top_pairs(45, 3)[2]
    rank = next(merge.rank for merge in run.merges[45:] if merge.pair == (left, right))
    page.get_by_text("Show as table").click()
    table = page.get_by_test_id("stDataFrame")
    expect(table.locator("canvas").first).to_be_visible()
    wait_until_idle(page)
    table.scroll_into_view_if_needed()
    row_height = 35  # the header's too; a row is selected in its first column
    table.click(position={"x": 16, "y": row_height * 3 + row_height // 2})
    expect(page).to_have_url(re.compile(f"pair={left}-{right}"))
    page.get_by_role("link", name=f"Watch merge {rank + 1:,}").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Merge loop")
    expect(page).to_have_url(re.compile(rf"/merge_loop\?.*step={rank}"))


def test_an_uploaded_text_takes_the_place_of_what_was_held_out(
    page: Page, app_url: str, tmp_path: Path
) -> None:
    # Long enough for the kernels, in words that the sample's merges partly know.
    text = "".join(
        f"The {n} statements of clause {n * 31 % 997} are körper.\n" for n in range(9_999)
    )
    path = tmp_path / "unseen.txt"
    path.write_text(text, encoding="utf-8")
    run = load_run(SAMPLE_RUN_ID).run
    open_page(page, f"{app_url}/pair_frequencies?merges=1000")
    page.get_by_role("button", name="Another held-out text").click()
    page.get_by_test_id("stFileUploader").locator("input").set_input_files(path)
    yours = page.get_by_test_id("stMetric").nth(1)
    expect(yours).to_contain_text("Your text")
    n_tokens = len(run.tokenizer.truncated(1_000).encode(text))
    expect(yours).to_contain_text(f"{path.stat().st_size / n_tokens:.2f}")
    wait_until_idle(page)  # until then the chart as it was stands beside it
    expect(page.locator(".st-key-bytes_per_token")).to_contain_text("your text")
    assert_no_traceback(page)
