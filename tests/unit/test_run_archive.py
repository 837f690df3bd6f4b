"""Saved runs load unchanged, other files are refused, and figures on other text are exact."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import CancelledError
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pytest
from hypothesis import given

import bpe_core as bpe
from bpe_core.corpus import Split
from bpe_core.formats import run_archive
from bpe_core.kernels import compile_kernels
from bpe_core.trainers import ParityHistory, RunOrigin, count_ids, parse_history
from bpe_core.trainers.parity import TOGETHER
from bpe_core.trainers.run import merges_are_recoverable, unfolded_tokens
from tests.strategies import training_configs, word_counts

Arrays = dict[str, Any]


@pytest.fixture(scope="module")
def run() -> bpe.TrainingRun:
    text = "The hugs, the pugs and the buns: déjà vu 你好 😀\r\n" * 3
    return bpe.train(bpe.Corpus.from_text(text), bpe.TrainingConfig(290))


@pytest.fixture
def saved(run: bpe.TrainingRun, tmp_path: Path) -> Path:
    bpe.save_run(run, tmp_path / "run.npz")
    return tmp_path / "run.npz"


def refusal(path: Path) -> str:
    """Return the message with which a file is refused."""
    with pytest.raises(bpe.FormatError) as refused:
        bpe.load_run(path)
    return str(refused.value)


def damaged(path: Path) -> str:
    """Return the message for a damaged file, which quotes neither NumPy nor zipfile."""
    return f"{path} is damaged or not a saved run. Train again, or use the original file."


def assert_same(first: bpe.TrainingRun, second: bpe.TrainingRun) -> None:
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


def test_a_run_survives_saving(run: bpe.TrainingRun, saved: Path) -> None:
    assert_same(run, bpe.load_run(saved))


@pytest.mark.slow
@given(word_counts, training_configs)
def test_any_run_survives_saving(
    tmp_path_factory: pytest.TempPathFactory, words: dict[str, int], config: bpe.TrainingConfig
) -> None:
    run = bpe.train(bpe.Corpus.from_word_counts(words), config)
    path = tmp_path_factory.mktemp("runs") / "run.npz"
    bpe.save_run(run, path)
    assert_same(run, bpe.load_run(path))


def test_a_cancelled_run_without_pretokens_survives_saving(tmp_path: Path) -> None:
    run = bpe.train(bpe.Corpus.from_text("hug"), bpe.TrainingConfig(300), should_stop=lambda: True)
    bpe.save_run(run, tmp_path / "run.npz")
    assert_same(run, bpe.load_run(tmp_path / "run.npz"))


def test_the_error_for_a_missing_file_says_so(tmp_path: Path) -> None:
    with pytest.raises(bpe.FormatError, match="There is no run at"):
        bpe.load_run(tmp_path / "gone.npz")


@pytest.mark.parametrize("content", [b"", b"no archive", b"PK\x03\x04", b"\x93NUMPY\x01\x00"])
def test_a_file_of_another_kind_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "run.npz").write_bytes(content)
    assert refusal(tmp_path / "run.npz") == damaged(tmp_path / "run.npz")


class Touch:
    """An object whose pickle creates a file when it is opened."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return Path.touch, (self.path,)


def test_a_pickle_is_never_opened(tmp_path: Path) -> None:
    path = tmp_path / "run.npz"
    head = np.array([Touch(tmp_path / "opened")], dtype=object)
    np.savez(path, head=head, allow_pickle=True)
    assert "Its array head is missing or cannot be read." in refusal(path)
    assert [file.name for file in tmp_path.iterdir()] == ["run.npz"]


def test_the_error_for_a_file_of_another_user_says_so(
    saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(run_archive, "open_regular", refuse)
    assert refusal(saved).startswith(f"You are not permitted to read {saved}. Change its")


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.99])
def test_a_truncated_file_is_refused(saved: Path, share: float) -> None:
    data = saved.read_bytes()
    saved.write_bytes(data[: int(len(data) * share)])
    assert refusal(saved) == damaged(saved)


@pytest.mark.slow
@pytest.mark.parametrize("mask", [0xFF, 0x01])
def test_a_changed_byte_is_refused_or_harmless(tmp_path: Path, mask: int) -> None:
    # A small alphabet keeps the file short, since every byte is changed in turn.
    config = bpe.TrainingConfig(6, alphabet="seen", special_tokens=())
    run = bpe.train(bpe.Corpus.from_text("hughug"), config)
    saved = tmp_path / "run.npz"
    bpe.save_run(run, saved)
    data = saved.read_bytes()
    for at in range(len(data)):
        saved.write_bytes(data[:at] + bytes([data[at] ^ mask]) + data[at + 1 :])
        try:
            loaded = bpe.load_run(saved)
        except bpe.FormatError:
            continue
        assert_same(run, loaded)  # an unused byte of the container, such as a date


