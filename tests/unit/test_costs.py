"""Costs equal figures worked out by hand and counts of a comparison, and are shown so."""

from __future__ import annotations

import csv
import io
import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import bpe_core as bpe
from bpe_core.comparison import (
    Costs,
    Rates,
    Usage,
    embedding_rows,
)
from tests import foreign_models as models
from tests.foreign_models import library_encoder
from ui.components import FigureRow
from ui.pair_frequencies.size_part import COST_COLUMNS, Sizes, cost_rows, costs_csv
from ui.tokenizers import corpus_rows, embedding_table_rows, money, text_rows, window_rows

FOREIGN = library_encoder(models.described(models.word_piece()))


def test_costs_by_hand() -> None:
    costs = Usage(n_tokens=250_000, n_bytes=1_000_000, embedding_rows=4_096).costs(
        Rates(price=2.0, model_width=512, context_window=8_000),
        Usage(n_tokens=200_000, n_bytes=1_000_000, embedding_rows=50_257),
    )
    assert costs.price == 0.5
    assert costs.bytes_in_window == 32_000
    assert costs.window_saved == pytest.approx(-0.25)
    assert costs.tokens_saved == pytest.approx(-2_000)
    assert costs.parameters_tied == 2_097_152
    assert costs.parameters_untied == 4_194_304


def test_without_rates_nothing_is_computed() -> None:
    usage = Usage(10, 40, 300)
    assert usage.costs(Rates(), usage) == Costs(*[None] * 6)


def test_a_price_of_nothing_is_a_price() -> None:
    assert Usage(10, 40, 300).costs(Rates(price=0)).price == 0


def test_a_text_without_tokens_has_no_share_of_a_window() -> None:
    rates = Rates(context_window=100)
    empty, some = Usage(0, 3, 300), Usage(5, 3, 300)
    assert empty.costs(rates, some).bytes_in_window is None
    assert empty.costs(rates, some).window_saved == 1
    assert some.costs(rates, empty).window_saved is None
    assert some.costs(rates).window_saved is None


def test_the_largest_figures_stay_finite() -> None:
    rates = Rates(float(Rates.MAX_PRICE), Rates.MAX_MODEL_WIDTH, Rates.MAX_WINDOW)
    costs = Usage(10**15, 1, 10**7).costs(rates, Usage(1, 1, 1))
    assert all(figure is not None and math.isfinite(figure) for figure in costs)


@pytest.mark.parametrize(
    "rates",
    [
        {"price": -0.01},
        {"price": math.nan},
        {"price": math.inf},
        {"price": 1e300},
        {"price": "1"},
        {"model_width": 0},
        {"model_width": -768},
        {"model_width": 768.5},
        {"model_width": math.nan},
        {"model_width": 10**300},
        {"context_window": 0},
        {"context_window": Rates.MAX_WINDOW + 1},
        {"context_window": math.inf},
    ],
)
def test_figures_that_no_model_has_raise(rates: dict[str, Any]) -> None:
    with pytest.raises(
        bpe.ConfigError, match=r"Expected (a price|the (model width|context window)) "
    ):
        Rates(**rates)


@pytest.mark.parametrize("encoder", [bpe.gpt2(), FOREIGN], ids=["gpt2", "foreign"])
def test_tokens_are_counted_as_in_a_comparison(encoder: Any) -> None:
    for corpus in (
        bpe.Corpus.from_documents(["the quick", "", "fox\n\njumps <|endoftext|>"]),
        bpe.Corpus.from_word_counts({"hug": 3, " quickly": 5}),
    ):
        [row] = bpe.compare(corpus, [encoder]).rows
        assert Usage.of(corpus, encoder).n_tokens == row.n_tokens


def test_an_embedding_has_a_row_for_the_highest_id_even_if_there_are_gaps() -> None:
    sparse: Any = SimpleNamespace(vocab={0: b"a", 9: b"b"})
    assert embedding_rows(sparse) == 10
    assert embedding_rows(bpe.gpt2()) == bpe.gpt2().vocab_size


# Costs in rows and CSV: the core's figures, formatted; unknown figures are left out


RATES = Rates(price=2.0, model_width=100, context_window=1_000)
SIZES = Sizes(
    embedding_rows=np.array([256, 257, 258]),
    training=np.array([400, 300, 250]),
    second=np.array([50, 45, 40]),
    second_bytes=80,
    second_by_gpt2=20,
    second_name="held-out text",
)


def figures(rows: list[FigureRow]) -> dict[str, tuple[str, ...]]:
    return {row.name: row.figures for row in rows}


