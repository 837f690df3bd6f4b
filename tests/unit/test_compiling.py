"""Kernels are compiled once, in separate processes, and work that waits for them reports it."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numba
import pytest

from bpe_core.compiling import __main__ as compiling_main
from bpe_core.compiling import cache, processes
from bpe_core.compiling.file_lock import FileLock
from bpe_core.compiling.python_or_kernels import use_kernels

ROOT = Path(__file__).parents[2]


def run_python(code: str, folder: Path, **environment: str) -> str:
    ran = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, "NUMBA_CACHE_DIR": str(folder), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.mark.slow
def test_training_waits_for_the_compiler_reports_it_and_compiles_nothing_itself(
    tmp_path: Path,
) -> None:
    code = """
import sys
from bpe_core.compiling import cache
from bpe_core.corpus.corpus import Corpus
from bpe_core.kernels.folder import library_file
from bpe_core.runs.train import train
from bpe_core.types import TrainingConfig
corpus = Corpus.from_text(" ".join(map(str, range(1_300_000))))
told = []
library_file(".o").write_bytes(b"damaged")
assert not cache.kernels_are_compiled()
run = train(corpus, TrainingConfig(300), on_progress=told.append)
waits = [progress.seconds_compiling for progress in told if progress.seconds_compiling is not None]
assert cache.kernels_are_compiled()
assert cache.compiling_lock().seconds_held() is None
assert waits == sorted(waits) and len(waits) > max(2, waits[-1])  # more than one a second
assert told[-1].seconds_compiling is None
print(len(run.merges), {"numba", "llvmlite"} & set(sys.modules))
"""
    # Without a C compiler, LLVM loads the library.
    assert run_python(code, tmp_path, PATH="") == "43 {'llvmlite'}\n"
    assert [path.suffix for path in tmp_path.glob("kernels-*")] == [".o"]
    assert not list(tmp_path.glob("building-*"))


@pytest.mark.parametrize("place", ["beside", "kernels_1a2b"])
def test_outdated_kernels_are_deleted_from_their_own_folder_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    folders = [tmp_path / name for name in ("beside", "kernels_1a2b", "kernels_3c4d")]
    for folder in folders:
        folder.mkdir()
        (folder / "encoding.encode_text.nbi").touch()
        (folder / "encoding.encode_text.1.nbc").touch()
    used = tmp_path / place if place == "beside" else tmp_path
    (used / "compiled-1a2b-0123").touch()
    (used / "compiled-3c4d-4567").touch()
    monkeypatch.setattr(cache, "kernels_folder", lambda: used)
    monkeypatch.setattr(cache, "PLACE", "1a2b")
    monkeypatch.setattr(cache, "_BUILDING", "building-1a2b")
    monkeypatch.setattr(cache, "BESIDE", tmp_path / "beside")
    monkeypatch.setattr(cache, "library_prefix", lambda: "kernels-1a2b-89ab")
    monkeypatch.setattr(cache, "library_file", lambda suffix: used / f"kernels-1a2b-89ab-0{suffix}")
    kept = {"kernels-1a2b-89ab-1.so", "kernels-3c4d-0123.so"}  # of another processor, another place
    for name in ("kernels-1a2b-0123.so", "kernels-1a2b-4567.o", "kernels-1a2b-89ab-0.so", *kept):
        (used / name).touch()
    for name, age in (("building-1a2b-a", 400), ("building-1a2b-b", 0), ("building-3c4d-c", 400)):
        (used / name).mkdir()
        made = time.time() - age
        os.utime(used / name, (made, made))
    cache.forget_libraries()
    # Without locks, another process may be building in a new folder.
    assert sorted(path.name[9:] for path in used.glob("building-*")) == ["1a2b-b", "3c4d-c"]
    assert {path.name for path in used.glob("kernels-*-*")} == kept
    cache.forget_compiled()
    assert [folder.name for folder in folders if not list(folder.glob("*.nb[ic]"))] == [place]
    assert [path.name for path in used.glob("compiled-*")] == ["compiled-3c4d-4567"]


def test_training_cancelled_while_waiting_ends_at_once(tmp_path: Path) -> None:
    code = """
