"""What the Lab says of a measurement."""

from __future__ import annotations

import pytest

from bpe_core.lab.contenders import ENCODERS, trainers
from bpe_core.lab.growth import GrowthPoint
from bpe_core.lab.measuring import Measured
from bpe_core.tokenizer.gpt2 import gpt2
from ui.components.figures import Row
from ui.lab import words
from ui.lab.charts import growth_curves, speed_dots
from ui.tokenizers.longest_match import longest_match_differences


def measured(name: str, speed: float, *, equal: bool = True, whole: bool = True) -> Measured:
    return Measured(name, 1_000_000, whole, 1 / speed, 5, 0.0, equal, None)


FOUND = [
    measured("list-index", 0.01, whole=False),
    measured("hash-map", 0.5),
    measured("trie", 0.25),
    measured("longest-match", 1.0, equal=False),
    Measured("tiktoken", 0, False, 0.0, 0, 0.0, False, "tiktoken knows no marker."),
]


def test_every_contender_has_a_name_for_readers() -> None:
    for name in (*ENCODERS, *(trainer.name for trainer in trainers(1))):
        assert words.encoder_title(name)
    assert words.encoder_title("") == ""


def test_the_table_gives_speeds_factors_parts_and_equality() -> None:
    rows = words.encoding_rows(FOUND)
    assert rows[0] == Row("List of merges", ("0.010", "0.020", "1.0 MB", "equal"))
    assert rows[3] == Row("Longest match", ("1.0", "2.0", "all", "differ"))
    assert rows[4] == Row("tiktoken", ("–", "–", "–", "can’t take it"))


def test_the_sentence_says_who_is_slower_too() -> None:
    said = "".join(piece for piece, _ in words.encoding_sentence(FOUND))
    assert "trie is 2.0 times as slow as the hash map" in said
    assert "hash map is 50 times as fast as a list of merges" in said
    aside = words.encoding_aside(FOUND, 12.4)
    assert "3 of 4 encoders gave the same ids; Longest match did not." in aside


@pytest.mark.parametrize("trie", [0.49, 0.5, 0.519])
def test_equal_speeds_are_said_without_a_number(trie: float) -> None:
    found = [measured("list-index", 0.5), measured("hash-map", 0.5), measured("trie", trie)]
    said = "".join(piece for piece, _ in words.encoding_sentence(found))
    assert said == (
        "In plain Python the trie is as fast as the hash map, and the hash map is as fast as a "
        "list of merges."
    )
    trained = [
        GrowthPoint("engine", 64, 0.0101, 3, True),
        GrowthPoint("tokenizers", 64, 0.0099, 3, True),
    ]
    said = "".join(piece for piece, _ in words.training_sentence(trained))
    assert said == "On 64 B of text the engine is as fast as tokenizers."


def test_a_list_that_is_faster_than_the_hash_map_is_said_to_be() -> None:
    found = [measured("list-index", 1.0), measured("hash-map", 0.5), measured("trie", 1.5)]
    said = "".join(piece for piece, _ in words.encoding_sentence(found))
    assert "trie is 3.0 times as fast as the hash map" in said
    assert "hash map is 2.0 times as slow as a list of merges" in said


def test_all_times_that_read_as_the_shortest_get_the_dot() -> None:
    found = [
        GrowthPoint("reference", 1_000, 0.0104, 3, True),
        GrowthPoint("engine", 1_000, 0.0101, 3, True),
        GrowthPoint("tokenizers", 1_000, 0.0099, 3, False),
        GrowthPoint("reference", 4_000, 0.03, 3, True),
        GrowthPoint("engine", 4_000, 0.0102, 3, True),
    ]
    _, rows = words.training_rows(found)
    assert rows[0] == Row("1.0 kB", ("0.010", "0.010", "0.010 differs"), (0, 1, 2))
    assert rows[1].better == (1,)


def test_trainers_that_left_the_field_have_no_figure() -> None:
    found = [
        GrowthPoint("reference", 1_000, 0.5, 1, True),
        GrowthPoint("engine", 1_000, 0.01, 3, True),
        GrowthPoint("engine", 4_000, 0.02, 3, True),
        GrowthPoint("tokenizers", 4_000, 0.01, 3, False),
    ]
    columns, rows = words.training_rows(found)
    assert columns == ["Reference", "Engine", "tokenizers"]
    assert rows == [
        Row("1.0 kB", ("0.500", "0.010", "–"), (1,)),
        Row("4.0 kB", ("–", "0.020", "0.010 differs"), (2,)),
    ]
    assert "merges of tokenizers were not" in words.training_aside(found, 500)
    said = "".join(piece for piece, _ in words.training_sentence(found))
    assert said == (
        "On 4.0 kB of text the engine is 2.0 times as slow as tokenizers. The reference, which "
        "counts all anew for each merge, left after 1.0 kB."
    )
    said = "".join(piece for piece, _ in words.training_sentence(found[:1]))
    assert said == "The engine and tokenizers have no size in common."
    assert words.growth_by_name(found)["Engine"] == ([1_000, 4_000], [0.01, 0.02])


def test_words_that_longest_match_cuts_otherwise_are_shown_both_ways() -> None:
    found = longest_match_differences("He overwrites it. overwrites", gpt2().fingerprint, gpt2())
    (row,) = words.differing_rows(found, gpt2())
    assert row.label == "2×"
    assert [[tile.token for tile in cell.tiles] for cell in row.cells] == [
        [b" overw", b"rites"],
        [b" overwrite", b"s"],
    ]
    assert "2 of 5 pre-tokens otherwise" in words.differing_sentence(found)


def test_the_charts_stand_where_one_point_is_all_there_is() -> None:
    dots = speed_dots(["<b>"], [0.5], own=[True], exact=[False], theme="dark")
    assert dots.to_dict()["layout"]["yaxis"]["ticktext"][0].startswith("&lt;b&gt;")
    curves = growth_curves({"Engine": ([64], [0.001])}, own="Engine", theme="light")
    assert list(curves.to_dict()["data"][0]["x"]) == [64]
