"""Kernels are compiled once, in separate processes, and work that waits for them reports it."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from bpe_core.files import locked
from bpe_core.kernels import use_kernels
from bpe_core.kernels.compiling import choose, load
from bpe_core.kernels.compiling.__main__ import main
from tests.new_process import ROOT, run_python
from tests.packaging import CHECK, install, run_installed
from tests.waiting import MAX_WAIT_SECONDS


class Compiler:
    """Takes the place of the processes that compile."""

    def __init__(self) -> None:
        self.tasks: list[str] = []
        self.fails_at = ""

    def run(self, *tasks: tuple[str, str, Path, int | None]) -> None:
        for _, task, folder, _ in tasks:
            self.tasks.append(task)
            if task == self.fails_at:
                raise OSError("No space left on device")
            if task == "link_shares":
                Path(folder, "library.so").touch()
            if task == "link_wasm":
                Path(folder, "library.wasm").write_bytes(b"\0asm")


@pytest.fixture
def compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Compiler:
    found = Compiler()
    load.first_hash()  # while the sources are where they belong
    monkeypatch.delenv("BPE_KERNELS", raising=False)
    monkeypatch.setattr(choose, "_run", found.run)
    monkeypatch.setattr(load, "KERNELS", tmp_path)
    monkeypatch.setattr(load, "folders", lambda: [tmp_path])
    monkeypatch.setattr(load, "hash_sources", load.first_hash)
    return found


def test_webassembly_is_compiled_once_and_written_to_a_file(
    compiler: Compiler, tmp_path: Path
) -> None:
    for name in ("one.wasm", "other.wasm"):
        main("--wasm", str(tmp_path / name))
        assert (tmp_path / name).read_bytes() == b"\0asm"
    assert compiler.tasks == ["compile_wasm_share", "compile_wasm_share", "link_wasm"]


# In the processes that compile: the shares that were compiled once take a moment to copy.
COPYING = """
import sys
from importlib.machinery import PathFinder
from pathlib import Path
from shutil import copy

class Copying:
    def find_spec(self, name, path, target=None):
        if name == "bpe_core.kernels.compiling.build":
            spec = PathFinder.find_spec(name, path)
            execute = spec.loader.exec_module
            def then(module):
                execute(module)
                module.compile_share = copy_share
            spec.loader.exec_module = then
            return spec

def copy_share(folder, share):
    for suffix in ("bc", "json"):
        copy(Path(__file__).parent / f"{share}.{suffix}", folder)

sys.meta_path.insert(0, Copying())
"""


@pytest.fixture(scope="module")
def portable_shares(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Compile portable kernels, and return an environment in which they are only linked."""
    folder = tmp_path_factory.mktemp("shares")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BPE_KERNELS", "portable")
        choose._run(*(("build", "compile_share", folder, share) for share in (0, 1)))
    (folder / "sitecustomize.py").write_text(COPYING, encoding="utf-8")
    return {"PYTHONPATH": str(folder), "BPE_KERNELS": "portable"}


@pytest.mark.slow
@pytest.mark.more(why="half a minute of compiling; the tests below have a stand-in for it")
def test_training_waits_for_the_compiler_reports_it_and_compiles_nothing_itself(
    tmp_path: Path, portable_shares: dict[str, str]
) -> None:
    code = """
import sys
from bpe_core.corpus.corpus import Corpus
from bpe_core.kernels.compiling.choose import kernels_are_compiled
from bpe_core.kernels.compiling.load import compiled_name, folder_to_write
from bpe_core.trainers.training import train
from bpe_core.types import TrainingConfig
from tests.kernels_alike import compare
corpus = Corpus.from_text(" ".join(map(str, range(1_300_000))))
told = []
(folder_to_write() / f"{compiled_name()}.o").write_bytes(b"damaged")
assert not kernels_are_compiled()
run = train(corpus, TrainingConfig(300), on_progress=told.append)
waits = [progress.seconds_compiling for progress in told if progress.seconds_compiling is not None]
assert kernels_are_compiled()
assert waits == sorted(waits) and len(waits) > max(2, waits[-1])  # more than one a second
assert told[-1].seconds_compiling is None
compare()
print(len(run.merges), {"numba", "llvmlite"} & set(sys.modules))
"""
    # Without a C compiler, LLVM loads the library. Another process compiles at the same time.
    environment = portable_shares | {"NUMBA_CACHE_DIR": str(tmp_path), "PATH": ""}
    command = [sys.executable, "-m", "bpe_core.kernels.compiling"]
    with subprocess.Popen(
        command, cwd=ROOT, env={**os.environ, **environment}, stderr=subprocess.PIPE
    ) as other:
        assert run_python(code, environment) == "43 {'llvmlite'}\n"
        assert b"could not" not in other.communicate()[1]
    assert other.returncode == 0
    assert [path.suffix for path in tmp_path.glob("kernels-*")] == [".o"]
    assert not list(tmp_path.glob("building*"))


