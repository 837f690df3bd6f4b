"""A run that was saved comes back the same; anything else is refused with a word on why."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from bpe_core.corpus.corpus import Corpus
from bpe_core.errors import FormatError
from bpe_core.formats.run_archive import load_run, save_run
from bpe_core.runs.run import TrainingRun
from bpe_core.runs.train import train
from bpe_core.types import TrainingConfig
from tests.strategies import training_configs, word_counts

Arrays = dict[str, Any]


@pytest.fixture(scope="module")
def run() -> TrainingRun:
    text = "The hugs, the pugs and the buns: déjà vu 你好 😀\r\n" * 3
    return train(Corpus.from_text(text), TrainingConfig(290))


@pytest.fixture
def saved(run: TrainingRun, tmp_path: Path) -> Path:
    save_run(run, tmp_path / "run.npz")
    return tmp_path / "run.npz"


def assert_same(first: TrainingRun, second: TrainingRun) -> None:
    assert first.tokenizer == second.tokenizer
    assert first.merges == second.merges
    assert first.config == second.config
    assert first.stop_reason == second.stop_reason
    assert first.elapsed_seconds == second.elapsed_seconds
    assert (first.corpus_sha256, first.corpus_bytes) == (second.corpus_sha256, second.corpus_bytes)
    assert first.pretokens.words == second.pretokens.words
    assert first.pretokens.counts.tolist() == second.pretokens.counts.tolist()
    assert first.tokens_after.tolist() == second.tokens_after.tolist()
    for step in range(len(first.merges) + 1):
        assert first.pair_counts(step) == second.pair_counts(step)


def test_a_run_comes_back_the_same(run: TrainingRun, saved: Path) -> None:
    assert_same(run, load_run(saved))


@given(word_counts, training_configs)
def test_any_run_comes_back_the_same(
    tmp_path_factory: pytest.TempPathFactory, words: dict[str, int], config: TrainingConfig
) -> None:
    run = train(Corpus.from_word_counts(words), config)
    path = tmp_path_factory.mktemp("runs") / "run.npz"
    save_run(run, path)
    assert_same(run, load_run(path))


def test_a_cancelled_run_without_pretokens_comes_back(tmp_path: Path) -> None:
    run = train(Corpus.from_text("hug"), TrainingConfig(300), should_stop=lambda: True)
    save_run(run, tmp_path / "run.npz")
    assert_same(run, load_run(tmp_path / "run.npz"))


def test_saving_leaves_one_file_and_replaces_the_old_one(run: TrainingRun, saved: Path) -> None:
    save_run(train(Corpus.from_text("other"), TrainingConfig(258)), saved)
    save_run(run, saved)
    assert [path.name for path in saved.parent.iterdir()] == ["run.npz"]
    assert_same(run, load_run(saved))


def test_a_failed_save_leaves_nothing_behind(run: TrainingRun, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder"):
        save_run(run, tmp_path / "folder")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_a_missing_file_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="There is no run at"):
        load_run(tmp_path / "gone.npz")


@pytest.mark.parametrize("content", [b"", b"no archive", b"PK\x03\x04", b"\x93NUMPY\x01\x00"])
def test_a_file_of_another_kind_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "run.npz").write_bytes(content)
    with pytest.raises(FormatError, match="is damaged or not a saved run"):
        load_run(tmp_path / "run.npz")


def test_a_pickle_is_never_opened(tmp_path: Path) -> None:
    np.savez(tmp_path / "run.npz", head=np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(FormatError, match="allow_pickle=False"):
        load_run(tmp_path / "run.npz")


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.99])
def test_a_file_cut_short_is_refused(saved: Path, share: float) -> None:
    data = saved.read_bytes()
    saved.write_bytes(data[: int(len(data) * share)])
    with pytest.raises(FormatError):
        load_run(saved)


@pytest.mark.parametrize("mask", [0xFF, 0x01])
def test_a_flipped_byte_never_goes_unnoticed_or_through(tmp_path: Path, mask: int) -> None:
    # An alphabet of three, so that the file is short: each of its bytes is tried.
    config = TrainingConfig(6, alphabet="seen", special_tokens=())
    run = train(Corpus.from_text("hughug"), config)
    saved = tmp_path / "run.npz"
    save_run(run, saved)
    data = saved.read_bytes()
    for at in range(len(data)):
        saved.write_bytes(data[:at] + bytes([data[at] ^ mask]) + data[at + 1 :])
        try:
            loaded = load_run(saved)
        except FormatError:
            continue
        assert_same(run, loaded)  # a byte of the container that nobody reads, as a date


def change_head(change: Callable[[Arrays], object]) -> Callable[[Arrays], None]:
    def apply(arrays: Arrays) -> None:
        head = json.loads(arrays["head"].tobytes())
        change(head)
        arrays["head"] = np.frombuffer(json.dumps(head).encode(), np.uint8)

    return apply


@pytest.mark.parametrize(
    "damage",
    [
        lambda arrays: arrays.pop("joined_at"),
        lambda arrays: arrays.update(head=arrays["head"][:-1]),
        lambda arrays: arrays.update(words=arrays["words"][:-1]),
        lambda arrays: arrays.update(word_lengths=arrays["word_lengths"][:-1]),
        lambda arrays: arrays.update(word_lengths=-arrays["word_lengths"]),
        lambda arrays: arrays.update(word_counts=arrays["word_counts"] * 0),
        lambda arrays: arrays.update(word_counts=arrays["word_counts"] * 1.0),
        lambda arrays: arrays.update(joined_at=arrays["joined_at"][:-1]),
        lambda arrays: arrays.update(joined_at=arrays["joined_at"][::-1].copy()),
        lambda arrays: arrays.update(joined_at=arrays["joined_at"] * 0),
        lambda arrays: arrays.update(joined_at=arrays["joined_at"] * 0 + 9_999),
        lambda arrays: arrays.update(joined_at=arrays["joined_at"] * 0 - 1),
        change_head(lambda head: head.update(version=2)),
        change_head(lambda head: head.update(stop_reason="bored")),
        change_head(lambda head: head.pop("tokenizer")),
        change_head(lambda head: head["tokenizer"]["merges"].pop()),
        change_head(lambda head: head["tokenizer"].update(counts=[1] * 33)),
        change_head(lambda head: head["tokenizer"].update(counts=None)),
        change_head(lambda head: head["config"].update(base="letters")),
        change_head(lambda head: head["config"].update(depth=3)),
        change_head(lambda head: head["config"].update(special_tokens=[1])),
        change_head(lambda head: head.update(corpus_bytes="many")),
    ],
)
def test_parts_that_do_not_fit_together_are_refused(
    saved: Path, damage: Callable[[Arrays], object]
) -> None:
    with np.load(saved) as archive:
        arrays = dict(archive)
    damage(arrays)
    np.savez(saved, **arrays)
    with pytest.raises(FormatError, match="is damaged or not a saved run"):
        load_run(saved)
