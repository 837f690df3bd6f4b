"""The process that measures: what it is told, and what it says."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from bpe_core.corpus.corpus import Corpus
from bpe_core.lab import measurements
from bpe_core.lab.contenders import ENCODERS, trainers
from bpe_core.lab.measurements import Order, Progress, Report, carry_out, growing_sizes, read_line
from bpe_core.runs.train import train
from bpe_core.types import TrainingConfig

LINE = "hug hugs, hugging 12 pugs: naïve 日本\n"
TEXT = LINE * 20
TOKENIZER = train(Corpus.from_text(TEXT), TrainingConfig(280)).tokenizer


def test_a_process_measures_every_encoder_and_tells_how_far_it_is() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bpe_core.lab.measurements"],
        # So short that no machine is too slow for the whole of it.
        input=Order("encoding", LINE, TOKENIZER).to_json(),
        stdout=subprocess.PIPE,
        check=True,
    )
    said = [read_line(line) for line in done.stdout.decode().splitlines()]
    report = said[-1]
    assert isinstance(report, Report)
    assert tuple(one.name for one in report.encoding) == ENCODERS
    for one in report.encoding:
        assert one.problem is None
        assert one.n_bytes == len(LINE.encode())
        assert one.megabytes_per_second > 0
        assert one.is_equal or one.name == "longest-match"
    progress = [line for line in said[:-1] if isinstance(line, Progress)]
    assert len(progress) == len(said) - 1
    assert {line.name for line in progress} == {*ENCODERS, ""}


def test_training_is_measured_at_growing_sizes() -> None:
    lines: list[str] = []
    carry_out(Order("training", TEXT * 2).to_json().decode(), lines.append)
    report = read_line(lines[-1])
    assert isinstance(report, Report)
    assert {(one.name, one.n_bytes) for one in report.training} == {
        (name, len((TEXT * 2)[:size].encode()))
        for name in (trainer.name for trainer in trainers(1))
        for size in growing_sizes(len(TEXT * 2))
    }
    assert all(one.is_equal for one in report.training)


def test_a_tokenizer_that_was_damaged_on_the_way_is_said() -> None:
    order = json.loads(Order("encoding", TEXT, TOKENIZER).to_json())
    order["tokenizer"]["fingerprint"] = "0" * 64
    lines: list[str] = []
    carry_out(json.dumps(order), lines.append)
    assert isinstance(read_line(lines[-1]), str)


def test_of_an_unforeseen_error_its_type_and_place_are_said_and_not_its_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(_order: Order, _tell: object) -> Report:
        raise RecursionError(TEXT)

    monkeypatch.setattr(measurements, "run_order", broken)
    lines: list[str] = []
    carry_out(Order("encoding", TEXT, TOKENIZER).to_json().decode(), lines.append)
    said = str(read_line(lines[-1]))
    assert "RecursionError in test_lab.py, line " in said
    assert "hug" not in said


@pytest.mark.parametrize("n", [0, 1, 999, 1_000, 1_001, 4_000, 123_456])
def test_sizes_grow_to_the_whole_text(n: int) -> None:
    sizes = growing_sizes(n)
    assert sizes[-1] == n
    assert sizes == sorted(set(sizes))
