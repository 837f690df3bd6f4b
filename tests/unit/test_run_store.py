"""Runs on disk load unchanged, and no address reaches another file."""

from __future__ import annotations

import gzip
import json
import os
import re
import time
from dataclasses import fields, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import bpe_core as bpe
from bpe_core.files import Entry, Store
from bpe_core.files.store import MANIFEST
from bpe_core.formats import run_archive
from ui.host import server_cache
from ui.look import RunName
from ui.run import run_figures
from ui.storage import (
    DAYS_KEPT_UNOPENED,
    SAMPLE_RUN_ID,
    Trained,
    delete_run,
    find_run_name,
    keep_text,
    keeping,
    load_run,
    note_opened,
    rename_run,
    run_store,
    store_run,
    store_run_to_show,
)
from ui.storage.keeping import sweep_store
from ui.storage.run_store import ENTRY, MAX_UNCLAIMED, RunDeletedError, RunNotFoundError

TEXT = "hug hugs pug pugs\n" * 40 + "naïve 日本 \U0001f9e9\n" * 20
NOTHING = bpe.Corpus.from_text(TEXT).split(0.0)[1]


@cache
def hugs() -> bpe.TrainingRun:
    return bpe.train(bpe.Corpus.from_text(TEXT), bpe.TrainingConfig(260))


pytestmark = pytest.mark.usefixtures("store")


def test_a_stored_run_loads_unchanged() -> None:
    documents = ["hug hugs pug\n" * 400, "x = 1\n" * 300, "naïve 日本\n" * 200]
    corpus = bpe.Corpus.from_documents(documents, ["a.txt", "b.py", "c.txt"])
    training, held_out = corpus.split(0.2, seed=0)
    run = bpe.train(training, bpe.TrainingConfig(vocab_size=280))
    stored = load_run(store_run(Trained("Hugs", run, held_out, training=training)))
    assert stored.title == "Hugs"
    assert stored.run.merges == run.merges
    assert stored.run.tokenizer.fingerprint == run.tokenizer.fingerprint
    assert stored.run.config == run.config
    assert stored.run.pair_counts(3) == run.pair_counts(3)
    assert stored.held_out == held_out
    assert stored.held_out.documents == held_out.documents
    assert (stored.held_out.names, stored.held_out.places) == (held_out.names, held_out.places)
    assert stored.held_out_tokens_after is not None
    np.testing.assert_array_equal(stored.held_out_tokens_after, run.tokens_after_on(held_out))
    assert stored.compositions == (training.composition(), held_out.composition())
    assert stored.training_text is not None
    assert stored.training_text.corpus.places == training.places


def test_a_run_has_the_time_at_which_it_was_stored() -> None:
    before = datetime.now(UTC)
    run_id = store_run(Trained("Hugs", hugs(), NOTHING))
    after = datetime.now(UTC)
    stored = load_run(run_id)
    assert stored.trained_at is not None
    assert before <= stored.trained_at <= after
    assert stored.name == RunName(run_id, "Hugs", 260, hugs().config, stored.trained_at)


def rewrite(path: Path, text: str) -> None:
    """Replace a file of an entry and renew the checksums, as if it had been stored like that."""
    data = text.encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    Entry(path.parent).write_manifest()


ORIGIN: dict[str, object] = {
    "origin": {"source": "upload", "sample_id": "", "held_out_percent": 8},
    "n_bytes": 3,
    "sha256": bpe.Corpus.from_text("hug").sha256,
    "corpus": {"documents": ["hug"], "names": [""]},
}
OF_ORIGIN = (
    ("origin", {"source": "disk", "sample_id": "", "held_out_percent": 8}),
    ("origin", {"source": "upload", "sample_id": "", "held_out_percent": 100}),
    ("origin", []),
    ("sha256", "0" * 64),
    ("corpus", {"documents": ["other"], "names": ["x"]}),
    ("corpus", {"documents": [1], "names": ["x"]}),
    ("corpus", {"documents": ["a"], "names": []}),
    ("n_bytes", None),
)


