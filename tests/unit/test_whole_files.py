"""Files that are written whole: who may read them, and what is left where that fails."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bpe_core.whole_files import write_whole


def test_who_may_read_a_file_follows_the_umask(tmp_path: Path) -> None:
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
