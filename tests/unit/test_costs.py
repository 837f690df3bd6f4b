"""Costs equal figures worked out by hand and counts of a comparison; bad rates are refused."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest

import bpe_core as bpe
from bpe_core.comparison.costs import (
    MAX_MODEL_WIDTH,
    MAX_PRICE,
    MAX_WINDOW,
    Costs,
    Rates,
    Usage,
    compute_costs,
    count_tokens,
    embedding_rows,
)
from tests import foreign_models as models
from tests.foreign_models import library_encoder

FOREIGN = library_encoder(models.described(models.word_piece()))


def test_costs_by_hand() -> None:
    costs = compute_costs(
        Usage(n_tokens=250_000, n_bytes=1_000_000, embedding_rows=4_096),
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
    assert compute_costs(usage, Rates(), usage) == Costs(*[None] * 6)


def test_a_price_of_nothing_is_a_price() -> None:
    assert compute_costs(Usage(10, 40, 300), Rates(price=0)).price == 0


def test_a_text_without_tokens_has_no_share_of_a_window() -> None:
    rates = Rates(context_window=100)
    empty, some = Usage(0, 3, 300), Usage(5, 3, 300)
    assert compute_costs(empty, rates, some).bytes_in_window is None
    assert compute_costs(empty, rates, some).window_saved == 1
    assert compute_costs(some, rates, empty).window_saved is None
    assert compute_costs(some, rates).window_saved is None


def test_the_largest_figures_stay_finite() -> None:
    rates = Rates(float(MAX_PRICE), MAX_MODEL_WIDTH, MAX_WINDOW)
    costs = compute_costs(Usage(10**15, 1, 10**7), rates, Usage(1, 1, 1))
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
        {"context_window": MAX_WINDOW + 1},
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
        assert count_tokens(corpus, encoder) == row.n_tokens


def test_an_embedding_has_a_row_for_the_highest_id_even_if_there_are_gaps() -> None:
    sparse: Any = SimpleNamespace(vocab={0: b"a", 9: b"b"})
    assert embedding_rows(sparse) == 10
    assert embedding_rows(bpe.gpt2()) == bpe.gpt2().vocab_size
