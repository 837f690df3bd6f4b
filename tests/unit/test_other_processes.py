"""Tokenizers, runs and corpora survive pickling, and immutable ones are their own copies."""

from __future__ import annotations

import copy
import json
import multiprocessing
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tokenizers

import bpe_core as bpe
from bpe_core import errors
from bpe_core.corpus import load_sample
from bpe_core.formats import ForeignTokenizer
from bpe_core.kernels import compile_kernels
from tests.foreign_models import library_encoder
from tests.new_process import ROOT
from tests.unit.test_run_archive import assert_same

TEXTS = ["This is not a token.", "", "  naïve 漢字 😀\r\n", "hug hugs 123", "<|endoftext|>"]


def trained(**choices: Any) -> bpe.TrainingRun:
    config = bpe.TrainingConfig(**{"vocab_size": 300, **choices})
    return bpe.train(load_sample("notebook"), config)


RUNS = {
    "bytes": trained(),
    "characters": trained(
        base="characters", alphabet="seen", end_of_word="</w>", pretokenizer="whitespace"
    ),
    "pattern": trained(pretokenizer="regex:[a-z]+", special_tokens=("[A]", "[B]")),
    "words": bpe.train(load_sample("hug-words"), bpe.TrainingConfig(260, tie_break="first-seen")),
}
TOKENIZERS = {name: run.tokenizer for name, run in RUNS.items()} | {
    "truncated": bpe.gpt2().truncated(1_000),
    "gpt2": bpe.gpt2(),
}


def by_pickle(protocol: int) -> Callable[[Any], Any]:
    return lambda thing: pickle.loads(pickle.dumps(thing, protocol))


# Immutable objects are their own copies, as a test below says.
TRIPS = {"pickle 2": by_pickle(2), "pickle 5": by_pickle(5)}
every_trip = pytest.mark.parametrize("trip", TRIPS.values(), ids=TRIPS)


def foreign() -> ForeignTokenizer:
    model = tokenizers.models.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2}, unk_token="[UNK]")
    peer = tokenizers.Tokenizer(model)
    peer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()  # pyright: ignore
    peer.add_special_tokens(["[CLS]"])
    return library_encoder(json.loads(peer.to_str()))


def assert_same_tokenizer(found: bpe.Tokenizer, tokenizer: bpe.Tokenizer) -> None:
    assert found == tokenizer
    assert list(found.vocab.items()) == list(tokenizer.vocab.items())
    assert found.merges == tokenizer.merges
    for text in TEXTS:
        assert found.encode(text, "all", "skip") == tokenizer.encode(text, "all", "skip")
        assert found.segments(text) == tokenizer.segments(text)
        assert found.explain(text, "skip") == tokenizer.explain(text, "skip")


def assert_same_run(found: bpe.TrainingRun, run: bpe.TrainingRun) -> None:
    assert_same_tokenizer(found.tokenizer, run.tokenizer)
    assert_same(found, run)
    for step in (0, 1, len(run.merges)):
        marks = [pair.tied for pair in run.top_pairs(step, 5)]
        assert found.top_pairs(step, 5) == run.top_pairs(step, 5)
        assert [pair.tied for pair in found.top_pairs(step, 5)] == marks
    theirs, ours = asdict(found.trace(0, 1)), asdict(run.trace(0, 1))
    assert all(np.array_equal(theirs[name], ours[name]) for name in ours)
    for array in (found.tokens_after, found.joined_at, found.pretokens.counts):
        assert not array.flags.writeable


@pytest.mark.slow
@every_trip
@pytest.mark.parametrize("name", TOKENIZERS)
def test_a_tokenizer_survives_pickling(trip: Callable[..., Any], name: str) -> None:
    assert_same_tokenizer(trip(TOKENIZERS[name]), TOKENIZERS[name])


@every_trip
@pytest.mark.parametrize("name", RUNS)
def test_a_run_survives_pickling(trip: Callable[..., Any], name: str) -> None:
    assert_same_run(trip(RUNS[name]), RUNS[name])


@every_trip
def test_a_tokenizer_of_another_library_survives_pickling(
    trip: Callable[..., Any],
) -> None:
    tokenizer = foreign()
    found = trip(tokenizer)
    assert found.fingerprint == tokenizer.fingerprint
    assert found.vocab == tokenizer.vocab
    for text in ("hugs hug", "[CLS] 😀"):
        assert found.segments(text) == tokenizer.segments(text)
        assert found.encode(text, "all") == tokenizer.encode(text, "all")


@every_trip
def test_values_survive_pickling(trip: Callable[..., Any]) -> None:
    run = RUNS["bytes"]
    first, second = load_sample("notebook"), load_sample("hug-words")
    config = bpe.TrainingConfig(500, pretokenizer="regex:\\d", special_tokens=("[A]",))
    comparison = bpe.compare("some text", [run.tokenizer, bpe.gpt2()])
    for value in (config, run.merges, first, second, comparison, *run.tokenizer.explain("hugs")):
        assert trip(value) == value
    for name in ("gpt2", "none", "regex:[0-9]"):
        assert trip(bpe.get_pretokenizer(name)).split("a1 b") == bpe.get_pretokenizer(name).split(
            "a1 b"
        )
    for corpus in (first, second):
        sent = trip(corpus)
        names = {field.name for field in fields(corpus)} - {"_sha256"} | {"sha256"}
        for name in names:
            assert getattr(sent, name) == getattr(corpus, name), name


