"""Test the measuring process: the requests it reads and the lines it writes."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from bpe_core.corpus.corpus import Corpus
from bpe_core.lab import measurements
from bpe_core.lab.contenders import ENCODERS
from bpe_core.lab.measurements import (
    SMALL_CHARACTERS,
    Order,
    Progress,
    Report,
    growing_sizes,
    read_line,
    run_and_report,
    small_order,
)
from bpe_core.lab.training_contenders import trainers
from bpe_core.runs.train import train
from bpe_core.types import TrainingConfig

LINE = "hug hugs, hugging 12 pugs: naïve 日本\n"
TEXT = LINE * 20
TOKENIZER = train(Corpus.from_text(TEXT), TrainingConfig(280)).tokenizer


@pytest.mark.slow
def test_the_process_measures_every_encoder_and_reports_progress() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bpe_core.lab.measurements"],
        # Short enough for every encoder to measure all of it on any machine.
        input=Order("encoding", LINE, TOKENIZER).to_json(),
        stdout=subprocess.PIPE,
        check=True,
    )
    lines = [read_line(line) for line in done.stdout.decode().splitlines()]
    report = lines[-1]
    assert isinstance(report, Report)
    assert tuple(one.name for one in report.encoding) == ENCODERS
    for one in report.encoding:
        assert one.problem is None
        assert one.n_bytes == len(LINE.encode())
        assert one.megabytes_per_second > 0
        assert one.is_equal or one.name == "longest-match"
    progress = [line for line in lines[:-1] if isinstance(line, Progress)]
    assert len(progress) == len(lines) - 1
    assert {line.name for line in progress} == {*ENCODERS, ""}


def test_a_small_measurement_makes_three_calls_on_the_start_of_the_text() -> None:
    lines: list[str] = []
    order = small_order(TEXT * 100, TOKENIZER)
    run_and_report(order.to_json().decode(), lines.append)
    report = read_line(lines[-1])
    assert isinstance(report, Report)
    assert order.text == (TEXT * 100)[:SMALL_CHARACTERS]
    assert {one.n_calls for one in report.encoding} == {3}
    assert max(one.n_bytes for one in report.encoding) <= len(order.text.encode())


def test_training_is_measured_at_growing_sizes() -> None:
    lines: list[str] = []
    run_and_report(Order("training", TEXT * 2).to_json().decode(), lines.append)
    report = read_line(lines[-1])
    assert isinstance(report, Report)
    assert {(one.name, one.n_bytes) for one in report.training} == {
        (name, len((TEXT * 2)[:size].encode()))
        for name in (trainer.name for trainer in trainers(1))
        for size in growing_sizes(len(TEXT * 2))
    }
    assert all(one.is_equal for one in report.training)


def test_a_damaged_tokenizer_is_reported() -> None:
    order = json.loads(Order("encoding", TEXT, TOKENIZER).to_json())
    order["tokenizer"]["fingerprint"] = "0" * 64
    lines: list[str] = []
    run_and_report(json.dumps(order), lines.append)
    assert isinstance(read_line(lines[-1]), str)


def test_an_unexpected_error_is_reported_without_its_message(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(_order: Order, _tell: object) -> Report:
        raise RecursionError(TEXT)

    monkeypatch.setattr(measurements, "run_order", broken)
    lines: list[str] = []
    run_and_report(Order("encoding", TEXT, TOKENIZER).to_json().decode(), lines.append)
    problem = str(read_line(lines[-1]))
    assert "RecursionError in test_lab.py, line " in problem
    assert "hug" not in problem


@pytest.mark.parametrize("n", [0, 1, 999, 1_000, 1_001, 4_000, 123_456])
def test_sizes_grow_up_to_the_whole_text(n: int) -> None:
    sizes = growing_sizes(n)
    assert sizes[-1] == n
    assert sizes == sorted(set(sizes))