def test_without_rates_there_are_only_counts() -> None:
    rows = [
        *text_rows("x", [1_000, None], Rates(), fair=True),
        *window_rows([Usage(1, 2, 3)], Rates(), None, fair=True),
        *embedding_table_rows([50_257, 300], Rates()),
    ]
    assert figures(rows) == {
        "Tokens of x": ("1,000", "–"),
        "Rows of the embedding": ("50,257", "300"),
    }


def test_the_lowest_cost_is_marked_if_it_is_fair_and_known() -> None:
    def cost(n_tokens: list[int | None], *, fair: bool = True) -> FigureRow:
        return text_rows("x", n_tokens, RATES, fair=fair)[1]

    assert (cost([3_000_000, 2_000_000]).figures) == ("6.00", "4.00")
    assert cost([3_000_000, 2_000_000]).better == (1,)
    assert cost([3_000_000, 2_000_000], fair=False).better == ()
    assert cost([2_000_000, 2_000_000]).better == ()
    assert cost([2_000_000, None]).better == ()


def test_a_corpus_costs_its_bytes_at_the_rate_of_its_held_out_text() -> None:
    usages = [Usage(80, 400, 9), Usage(100, 400, 9), None, Usage(0, 0, 9)]
    [row] = corpus_rows(usages, 10_000_000, RATES, fair=True)
    assert row.name == "Cost of the corpus, estimated"
    assert row.figures == ("4.00", "5.00", "–", "–")
    assert row.better == (0,)
    assert corpus_rows(usages, 10_000_000, RATES, fair=False)[0].better == ()
    assert corpus_rows(usages, 10_000_000, Rates(context_window=9), fair=True) == []


def test_a_window_is_saved_against_the_other_tokenizer_and_not_against_itself() -> None:
    other = Usage(100, 400, 9)
    rows = window_rows(
        [Usage(80, 400, 9), Usage(125, 400, 9), other], RATES, ("X", other), fair=True
    )
    assert figures(rows) == {
        "Text in a full window": ("5.0 kB", "3.2 kB", "4.0 kB"),
        "Window saved against X": ("20.0%, 200 tokens", "−25.0%, −250 tokens", "–"),
    }
    assert rows[0].better == (0,)


def test_a_tokenizer_that_leaves_text_out_has_no_window() -> None:
    other = Usage(100, 400, 9)
    rows = window_rows([None, other], RATES, ("X", other), fair=False)
    assert figures(rows)["Text in a full window"] == ("–", "4.0 kB")


def test_parameters_are_exact() -> None:
    assert figures(embedding_table_rows([50_257], Rates(model_width=768))) == {
        "Rows of the embedding": ("50,257",),
        "Parameters, tied": ("38,597,376",),
        "Parameters, untied": ("77,194,752",),
    }


def test_every_amount_has_digits_that_tell_it_apart() -> None:
    assert money(1e-300) == "1e-300"
    assert money(0.99951) == "1.000"
    assert money(1_000_000) == "1,000,000.00"


def test_the_cut_stands_beside_the_whole_run_and_gpt2() -> None:
    rows = figures(cost_rows(SIZES, 1, RATES))
    assert rows["Tokens of the training text"] == ("300", "250", "–")
    assert rows["Tokens of held-out text"] == ("45", "40", "20")
    assert rows["Window saved against GPT-2"][2] == "–"
    assert rows["Window saved against GPT-2"][1] == "−100.0%, −1,000 tokens"
    assert rows["Rows of the embedding"] == ("257", "258", f"{embedding_rows(bpe.gpt2()):,}")


def test_the_csv_has_a_line_for_each_size() -> None:
    lines = list(csv.DictReader(io.StringIO(costs_csv(SIZES, RATES).decode("utf-8-sig"))))
    assert tuple(lines[0]) == COST_COLUMNS
    assert [line["merges kept"] for line in lines] == ["0", "1", "2"]
    assert [float(line["cost of the held-out text"]) for line in lines] == [1e-4, 9e-5, 8e-5]
    assert [line["parameters untied"] for line in lines] == ["51200", "51400", "51600"]
    assert float(lines[2]["share of a window saved against GPT-2"]) == -1


def test_the_csv_leaves_unknown_figures_empty() -> None:
    alone = Sizes(SIZES.embedding_rows, SIZES.training, None, 0, 0, "held-out text")
    [first, *_] = csv.DictReader(io.StringIO(costs_csv(alone, Rates()).decode("utf-8-sig")))
    assert [name for name, cell in first.items() if cell] == [
        "merges kept",
        "rows of the embedding",
        "tokens of the training text",
    ]