def change_head(change: Callable[[Arrays], object]) -> Callable[[Arrays], None]:
    def apply(arrays: Arrays) -> None:
        head = json.loads(arrays["head"].tobytes())
        change(head)
        arrays["head"] = np.frombuffer(json.dumps(head).encode(), np.uint8)

    return apply


@pytest.mark.parametrize(
    ("damage", "what"),
    [
        (lambda arrays: arrays.pop("joined_at"), "array joined_at is missing"),
        (lambda arrays: arrays.update(head=arrays["head"][:-1]), "head .* in line 1, column"),
        (lambda arrays: arrays.update(words=arrays["words"][:-1]), "word counts"),
        (lambda arrays: arrays.update(word_lengths=arrays["word_lengths"][:-1]), "word counts"),
        (lambda arrays: arrays.update(word_lengths=-arrays["word_lengths"]), "word counts"),
        (lambda arrays: arrays.update(word_counts=arrays["word_counts"] * 0), "word counts"),
        (lambda arrays: arrays.update(word_counts=arrays["word_counts"] * 1.0), "got float64"),
        (lambda arrays: arrays.update(joined_at=arrays["joined_at"][:-1]), "saved run"),
        (lambda arrays: arrays.update(joined_at=arrays["joined_at"][::-1].copy()), "merges do not"),
        (lambda arrays: arrays.update(joined_at=arrays["joined_at"] * 0), "merges do not"),
        (lambda arrays: arrays.update(joined_at=arrays["joined_at"] * 0 + 9_999), "0 .* is 9,999"),
        (lambda arrays: arrays.update(joined_at=arrays["joined_at"] * 0 - 1), "0 .* is -1"),
        (change_head(lambda head: head.update(version=0)), "version 0"),
        (change_head(lambda head: head.update(origin=7)), "as origin, got 7"),
        (change_head(lambda head: head.update(origin={"split": None})), "as origin"),
        (change_head(lambda head: head["origin"].update(split={"seed": 7})), "as origin"),
        (change_head(lambda head: head.update(stop_reason="bored")), "'bored'"),
        (change_head(lambda head: head.pop("tokenizer")), "as tokenizer in its head, got None"),
        (change_head(lambda head: head.update(tokenizer="gpt2")), "in its head, got 'gpt2'"),
        (change_head(lambda head: head["tokenizer"]["merges"].pop()), "counts for"),
        (change_head(lambda head: head["tokenizer"].update(counts=[1] * 33)), "merges do not"),
        (change_head(lambda head: head["tokenizer"].update(counts=None)), "saved run"),
        (change_head(lambda head: head["config"].update(base="letters")), "base is 'letters'"),
        (change_head(lambda head: head["config"].update(depth=3)), r"unknown entries \['depth'\]"),
        (change_head(lambda head: head["config"].update(special_tokens=[1])), "special_tokens"),
        (change_head(lambda head: head["config"].pop("special_tokens")), "special_tokens in its c"),
        (change_head(lambda head: head.update(corpus_bytes="many")), "as corpus_bytes .*'many'"),
    ],
)
def test_inconsistent_arrays_are_refused_with_their_place(
    saved: Path, damage: Callable[[Arrays], object], what: str
) -> None:
    with np.load(saved) as archive:
        arrays = dict(archive)
    damage(arrays)
    np.savez(saved, **arrays)
    with pytest.raises(bpe.FormatError, match=what):
        bpe.load_run(saved)


def test_a_file_in_place_of_an_array_is_refused(saved: Path) -> None:
    with np.load(saved) as archive:
        arrays = {name: archive[name] for name in archive if name != "words"}
    np.savez(saved, **arrays)
    with ZipFile(saved, "a") as archive:
        archive.writestr("words", b"hug")
    assert "Its entry words is not an array." in refusal(saved)


# Repeating a run from what its files say

WHOLE = bpe.Corpus.from_text("The hugs, the pugs and the buns.\n" * 300)
PART, _ = WHOLE.split(0.1, seed=7)
SETTINGS = bpe.TrainingConfig(280, pretokenizer="cl100k", min_frequency=3, special_tokens=("<s>",))


def repeated(record: dict[str, Any]) -> bpe.TrainingRun:
    """Train again with nothing but a record and the whole corpus."""
    config = record["config"] | {"special_tokens": tuple(record["config"]["special_tokens"])}
    split = record["split"]
    assert split["corpus_sha256"] == WHOLE.sha256
    training, _ = WHOLE.split(split["held_out_share"], seed=split["seed"])
    assert (training.sha256, training.n_bytes) == (record["corpus_sha256"], record["corpus_bytes"])
    return bpe.train(training, bpe.TrainingConfig(**config))


