"""Arrays on disk: whole or absent, bounded, and only in a folder of the user's own."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from bpe_core.files import kept_arrays
from bpe_core.files.kept_arrays import Kept, find_kept, keep

KEPT = Kept(
    {"name": "hug", "none": None},
    {
        "ids": np.arange(1_000, dtype=np.int32),
        "pairs": np.arange(6, dtype=np.uint64).reshape(2, 3),
        "empty": np.empty((0, 3), np.int32),
        "number": np.asarray(7),
        "letters": np.frombuffer(b"hugs", np.uint8),
    },
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of kept arrays, which does not exist yet."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "bpe-explorer" / "opened"


def test_arrays_come_back_as_they_were(folder: Path) -> None:
    assert find_kept("a") is None
    keep("a", KEPT)
    found = find_kept("a")
    assert found is not None
    assert found.facts == KEPT.facts
    assert list(found.arrays) == list(KEPT.arrays)
    for name, array in found.arrays.items():
        expected = KEPT.arrays[name]
        np.testing.assert_array_equal(array, expected, strict=True)
        assert array.flags.writeable == expected.flags.writeable
        assert array.flags.aligned
        assert array.ctypes.data % 64 == 0 or not array.size
    assert folder.stat().st_mode & 0o777 == 0o700


def test_writing_to_an_array_changes_it_for_nobody_else(folder: Path) -> None:
    keep("a", KEPT)
    for _ in range(2):
        found = find_kept("a")
        assert found is not None
        assert found.arrays["ids"][3] == 3
        found.arrays["ids"][3] = 0


def test_nothing_is_kept_where_a_folder_has_no_known_owner(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "geteuid")
    keep("a", KEPT)
    assert find_kept("a") is None
    assert not folder.exists()


def test_a_damaged_file_counts_as_absent(folder: Path) -> None:
    keep("a", KEPT)
    (file,) = folder.iterdir()
    whole = file.read_bytes()
    for place in {*range(0, len(whole), 97), *range(45), len(whole) - 1}:
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert find_kept("a") is None, place
    for size in (0, 1, 39, 40, 41, 500, len(whole) - 1):
        file.write_bytes(whole[:size])
        assert find_kept("a") is None, size
    keep("a", KEPT)
    assert file.read_bytes() == whole


def test_something_else_in_the_place_of_a_file_counts_as_absent(folder: Path) -> None:
    folder.mkdir(mode=0o700, parents=True)
    os.mkfifo(folder / "a.arrays")
    (folder / "b.arrays").mkdir()
    assert find_kept("a") is None
    assert find_kept("b") is None
    keep("b", KEPT)
    assert sorted(path.name for path in folder.iterdir()) == ["a.arrays", "b.arrays"]


def test_nothing_is_kept_where_others_may_write(folder: Path) -> None:
    keep("a", KEPT)
    folder.chmod(0o777)
    assert find_kept("a") is None
    keep("b", KEPT)
    assert len(list(folder.iterdir())) == 1


def test_without_a_folder_nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    for home in (os.devnull, "relative"):
        monkeypatch.setenv("XDG_CACHE_HOME", home)
        keep("a", KEPT)
        assert find_kept("a") is None
    assert not Path("relative").exists()


def test_a_full_disk_leaves_nothing_behind(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(kept_arrays.Path, "replace", full)
    keep("a", KEPT)
    assert list(folder.iterdir()) == []


def test_what_was_used_least_recently_is_deleted(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep("a", KEPT)
    size = (folder / "a.arrays").stat().st_size
    monkeypatch.setattr(kept_arrays, "MAX_BYTES", 2 * size)
    keep("b", KEPT)
    for name, seconds in {"a": 2_000, "b": 1_000}.items():
        os.utime(folder / f"{name}.arrays", (seconds, seconds))
    assert find_kept("b") is not None  # used now
    (folder / ".unfinished-1").touch()
    (folder / ".unfinished-2").touch()
    os.utime(folder / ".unfinished-1", (0, 0))
    keep("c", KEPT)
    kept = {".unfinished-2", "b.arrays", "c.arrays"}
    assert {path.name for path in folder.iterdir()} == kept
