"""The library serves exactly the calls that its kernels were compiled for."""

from __future__ import annotations

import os
import platform
import re
import shutil
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray
from regex import _regex

from bpe_core.kernels import compile_kernels, kernels_are_compiled
from bpe_core.kernels.compiling import load
from bpe_core.kernels.compiling.decorate import CALLERS, CompiledKernel
from bpe_core.kernels.counting import Batch, WordTable
from bpe_core.kernels.row import Row, Tokens


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    compile_kernels()


def entry_point(kernel: str, otherwise: Callable[[], Any]) -> Any:
    found = load.find_library()
    assert found is not None
    return found.entry_point(f"bpe_core.kernels.{kernel}", otherwise)


def served(kernel: str, *arguments: Any) -> bool:
    """Return True if the library ran a kernel, False if it passed the call on."""
    left: list[tuple[Any, ...]] = []
    entry_point(kernel, lambda: lambda *given: left.append(given))(*arguments)
    assert left in ([], [arguments])
    return not left


def entries(**given: Any) -> list[NDArray[Any]]:
    arrays = {"entries": np.zeros(8, np.uint64), "counts": np.zeros(4, np.int64), **given}
    return [arrays["entries"], arrays["counts"]]


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, True),
        ({"counts": np.zeros(4, np.longlong)}, True),
        ({"counts": np.zeros(4, np.int32)}, False),
        ({"counts": np.zeros(4, np.uint64)}, False),
        ({"counts": np.zeros(4, np.float64)}, False),
        ({"counts": np.zeros(4, ">i8")}, False),
        ({"counts": np.zeros(8, np.int64)[::2]}, False),
        ({"counts": np.zeros((2, 2), np.int64)}, False),
        ({"counts": np.zeros(33, np.uint8)[1:].view(np.int64)}, False),
        ({"counts": read_only(np.zeros(4, np.int64))}, False),
        ({"counts": [0, 0, 0, 0]}, False),
        ({"counts": None}, False),
        ({"counts": np.zeros(4, np.int64).view(type("Mine", (np.ndarray,), {}))}, False),
    ],
)
def test_the_library_takes_arrays_of_exactly_the_types_compiled(
    given: dict[str, Any], expected: bool
) -> None:
    assert served("counting.gather_counts", *entries(**given)) is expected


class Other(NamedTuple):
    n_slots: NDArray[np.int32]
    n_bytes: NDArray[np.int32]
    end_ranks: NDArray[np.int32]


def test_the_library_takes_named_tuples_and_numbers_of_exactly_the_types_compiled() -> None:
    ids, large = np.full(4, -1, np.int32), np.zeros(4, np.int64)
    row, tokens = Row(ids, ids, large), Tokens(ids, ids, ids)
    table, reached = np.zeros(32, np.uint64), np.zeros(4, np.int64)

    def count(row: Any, tokens: Any, longest: Any, *others: Any) -> bool:
        sketch = np.zeros(0, np.uint32), 0
        return served("pairs.count_row", row, tokens, longest, *sketch, table, *others)

    assert count(row, tokens, 9, reached)
    assert count(row, tokens, np.int64(9), reached)
    assert not count(row, tokens, 2**63, reached)
    assert not count(row, tokens, 9.0, reached)
    assert not count(row, Other(ids, ids, ids), 9, reached)
    assert not count(tokens, row, 9, reached)
    assert not count(row, tokens, 9)
    assert not count(row, tokens, 9, reached, reached)


def test_an_exception_in_a_kernel_is_not_taken_for_a_result() -> None:
    none = np.empty(0, np.uint64)
    words = WordTable(
        none, np.empty(0, int), np.empty(0, int), np.empty(0, np.uint8), none.view(int)
    )
    text = np.frombuffer(b"hug", np.uint8)
    with pytest.raises(RuntimeError, match=r"count_ends raised an exception\. Set BPE_KERNELS="):
        served("counting.count_ends", text, 0, np.array([3]), 1, words, Batch(*[none] * 5), 0)


def test_a_kernel_that_the_library_lacks_is_left_to_numba() -> None:
    assert entry_point("counting.nothing", lambda: None) is None


def touch_all(folder: Path, *kinds: str) -> list[Path]:
    folder.mkdir(exist_ok=True)
    paths = [folder / f"{load.compiled_name(kind)}.so" for kind in kinds]
    for path in paths:
        path.touch()
    return paths


def found_among(monkeypatch: pytest.MonkeyPatch, *folders: Path) -> list[Path]:
    """Return the libraries that are tried, in order."""
    tried: list[Path] = []
    monkeypatch.setattr(load, "folders", lambda: list(folders))
    monkeypatch.setattr(load, "KERNELS", folders[-1])
    monkeypatch.setattr(load, "_load_if_whole", tried.append)
    assert load.find_library() is None
    return list(dict.fromkeys(tried))