def test_a_run_can_be_repeated_from_its_file(tmp_path: Path) -> None:
    bpe.save_run(bpe.train(PART, SETTINGS), tmp_path / "run.bpe-run")
    loaded = bpe.load_run(tmp_path / "run.bpe-run")
    record = loaded.to_dict()
    assert record["bpe_core"] == bpe.__version__
    assert record["tokenizer_fingerprint"] == loaded.tokenizer.fingerprint
    again = repeated(json.loads(json.dumps(record)))
    assert again.tokenizer == loaded.tokenizer
    assert again.merges == loaded.merges


def test_a_run_can_be_repeated_from_the_native_file_of_its_tokenizer(tmp_path: Path) -> None:
    run = bpe.train(PART, SETTINGS)
    bpe.save(run, tmp_path / "mine.bpe.json")
    assert bpe.load(tmp_path / "mine.bpe.json") == run.tokenizer
    record = json.loads((tmp_path / "mine.bpe.json").read_text())["training"]
    assert repeated(record).tokenizer.fingerprint == record["tokenizer_fingerprint"]
    bpe.save(run.tokenizer, tmp_path / "plain.bpe.json")
    assert "training" not in json.loads((tmp_path / "plain.bpe.json").read_text())


def test_a_run_of_text_that_was_not_divided_says_so(run: bpe.TrainingRun, saved: Path) -> None:
    assert bpe.load_run(saved).origin == run.origin == RunOrigin(bpe.__version__, None)


def test_pickling_keeps_how_a_text_was_divided() -> None:
    build, parts = PART.__reduce__()
    assert build(*parts).divided == PART.divided == Split(WHOLE.sha256, 0.1, 7)  # pyright: ignore
    build, parts = bpe.train(PART, SETTINGS).__reduce__()
    assert build(*parts).origin.split == PART.divided  # pyright: ignore


def test_an_extended_run_names_its_base() -> None:
    base = bpe.train(PART, SETTINGS).tokenizer
    run = bpe.extend(base, PART, n_tokens=2)
    assert run.to_dict()["base_fingerprint"] == base.fingerprint
    assert run.to_dict()["split"]["seed"] == 7


def test_what_is_not_a_run_is_refused(tmp_path: Path, run: bpe.TrainingRun) -> None:
    with pytest.raises(bpe.ConfigError, match="Expected a TrainingRun"):
        bpe.save_run(run.tokenizer, tmp_path / "run.bpe-run")  # pyright: ignore[reportArgumentType]
    with pytest.raises(bpe.FormatError, match="cannot be written"):
        bpe.save_run(run, tmp_path / "missing" / "run.bpe-run")


# A run's figures on another corpus, which can be cancelled


TEXT = "".join(f"line {n} of {n * 7_919 % 997}, hugs and pugs\n" for n in range(60))


def after(n_looks: int) -> Callable[[], bool]:
    """Return a callback that is True from call `n_looks` + 1 on."""
    looks = iter(range(n_looks))
    return lambda: next(looks, None) is None


def test_a_cancelled_count_on_another_corpus_raises() -> None:
    run = bpe.train(bpe.Corpus.from_text(TEXT), bpe.TrainingConfig(vocab_size=257 + 200))
    assert len(run.merges) > 150
    other = bpe.Corpus.from_documents([TEXT[:300], "pugs"])
    whole = run.tokens_after_on(other)
    run.tokens_after_on(other, after(1_000))
    # There are at least five calls, for two documents, the count and the merges; stop at each.
    for n in range(5):
        with pytest.raises(CancelledError):
            run.tokens_after_on(other, after(n))
    for never in (None, lambda: False):
        assert run.tokens_after_on(other, never).tolist() == whole.tolist()


def test_cancellation_is_checked_while_merges_are_replayed() -> None:
    run = bpe.train(bpe.Corpus.from_text(TEXT), bpe.TrainingConfig(vocab_size=257 + 200))
    asked: list[int] = []

    def should_stop() -> bool:
        asked.append(1)
        return False

    run.tokens_after_on(bpe.Corpus.from_text("pugs"), should_stop)
    assert len(asked) >= 2 + len(run.merges) // 64