@pytest.mark.parametrize(
    "thing", [*TOKENIZERS.values(), *RUNS.values(), load_sample("notebook"), foreign()]
)
def test_immutable_objects_are_their_own_copies(thing: object) -> None:
    assert copy.copy(thing) is thing
    assert copy.deepcopy({"some state": thing})["some state"] is thing


def test_every_error_survives_pickling() -> None:
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type)]
    assert len(kinds) > 10
    for kind in kinds:
        error = kind("What was found, and what to do.")
        found = pickle.loads(pickle.dumps(error))
        assert type(found) is kind
        assert str(found) == str(error)
        assert "What was found, and what to do." in str(found)


def test_caches_and_kernels_are_not_pickled() -> None:
    compile_kernels()
    fresh = bpe.gpt2().truncated(2_000)
    sent = pickle.dumps(fresh)
    used = pickle.loads(sent)
    used.segments("some words to be kept, laid out")
    used.explain("more of them")
    assert used.merges
    assert used.fingerprint
    used.encode_to_numpy("hug " * 500_000)
    assert used.encoder.kernels._encoder is not None
    assert used._encoder.word_ids or used._encoder.word_layouts
    assert pickle.dumps(used) == sent
    arrived = pickle.loads(pickle.dumps(used))
    assert arrived.encoder.kernels._encoder is None
    assert not arrived._encoder.word_ids
    assert arrived.encode("hug " * 500_000) == used.encode("hug " * 500_000)


def test_the_layout_of_a_run_is_not_pickled() -> None:
    run = pickle.loads(pickle.dumps(RUNS["bytes"]))
    sent = pickle.dumps(run)
    run.pair_counts(3)
    assert "_layout" in vars(run)
    assert pickle.dumps(run) == sent
    assert "_layout" not in vars(pickle.loads(sent))


@pytest.fixture(scope="module")
def spawned() -> Iterator[ProcessPoolExecutor]:
    """Return a pool of two spawned processes, as joblib and a DataLoader may use."""
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield pool


@pytest.mark.parametrize("name", RUNS)
def test_methods_run_in_spawned_processes(spawned: ProcessPoolExecutor, name: str) -> None:
    run = RUNS[name]
    segments = spawned.map(run.tokenizer.segments, TEXTS)
    assert list(segments) == [run.tokenizer.segments(text) for text in TEXTS]
    assert spawned.submit(run.pair_counts, 1).result() == run.pair_counts(1)
    encoded = spawned.submit(run.tokenizer.encode_to_numpy, "the first", errors="skip").result()
    assert encoded.tolist() == run.tokenizer.encode("the first", errors="skip")


def test_a_run_trained_in_another_process_is_returned_complete(
    spawned: ProcessPoolExecutor,
) -> None:
    for corpus in (load_sample("notebook"), load_sample("hug-words")):
        config = bpe.TrainingConfig(290, pretokenizer="gpt2")
        theirs = spawned.submit(bpe.train, corpus, config).result()
        ours = bpe.train(corpus, config)
        assert theirs.tokenizer == ours.tokenizer
        assert theirs.merges == ours.merges
        assert theirs.tokens_after.tolist() == ours.tokens_after.tolist()
        assert theirs.pair_counts(2) == ours.pair_counts(2)


def test_an_error_in_another_process_is_raised_unchanged(spawned: ProcessPoolExecutor) -> None:
    with pytest.raises(errors.InvalidTextError) as here:
        bpe.gpt2().encode("\ud800")
    with pytest.raises(errors.InvalidTextError) as there:
        spawned.submit(bpe.gpt2().encode, "\ud800").result()
    assert str(there.value) == str(here.value)


# A worker like those of PyTorch's DataLoader: it inherits the dataset, and two queues carry indices
# in and items out. It runs in a separate program, since a fork of this one would copy its threads.
LOADER = """
import multiprocessing
import numpy as np
import bpe_core as bpe

class Lines:
    def __init__(self, lines, tokenizer):
        self.lines, self.tokenizer = lines, tokenizer
    def __getitem__(self, index):
        return self.tokenizer.encode_to_numpy(self.lines[index])

def work(dataset, indices, items):
    while (index := indices.get()) is not None:
        items.put((index, dataset[index]))

if __name__ == "__main__":
    lines = [f"line {n}, naive and hugs" for n in range(40)] + ["hug " * 500_000]
    tokenizer = bpe.gpt2()
    dataset = Lines(lines, tokenizer)
    expected = [dataset[n].tolist() for n in range(len(lines))]
    assert tokenizer.encoder.kernels._encoder is not None  # it has used kernels
    context = multiprocessing.get_context("fork")
    indices, items = context.Queue(), context.Queue()
    workers = [context.Process(target=work, args=(dataset, indices, items)) for _ in range(2)]
    for worker in workers:
        worker.start()
    for index in range(len(lines)):
        indices.put(index)
    found = dict(items.get() for _ in lines)
    for _ in workers:
        indices.put(None)
    for worker in workers:
        worker.join()
    assert [found[n].tolist() for n in range(len(lines))] == expected
    print(len(found))
"""


@pytest.mark.slow
def test_forked_workers_of_a_data_loader_encode_like_their_parent(tmp_path: Path) -> None:
    compile_kernels()
    program = tmp_path / "loader.py"
    program.write_text(LOADER, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, program],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "41\n", done.stderr