@pytest.mark.parametrize(
    "details",
    [
        *({"trained_at": time} for time in ("yesterday", "", 5, [], "9" * 10_000)),
        {"title": 5},
        {"title": None},
        *({"compositions": compositions} for compositions in ([1, 2], {})),
        {"held_out": {"documents": [5], "names": ["a"]}},
        *(
            {"held_out": {"documents": ["a"], "names": ["a"], "places": places}}
            for places in ([[0, 1]] * 99, [1])
        ),
        {"text": {"documents": ["other"], "names": ["a"], "is_whole": True}},
        *({"origin": {**ORIGIN, name: value}} for name, value in OF_ORIGIN),
        {"origin": None, "check": {"documents": [], "names": [], "tokenizer": {}}},
        "[" * 100_000,
    ],
    ids=lambda details: str(details)[:80],
)
def test_an_invalid_entry_is_reported_as_damage(
    store: Path, details: dict[str, object] | str
) -> None:
    _, held_out = bpe.Corpus.from_text(TEXT).split(0.2)
    run_id = store_run(Trained("Hugs", hugs(), held_out))
    path = store / run_id / ENTRY
    written = json.loads(gzip.decompress(path.read_bytes()))
    rewrite(path, json.dumps(written | {"origin": ORIGIN}))
    assert load_run(run_id).came_from is not None
    server_cache.forget()
    rewrite(path, json.dumps(written | details) if isinstance(details, dict) else details)
    with pytest.raises(bpe.FormatError, match="The run stored at this address is damaged"):
        load_run(run_id)