def test_counts_on_a_long_corpus_equal_encoding_with_each_truncated_tokenizer() -> None:
    compile_kernels()
    run = bpe.train(bpe.Corpus.from_text(TEXT), bpe.TrainingConfig(vocab_size=257 + 200))
    # Lines with other numbers, and bytes that are not in the training text.
    lines = [f"line {n} of {n * 31 % 9_973}, hugs, pügs<|endoftext|>\n" for n in range(12_000)]
    other = bpe.Corpus.from_documents(["".join(lines), TEXT])
    tokens = run.tokens_after_on(other)
    assert tokens.shape == (len(run.merges) + 1,)
    for step in (0, 1, 50, len(run.merges)):
        cut = run.tokenizer.truncated(step)
        assert tokens[step] == sum(len(cut.encode(document)) for document in other.documents)
    # Before each of the two documents.
    run.tokens_after_on(other, after(2))
    for n in range(2):
        with pytest.raises(CancelledError):
            run.tokens_after_on(other, after(n))


@given(word_counts, training_configs)
def test_counts_from_encoding_equal_those_from_replaying_merges(
    words: dict[str, int], config: bpe.TrainingConfig
) -> None:
    run = bpe.train(bpe.Corpus.from_word_counts(words), config)
    other = bpe.Corpus.from_documents([*words, " ".join(words), "abé abab"])
    if merges_are_recoverable(run.tokenizer):
        found = unfolded_tokens(count_ids(run.tokenizer, other.documents), run.merges)
        np.testing.assert_array_equal(found, run.tokens_after_on(other))


def test_a_run_is_unaffected_by_changes_to_the_arrays_it_was_built_from() -> None:
    run = bpe.train(bpe.Corpus.from_text("hug hugs"), bpe.TrainingConfig(vocab_size=259))
    tokens = run.tokens_after.copy()
    again = bpe.TrainingRun(
        tokenizer=run.tokenizer,
        config=run.config,
        corpus_sha256=run.corpus_sha256,
        corpus_bytes=run.corpus_bytes,
        pretokens=run.pretokens,
        joined_at=run.joined_at,
        stop_reason=run.stop_reason,
        elapsed_seconds=run.elapsed_seconds,
        tokens_after=tokens,
    )
    tokens[0] = 0
    assert again.tokens_after.tolist() == run.tokens_after.tolist()


def test_the_parity_of_a_file_is_read_or_refused_with_what_is_wrong() -> None:
    lengths = np.array([[9, 8, 8], [6, 6, 5]])
    picked = np.array([0, 1], np.int32)
    history = ParityHistory(("en", "xx"), picked, lengths, window=3, plain=(8, 5))
    described = history.to_dict()
    again = parse_history(described, picked, lengths.ravel(), 2)
    assert again.to_dict() == described
    assert (again.picked.tolist(), again.lengths.tolist()) == ([0, 1], lengths.tolist())

    settings = [{name: 1.5} for name in ("languages", "hybrid_merges", "window", "plain")]
    settings += [{"alpha": "2"}, {"has_development": None}]
    names = [{"languages": names} for names in ([], ["en"], ["en", "en"], ["en", 2])]
    plain = [{"plain": counts} for counts in ([8], [8, 5, 1], [8, -1], [8, "5"])]
    for changes, told in (
        (settings, "settings of a parity-aware run"),
        (names, "two or more distinct languages"),
        (plain, "under plain BPE"),
    ):
        for change in changes:
            with pytest.raises(bpe.FormatError, match=told):
                parse_history({**described, **change}, picked, lengths.ravel(), 2)
    with pytest.raises(bpe.FormatError, match="settings of a parity-aware run"):
        parse_history({}, picked, lengths.ravel(), 2)
    for wrong in ([0], [0, 2], [-2, 0]):
        with pytest.raises(bpe.FormatError, match="number of the language that picked it"):
            parse_history(described, np.array(wrong, np.int32), lengths.ravel(), 2)
    for counts, told in (
        ([9, 8, 8], "tokens after each merge"),
        ([9, 8, 8, 6, 6, 7], "rise from one merge to the next"),
        ([9, 8, 8, 6, 5, -1], "rise from one merge to the next"),
    ):
        with pytest.raises(bpe.FormatError, match=told):
            parse_history(described, picked, np.array(counts), 2)


def test_who_picked_when_is_counted_in_stretches() -> None:
    picked = np.array([TOGETHER, 1, 1, 2, 1], np.int32)
    history = ParityHistory(("a", "b", "c"), picked, np.zeros((3, 6), np.int64))
    names, shares, edges = history.picks(5)
    assert (names, edges.tolist()) == (["b", "c", "all together"], [0, 1, 2, 3, 4, 5])
    assert shares.tolist() == [[0, 1, 1, 0, 1], [0, 0, 0, 1, 0], [1, 0, 0, 0, 0]]
    assert history.picks(100)[1].tolist() == shares.tolist()
    names, shares, edges = history.cut(0).picks(5)
    assert (names, shares.size, edges.tolist()) == ([], 0, [0, 0])
