"""Arrays on disk: whole or absent, bounded, and only in a folder of the user's own."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from bpe_core.files import Kept, kept_arrays

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
    assert Kept.find("a") is None
    KEPT.keep("a")
    found = Kept.find("a")
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
    KEPT.keep("a")
    for _ in range(2):
        found = Kept.find("a")
        assert found is not None
        assert found.arrays["ids"][3] == 3
        found.arrays["ids"][3] = 0


def test_nothing_is_kept_where_a_folder_has_no_known_owner(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "geteuid")
    KEPT.keep("a")
    assert Kept.find("a") is None
    assert not folder.exists()


def test_a_file_that_is_cut_or_missing_counts_as_absent(folder: Path) -> None:
    KEPT.keep("a")
    file = folder / "a"
    content = file.read_bytes()
    assert len(content) > 4_000
    for size in range(len(content)):
        file.write_bytes(content[:size])
        assert Kept.find("a") is None, size
    file.unlink()
    assert Kept.find("a") is None
    KEPT.keep("a")
    assert Kept.find("a") is not None
    assert file.read_bytes() == content


def test_objects_are_not_unpickled(folder: Path) -> None:
    KEPT.keep("a")
    content = (folder / "a").read_bytes()
    changed = content.replace(b'"number": ["int64"', b'"number": ["O"    ', 1)
    assert changed != content
    (folder / "a").write_bytes(changed)
    assert Kept.find("a") is None


def test_something_else_in_the_place_of_a_file_is_replaced(folder: Path) -> None:
    folder.mkdir(mode=0o700, parents=True)
    os.mkfifo(folder / "a")
    (folder / "b").mkdir()
    for key in ("a", "b"):
        assert Kept.find(key) is None
        KEPT.keep(key)
        assert Kept.find(key) is not None
    assert sorted(path.name for path in folder.iterdir()) == ["a", "b"]


def test_of_two_that_are_kept_at_once_one_stays(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def other_first(unfinished: Path, place: Path) -> None:
        monkeypatch.undo()
        monkeypatch.setenv("XDG_CACHE_HOME", str(folder.parents[1]))
        KEPT.keep("a")
        kept_arrays.move_whole(unfinished, place)

    monkeypatch.setattr(kept_arrays, "move_whole", other_first)
    Kept({"name": "late"}, {}).keep("a")
    found = Kept.find("a")
    assert found is not None
    assert found.facts == {"name": "late"}
    assert [path.name for path in folder.iterdir()] == ["a"]


def test_nothing_is_kept_where_others_may_write(folder: Path) -> None:
    KEPT.keep("a")
    folder.chmod(0o777)
    assert Kept.find("a") is None
    KEPT.keep("b")
    assert len(list(folder.iterdir())) == 1


def test_without_a_folder_nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    for home in (os.devnull, "relative"):
        monkeypatch.setenv("XDG_CACHE_HOME", home)
        KEPT.keep("a")
        assert Kept.find("a") is None
    assert not Path("relative").exists()


def test_a_full_disk_leaves_nothing_behind(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(kept_arrays, "move_whole", full)
    KEPT.keep("a")
    assert list(folder.iterdir()) == []


def test_what_was_used_least_recently_is_deleted(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_arrays, "MAX_KEPT", 2)
    for key in ("a", "b"):
        KEPT.keep(key)
    (folder / "unfinished-1").mkdir()  # of a process that was killed
    for name, seconds in {"unfinished-1": 0, "b": 1_000, "a": 2_000}.items():
        os.utime(folder / name, (seconds, seconds))
    assert Kept.find("b") is not None  # used now
    KEPT.keep("c")
    assert {path.name for path in folder.iterdir()} == {"b", "c"}
