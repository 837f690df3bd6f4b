"""Compiling the kernels: once for each machine, in processes of their own, and never unannounced.

`python -m bpe_core.compiling.when` fills Numba's cache in two processes at a time. Where that
has not happened, texts that plain Python does sooner than the compiler are left to it, and whoever
brings a longer one is told how long the compiler has been at work.
"""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from bpe_core.compiling.cache import FileLock, cache_folder
from bpe_core.whole_files import sync, write_whole

# From here on a process that has the kernels in memory is done sooner with them: at 50 kB both
# take 0.03 s. Loading Numba and compiled kernels takes 0.6 to 0.8 s, plain Python 1.3 s a megabyte.
_LEAST_BYTES: Final = 50_000
_LEAST_BYTES_TO_LOAD: Final = 400_000
# What plain Python learns from while both processes compile, 8 to 12 s.
_LEAST_BYTES_TO_COMPILE: Final = 8_000_000

_KERNELS: Final = Path(__file__).absolute().parents[1] / "kernels"
_BESIDE: Final = _KERNELS / "__pycache__"
# As Numba names the folder of one program within a folder for all: several may share it.
_PLACE: Final = hashlib.sha1(str(_KERNELS).encode(), usedforsecurity=False).hexdigest()
_SHARES: Final = (
    ("bpe_core.counting.compiled", "bpe_core.trainers.compiled"),
    ("bpe_core.tokenizer.compiled",),
)
"""Which modules' kernels each process compiles, both for about as long. Only they import them."""
_SECONDS_BETWEEN_LOOKS = 0.2
_MOST_SECONDS: Final = 300.0

_background: threading.Thread | None = None
_failed = threading.Event()
_starting = threading.Lock()


def use_kernels(n_bytes: int) -> bool:
    """Tell whether a text of so many bytes is done sooner by kernels, and may be at once.

    Plain Python gives the same.

    >>> use_kernels(1_000)
    False
    """
    if n_bytes < _LEAST_BYTES or not kernels_are_ready():
        return False
    return n_bytes >= _LEAST_BYTES_TO_LOAD or "bpe_core.kernels.jit" in sys.modules


def worth_waiting_for(n_bytes: int) -> bool:
    """Tell whether a text of so many bytes is done sooner if the kernels are compiled first.

    >>> worth_waiting_for(1_000)
    False
    """
    return n_bytes >= _LEAST_BYTES_TO_COMPILE and _may_compile() and not kernels_are_compiled()


def kernels_are_compiled() -> bool:
    """Tell whether the kernels, as they are, have been compiled on this machine."""
    return _stamp().exists()


def kernels_are_ready() -> bool:
    """Tell whether kernels may be used at once, without waiting for the compiler."""
    return _may_compile() and kernels_are_compiled()


def compile_in_background() -> None:
    """Start compiling in other processes, unless it's done or under way; returns at once."""
    global _background
    with _starting:
        if not _may_compile() or kernels_are_compiled():
            return
        if _background is None or not _background.is_alive():
            _background = threading.Thread(target=_compile_or_note, daemon=True)
            _background.start()


def wait_for_kernels(
    tell: Callable[[float], None] | None = None, should_stop: Callable[[], bool] | None = None
) -> bool:
    """Wait until the kernels are compiled, starting the compiler if need be; say whether they are.

    `tell` is called about every 0.2 s with the seconds waited. False where `should_stop()` said
    True or the compiler failed: plain Python does everything then.
    """
    started = time.perf_counter()
    compile_in_background()
    while not kernels_are_compiled():
        if _failed.is_set() or (should_stop is not None and should_stop()):
            return False
        if tell is not None:
            tell(time.perf_counter() - started)
        if _background is not None:
            _background.join(_SECONDS_BETWEEN_LOOKS)
        compile_in_background()
    return True


def compile_kernels() -> None:
    """Compile what isn't yet, in two processes; if another process is at it, wait for that.

    Raises `subprocess.SubprocessError` where the compiler fails, its output being on stderr, or
    takes five minutes, `TimeoutError` where another process does, and `OSError` where nothing can
    be written.
    """
    deadline = time.monotonic() + _MOST_SECONDS
    while not kernels_are_compiled():
        with _lock() as taken:
            # Another process may have been done between the look and the lock.
            if taken and not kernels_are_compiled():
                _compile_in_processes()
        if not taken:
            if time.monotonic() > deadline:
                raise TimeoutError(f"another process has held {_lock().path} for too long")
            time.sleep(_SECONDS_BETWEEN_LOOKS)


