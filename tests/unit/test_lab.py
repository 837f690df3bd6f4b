"""Test what the Lab measures, in this process and in others, and how it presents it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import bpe_core as bpe
from bpe_core.lab import (
    ContenderTime,
    Differences,
    GrowthPoint,
    LabOrder,
    LabProgress,
    Results,
)
from bpe_core.lab.measurements import (
    ENCODERS,
    encoders,
    growing_sizes,
    ignore_progress,
    run_order,
    trainers,
)
from bpe_core.processes import Limits
from bpe_core.tokenizer import gpt2
from tests import lab_in_child
from tests.waiting import OfKind, wait_until
from ui.components import FigureRow
from ui.lab import MeasurementStatus, sections
from ui.lab.sections import MEASURE, begin_measurement, how_far, shared_measurement
from ui.work import Status, queue
from ui.work.background import State

MEASUREMENTS = OfKind(MEASURE)
LINE = "hug hugs, hugging 12 pugs: naïve 日本\n"
TEXT = LINE * 20
TOKENIZER = bpe.train(bpe.Corpus.from_text(TEXT), bpe.TrainingConfig(280)).tokenizer


@pytest.mark.slow
def test_the_process_measures_every_encoder_and_reports_progress() -> None:
    progress: list[LabProgress] = []
    # Short enough for every encoder to measure all of it on any machine.
    order = LabOrder("encoding", LINE, TOKENIZER)
    results = order.run_in_process(limits=Limits(seconds=240), on_progress=progress.append)
    assert tuple(one.name for one in results.encoding) == ENCODERS
    for one in results.encoding:
        assert one.problem is None
        assert one.n_bytes == len(LINE.encode())
        assert one.megabytes_per_second > 0
        assert one.is_equal or one.name == "longest-match"
    assert {line.name for line in progress} == {*ENCODERS, ""}


@pytest.mark.parametrize("cut", [r"regex:[a-z]+|\d", "none"])
def test_tiktoken_is_measured_with_a_cut_that_keeps_all_text(cut: str) -> None:
    tokenizer = bpe.train(
        bpe.Corpus.from_text(TEXT), bpe.TrainingConfig(270, pretokenizer=cut)
    ).tokenizer
    (tiktoken,) = (one for one in encoders(tokenizer) if one.name == "tiktoken")
    assert tiktoken.prepare()(LINE) == tokenizer.encode(LINE)


def test_a_small_measurement_makes_three_calls_on_the_start_of_the_text() -> None:
    order = LabOrder.small(TEXT * 100, TOKENIZER)
    results = run_order(order, ignore_progress)
    assert order.text == (TEXT * 100)[: LabOrder.SMALL_CHARACTERS]
    assert {one.n_calls for one in results.encoding} == {3}
    assert max(one.n_bytes for one in results.encoding) <= len(order.text.encode())


def test_training_is_measured_at_growing_sizes() -> None:
    results = run_order(LabOrder("training", TEXT * 2), ignore_progress)
    assert {(one.name, one.n_bytes) for one in results.training} == {
        (name, len((TEXT * 2)[:size].encode()))
        for name in (trainer.name for trainer in trainers(1))
        for size in growing_sizes(len(TEXT * 2))
    }
    assert all(one.is_equal for one in results.training)


@pytest.mark.parametrize("n", [0, 1, 999, 1_000, 1_001, 4_000, 123_456])
def test_sizes_grow_up_to_the_whole_text(n: int) -> None:
    sizes = growing_sizes(n)
    assert sizes[-1] == n
    assert sizes == sorted(set(sizes))


# Measurements in separate processes: progress, cancelling, time limit and failures


ORDER = LabOrder("training", "hug hugs " * 10)


def measured_by(
    monkeypatch: pytest.MonkeyPatch, measure: Callable[..., Results], max_seconds: float = 60.0
) -> None:
    monkeypatch.setattr("bpe_core.lab.measurements.measure_here", measure)
    monkeypatch.setattr("ui.lab.sections.MAX_SECONDS", max_seconds)


@pytest.mark.slow
def test_a_measurement_ends_with_a_report() -> None:
    status = wait_until(MEASUREMENTS, begin_measurement(ORDER, about="hugs"))
    assert (status.state, status.about, status.problem) == ("finished", "hugs", None)
    assert status.result is not None
    assert {point.name for point in status.result.results.training} == {
        "reference",
        "engine",
        "tokenizers",
    }


def test_progress_is_reported_and_cancelling_kills_the_process_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    measured_by(monkeypatch, lab_in_child.wait)
    id = begin_measurement(ORDER, about="")
    status = wait_until(MEASUREMENTS, id, lambda status: status.progress is not None)
    assert status.progress == LabProgress(3, 12, "trie")
    queue.cancel(MEASURE, id)
    assert wait_until(MEASUREMENTS, id).state == "cancelled"


@pytest.mark.usefixtures("emptied_queue")
def test_only_equal_requests_share_a_measurement(monkeypatch: pytest.MonkeyPatch) -> None:
    measured_by(monkeypatch, lab_in_child.wait)
    first, second = (shared_measurement(LabOrder("training", "hug"), about="") for _ in range(2))
    small = shared_measurement(LabOrder("training", "hug", is_small=True), about="")
    assert first.id == second.id
    assert small.id != first.id
    assert small.n_ahead == 1


def test_a_measurement_is_killed_at_the_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    measured_by(monkeypatch, lab_in_child.wait, max_seconds=0.2)
    status = wait_until(MEASUREMENTS, begin_measurement(ORDER, about=""))
    assert status.state == "failed"
    assert "shorter text" in str(status.problem)


def test_the_death_of_the_process_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    measured_by(monkeypatch, lab_in_child.crash)
    status = wait_until(MEASUREMENTS, begin_measurement(ORDER, about=""))
    assert status.state == "failed"
    assert "memory ran out. Try a shorter text." in str(status.problem)
    # The next measurement still runs.
    again = wait_until(MEASUREMENTS, begin_measurement(ORDER, about=""))
    assert again.state == "failed"


# Sentences, tables and states in which a measurement is presented


def measured(name: str, speed: float, *, equal: bool = True, whole: bool = True) -> ContenderTime:
    return ContenderTime(name, 1_000_000, whole, 1 / speed, 5, 0.0, equal, None)


FOUND = [
    measured("list-index", 0.01, whole=False),
    measured("hash-map", 0.5),
    measured("trie", 0.25),
    measured("longest-match", 1.0, equal=False),
    ContenderTime("tiktoken", 0, False, 0.0, 0, 0.0, False, "tiktoken has no end-of-word marker."),
]


def test_every_contender_has_a_display_name() -> None:
    for name in (*ENCODERS, *(trainer.name for trainer in trainers(1))):
        assert sections.encoder_title(name)
    assert sections.encoder_title("") == ""


def test_the_table_shows_speeds_ratios_parts_and_equality() -> None:
    rows = sections.encoding_rows(FOUND)
    assert rows[0] == FigureRow("List of merges", ("0.010", "0.020", "1.0 MB", "equal"))
    assert rows[3] == FigureRow("Longest match", ("1.0", "2.0", "all", "differ"))
    assert rows[4] == FigureRow("tiktoken", ("–", "–", "–", "not possible"))


def joined(pieces: list[tuple[str, bool]]) -> str:
    return "".join(text for text, _ in pieces)


def test_the_sentence_compares_slower_encoders_too() -> None:
    sentence = joined(sections.encoding_sentence(FOUND))
    assert "trie takes 2.0 times as long as the hash map" in sentence
    assert "hash map is 50 times as fast as a list of merges" in sentence
    aside = sections.encoding_aside(FOUND, 12.4)
    assert "3 of 4 encoders returned the same ids; Longest match did not." in aside


@pytest.mark.parametrize("trie", [0.49, 0.5, 0.519])
def test_equal_speeds_are_compared_without_a_number(trie: float) -> None:
    found = [measured("list-index", 0.5), measured("hash-map", 0.5), measured("trie", trie)]
    assert joined(sections.encoding_sentence(found)) == (
        "In plain Python the trie is as fast as the hash map, and the hash map is as fast as a "
        "list of merges."
    )
    trained = [
        GrowthPoint("engine", 64, 0.0101, 3, True),
        GrowthPoint("tokenizers", 64, 0.0099, 3, True),
    ]
    sentence = joined(sections.training_sentence(trained))
    assert sentence == "On 64 B of text the engine is as fast as tokenizers."


def test_every_time_that_rounds_to_the_shortest_is_marked() -> None:
    found = [
        GrowthPoint("reference", 1_000, 0.0104, 3, True),
        GrowthPoint("engine", 1_000, 0.0101, 3, True),
        GrowthPoint("tokenizers", 1_000, 0.0099, 3, False),
        GrowthPoint("reference", 4_000, 0.03, 3, True),
        GrowthPoint("engine", 4_000, 0.0102, 3, True),
    ]
    _, rows = sections.training_rows(found)
    assert rows[0] == FigureRow("1.0 kB", ("0.010", "0.010", "0.010 differs"), (0, 1, 2))
    assert rows[1].better == (1,)


def test_dropped_trainers_have_no_figure() -> None:
    found = [
        GrowthPoint("reference", 1_000, 0.5, 1, True),
        GrowthPoint("engine", 1_000, 0.01, 3, True),
        GrowthPoint("engine", 4_000, 0.02, 3, True),
        GrowthPoint("tokenizers", 4_000, 0.01, 3, False),
    ]
    columns, rows = sections.training_rows(found)
    assert columns == ["Reference", "Engine", "tokenizers"]
    assert rows == [
        FigureRow("1.0 kB", ("0.500", "0.010", "–"), (1,)),
        FigureRow("4.0 kB", ("–", "0.020", "0.010 differs"), (2,)),
    ]
    assert "merges of tokenizers differed" in sections.training_aside(found, 500)
    assert joined(sections.training_sentence(found)) == (
        "On 4.0 kB of text the engine takes 2.0 times as long as tokenizers. The reference, which "
        "recounts all pairs for each merge, was dropped after 1.0 kB."
    )
    sentence = joined(sections.training_sentence(found[:1]))
    assert sentence == "The engine and tokenizers were not measured at the same size."
    assert sections.growth_by_name(found)["Engine"] == ([1_000, 4_000], [0.01, 0.02])


@pytest.mark.slow
def test_words_that_longest_match_cuts_differently_are_shown_with_both_cuts() -> None:
    found = Differences.of(gpt2(), "He overwrites it. overwrites")
    (row,) = sections.differing_rows(found, gpt2())
    assert row.label == "2×"
    assert [[tile.token for tile in cell.tiles] for cell in row.cells] == [
        [b" overw", b"rites"],
        [b" overwrite", b"s"],
    ]
    sentence = sections.differing_sentence(found)
    assert "2 of 5 pre-tokens (40.0%) differently from the merges" in sentence


# The card while a measurement waits or runs


def status(
    progress: LabProgress | None,
    *,
    state: State = "running",
    ahead: int = 0,
) -> MeasurementStatus:
    # Not MeasurementStatus(): a generic dataclass with slots can't store its type arguments.
    return Status(
        kind=MEASURE,
        id="x",
        about="",
        state=state,
        n_ahead=ahead,
        progress=progress,
        is_stopping=False,
        elapsed_seconds=100.0,
        result=None,
        problem=None,
    )


def test_the_card_describes_the_wait_and_the_step() -> None:
    assert (
        how_far(status(None, state="queued", ahead=1)) == "Waiting: 1 measurement before this one."
    )
    assert how_far(status(None)) == "Starting the measuring process."
    compiling = LabProgress(0, 1, "", seconds_compiling=4.2)
    assert how_far(status(compiling)).endswith("4 s so far.")
    measuring = LabProgress(3, 48, "trie")
    assert how_far(status(measuring)) == "Step 3 of 48. Now: Trie with backtracking."
    assert how_far(status(LabProgress(48, 48, ""))) == "Step 48 of 48."