from bpe_core.compiling.cache import kernels_are_compiled
from bpe_core.corpus.corpus import Corpus
from bpe_core.runs.train import train
from bpe_core.types import TrainingConfig
corpus = Corpus.from_text(" ".join(map(str, range(1_300_000))))
run = train(corpus, TrainingConfig(300), should_stop=lambda: True)
print(run.stop_reason, kernels_are_compiled())
"""
    assert run_python(code, tmp_path) == "cancelled False\n"


def test_work_faster_in_plain_python_does_not_wait(tmp_path: Path) -> None:
    code = """
import sys
from bpe_core.corpus.corpus import Corpus
from bpe_core.runs.train import train
from bpe_core.types import TrainingConfig
train(Corpus.from_text(" ".join(str(n % 999) for n in range(150_000))), TrainingConfig(300))
print("numba" in sys.modules)
"""
    assert run_python(code, tmp_path) == "False\n"


def test_everything_works_without_a_compiler(tmp_path: Path) -> None:
    code = """
import os
os.environ["NUMBA_DISABLE_JIT"] = "1"
from bpe_core.compiling.background import compile_in_background, wait_for_kernels
from bpe_core.compiling.cache import kernels_are_compiled
from bpe_core.compiling.python_or_kernels import use_kernels
compile_in_background()
print(use_kernels(10**12), wait_for_kernels(), kernels_are_compiled())
"""
    assert run_python(code, tmp_path) == "False False False\n"


def test_a_library_that_cannot_be_built_is_reported_and_tried_again_at_the_next_set_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tasks: list[str] = []

    def run_all(given: list[list[str]], variables: dict[str, str]) -> None:
        tasks.extend(task for task, *_ in given)
        if given[0][0] == "link":
            raise OSError("No space left on device")

    monkeypatch.delenv("BPE_KERNELS", raising=False)
    monkeypatch.setattr(processes, "_run_all", run_all)
    monkeypatch.setattr(cache, "library_loads", lambda: False)
    monkeypatch.setattr(compiling_main, "library_loads", lambda: False)
    monkeypatch.setattr(cache, "kernels_folder", lambda: tmp_path)
    once = ["share", "share", "link", "cache", "cache"]
    compiling_main.main([])
    assert tasks == once
    assert "could not be built (No space left on device). Numba" in capsys.readouterr().err
    assert cache.kernels_are_compiled()
    processes.compile_kernels()
    assert tasks == once
    compiling_main.main([])
    assert tasks == 2 * once


def test_no_library_is_kept_of_sources_that_changed_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("BPE_KERNELS", raising=False)
    monkeypatch.setattr(processes, "_run_all", lambda given, variables: None)
    monkeypatch.setattr(processes, "current_library_stamp", lambda: "other")
    monkeypatch.setattr(cache, "library_loads", lambda: False)
    monkeypatch.setattr(cache, "kernels_folder", lambda: tmp_path)
    with pytest.raises(RuntimeError, match="sources have changed"):
        processes.compile_kernels()
    assert not list(tmp_path.glob("kernels-*"))


def test_processes_that_compile_do_so_although_this_one_runs_plain_python(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    environments: list[dict[str, str]] = []

    def start(command: list[str], **options: Any) -> None:
        environments.append(options["env"])
        raise OSError

    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    monkeypatch.setattr(subprocess, "Popen", start)
    with pytest.raises(OSError):  # noqa: PT011
        processes._run_all([["share", "0", "folder"]], {})
    assert [environment["NUMBA_DISABLE_JIT"] for environment in environments] == ["0"]


def test_a_lock_is_exclusive_and_released_when_its_process_is_killed(tmp_path: Path) -> None:
    code = """
import sys
from pathlib import Path
from bpe_core.compiling.file_lock import FileLock
from bpe_core.compiling.processes import compile_kernels
from bpe_core.compiling.python_or_kernels import use_kernels
with FileLock(Path(sys.argv[1])) as taken:
    print(taken, flush=True)
    sys.stdin.read()