def test_the_name_of_a_run_is_read_without_loading_the_run(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = bpe.TrainingConfig(260, "regex:\\w+", special_tokens=("<b>",), end_of_word="é")
    run = bpe.train(bpe.Corpus.from_text(TEXT), config)
    run_id = store_run(Trained("日本 hugs", run, NOTHING))
    expected = load_run(run_id).name
    monkeypatch.setattr(run_store, "load_run", None)
    assert find_run_name(run_id) == expected
    assert expected.trained_at is not None


@pytest.mark.parametrize(
    "change",
    [
        {"title": 5},
        {"vocab_size": "x"},
        {"config": {"base": "x"}},
        {"config": {"pretokenizer": 5}},
        {"config": {"unknown": 5}},
        {"trained_at": 5},
        [],
        "",
        None,
    ],
    ids=str,
)
def test_a_run_is_loaded_if_its_name_file_is_damaged(store: Path, change: object) -> None:
    run_id = store_run(Trained("Hugs", hugs(), NOTHING))
    path = store / run_id / "name.json"
    if isinstance(change, dict):
        changed = json.dumps(json.loads(path.read_text()) | change)
    else:
        changed = json.dumps(change) if change != "" else ""
    rewrite(path, changed)
    assert find_run_name(run_id) == load_run(run_id).name
    path.unlink()
    Entry(path.parent).write_manifest()
    assert find_run_name(run_id) == load_run(run_id).name


def test_a_renamed_run_has_its_new_name_everywhere_and_is_whole(store: Path) -> None:
    run_id = store_run_to_show(Trained("Hugs", hugs(), NOTHING))
    before = load_run(run_id).name
    for title in ("Pugs", "日本 <b>*x*</b>"):
        rename_run(run_id, title)
        assert load_run(run_id).title == title
        assert load_run(run_id).name == find_run_name(run_id) == replace(before, title=title)
        assert [entry.title for entry in Store().entries()] == [title]
        assert Entry(store / run_id).check()


def test_a_deleted_run_is_gone_from_disk_and_memory_and_its_address_says_so(store: Path) -> None:
    training = bpe.Corpus.from_text(TEXT)
    run_id, other = (
        store_run_to_show(Trained("Hugs", hugs(), NOTHING, training=training)) for _ in range(2)
    )
    assert load_run(run_id).title == "Hugs"
    delete_run(run_id)
    assert {path.name for path in store.iterdir()} == {other, f"deleted-{run_id}"}
    for find in (load_run, find_run_name, delete_run, lambda id: rename_run(id, "Pugs")):
        with pytest.raises(RunDeletedError, match="deleted by the visitor who trained it"):
            find(run_id)
    # What another server deletes is not shown from memory either.
    assert load_run(other).title == "Hugs"
    Entry(store / other).delete_for_owner()
    with pytest.raises(RunDeletedError):
        load_run(other)
    assert Store().entries() == []
    age(store / f"deleted-{run_id}", days=DAYS_KEPT_UNOPENED + 1)
    sweep_store()
    assert {path.name for path in store.iterdir()} == {f"deleted-{other}"}
    with pytest.raises(RunNotFoundError, match="no run at this address"):
        load_run(run_id)


def test_a_run_without_held_out_text_survives_storing() -> None:
    corpus = bpe.Corpus.from_word_counts({"hug": 10, "pug": 5})
    training, held_out = corpus.split(0.0, seed=0)
    config = bpe.TrainingConfig(vocab_size=8, base="characters", special_tokens=())
    stored = load_run(store_run(Trained("Two words", bpe.train(training, config), held_out)))
    assert stored.held_out.n_bytes == 0
    assert stored.held_out_tokens_after is None


def test_held_out_words_keep_their_counts() -> None:
    corpus = bpe.Corpus.from_word_counts({f"word{n}": n for n in range(1, 40)})
    training, held_out = corpus.split(0.3, seed=0)
    stored = load_run(
        store_run(Trained("Words", bpe.train(training, bpe.TrainingConfig(300)), held_out))
    )
    assert held_out.word_counts
    assert stored.held_out.word_counts == held_out.word_counts


def test_ids_are_unique_and_no_unfinished_folder_remains(store: Path) -> None:
    ids = {store_run(Trained("Hugs", hugs(), NOTHING)) for _ in range(5)}
    assert {path.name for path in store.iterdir()} == ids
    assert len(ids) == 5
    # Run ids become part of component keys, where Streamlit reserves "__".
    assert all(re.fullmatch("[0-9a-f]{32}", run_id) for run_id in ids)


@pytest.mark.parametrize(
    "run_id",
    [
        "a" * 32,
        "",
        ".",
        "..",
        "../" * 7 + "x",
        "/etc/passwd",
        "a/../" + "b" * 17,
        "a" * 33,
        "a" * 31,
        "a" * 31 + "\x00",
        "a" * 32 + "\n",
        "ä" * 32,
        "sample/..",
        "SAMPLE",
        "..\\..\\x",
    ],
)
def test_an_unknown_or_malformed_id_finds_no_run(run_id: str) -> None:
    reason = "no run at this address" if run_id == "a" * 32 else "malformed"
    with pytest.raises(RunNotFoundError, match=reason):
        load_run(run_id)


def test_a_run_outside_the_store_cannot_be_reached(tmp_path: Path, store: Path) -> None:
    run_id = store_run(Trained("Hugs", hugs(), NOTHING))
    inside = store_run(Trained("Hugs", hugs(), NOTHING))
    (store / run_id).rename(tmp_path / run_id)
    # The second path starts like an id.
    for path in (f"../{run_id}", f"{inside}/../../{run_id}"):
        assert (store / path / "run.npz").is_file()
        with pytest.raises(RunNotFoundError, match="malformed"):
            load_run(path)


def test_a_run_keeps_its_held_out_text_even_if_counting_it_was_cancelled() -> None:
    _, held_out = bpe.Corpus.from_text(TEXT).split(0.2, seed=0)
    stored = load_run(store_run(Trained("Hugs", hugs(), held_out), should_stop=lambda: True))
    assert stored.held_out == held_out
    assert stored.held_out_tokens_after is None
    assert run_figures.run_curves(stored.id).held_out is None


def age(path: Path, *, days: float) -> None:
    then = time.time() - days * 86_400
    os.utime(path, (then, then))


def test_a_sweep_deletes_old_runs_and_leftovers_and_nothing_else(store: Path) -> None:
    old, opened, new = (store_run(Trained("Hugs", hugs(), NOTHING)) for _ in range(3))
    rows, new_rows = (f"{Entry.EXPERIMENT}{Entry.new_id()}" for _ in range(2))
    for name in (rows, new_rows):
        (store / name).mkdir()
    age(store / rows, days=DAYS_KEPT_UNOPENED + 1)
    for name in (".unfinished-old", ".unfinished-new", "notes", "b" * 31, "c" * 33):
        (store / name).mkdir()
        (store / name / "file").write_text("x")
        if not name.endswith("new"):
            age(store / name, days=1_000)
    age(store / old, days=DAYS_KEPT_UNOPENED + 1)
    age(store / opened, days=DAYS_KEPT_UNOPENED + 1)
    age(store / new, days=DAYS_KEPT_UNOPENED - 1)
    note_opened(opened)
    sweep_store()
    left = {path.name for path in store.iterdir()}
    assert left == {opened, new, new_rows, ".unfinished-new", "notes", "b" * 31, "c" * 33}


def test_the_least_recently_opened_entries_make_room_unless_opened_today(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = (store_run(Trained("Hugs", hugs(), NOTHING)) for _ in range(2))
    upload = f"upload-{keep_text('long ' * 400)}"
    for name, days in ((first, 4), (upload, 3), (second, 2)):
        age(store / name, days=days)
    # There is room for two runs, so the third replaces the oldest run and the upload.
    one = sum(file.stat().st_size for file in (store / first).iterdir())
    # A few bytes more, because the time of storing compresses more or less well.
    monkeypatch.setattr(keeping, "MAX_BYTES_KEPT", 2 * one + 16)
    third = store_run(Trained("Hugs", hugs(), NOTHING))
    assert {path.name for path in store.iterdir()} == {second, third}
    note_opened(second)
    with pytest.raises(bpe.NotKeptError, match="within a day"):
        keep_text("long")
    assert {path.name for path in store.iterdir()} == {second, third}


def test_a_run_that_cannot_be_stored_stays_in_memory(
    store: Path,
) -> None:
    store.write_text("a file where the folder should be")
    training, held_out = bpe.Corpus.from_text(TEXT).split(0.2, seed=0)
    stored = load_run(store_run(Trained("Hugs", hugs(), held_out, training=training)))
    assert stored.run is hugs()
    assert stored.held_out_tokens_after is not None
    assert "disk is full" in stored.not_kept
    assert stored.training_text is not None
    note_opened(stored.id)


def test_an_unsaved_run_is_kept_while_referenced_or_among_the_latest(
    store: Path,
) -> None:
    store.write_text("a file where the folder should be")
    held = load_run(store_run(Trained("Hugs", hugs(), NOTHING)))
    others = [store_run(Trained("Pugs", hugs(), NOTHING)) for _ in range(2 * MAX_UNCLAIMED)]
    for _ in range(MAX_UNCLAIMED + 1):  # runs read from disk evict nothing
        load_run(SAMPLE_RUN_ID)
    assert load_run(held.id) is held
    for run_id in others[-MAX_UNCLAIMED:]:
        assert load_run(run_id).id == run_id
    for run_id in others[:-MAX_UNCLAIMED]:
        with pytest.raises(RunNotFoundError):
            load_run(run_id)
    held_id = held.id
    del held
    with pytest.raises(RunNotFoundError):
        load_run(held_id)


def test_sweeping_a_missing_store_does_nothing(store: Path) -> None:
    sweep_store()
    assert not store.exists()


def test_the_curves_shared_by_all_sessions_are_read_only() -> None:
    curves = run_figures.run_curves(SAMPLE_RUN_ID)
    arrays = [
        value
        for field in fields(curves)
        if isinstance(value := getattr(curves, field.name), np.ndarray)
    ]
    assert len(arrays) >= 5
    for array in arrays:
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


@pytest.mark.parametrize("name", ["run.npz", ENTRY, "held_out_tokens_after.npy"])
@pytest.mark.parametrize("content", [b"", b"{}", b"PK\x03\x04 no archive"])
def test_a_damaged_run_is_refused(store: Path, name: str, content: bytes) -> None:
    _, held_out = bpe.Corpus.from_text(TEXT).split(0.2, seed=0)
    run_id = store_run(Trained("Hugs", hugs(), held_out))
    (store / run_id / name).write_bytes(content)
    with pytest.raises(bpe.FormatError):
        load_run(run_id)
    (store / run_id / MANIFEST).unlink()  # runs of earlier versions have none
    with pytest.raises(bpe.FormatError):
        load_run(run_id)


def test_the_sample_run_includes_its_held_out_text() -> None:
    sample = load_run(SAMPLE_RUN_ID)
    assert sample.run.tokenizer.vocab_size == 4_096
    assert sample.run.stop_reason == "vocab-size"
    assert sample.held_out_tokens_after is not None
    expected = sample.run.tokens_after_on(sample.held_out)
    np.testing.assert_array_equal(sample.held_out_tokens_after, expected)


def test_the_run_trained_last_is_shown_without_reading_it(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = store_run_to_show(Trained("Hugs", hugs(), NOTHING))
    with monkeypatch.context() as patched:
        patched.setattr(run_archive, "load_run", None)
        shown = load_run(run_id)
        assert shown.run is hugs()
        assert load_run(run_id) is shown
    server_cache.forget()
    read = load_run(run_id)
    assert read.run.merges == hugs().merges
    assert (read.name, read.trained_at) == (shown.name, shown.trained_at)
    assert (read.held_out, read.compositions) == (shown.held_out, shown.compositions)


def test_only_the_run_trained_last_stays_in_memory(store: Path) -> None:
    first, second = (store_run_to_show(Trained("Hugs", hugs(), NOTHING)) for _ in range(2))
    assert load_run(first).run is not hugs()
    assert load_run(second).run is hugs()