def _compile_in_processes() -> None:
    _forget_compiled()
    command = [sys.executable, "-m", f"{__package__}.when"]
    path = os.pathsep.join(filter(None, [str(_KERNELS.parents[1]), os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, "PYTHONPATH": path}
    deadline = time.monotonic() + _MOST_SECONDS
    # Nothing is ever written to their standard input: it ends when this process does, killed or
    # not, and they end with it.
    processes = [
        subprocess.Popen([*command, str(share)], env=environment, stdin=subprocess.PIPE)
        for share in range(len(_SHARES))
    ]
    try:
        for process in processes:
            if process.wait(max(0.0, deadline - time.monotonic())):
                raise subprocess.CalledProcessError(process.returncode, process.args)
    finally:
        for process in processes:
            process.kill()
            process.communicate()
    # Numba doesn't wait for the disk: without this the stamp might outlive what it stands for.
    compiled = _compiled()
    for path in {*compiled, *(path.parent for path in compiled)}:
        sync(path)
    write_whole(_stamp(), b"compiled\n")


def _forget_compiled() -> None:
    """Remove what was compiled from other sources, in this place.

    Numba looks at a kernel's own file alone, and would go on using one whose parts, in another
    file, have changed since.
    """
    folder = _numba_folder()
    for stamp in folder.glob(f"compiled-{_PLACE}-*"):
        stamp.unlink(missing_ok=True)
    for path in _compiled():
        path.unlink(missing_ok=True)


def _compiled() -> list[Path]:
    """List the files of compiled kernels, in this place."""
    folder = _numba_folder()
    # Where Numba is given one folder for all programs, it makes one within it for each of ours.
    ours = folder if folder == _BESIDE else folder / f"{_KERNELS.name}_{_PLACE}"
    return list(ours.glob("*.nb[ic]"))


def _compile_or_note() -> None:
    try:
        compile_kernels()
    except Exception as error:  # whatever it is: plain Python does everything from here on
        _failed.set()
        _say(f"The engine cannot be compiled ({error}); plain Python does its work, slower.")


def _compile_share(share: int) -> None:
    from importlib import import_module

    threading.Thread(target=_end_with_parent, daemon=True).start()
    for name in _SHARES[share]:
        import_module(name).compile_all()


def _end_with_parent() -> None:
    os.read(0, 1)  # not through sys.stdin, which Python wants for itself when it ends
    os._exit(1)


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")


def _may_compile() -> bool:
    return _can_compile() and not _failed.is_set()


@cache
def _can_compile() -> bool:
    return find_spec("numba") is not None and os.environ.get("NUMBA_DISABLE_JIT", "0") == "0"


@cache
def _fingerprint() -> str:
    """A hash over all that decides whether compiled kernels may be used."""
    digest = hashlib.sha256(sys.version.encode() + platform.machine().encode())
    for path in sorted(_KERNELS.glob("*.py")):
        # Numba's cache goes by a file's time and size.
        stat = path.stat()
        digest.update(f"{path} {stat.st_mtime_ns} {stat.st_size}".encode())
    spec = find_spec("numba")
    if spec is not None and spec.origin is not None:
        digest.update(f"{spec.origin} {os.stat(spec.origin).st_mtime_ns}".encode())
    processor = Path("/proc/cpuinfo")
    if processor.exists():
        flags = (line for line in processor.read_text().splitlines() if line.startswith("flags"))
        digest.update(next(flags, "").encode())
    return digest.hexdigest()[:16]


@cache
def _numba_folder() -> Path:
    """Where Numba keeps what it compiles: a folder that can be written, and that it is told of."""
    folder = cache_folder(_BESIDE, os.environ.get("NUMBA_CACHE_DIR"))
    if folder != _BESIDE:
        # Numba reads this once, when it is imported. Whoever imported it earlier would find nothing
        # that was compiled here, and compile everything again within a call.
        os.environ["NUMBA_CACHE_DIR"] = str(folder)
        if "numba" in sys.modules:
            sys.modules["numba"].config.CACHE_DIR = str(folder)
    return folder


def _stamp() -> Path:
    return _numba_folder() / f"compiled-{_PLACE}-{_fingerprint()}"


def _lock() -> FileLock:
    return FileLock(_numba_folder() / f"compiling-{_PLACE}")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        _compile_share(int(sys.argv[1]))
    elif _may_compile() and not kernels_are_compiled():
        _say("Compiling the engine, once on this machine: about 10 seconds.")
        _compile_or_note()