@pytest.mark.slow
@pytest.mark.more(why="it needs the kernels that the test above compiles")
def test_a_wheel_with_the_library_in_it_runs_kernels_without_numba(
    tmp_path: Path, portable_shares: dict[str, str]
) -> None:
    # The library is compiled for such processors, and cannot be run on another.
    assert load.portable_kind() is not None, "tests run on processors that wheels have kernels for"
    built = run_python(
        "from scripts.prebuilt_wheel import main; main([])",
        {"PYTHONPATH": portable_shares["PYTHONPATH"]},
    )
    wheel = Path(built.splitlines()[-1])
    assert wheel.name.endswith(f"-py3-none-linux_{platform.machine()}.whl")
    python = install(wheel, tmp_path / "venv")
    wheel.unlink()
    home = {"HOME": str(tmp_path), "XDG_CACHE_HOME": "", "NUMBA_CACHE_DIR": ""}
    printed = run_installed(python, CHECK, "--kernels", cwd=tmp_path, **home)
    assert ": kernels, training and encoding, files, command: all as expected" in printed


def test_a_folder_keeps_the_newest_kernels_and_nothing_of_a_killed_compiler(
    tmp_path: Path, compiler: Compiler
) -> None:
    for age in range(1, 12):
        old = tmp_path / f"kernels-{age:02}.so"
        old.touch() if age % 2 else old.mkdir()
        os.utime(old, (1_000_000 - age, 1_000_000 - age))
    (tmp_path / "building" / "cache.numba").mkdir(parents=True)
    (tmp_path / "other").touch()
    choose.compile_kernels()
    new = f"{load.compiled_name()}.so"
    kept = [f"kernels-{age:02}.so" for age in range(1, 8)]
    assert sorted(path.name for path in tmp_path.glob("kernels-*")) == sorted([*kept, new])
    assert sorted(path.name for path in tmp_path.iterdir())[:2] == ["compiling", *kept[:1]]
    assert (tmp_path / "other").exists()


@pytest.mark.slow
def test_a_process_whose_training_is_cancelled_exits_without_waiting_for_compilers(
    tmp_path: Path,
) -> None:
    code = """
from itertools import count
from bpe_core.kernels.compiling.choose import kernels_are_compiled
from bpe_core.corpus.corpus import Corpus
from bpe_core.trainers.training import train
from bpe_core.types import TrainingConfig
corpus = Corpus.from_text(" ".join(map(str, range(1_300_000))))
looks = count()  # the compilers have started by the sixth
run = train(corpus, TrainingConfig(300), should_stop=lambda: next(looks) > 5)
print(run.stop_reason, kernels_are_compiled())
"""
    assert run_python(code, {"NUMBA_CACHE_DIR": str(tmp_path)}) == "cancelled False\n"
    assert not list(tmp_path.glob("building/*")), "the compilers were not stopped"


def test_everything_works_without_a_compiler(tmp_path: Path) -> None:
    code = """
import os
os.environ["NUMBA_DISABLE_JIT"] = "1"
from bpe_core.kernels.compiling.choose import (
    compile_in_background, kernels_are_compiled, use_kernels, wait_for_kernels
)
compile_in_background()
print(use_kernels(10**12), wait_for_kernels(), kernels_are_compiled())
"""
    assert run_python(code, {"NUMBA_CACHE_DIR": str(tmp_path)}) == "False False False\n"


def test_a_library_that_cannot_be_built_is_reported_and_tried_again_at_the_next_set_up(
    tmp_path: Path, compiler: Compiler, capsys: pytest.CaptureFixture[str]
) -> None:
    compiler.fails_at = "link_shares"
    once = ["compile_share", "compile_share", "link_shares", "fill_cache", "fill_cache"]
    main()
    assert compiler.tasks == once
    said = capsys.readouterr().err
    assert "could not be built. Numba compiles them" in said
    assert "No space left on device" in said
    assert load.find_compiled() == tmp_path / f"{load.compiled_name()}.numba"
    choose.compile_kernels()
    assert compiler.tasks == once
    main()
    assert compiler.tasks == 2 * once
    assert choose.kernels_are_compiled()


