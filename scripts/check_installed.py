"""Check that an installed BPE Explorer works: `PYTHON scripts/check_installed.py`.

PYTHON is the one that has it installed, on any system; one line is printed. `--kernels` expects
compiled kernels, and `--python` plain Python, which warns once. With the extra `app`, the app is
started too, on a free port of this machine.
"""

from __future__ import annotations

import json
import os
import platform
import socket
import subprocess
import sys
import time
import urllib.request
import warnings
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import bpe_core as bpe
from bpe_core.errors import MemoryLimitError
from bpe_core.kernels import compile_kernels, kernels_are_compiled
from bpe_core.processes import Limits

CHECKOUT: Final = Path(__file__).parents[1]
# What every system, Python and way of working has to give.
MERGES: Final = "799c7d7afd4c37f2"
IDS: Final = "ba74ef492dd6abc4"
_SECONDS_TO_START: Final = 120


def main(expected: str | None) -> None:
    """Check it, and print what was checked."""
    if Path(bpe.__file__).is_relative_to(CHECKOUT / "bpe_core"):
        sys.exit("This is the checkout. Run the script by a Python that has a wheel installed.")
    if can_compile := find_spec("numba") is not None:
        compile_kernels(set_up=True)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        tokenizer = check_results()
    uses_kernels = kernels_are_compiled()
    warned = [each for each in caught if "plain Python" in str(each.message)]
    require(len(caught) == len(warned) == (not uses_kernels and not can_compile), f"{caught}")
    loaded = {"bpe_core.trainers.compiled", "bpe_core.tokenizer.compiled"} & set(sys.modules)
    require(len(loaded) == (2 if uses_kernels else 0), f"{loaded}")
    require("numba" not in sys.modules, "Numba was imported")
    if expected is not None:
        require(uses_kernels is (expected == "--kernels"), f"{expected}: kernels {uses_kernels}")
    done = ["plain Python", "kernels"][uses_kernels], "training and encoding"
    with TemporaryDirectory() as folder:
        check_files(tokenizer, Path(folder))
        check_command(Path(folder))
        done += "files", "command"
        if find_spec("msgspec") is not None:
            done += (check_processes(),)
        if find_spec("streamlit") is not None:
            check_app(Path(folder))
            done += ("app",)
    system = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    print(f"{system}: {', '.join(done)}: all as expected")


def require(condition: bool, found: str) -> None:  # noqa: FBT001 - as `assert`
    """Exit if a condition does not hold."""
    if not condition:
        raise SystemExit(f"Not as expected: {found}")


def text() -> str:
    """Return 1.2 MB of words, the same on every system."""
    words: list[str] = []
    number = 1
    while len(words) < 200_000:
        number = number * 48_271 % (2**31 - 1)
        words.append(f"{number % 9_973:x}é")
    return " ".join(words)


def check_results() -> bpe.Tokenizer:
    """Train on a text and encode it; the merges and the ids are always the same."""
    given = text()
    tokenizer = bpe.train([given], vocab_size=400).tokenizer
    ids = tokenizer.encode_to_numpy(given)
    merges = sha256(
        json.dumps([[merge.left, merge.right] for merge in tokenizer.merges]).encode()
    ).hexdigest()
    require(merges.startswith(MERGES), f"merges {merges}")
    digest = sha256(ids.astype("<i4").tobytes()).hexdigest()
    require(digest.startswith(IDS), f"ids {digest}")
    require(tokenizer.decode(ids.tolist()) == given, "decoded text")
    return tokenizer


def check_files(tokenizer: bpe.Tokenizer, folder: Path) -> None:
    """Save the tokenizer in several formats, twice each, and load it."""
    ids = tokenizer.encode("1234é 99")
    for name in ("tokenizer.json", "mine.bpe.json", "mine.gguf", "folder/"):
        for _ in range(2):
            bpe.save(tokenizer, f"{folder}/{name}")
        require(bpe.load(folder / name).encode("1234é 99") == ids, name)
        require(bpe.open_encoder(folder / name).encode("1234é 99") == ids, name)


def check_command(folder: Path) -> None:
    """Encode by the command line."""
    command = [sys.executable, "-m", "bpe_core", "encode", str(folder / "tokenizer.json")]
    done = subprocess.run(
        command, input="1234é", encoding="utf-8", stdout=subprocess.PIPE, check=True, cwd=folder
    )
    ids = bpe.load(folder / "tokenizer.json").encode("1234é")
    require([int(each) for each in done.stdout.split()] == ids, done.stdout)


def check_processes() -> str:
    """Call functions in other processes; return what was checked."""
    from bpe_core.processes import call
    from bpe_core.unicode import to_printable

    limits = Limits(60, memory=Limits.GB)
    require(call(to_printable, b" hug", limits=limits) == "Ġhug", "a process")
    if platform.system() != "Linux":
        return "processes without a limit of memory"
    try:
        call(to_printable, bytes(2**27), limits=Limits(60, memory=2**29))
    except MemoryLimitError:
        return "processes"
    raise SystemExit("The limit of memory did not hold")


def check_app(folder: Path) -> None:
    """Start the app by its command, and ask it whether it is well, and for its figures."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    own = {"BPE_EXPLORER_RUNS": str(folder / "runs"), "BPE_EXPLORER_METRICS": "1"}
    environment = {**os.environ, **own}
    command = [sys.executable, "-m", "bpe_core", "explore", "--port", str(port)]
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) as server:
        try:
            until = time.monotonic() + _SECONDS_TO_START
            while answer(f"http://127.0.0.1:{port}/_stcore/health") != b"ok":
                require(server.poll() is None, "the app ended")
                require(time.monotonic() < until, "the app does not answer")
                time.sleep(0.5)
            figures = answer(f"http://127.0.0.1:{port}/metrics")
            require(b"bpe_explorer_visitors 0.0" in figures, "no figures at /metrics")
        finally:
            if sys.platform == "win32":  # the command waits for a process of its own
                subprocess.run(["taskkill", "/F", "/T", "/PID", str(server.pid)], check=True)
            else:
                server.terminate()


def answer(address: str) -> bytes:
    """Return what the app answers; nothing if it does not."""
    try:
        with urllib.request.urlopen(address, timeout=5) as found:
            return found.read()
    except OSError:
        return b""


if __name__ == "__main__":
    main(next(iter(sys.argv[1:]), None))
