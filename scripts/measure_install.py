"""Measure what an installation takes, and write the table in docs/install.md.

`python -m scripts.measure_install` installs the wheel with kernels, the one without, and each extra
into an empty environment for this Python.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from scripts import environments
from scripts.prebuilt_wheel import ROOT, build_wheel

DOCUMENT: Final = ROOT / "docs" / "install.md"
BEGIN, END = "<!-- Written by scripts/measure_install.py -->\n", "<!-- The end of the table -->\n"
_RUNS: Final = 5
# Prints three times in milliseconds; the first run of all writes the bytecode of modules.
_TIMED: Final = """
import json, sys, time
times = [time.perf_counter()]
import bpe_core as bpe
times.append(time.perf_counter())
tokenizer = bpe.load("mine.bpe.json")
tokenizer.encode("This is not a token.")
times.append(time.perf_counter())
text = open("text.txt", encoding="utf-8").read()
tokenizer.encode_to_numpy(text)
times.append(time.perf_counter())
print(json.dumps([1000 * (b - a) for a, b in zip(times, times[1:])]))
"""
_TRAINED: Final = """
import bpe_core as bpe
text = "".join(f"The {n} tokens of text {n * n % 997} are not tokens. " for n in range(26_000))
open("text.txt", "w", encoding="utf-8").write(text[:1_000_000])
bpe.save(bpe.train([text[:200_000]], vocab_size=1_000).tokenizer, "mine.bpe.json")
"""


def main() -> None:
    """Measure all installations and write the table."""
    with TemporaryDirectory() as folder:
        table = "\n".join([*_rows(Path(folder)), ""])
    text = DOCUMENT.read_text("utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    DOCUMENT.write_text(f"{before}{BEGIN}\n{table}\n{END}{after}", "utf-8")
    print(table)


def _rows(folder: Path) -> Iterator[str]:
    kernels, pure = (build_wheel(folder, with_kernels=each) for each in (True, False))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = [name for name in project["optional-dependencies"] if name != "compile"]
    yield "| installed | MB | packages | import | open and encode a sentence | encode 1 MB |"
    yield "|---|--:|--:|--:|--:|--:|"
    wanted = [
        ("wheel with kernels", kernels, ""),
        ("wheel without", pure, ""),
        ("wheel without, `[compile]`", pure, "compile"),
        *((f"wheel with kernels, `[{extra}]`", kernels, extra) for extra in extras),
    ]
    for number, (name, wheel, extra) in enumerate(wanted):
        python = environments.make(folder / str(number), sys.executable, wheel, extra)
        n_packages = len([*environments.packages(python).glob("*.dist-info")])
        size = environments.installed_mb(python)
        times = " | ".join(f"{time:,.0f} ms" for time in _times(python, folder))
        yield f"| {name} | {size:,.0f} | {n_packages} | {times} |"
        shutil.rmtree(folder / str(number))


def _times(python: Path, folder: Path) -> list[float]:
    """Return the shortest times of a few processes, in milliseconds."""
    if (environments.packages(python) / "numba").is_dir():
        subprocess.run([python, "-m", "bpe_core.kernels.compiling"], cwd=folder, check=True)
    subprocess.run([python, "-c", _TRAINED], cwd=folder, check=True)
    command = [python, "-W", "ignore", "-c", _TIMED]
    done = [
        json.loads(subprocess.run(command, cwd=folder, check=True, stdout=subprocess.PIPE).stdout)
        for _ in range(_RUNS)
    ]
    return [min(column) for column in zip(*done, strict=True)]


if __name__ == "__main__":
    main()
