"""Atomic writes: what readers see, who may read, and what a power cut leaves."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import pytest

import bpe_core as bpe
from bpe_core.files import make_folder, move_whole, open_whole, whole_files, write_whole
from bpe_core.formats import dumps
from bpe_core.formats.opening.opening import open_files
from tests.power_cut import Disk
from ui.storage import run_store, upload_store
from ui.storage.keeping import kept_folder

HUGS = bpe.Corpus.from_text("hug hugs pug pugs\n" * 40)


@cache
def run() -> bpe.TrainingRun:
    return bpe.train(HUGS, bpe.TrainingConfig(260))


def keep_tokenizer() -> None:
    files = dumps(run().tokenizer, "native")
    upload_store.keep_tokenizer(files, None, open_files(files))


def keep_text_twice() -> None:
    upload_store.keep_text("new", instead_of=upload_store.keep_text("old"))


WRITERS: Mapping[str, Callable[[Path], object]] = {
    "a file": lambda folder: write_whole(folder / "hug", b"hugs"),
    "a tokenizer": lambda folder: bpe.save(run().tokenizer, folder / "mine.json", "native"),
    "two files of one, in new folders": lambda folder: bpe.save(
        run().tokenizer, folder / "new" / "gpt2", "gpt2"
    ),
    "a run": lambda folder: bpe.save_run(run(), folder / "run.npz"),
    "a run of a visitor": lambda _: run_store.store_run(
        run_store.Trained("Hugs", run(), HUGS, training=HUGS)
    ),
    "the sample run": lambda folder: run_store.write_run(
        folder / "sample", run_store.Trained("Hugs", run(), HUGS)
    ),
    "a visitor's tokenizer": lambda _: keep_tokenizer(),
    "a visitor's sentences": lambda _: upload_store.keep_sentences([("a.csv", b"A,B\nx,y\n")]),
    "a visitor's text": lambda _: keep_text_twice(),
}


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Disk:
    run()
    monkeypatch.setenv("BPE_EXPLORER_RUNS", str(tmp_path / "above" / "runs"))
    return Disk(monkeypatch)


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
def test_after_a_power_cut_a_file_is_complete_or_absent(
    tmp_path: Path, disk: Disk, write: Callable[[Path], object]
) -> None:
    write(tmp_path)
    assert disk.moved
    assert disk.lost() == []
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert written
    assert [path for path in written if not disk.is_synced(path)] == []


def test_the_recorder_detects_data_that_a_power_cut_would_lose(tmp_path: Path, disk: Disk) -> None:
    (tmp_path / "unsynced").write_bytes(b"hugs")
    os.replace(tmp_path / "unsynced", tmp_path / "hug")
    assert [what.split()[1] for what in disk.lost()] == ["contents", "name"]
    whole_files.sync(tmp_path)
    assert [what.split()[1] for what in disk.lost()] == ["contents"]
    (tmp_path / "folder").mkdir()
    assert [what.split()[1] for what in disk.lost()] == ["contents", "name"]


def test_all_below_a_folder_is_synced_before_it_is_moved(tmp_path: Path, disk: Disk) -> None:
    inner = tmp_path / "made" / "inner"
    inner.mkdir(parents=True)
    (inner / "a").write_bytes(b"hugs")
    move_whole(tmp_path / "made", tmp_path / "place")
    inner = tmp_path / "place" / "inner"
    assert disk.is_synced(inner)
    assert disk.is_synced(inner / "a")


@pytest.mark.parametrize(
    "write",
    [
        lambda path: write_whole(path, b"new"),
        lambda path: bpe.save(run().tokenizer, path, "native"),
        lambda path: bpe.save_run(run(), path),
    ],
    ids=["a file", "a tokenizer", "a run"],
)
def test_an_open_reader_keeps_reading_the_old_file(
    tmp_path: Path, write: Callable[[Path], None]
) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old" * 10_000)
    with path.open("rb") as file:
        first = file.read(3)
        write(path)
        assert first + file.read() == b"old" * 10_000
    assert path.read_bytes() != b"old" * 10_000


def test_the_permissions_of_a_file_follow_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_whole(tmp_path / "hug", b"hugs")
    finally:
        os.umask(before)
    assert (tmp_path / "hug").stat().st_mode & 0o777 == 0o640


def test_a_file_that_cannot_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    with pytest.raises(IsADirectoryError):
        write_whole(tmp_path / "taken", b"hugs")
    assert os.listdir(tmp_path) == ["taken"]


def failing(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    def fail(descriptor: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", fail)


def test_a_failing_disk_raises_an_error_and_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing(monkeypatch, errno.EIO)
    with pytest.raises(OSError, match="Input/output error"):
        write_whole(tmp_path / "hug", b"hugs")
    monkeypatch.setenv("BPE_EXPLORER_RUNS", str(tmp_path))
    with pytest.raises(bpe.NotKeptError), kept_folder("a" * 32) as folder:
        (folder / "hug").write_bytes(b"hugs")
    assert os.listdir(tmp_path) == []


def test_files_are_written_to_a_drive_that_cannot_sync_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "unfinished").mkdir()
    failing(monkeypatch, errno.EINVAL)
    move_whole(tmp_path / "unfinished", tmp_path / "folder")
    make_folder(tmp_path / "one" / "in" / "another")
    assert sorted(os.listdir(tmp_path)) == ["folder", "one"]
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="Invalid argument"):
        move_whole(tmp_path / "file", tmp_path / "moved")


def test_files_are_written_to_a_folder_that_may_not_be_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = os.open

    def refuse(path: str | os.PathLike[str], flags: int, mode: int = 0o777) -> int:
        if os.path.isdir(path):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return opened(path, flags, mode)

    monkeypatch.setattr(os, "open", refuse)
    write_whole(tmp_path / "hug", b"hugs")
    assert (tmp_path / "hug").read_bytes() == b"hugs"


def test_a_write_protected_file_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "hug"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write to any file
    with pytest.raises(PermissionError):
        write_whole(path, b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["hug"]


def test_a_failure_while_a_file_is_written_leaves_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "hug"
    path.write_bytes(b"old")

    def interrupted() -> None:
        with open_whole(path) as file:
            file.write(b"half of the n")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["hug"]