"""
    path = tmp_path / "lock"
    holder = subprocess.Popen(
        [sys.executable, "-c", code, str(path)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "True\n"
    lock = FileLock(path)
    with lock as taken:
        assert not taken
    held = lock.seconds_held()
    assert held is not None
    assert held >= 0
    holder.kill()
    holder.communicate()
    assert lock.seconds_held() is None
    with lock as taken:
        assert taken
        since = lock.seconds_held()
        assert since is not None


def test_only_one_of_many_threads_gets_the_lock(tmp_path: Path) -> None:
    ready = threading.Barrier(8)

    def take() -> bool:
        with FileLock(tmp_path / "lock") as taken:
            ready.wait()
            return taken

    with ThreadPoolExecutor(8) as pool:
        assert sum(share.result() for share in [pool.submit(take) for _ in range(8)]) == 1


@pytest.mark.slow
def test_a_failing_compiler_is_reported_once_and_plain_python_takes_over(tmp_path: Path) -> None:
    code = """
import sys
from bpe_core.compiling import processes
from bpe_core.compiling.python_or_kernels import use_kernels
from bpe_core.corpus.corpus import Corpus
from bpe_core.runs.train import train
from bpe_core.types import TrainingConfig
def fail():
    raise RuntimeError("LLVM is not what it was")
processes._compile = fail
corpus = Corpus.from_text(" ".join(str(n % 999) for n in range(2_200_000)))
run = train(corpus, TrainingConfig(260))
print(len(run.merges), "numba" in sys.modules, use_kernels(10**12))
"""
    ran = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout == "3 False False\n"
    assert ran.stderr.count("LLVM is not what it was") == 1


def test_compilers_exit_with_the_process_that_started_them(tmp_path: Path) -> None:
    code = """
import subprocess
from bpe_core.compiling.processes import compile_kernels
class Started(subprocess.Popen):
    def __init__(self, *args, **options):
        super().__init__(*args, **options, stdout=2)
        print("started", flush=True)
subprocess.Popen = Started
compile_kernels()
"""
    parent = subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert parent.stdout is not None
    assert parent.stdout.readline() + parent.stdout.readline() == "started\nstarted\n"
    parent.kill()
    # They share its stderr, so the end of that stream shows that they have exited.
    parent.communicate()
    assert not list(tmp_path.glob("kernels-*"))


def test_a_temporary_folder_is_used_if_neither_the_package_nor_home_is_writable(
    tmp_path: Path,
) -> None:
    blocked = tmp_path / "a file"
    blocked.touch()
    code = """
import os
from bpe_core.kernels.folder import kernels_folder, tell_numba_the_folder
folder = kernels_folder()
assert os.environ["NUMBA_CACHE_DIR"] != str(folder)
tell_numba_the_folder()
print(folder == kernels_folder(), os.environ["NUMBA_CACHE_DIR"] == str(folder))
print(folder.parent, folder.is_dir())
(folder / "kernels").touch()
"""
    assert output_without_folders(code, blocked, tmp_path) == f"True True\n{tmp_path} True\n"
    assert list(tmp_path.iterdir()) == [blocked], "it is deleted when its process ends"


def test_a_process_that_only_looks_for_kernels_makes_no_folder(tmp_path: Path) -> None:
    blocked = tmp_path / "a file"
    blocked.touch()
    code = """
import os, signal
from bpe_core.kernels.folder import found_libraries
print(len(list(found_libraries())), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    output_without_folders(code, blocked, tmp_path)
    assert list(tmp_path.iterdir()) == [blocked]


def output_without_folders(code: str, blocked: Path, temporary: Path) -> str:
    """Run code in a process that can write nowhere but in a temporary folder."""
    places = {"NUMBA_CACHE_DIR": str(blocked), "XDG_CACHE_HOME": str(blocked)}
    ran = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, **places, "TMPDIR": str(temporary)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.stderr == ""
    return ran.stdout


def test_kernels_are_shared_by_an_environment_and_a_symlink_to_it(tmp_path: Path) -> None:
    (tmp_path / "packages").symlink_to(Path(numba.__file__).parents[1])
    code = """
import sys
sys.path.insert(0, sys.argv[1])
from importlib.util import find_spec
from bpe_core.kernels.folder import cache_stamp, library_stamp
print(find_spec("numba").origin.startswith(sys.argv[1]), cache_stamp(), library_stamp())
"""
    found = [
        subprocess.run(
            [sys.executable, "-c", code, str(folder)],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
        for folder in (tmp_path / "packages", Path(numba.__file__).parents[1])
    ]
    assert [first for first, *_ in found] == ["True", "True"]
    assert found[0][1:] == found[1][1:]


def test_small_texts_need_no_kernels() -> None:
    assert not use_kernels(10_000)