def test_a_library_for_this_processor_takes_precedence_over_a_portable_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flags = " ".join([*load._V3_FLAGS, "avx512f"])
    monkeypatch.delenv("BPE_KERNELS", raising=False)
    monkeypatch.setattr(load, "_processor_flags", lambda: flags)
    (portable,) = touch_all(tmp_path, load.X86_64_V3)
    assert found_among(monkeypatch, tmp_path) == [portable]
    (own,) = touch_all(tmp_path, flags)
    assert found_among(monkeypatch, tmp_path) == [own, portable]
    monkeypatch.setenv("BPE_KERNELS", "portable")
    assert found_among(monkeypatch, tmp_path) == [portable]
    monkeypatch.setattr(load, "_processor_flags", lambda: "sse2")
    assert found_among(monkeypatch, tmp_path) == []


@pytest.mark.parametrize(
    ("machine", "flags", "kind"),
    [
        ("x86_64", "sse2", None),
        ("AMD64", "", None),
        ("aarch64", "Features: fp asimd", load.ARM64),
        ("arm64", "", load.ARM64),
    ],
)
def test_portable_libraries_are_for_few_kinds_of_processors(
    monkeypatch: pytest.MonkeyPatch, machine: str, flags: str, kind: str | None
) -> None:
    monkeypatch.setattr(platform, "machine", lambda: machine)
    monkeypatch.setattr(load, "_processor_flags", lambda: flags)
    assert load.portable_kind() == kind
    monkeypatch.setenv("BPE_KERNELS", "portable")
    assert load.processor() == (kind or flags)


def test_a_library_next_to_the_sources_serves_users_who_cannot_write_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = [tmp_path / "own", tmp_path / "sources"]
    paths = [path for folder in folders for path in touch_all(folder, load.processor())]
    assert found_among(monkeypatch, *folders) == paths


def test_numbas_own_cache_is_used_instead_where_the_variable_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = [*load.folders(), tmp_path]
    monkeypatch.setattr(load, "folders", lambda: folders)
    assert isinstance(load.find_compiled(), load.Library)
    monkeypatch.setenv("BPE_KERNELS", "numba")
    assert not isinstance(load.find_compiled(), load.Library)
    cache = tmp_path / f"{load.compiled_name()}{load.CACHE}"
    cache.mkdir()
    assert isinstance(load.find_compiled(), Path)


@pytest.mark.parametrize("content", [b"", b"not a library", None])
def test_a_library_that_cannot_be_loaded_counts_as_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes | None
) -> None:
    (whole,) = load.folder_to_write().glob(f"{load.compiled_name()}.[os]*")
    damaged = tmp_path / whole.name
    damaged.write_bytes(whole.read_bytes()[:9_000] if content is None else content)
    monkeypatch.setattr(load, "KERNELS", tmp_path)
    monkeypatch.setattr(load, "folders", lambda: [tmp_path])
    assert load.find_library() is None
    assert not kernels_are_compiled()
    monkeypatch.setattr(load, "folders", lambda: [tmp_path, whole.parent])
    assert load.find_library() is load.find_library() is not None
    damaged.write_bytes(whole.read_bytes())
    monkeypatch.setattr(load, "folders", lambda: [tmp_path])
    assert kernels_are_compiled(), "a damaged library can be replaced"


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        ("nothing", "undefined symbol: nothing"),
        ("bpe_core.kernels.token_bytes.decode_ids", "not a library of kernels"),
    ],
)
def test_a_library_without_its_table_counts_as_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, table: str, reason: str
) -> None:
    (whole,) = load.folder_to_write().glob(f"{load.compiled_name()}.[os]*")
    other = tmp_path / whole.name
    shutil.copyfile(whole, other)
    monkeypatch.setattr(load, "KERNELS", tmp_path)
    monkeypatch.setattr(load, "folders", list)
    monkeypatch.setattr(load, "TABLE", table)
    with pytest.raises(OSError, match=reason):
        load.load(other)
    assert load.find_library() is None


