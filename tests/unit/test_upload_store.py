"""What visitors brought comes back by its id, and a file that can't be read is never kept."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from bpe_core.errors import BpeError, FormatError
from bpe_core.formats.load_save import dumps
from bpe_core.formats.opening import open_encoder
from bpe_core.tokenizer.gpt2 import gpt2
from tests.unit.test_run_store import age
from ui.storage import store as ui_store
from ui.storage import upload_store
from ui.storage.store import DAYS_KEPT_UNOPENED, NotKeptError, sweep_store
from ui.storage.upload_store import (
    UploadNotFoundError,
    keep_sentences,
    keep_text,
    keep_tokenizer,
    load_sentences,
    load_text,
    load_tokenizer,
)

SMALL = gpt2().truncated(20)
TIKTOKEN = dumps(SMALL, "tiktoken")
TABLE = [("a/../b\x00<b>.tsv", b"English\tGerman\nGood morning.\tGuten Morgen.\n")]


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "runs"
    monkeypatch.setenv("BPE_EXPLORER_RUNS", str(folder))
    return folder


def kept_tokenizer() -> str:
    opened = open_encoder(TIKTOKEN, pretokenizer="gpt2")
    return keep_tokenizer(TIKTOKEN, "gpt2", opened)


def forget_what_is_in_memory() -> None:
    upload_store._tokenizer.clear()
    upload_store._sentences.clear()


def test_what_was_kept_comes_back_as_it_was_opened() -> None:
    tokenizer_id, sentences_id = kept_tokenizer(), keep_sentences(TABLE)
    forget_what_is_in_memory()
    named = load_tokenizer(tokenizer_id)
    assert named.encoder.encode("to be") == SMALL.encode("to be")
    assert named.name == ", ".join(TIKTOKEN)
    assert [text.name for text in load_sentences(sentences_id)] == ["English", "German"]


@pytest.mark.parametrize("text", ["", "a\r\nb\rc\n", "x\x00🧩", "half \ud83e"])
def test_a_text_comes_back_to_the_last_character(text: str) -> None:
    assert load_text(keep_text(text)) == text


def test_a_text_takes_the_place_of_the_one_before(store: Path) -> None:
    first = keep_text("old")
    other = keep_text("another")
    assert keep_text("new", instead_of=first) == first
    assert (load_text(first), load_text(other)) == ("new", "another")
    assert sorted(file.name for file in (store / f"upload-{first}").iterdir()) == [
        *("0", "details.json"),
    ]


def test_a_text_whose_forerunner_was_removed_gets_an_id_of_its_own(store: Path) -> None:
    first = keep_text("old")
    shutil.rmtree(store / f"upload-{first}")
    second = keep_text("new", instead_of=first)
    assert second != first
    assert load_text(second) == "new"


def test_a_bad_file_is_not_kept(store: Path) -> None:
    with pytest.raises(BpeError):
        keep_sentences([("a.csv", b"A,B\nx\n")])
    assert not store.exists()


@pytest.mark.parametrize("load", [load_tokenizer, load_sentences, load_text])
def test_an_id_that_was_never_given_out_finds_nothing(load: object) -> None:
    assert callable(load)
    for upload_id in ("", "..", "../" * 7 + "x", "a" * 31, "a" * 32, "a" * 32 + "\n", "ä" * 32):
        with pytest.raises(UploadNotFoundError):
            load(upload_id)


def test_sentences_are_no_tokenizer() -> None:
    with pytest.raises(UploadNotFoundError, match="is no tokenizer"):
        load_tokenizer(keep_sentences(TABLE))


def test_what_is_damaged_is_said(store: Path) -> None:
    upload_id = keep_sentences(TABLE)
    (store / f"upload-{upload_id}" / "details.json").write_bytes(b"{}")
    with pytest.raises(FormatError, match="damaged"):
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
def test_what_nobody_opened_for_long_is_swept(
    store: Path, keep: Callable[[], str], load: Callable[[str], object]
) -> None:
    old, opened = keep(), keep()
    load(opened)  # what is in memory counts as opened each time, too
    for upload_id in (old, opened):
        age(store / f"upload-{upload_id}", days=DAYS_KEPT_UNOPENED + 1)
    load(opened)
    sweep_store()
    assert [path.name for path in store.iterdir()] == [f"upload-{opened}"]


def test_a_store_that_takes_nothing_is_said(store: Path) -> None:
    store.write_text("a file where the folder should be")
    with pytest.raises(NotKeptError, match="full"):
        keep_sentences(TABLE)


def test_the_store_is_looked_through_again_only_where_room_may_run_out(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    n_looks = 0

    def look(n_bytes: int = 0) -> int:
        nonlocal n_looks
        n_looks += 1
        return sweep_store(n_bytes)

    monkeypatch.setattr(ui_store, "sweep_store", look)
    monkeypatch.setattr(ui_store, "MOST_BYTES_KEPT", 100_000)
    text_id = keep_text("text")
    for n in range(9):
        keep_text(f"text {n}", instead_of=text_id)
    assert n_looks == 1
    # Another server's, which this one has not seen.
    foreign = store / f"upload-{'a' * 32}"
    foreign.mkdir()
    (foreign / "0").write_bytes(bytes(60_000))
    age(foreign, days=2)
    for _ in range(8):
        keep_text("x" * 4_000)
    assert foreign.exists()
    assert 1 < n_looks < 8
    while foreign.exists():
        keep_text("x" * 2_000)
        assert sum(file.stat().st_size for file in store.glob("*/*")) <= 100_000
    monkeypatch.setattr(ui_store, "_SECONDS_A_LOOK_HOLDS", 0)
    n_looks = 0
    keep_text("text")
    assert n_looks == 1
