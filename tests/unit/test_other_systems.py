"""What only Linux has is hidden, and the ways around it are taken.

These tests replace what macOS and Windows lack; the release workflow runs on those systems.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import threading
from multiprocessing.connection import Pipe
from pathlib import Path
from types import SimpleNamespace

import pytest

from bpe_core.files import locked, whole_files, write_whole
from bpe_core.kernels import for_callers
from bpe_core.processes import Limits, call
from bpe_core.processes import calling as call_module
from bpe_core.processes.limits import limit_this_process
from tests import in_child
from tests.new_process import ROOT
from ui.serving import upkeep

# A module that Python imports first in each process, as on a system without what Linux has.
SITE = """
import os, sys
for name in ("resource", "fcntl", "grp", "pwd"):
    sys.modules[name] = None
for name in ("nice", "fchown", "fchmod", "O_NONBLOCK", "geteuid", "sched_getaffinity"):
    delattr(os, name)
"""
WORK = """
import sys
import bpe_core as bpe
from bpe_core.processes.calling import call
from bpe_core.processes.limits import Limits
from bpe_core.unicode.byte_tables import to_printable
assert sys.modules["resource"] is None
run = bpe.train([" ".join(map(str, range(20_000)))], vocab_size=300)
bpe.save(run.tokenizer, "tokenizer.json")
bpe.save(run.tokenizer, "tokenizer.json")
ids = bpe.open_encoder("tokenizer.json").encode("1234 is not a token")
print(bpe.load("tokenizer.json").decode(ids))
print(call(to_printable, b" hug", limits=Limits(60, memory=Limits.GB, niceness=5)))
"""


def test_work_is_done_without_what_only_unix_systems_have(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(SITE)
    path = os.pathsep.join([str(tmp_path), str(ROOT)])
    ran = subprocess.run(
        [sys.executable, "-c", WORK],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path, "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.stderr == ""
    assert ran.stdout == "1234 is not a token\nĠhug\n"


def test_a_process_runs_where_the_system_refuses_a_limit_of_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    set_limits: list[int] = []

    def setrlimit(kind: int, _: tuple[int, int]) -> None:
        if kind == 9:
            raise ValueError("current limit exceeds maximum limit")
        set_limits.append(kind)

    as_on_macos = SimpleNamespace(
        RLIMIT_AS=9,
        RLIMIT_CPU=0,
        RLIM_INFINITY=-1,
        getrlimit=lambda _: (-1, -1),
        setrlimit=setrlimit,
    )
    monkeypatch.setitem(sys.modules, "resource", as_on_macos)
    limit_this_process(Limits(60, memory=Limits.GB))
    assert set_limits == [0]


class Msvcrt:
    """Locks of Windows, of one process alone: a second lock of a file is refused."""

    LK_NBLCK = 2

    def __init__(self) -> None:
        self.locked: dict[tuple[int, int], int] = {}

    def locking(self, descriptor: int, mode: int, n_bytes: int) -> None:
        assert (mode, n_bytes) == (self.LK_NBLCK, 1)
        status = os.fstat(descriptor)
        holder = self.locked.setdefault((status.st_dev, status.st_ino), descriptor)
        if holder != descriptor and is_open(holder):
            raise PermissionError(13, "Permission denied")
        self.locked[status.st_dev, status.st_ino] = descriptor


def is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


@pytest.fixture
def windows_locks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whole_files, "fcntl", None)
    monkeypatch.setitem(sys.modules, "msvcrt", Msvcrt())


@pytest.mark.usefixtures("windows_locks")
def test_a_lock_of_windows_is_exclusive_and_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    held: list[bool] = []

    def wait() -> None:
        with locked(path):
            held.append(True)

    waiting = threading.Thread(target=wait)
    with locked(path):
        waiting.start()
        waiting.join(0.3)
        assert not held
    waiting.join()
    assert held == [True]


def test_a_pipe_of_windows_that_breaks_is_the_end_of_the_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def poll(*_: object) -> bool:
        raise BrokenPipeError(109, "The pipe has been ended")

    here, there = Pipe()
    with here, there:
        monkeypatch.setattr(type(here), "poll", poll)
        with pytest.raises(call_module.ProcessError):
            call(in_child.total, counts=[2, 3], limits=Limits(60))


def test_a_file_is_replaced_where_files_have_no_owner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "hug.txt"
    path.write_bytes(b"hug")
    monkeypatch.delattr(os, "fchown")
    monkeypatch.delattr(os, "fchmod")
    write_whole(path, b"hugs")
    assert path.read_bytes() == b"hugs"


def test_processors_are_counted_where_a_process_is_assigned_to_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    assert for_callers.n_threads() == 3


def test_memory_is_freed_where_the_c_library_cannot_be_asked_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def as_on_windows(_: None) -> None:
        raise TypeError("argument of type 'NoneType' is not iterable")

    events: list[str] = []
    monkeypatch.setattr(ctypes, "CDLL", as_on_windows)
    monkeypatch.setattr(upkeep, "event", lambda name, **_: events.append(name))
    upkeep._collect(1)  # pyright: ignore[reportPrivateUsage]
    assert events == ["sessions_ended"]