def test_no_library_is_kept_of_sources_that_changed_meanwhile(
    tmp_path: Path, compiler: Compiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(load, "hash_sources", lambda: "other")
    with pytest.raises(RuntimeError, match="sources have changed"):
        choose.compile_kernels()
    assert [path.name for path in tmp_path.iterdir()] == ["compiling"]


def test_processes_that_compile_do_so_although_this_one_runs_plain_python(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings: list[str] = []
    build = SimpleNamespace(link_shares=lambda _: settings.append(os.environ["NUMBA_DISABLE_JIT"]))
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    monkeypatch.setattr(choose, "import_module", lambda _: build)
    choose.do_task("build", "link_shares", Path("folder"))
    assert settings == ["0"]


def test_a_lock_is_exclusive_and_released_when_its_process_is_killed(tmp_path: Path) -> None:
    code = """
import sys
from pathlib import Path
from bpe_core.files.whole_files import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""
    path, taken = tmp_path / "lock", threading.Event()

    def take() -> None:
        with locked(path):
            taken.set()

    holder = subprocess.Popen(
        [sys.executable, "-c", code, str(path)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    waiting = threading.Thread(target=take)
    waiting.start()
    assert not taken.wait(0.2)
    holder.kill()
    holder.communicate()
    assert taken.wait(MAX_WAIT_SECONDS)
    waiting.join()


@pytest.fixture
def no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    choose._warn_of_plain_python.cache_clear()
    monkeypatch.setattr(choose, "_has_compiler", lambda: False)
    monkeypatch.setattr(choose, "kernels_are_compiled", lambda: False)


@pytest.mark.usefixtures("no_compiler")
def test_plain_python_for_want_of_a_compiler_is_warned_of_once() -> None:
    assert not choose.use_kernels(999_999)
    with pytest.warns(RuntimeWarning, match=r'pip install "bpe-explorer\[compile\]"$'):
        assert not choose.use_kernels(1_000_000)
    assert not choose.use_kernels(1_000_000)


@pytest.mark.usefixtures("no_compiler")
def test_plain_python_that_was_asked_for_is_not_warned_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    assert not choose.use_kernels(1_000_000)


@pytest.mark.slow
def test_a_failing_compiler_is_reported_once_and_plain_python_takes_over(tmp_path: Path) -> None:
    code = """
import sys
from bpe_core.kernels.compiling import choose
from bpe_core.corpus.corpus import Corpus
from bpe_core.trainers.training import train
from bpe_core.types import TrainingConfig
def fail(folder):
    raise RuntimeError("LLVM is not what it was")
choose._compile = fail
corpus = Corpus.from_text(" ".join(str(n % 999) for n in range(2_200_000)))
run = train(corpus, TrainingConfig(260))
print(len(run.merges), "numba" in sys.modules, choose.use_kernels(10**12))
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
from bpe_core.kernels.compiling.choose import compile_kernels
class Started(subprocess.Popen):
    def __init__(self, *args, **options):
        super().__init__(*args, **{**options, "stdout": 2})
        print("started\\n", end="", flush=True)  # written in one piece
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
from bpe_core.kernels.compiling import load
folder = load.folder_to_write()
print(folder.parent, folder.is_dir(), folder in load.folders())
(folder / "kernels").touch()
"""
    assert output_without_folders(code, blocked, tmp_path) == f"{tmp_path} True True\n"
    assert list(tmp_path.iterdir()) == [blocked], "it is deleted when its process ends"


@pytest.mark.parametrize("home", ["", "/nowhere"])
def test_folders_are_found_without_a_home(home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    # What Python returns for a user without a home folder.
    monkeypatch.setattr(os.path, "expanduser", lambda path: path.replace("~", home or "~"))
    load.folders.cache_clear()
    found = load.folders()
    load.folders.cache_clear()
    shared = [Path("/nowhere/.cache/bpe-explorer/kernels")] if home else []
    assert found == [load.KERNELS / "__pycache__", *shared]


def test_kernels_are_kept_in_the_users_cache_if_the_package_is_read_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "__pycache__").touch()  # blocks the folder: permissions would not stop root
    found = [tmp_path / "__pycache__", tmp_path / "cache" / "bpe-explorer" / "kernels"]
    monkeypatch.setattr(load, "folders", lambda: found)
    assert load.folder_to_write() == found[1]
    assert found[1].is_dir()


def test_a_process_that_only_looks_for_kernels_makes_no_folder(tmp_path: Path) -> None:
    blocked = tmp_path / "a file"
    blocked.touch()
    code = """
import os, signal
from bpe_core.kernels.compiling.choose import kernels_are_compiled
print(kernels_are_compiled(), flush=True)
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


def test_small_texts_need_no_kernels() -> None:
    assert not use_kernels(10_000)
