"""Decide whether kernels are faster for a text than plain Python, and get them compiled.

Compiling runs in other processes: in a thread of this one it would delay the others, a task of 10
ms by up to 285 ms instead of 3. If the library cannot be built, as when a later Numba has other
internals, the kernels are compiled into Numba's own cache, from which they load half a second more
slowly. If that fails too, this process doesn't try again and uses plain Python for everything.
"""

from __future__ import annotations

import os
import sys
import threading
import time
import warnings
from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from bpe_core.errors import ProcessError
from bpe_core.extras import DISTRIBUTION, needs_extra

MIN_BYTES: Final = 50_000
"""The least text that kernels count or train on sooner: both take 0.03 s then, and plain Python 1.3
s per megabyte."""
_MIN_BYTES_TO_COMPILE: Final = 8_000_000
"""The amount of text that plain Python processes while the kernels compile, in about 13 s."""
PLAIN_PYTHON: Final = (
    "bpe_core runs in plain Python, which gives the same results many times more slowly: this "
    "installation has neither compiled kernels nor a compiler for them. "
    f'Run: pip install "{DISTRIBUTION}[compile]"'
)
_MIN_BYTES_TO_WARN: Final = 1_000_000
"""The amount of text for which plain Python takes over a second."""
_MAX_SECONDS: Final = 300.0
_SECONDS_BETWEEN_LOOKS: Final = 0.2
_MAX_KEPT: Final = 8
"""How many compiled versions a folder keeps, as machines and copies of the package can share it."""

_thread: threading.Thread | None = None
_failed = threading.Event()
_starting = threading.Lock()


def use_kernels(n_bytes: int, least: int = MIN_BYTES) -> bool:
    """Return True if kernels are faster for `n_bytes` of text and already compiled.

    Plain Python returns the same results. Warns once of a long wait for it that could be spared.

    >>> use_kernels(1_000)
    False
    """
    if n_bytes < least:
        return False
    are_ready = kernels_are_ready()
    if not are_ready and n_bytes >= _MIN_BYTES_TO_WARN and lacks_kernels():
        _warn_of_plain_python()
    return are_ready


def lacks_kernels() -> bool:
    """Return True if there are neither compiled kernels nor a compiler, though they are wanted."""
    return _may_use() and not _has_compiler() and not kernels_are_compiled()


def worth_waiting_for(n_bytes: int) -> bool:
    """Return True if compiling the kernels first is faster for `n_bytes` of text.

    >>> worth_waiting_for(1_000)
    False
    """
    return n_bytes >= _MIN_BYTES_TO_COMPILE and may_compile() and not kernels_are_compiled()


def kernels_are_ready() -> bool:
    """Return True if kernels can be used immediately, without waiting for the compiler."""
    return _may_use() and kernels_are_compiled()


def kernels_are_compiled() -> bool:
    """Return True if the current kernels have been compiled on this machine, and can be loaded."""
    # Imported when needed, with NumPy: small texts need neither.
    from bpe_core.kernels.compiling.load import find_compiled

    return find_compiled() is not None


def may_compile() -> bool:
    """Return True if there is a compiler, and it has not failed in this process."""
    return _may_use() and _has_compiler()


def _may_use() -> bool:
    return os.environ.get("NUMBA_DISABLE_JIT", "0") == "0" and not _failed.is_set()


@cache
def _has_compiler() -> bool:
    return all(find_spec(name) is not None for name in ("numba", "msgspec"))


@cache
def _warn_of_plain_python() -> None:
    warnings.warn(PLAIN_PYTHON, RuntimeWarning, stacklevel=3)


# -- compiling ----------------------------------------------------------------------------------


def compile_in_background() -> None:
    """Start compiling in other processes without waiting, unless that is done or under way."""
    global _thread
    with _starting:
        if not may_compile() or kernels_are_compiled():
            return
        if _thread is None or not _thread.is_alive():
            _thread = threading.Thread(target=compile_or_report, daemon=True)
            _thread.start()


def wait_for_kernels(
    on_wait: Callable[[float], None] | None = None, should_stop: Callable[[], bool] | None = None
) -> bool:
    """Wait until the kernels are compiled, starting the compiler if needed, and return True.

    `on_wait` is called about every 0.2 s with the seconds waited. Returns False if `should_stop()`
    returns True, the compiler fails, or there is none.
    """
    started = time.perf_counter()
    while not kernels_are_compiled():
        compile_in_background()
        if not may_compile() or (should_stop is not None and should_stop()):
            return False
        if on_wait is not None:
            on_wait(time.perf_counter() - started)
        if _thread is not None:
            _thread.join(_SECONDS_BETWEEN_LOOKS)
    return True


def compile_or_report(*, set_up: bool = False) -> None:
    """Compile the kernels; if that fails, write the error to stderr and use plain Python.

    set_up: announce it on stderr, and build a library that could not be built before.
    """
    try:
        compile_kernels(set_up=set_up)
    except Exception as error:  # after any failure, plain Python is used instead
        _failed.set()
        sys.stderr.write(
            f"The engine could not be compiled. Using slower, plain Python instead.\n{error}\n"
        )


