"""Test parts of the Vocabulary page: addresses and searches, and the chart of lengths."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bpe_core as bpe
from bpe_core.vocabulary import Query, Reachability, Vocabulary, uses_in_corpus
from ui.storage import SAMPLE_RUN_ID, load_run
from ui.vocabulary import CountedText, inspect_vocabulary
from ui.vocabulary.audit_section import (
    FIELDS,
    bar_lengths,
    length_bars,
    list_findings,
    parse_lengths,
    to_query,
    to_record,
)
from ui.vocabulary.token_section import card_data

Anything = st.one_of(st.text(max_size=20), st.integers(), st.none(), st.binary(max_size=4))


@given(st.dictionaries(st.sampled_from([*FIELDS, "other"]), Anything))
def test_any_address_yields_a_valid_search(
    values: dict[str, object],
) -> None:
    record = to_record(values)
    assert tuple(record) == FIELDS
    assert to_record(record) == record
    to_query(record)
    for text in record.values():
        text.encode()


def test_a_record_is_converted_to_its_query() -> None:
    record = to_record(
        {"find": "é", "by": "regex", "bytes": "3-9", "space": "no", "partial": "yes"}
    )
    expected = Query("é", by="regex", shortest=3, longest=9, leading_space=False, partial_utf8=True)
    assert to_query(record) == expected
    assert to_query(to_record({"sort": "-length"}), only=(1, 2)) == Query(
        sort="length", descending=True, only=(1, 2)
    )


@pytest.mark.parametrize("bad", ["", "-", "-4", "4-x", "1e3", "٣", "4--5", "123456"])
def test_invalid_lengths_are_ignored(bad: str) -> None:
    assert to_record({"bytes": bad})["bytes"] == ""
    assert parse_lengths(bad) == (0, None)


def test_a_lone_surrogate_is_dropped_from_a_search() -> None:
    assert to_record({"find": "a\ud800"})["find"] == ""


def test_an_unreachable_token_used_in_a_given_word_is_explained() -> None:
    # A word given with its count is one pre-token; in a text, GPT-2's pattern cuts it in two.
    corpus = bpe.Corpus.from_word_counts({"hug's": 9})
    tokenizer = bpe.train(corpus, bpe.TrainingConfig(261, special_tokens=())).tokenizer
    (token,) = (id for id, token in tokenizer.vocab.items() if token == b"hug's")
    reachability = Reachability.of(tokenizer)
    assert token in reachability.unreachable
    notes: list[tuple[str, str]] = []
    for words in (corpus, bpe.Corpus.from_text("hug's")):
        text = CountedText(words.sha256, "the text", corpus=words)
        inspection = inspect_vocabulary("Words", tokenizer, text, uses_in_corpus(tokenizer, words))
        (finding,) = (f for f in list_findings(inspection, reachability) if f.key == "unreachable")
        notes.append((finding.note, card_data(inspection, token, reachability)["warning"]))
    assert [("words given" in note, "word given" in warning) for note, warning in notes] == [
        (True, True),
        (False, False),
    ]


def test_a_byte_is_told_from_the_character_of_the_same_byte() -> None:
    config = bpe.TrainingConfig(
        300, base="characters", byte_fallback=True, pretokenizer="metaspace"
    )
    tokenizer = bpe.train(bpe.Corpus.from_text("hug pug"), config).tokenizer
    inspection = inspect_vocabulary("Yours", tokenizer, CountedText("hugs", "the text"), None)
    byte, character = tokenizer.table.byte_ids[b"h"], tokenizer.base_ids[b"h"]
    cards = [card_data(inspection, id, None) for id in (byte, character)]
    assert [card["shown"]["token"] for card in cards] == ["<0x68>", "h"]
    assert ("kind", "byte, which spells characters outside the alphabet") in cards[0]["facts"]
    assert ("kind", "base symbol, present before the first merge") in cards[1]["facts"]


def test_the_tree_of_white_space_is_folded() -> None:
    run = load_run(SAMPLE_RUN_ID).run
    ids = {token: id for id, token in run.tokenizer.vocab.items()}
    text = CountedText("sample", "the text")
    inspection = inspect_vocabulary("Yours", run.tokenizer, text, None)
    card = card_data(inspection, ids[b" " * 26], None)
    assert [(len(node["token"]), node["parts"]) for node in card["tree"]] == [
        (26, (1, 2)),
        (16, None),
        (10, None),
    ]
    assert card["tree_sentence"].startswith("26 symbols, 25 merges.")
    assert card["tree_sentence"].endswith(
        "White space is folded: press a part to see how it was made."
    )
    mixed = card_data(inspection, ids[b"\n    "], None)
    assert {node["token"]: node["parts"] for node in mixed["tree"]}["    "] is None
    word = card_data(inspection, ids[b" statement"], None)
    assert len(word["tree"]) == 2 * len(" statement") - 1
    assert "folded" not in word["tree_sentence"]


def test_each_bar_of_lengths_filters_by_what_it_counts() -> None:
    table = Vocabulary(bpe.gpt2())
    figure: Any = length_bars(table.length_kinds, chosen=None, theme="light")
    heights = np.array([[y or 0 for y in bar.y] for bar in figure.data]).sum(axis=0)
    for place, height in enumerate(heights.tolist()):
        field = bar_lengths(place, table.length_kinds.shape[1])
        rows = table.find(to_query(to_record({"bytes": field, "special": "no"})))
        assert len(rows) == height


def test_kinds_of_length_differ_by_more_than_colour() -> None:
    kinds = np.array([[0, 1, 2], [0, 3, 4], [0, 5, 6]])
    figure: Any = length_bars(kinds, chosen=(1, 1), theme="dark")
    bars = figure.data
    assert [bar.name for bar in bars] == ["leading space", "no leading space", "partial UTF-8"]
    looks = {(bar.marker.pattern.shape, bar.marker.color) for bar in bars}
    assert len(looks) == 3
    assert bars[2].marker.pattern.shape == "/"
