"""The table of pairs describes what it shows, and its CSV has the exact bytes."""

from __future__ import annotations

import csv
import io

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bpe_core.runs.pair_lives import PairLives
from bpe_core.types import PairCount
from ui.pair_frequencies.table import (
    COLUMNS,
    life_csv,
    pair_rows,
    pairs_csv,
    run_csv,
)
from ui.run import results
from ui.storage.run_store import SAMPLE_RUN_ID, load_run

vocabularies = st.lists(st.binary(min_size=1, max_size=6), min_size=2, max_size=6)


def test_a_row_names_the_merge_of_its_pair():
    pairs = [PairCount(0, 1, 9, tied=True), PairCount(1, 0, 9, tied=True)]
    rows = pair_rows(pairs, {0: b" ", 1: b"\xe6\x97"}, {(1, 0): 45})
    assert tuple(rows) == COLUMNS
    assert rows["place"] == [1, 2]
    assert rows["left"] == ["␣", "<E6 97>"]
    assert rows["tied for highest count"] == [True, True]
    assert rows["joined by merge"] == [None, 46]


def read_csv(data: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline="")))


def test_the_csv_of_pairs_marks_ties_for_the_highest_count():
    pairs = [PairCount(0, 1, 9, tied=True), PairCount(1, 0, 9, tied=True), PairCount(1, 1, 4)]
    rows = read_csv(pairs_csv(pairs, {0: b"a", 1: b"b"}, {(0, 1): 45}))
    assert [row["tied for highest count"] for row in rows] == ["true", "true", "false"]
    assert [row["joined by merge"] for row in rows] == ["46", "", ""]


@given(vocabularies)
def test_the_bytes_of_every_token_can_be_recovered_from_the_csv(tokens):
    vocab = dict(enumerate(tokens))
    pairs = [PairCount(left, right, 1) for left in vocab for right in vocab]
    rows = read_csv(pairs_csv(pairs, vocab, {}))
    found = [
        (bytes.fromhex(row["left bytes in hex"]), bytes.fromhex(row["right bytes in hex"]))
        for row in rows
    ]
    assert found == [(vocab[pair.left], vocab[pair.right]) for pair in pairs]


@given(vocabularies)
def test_no_label_in_the_csv_starts_a_formula(tokens):
    vocab = dict(enumerate([b"=1+1", b"@a", b"+", b"-", *tokens]))
    pairs = [PairCount(token, token, 1) for token in vocab]
    for row in read_csv(pairs_csv(pairs, vocab, {})):
        assert row["left"][:1] not in {"=", "+", "-", "@", "\t", "\r"}
        assert row["right"][:1] not in {"=", "+", "-", "@", "\t", "\r"}


def test_the_csv_of_a_run_has_a_line_for_each_number_of_merges():
    stored = load_run(SAMPLE_RUN_ID)
    curves, tokens = results.run_curves(SAMPLE_RUN_ID), stored.run.tokens_after
    rows = read_csv(run_csv(curves, tokens))
    assert [int(row["tokens in the corpus"]) for row in rows] == tokens.tolist()
    assert [int(row["vocabulary size"]) for row in rows] == curves.vocab_size.tolist()
    for step in (0, 1_000, len(rows) - 1):
        assert int(rows[step]["merges done"]) == step
        assert float(rows[step]["bytes per token on training text"]) == curves.training[step]
        assert curves.held_out is not None
        assert float(rows[step]["bytes per token on held-out text"]) == curves.held_out[step]
    winners = [row["count of the pair joined next"] for row in rows]
    assert winners == [*(str(merge.count) for merge in stored.run.merges), ""]


def test_every_step_of_a_life_can_be_recovered_from_the_csv():
    run = load_run(SAMPLE_RUN_ID).run
    life = PairLives(run).find(run.merges[500].pair)
    rows = read_csv(life_csv(life))
    steps = np.array([int(row["merges done"]) for row in rows])
    lines = np.searchsorted(steps, np.arange(len(life.counts)), side="right") - 1
    for column, values in (
        ("count", life.counts),
        ("rank", life.ranks),
        ("other pairs with the same count", life.n_tied),
    ):
        assert np.array([int(row[column] or 0) for row in rows])[lines].tolist() == values.tolist()
    empty = [row["rank"] == "" for row in rows]
    assert empty == [row["count"] == "0" for row in rows]
    assert any(empty)