def compile_kernels(*, set_up: bool = False) -> None:
    """Compile the kernels if necessary; wait if another process is compiling them.

    set_up: as in `compile_or_report`. Raises `ProcessError` if the compiler fails or takes five
    minutes, `OSError` if no file can be written, and `RuntimeError` if the sources have changed
    since this process read them.
    """
    from bpe_core.files import locked  # when needed, as the other imports from there
    from bpe_core.kernels.compiling import load

    is_done = load.find_library if set_up and load.library_is_wanted() else load.find_compiled
    if is_done():
        return
    if set_up:
        sys.stderr.write("Compiling the engine, once on this machine: about 13 seconds.\n")
    folder = load.folder_to_write()
    with locked(folder / "compiling"):
        if not is_done():  # another process may have compiled them meanwhile
            _compile(folder)


def _compile(folder: Path) -> None:
    from bpe_core.files import delete, move_whole
    from bpe_core.kernels.compiling import load

    scratch = _empty(folder)
    try:
        made = _build_library(scratch) if load.library_is_wanted() else None
        if made is None:
            made = scratch / f"cache{load.CACHE}"
            made.mkdir()
            _run(*(("decorate", "fill_cache", made, share) for share in (0, 1)))
        if load.hash_sources() != load.first_hash():
            raise RuntimeError("the sources have changed; start again")
        place = folder / f"{load.compiled_name()}{made.suffix}"
        delete(place)
        move_whole(made, place)
    finally:
        delete(scratch)


def _empty(folder: Path) -> Path:
    """Delete old compiled kernels, and return an empty folder to compile in."""
    from bpe_core.files import delete

    for old in sorted(folder.glob("kernels-*"), key=os.path.getmtime)[: 1 - _MAX_KEPT]:
        delete(old)
    scratch = folder / "building"
    delete(scratch)  # if a compiler was killed
    scratch.mkdir()
    return scratch


def _build_library(scratch: Path) -> Path | None:
    """Build the library; if that fails, write the reason to stderr and return None."""
    try:
        _run(*(("build", "compile_share", scratch, share) for share in (0, 1)))
        _run(("build", "link_shares", scratch, None))
    except (OSError, ProcessError) as error:
        sys.stderr.write(
            "The library of kernels could not be built. Numba compiles them instead, and loads "
            f"them more slowly.\n{error}\n"
        )
        return None
    return next(scratch.glob("library.*"))


def build_wasm() -> bytes:
    """Return the kernels as a WebAssembly module; compile them if that has not been done.

    Raises `ProcessError` if that fails, as it does without LLVM's linker `wasm-ld`, and `OSError`
    if no file can be written.
    """
    from bpe_core.files import delete, locked, move_whole
    from bpe_core.kernels.compiling import load

    folder = load.folder_to_write()
    place = folder / f"kernels-{load.first_hash()}{load.WASM}"
    with locked(folder / "compiling"):
        if not place.exists():
            sys.stderr.write("Compiling the kernels to WebAssembly: about 20 seconds.\n")
            scratch = _empty(folder)
            try:
                _run(*(("build", "compile_wasm_share", scratch, share) for share in (0, 1)))
                _run(("build", "link_wasm", scratch, None))
                move_whole(scratch / f"library{load.WASM}", place)
            finally:
                delete(scratch)
        return place.read_bytes()


def _run(*tasks: tuple[str, str, Path, int | None]) -> None:
    """Do all tasks at the same time, each in its own process."""
    from bpe_core.processes import Limits

    with needs_extra("compile", "Compiling the kernels"):
        from bpe_core.processes import call

    limits = Limits(_MAX_SECONDS)
    errors: list[BaseException] = []

    def do(*task: object) -> None:
        try:
            call(do_task, *task, limits=limits)
        except BaseException as error:  # raised in the thread that waits
            errors.append(error)

    # Unlike those of a pool, daemon threads are not waited for when this process exits.
    threads = [threading.Thread(target=do, args=task, daemon=True) for task in tasks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def do_task(module: str, task: str, folder: Path, share: int | None = None) -> None:
    """Do a task of the compilation: call a function of `build` or `decorate`, in its own process.

    Raises `ProcessError` with the traceback of what the function raises.
    """
    from bpe_core.kernels.compiling.load import portable_kind, processor

    # Numba reads these once, when it is imported.
    os.environ["NUMBA_DISABLE_JIT"] = "0"
    if "wasm" in task:
        # Optimized code has this machine's width of pointers and vectors in it.
        os.environ |= {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": "", "NUMBA_OPT": "0"}
    elif (kind := processor()) == portable_kind():
        os.environ |= {"NUMBA_CPU_NAME": kind, "NUMBA_CPU_FEATURES": ""}
    try:
        do = getattr(import_module(f"bpe_core.kernels.compiling.{module}"), task)
        do(folder) if share is None else do(folder, share)
    except Exception:
        import traceback

        raise ProcessError(traceback.format_exc()) from None