def test_another_library_in_the_place_of_kernels_can_be_replaced(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (whole,) = load.folder_to_write().glob(f"{load.compiled_name()}{load.SHARED}")
    monkeypatch.setattr(load, "folders", lambda: [tmp_path])
    monkeypatch.setattr(load, "KERNELS", tmp_path)
    content = Path(_regex.__file__).read_bytes()
    (tmp_path / whole.name).write_bytes(content + load.digest(content))
    assert load.find_compiled() is None
    (tmp_path / whole.name).unlink()
    shutil.copyfile(whole, tmp_path / whole.name)
    assert load.find_library() is not None


@pytest.mark.parametrize("suffix", [load.SHARED, load.OBJECT, load.CACHE])
def test_compiled_kernels_that_others_may_have_written_do_not_count(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, suffix: str
) -> None:
    """What does not count is replaced, in a folder of this user's own."""
    shared, own = tmp_path / "shared", tmp_path / "own"
    shared.mkdir()
    kernels = shared / f"{load.compiled_name()}{suffix}"
    kernels.mkdir() if suffix == load.CACHE else kernels.touch()
    monkeypatch.setattr(load, "folders", lambda: [shared, own])
    monkeypatch.setattr(load, "KERNELS", tmp_path / "sources")
    monkeypatch.setattr(load, "_load_if_whole", lambda path: path)

    def is_found() -> bool:
        return load.find_compiled() is not None

    assert is_found()
    assert load.folder_to_write() == shared
    for path in (shared, kernels):
        mode = path.stat().st_mode
        for bit in (0o020, 0o002):
            path.chmod(mode | bit)
            assert not is_found()
            path.chmod(mode)
    shared.chmod(0o777)
    assert load.folder_to_write() == own
    assert own.stat().st_mode & 0o777 == 0o755
    shared.chmod(0o755)
    with monkeypatch.context() as patch:
        if os.geteuid() == 0:
            os.chown(kernels, 12_345, -1)
        else:
            patch.setattr(os, "geteuid", lambda: 12_345)
        assert not is_found()
    # Whoever can write next to the sources can change the sources, too.
    shared.chmod(0o777)
    monkeypatch.setattr(load, "KERNELS", shared)
    assert is_found()


def test_a_library_is_not_loaded_with_a_numpy_of_another_layout(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (whole,) = load.folder_to_write().glob(f"{load.compiled_name()}.[os]*")
    monkeypatch.setattr(load, "DIMENSIONS", load.DIMENSIONS + 8)
    with pytest.raises(OSError, match="laid out otherwise"):
        load.load(whole)


def test_a_changed_constant_of_a_kernel_needs_another_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hash_after(change: Callable[[Path], object]) -> str:
        shutil.rmtree(tmp_path / "kernels", ignore_errors=True)
        shutil.copytree(load.KERNELS, tmp_path / "kernels")
        change(tmp_path / "kernels" / "hashing.py")
        monkeypatch.setattr(load, "KERNELS", tmp_path / "kernels")
        monkeypatch.setattr(load, "_ALSO", ())
        found = load.hash_sources()
        monkeypatch.undo()
        return found

    def change(path: Path) -> None:
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace("0x9E3779B97F4A7C15", "0x9E3779B97F4A7C17"), encoding="utf-8")

    untouched = hash_after(lambda path: None)
    assert hash_after(lambda path: os.utime(path, (0, 0))) == untouched
    assert hash_after(change) != untouched


def test_the_hash_knows_all_modules_that_the_library_depends_on() -> None:
    package = load.KERNELS.parent
    inner = {"bpe_core.kernels"} | {
        f"bpe_core.kernels.{path.stem}" for path in load.KERNELS.glob("*.py")
    }
    # These do not make kernels of their own.
    outside = {
        f"bpe_core.kernels.{name}" for name in ("for_callers", "garbage", "compiling.decorate")
    }
    inner -= outside
    callers: set[str] = set()
    for path in package.rglob("*.py"):
        name = ".".join(path.relative_to(package.parent).with_suffix("").parts)
        if path.is_relative_to(load.KERNELS) or path.stem.startswith("__"):
            continue
        values = vars(import_module(name)).values()
        if any(isinstance(each, CompiledKernel) or is_module_in(each, inner) for each in values):
            callers.add(path.relative_to(package).as_posix())
    callers |= {f"{name.removeprefix('bpe_core.').replace('.', '/')}.py" for name in CALLERS}
    assert len(callers) > 5
    assert callers <= set(load._ALSO)
    imported = {
        name
        for path in load.KERNELS.glob("[!_]*.py")
        for name in re.findall(r"^ *from (bpe_core\.\S+) import", path.read_text("utf-8"), re.M)
    }
    outer = {
        name.removeprefix("bpe_core.").replace(".", "/") for name in imported - inner - outside
    }
    assert {f"{name}.py" for name in outer} == {"unicode.py"}
    assert "unicode/byte_tables.py" in load._ALSO


def is_module_in(value: object, names: set[str]) -> bool:
    return isinstance(value, ModuleType) and value.__name__ in names
