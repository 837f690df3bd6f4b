"""Visitors' files can be loaded by id, and an unreadable file is never stored."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import bpe_core as bpe
from bpe_core.files import Entry
from bpe_core.formats import dumps
from bpe_core.formats.opening.opening import open_files
from tests.unit.test_run_store import age
from ui.storage import (
    DAYS_KEPT_UNOPENED,
    keep_sentences,
    keep_text,
    keep_tokenizer,
    keeping,
    load_sentences,
    load_text,
    load_tokenizer,
    upload_store,
)
from ui.storage.keeping import sweep_store
from ui.storage.upload_store import UploadNotFoundError

SMALL = bpe.gpt2().truncated(20)
TIKTOKEN = dumps(SMALL, "tiktoken")
TABLE = [("a/../b\x00<b>.tsv", b"English\tGerman\nGood morning.\tGuten Morgen.\n")]

pytestmark = pytest.mark.usefixtures("store")


def kept_tokenizer() -> str:
    opened = open_files(TIKTOKEN, pretokenizer="gpt2")
    return keep_tokenizer(TIKTOKEN, "gpt2", opened)


def forget_what_is_in_memory() -> None:
    upload_store._tokenizer.clear()
    upload_store._sentences.clear()


def test_stored_tokenizers_and_sentences_load_unchanged() -> None:
    tokenizer_id, sentences_id = kept_tokenizer(), keep_sentences(TABLE)
    forget_what_is_in_memory()
    named = load_tokenizer(tokenizer_id)
    assert named.encoder.encode("to be") == SMALL.encode("to be")
    assert named.name == ", ".join(TIKTOKEN)
    assert [text.name for text in load_sentences(sentences_id)] == ["English", "German"]


@pytest.mark.parametrize("text", ["", "a\r\nb\rc\n", "x\x00🧩", "half \ud83e"])
def test_a_stored_text_loads_unchanged(text: str) -> None:
    assert load_text(keep_text(text)) == text


def test_a_text_can_replace_an_earlier_text(store: Path) -> None:
    first = keep_text("old")
    other = keep_text("another")
    assert keep_text("new", instead_of=first) == first
    assert (load_text(first), load_text(other)) == ("new", "another")
    assert sorted(file.name for file in (store / f"upload-{first}").iterdir()) == [
        "0",
        "details.json",
        "manifest.json",
    ]


def test_a_text_that_replaces_a_deleted_one_has_a_new_id(store: Path) -> None:
    first = keep_text("old")
    shutil.rmtree(store / f"upload-{first}")
    second = keep_text("new", instead_of=first)
    assert second != first
    assert load_text(second) == "new"


def test_an_invalid_file_is_not_stored(store: Path) -> None:
    with pytest.raises(bpe.BpeError):
        keep_sentences([("a.csv", b"A,B\nx\n")])
    assert not store.exists()


@pytest.mark.parametrize("load", [load_tokenizer, load_sentences, load_text])
def test_an_unknown_or_malformed_id_finds_nothing(load: object) -> None:
    assert callable(load)
    for upload_id in ("", "..", "../" * 7 + "x", "a" * 31, "a" * 32, "a" * 32 + "\n", "ä" * 32):
        with pytest.raises(UploadNotFoundError):
            load(upload_id)


def test_sentences_are_not_opened_as_a_tokenizer() -> None:
    message = "Expected tokenizer at this address, got sentences"
    with pytest.raises(UploadNotFoundError, match=message):
        load_tokenizer(keep_sentences(TABLE))


def test_damaged_sentences_are_refused(store: Path) -> None:
    upload_id = keep_sentences(TABLE)
    (store / f"upload-{upload_id}" / "details.json").write_bytes(b"{}")
    with pytest.raises(bpe.FormatError, match="damaged"):
        load_sentences(upload_id)
    Entry(store / f"upload-{upload_id}").write_manifest()
    with pytest.raises(bpe.FormatError, match="damaged"):
        load_sentences(upload_id)


@pytest.mark.parametrize(
    ("keep", "load"),
    [
        (kept_tokenizer, load_tokenizer),
        (lambda: keep_sentences(TABLE), load_sentences),
        (lambda: keep_text("hug"), load_text),
    ],
    ids=["tokenizers", "sentences", "texts"],
)
def test_uploads_unopened_for_long_are_deleted(
    store: Path, keep: Callable[[], str], load: Callable[[str], object]
) -> None:
    old, opened = keep(), keep()
    load(opened)  # later loads come from memory but still count as opening it
    for upload_id in (old, opened):
        age(store / f"upload-{upload_id}", days=DAYS_KEPT_UNOPENED + 1)
    load(opened)
    sweep_store()
    assert [path.name for path in store.iterdir()] == [f"upload-{opened}"]


def test_an_unwritable_store_is_reported(store: Path) -> None:
    store.write_text("a file where the folder should be")
    with pytest.raises(bpe.NotKeptError, match="full"):
        keep_sentences(TABLE)


def test_the_store_is_swept_again_only_if_room_may_run_out(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    n_sweeps = 0

    def look(n_bytes: int = 0) -> int:
        nonlocal n_sweeps
        n_sweeps += 1
        return sweep_store(n_bytes)

    monkeypatch.setattr(keeping, "sweep_store", look)
    monkeypatch.setattr(keeping, "MAX_BYTES_KEPT", 100_000)
    text_id = keep_text("text")
    for n in range(9):
        keep_text(f"text {n}", instead_of=text_id)
    assert n_sweeps == 1
    # Written by another server since the first sweep.
    foreign = store / f"upload-{'a' * 32}"
    foreign.mkdir()
    (foreign / "0").write_bytes(bytes(60_000))
    age(foreign, days=2)
    for _ in range(8):
        keep_text("x" * 4_000)
    assert foreign.exists()
    assert 1 < n_sweeps < 8
    while foreign.exists():
        keep_text("x" * 2_000)
        assert sum(file.stat().st_size for file in store.glob("*/*")) <= 100_000
    monkeypatch.setattr(keeping, "SECONDS_BETWEEN_SWEEPS", 0)
    n_sweeps = 0
    keep_text("text")
    assert n_sweeps == 1
