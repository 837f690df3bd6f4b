"""Measure what an installation takes, and write the tables in docs/install.md.

`python -m scripts.measure_install` measures the wheels in dist/, with kernels and without, and the
packages that this environment has for each extra. `scripts/release/build.sh` and `python -m
scripts.prebuilt_wheel` build the wheels.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator, Sequence
from importlib.metadata import Distribution, distribution
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from packaging.requirements import Requirement

ROOT: Final = Path(__file__).parents[1]
DOCUMENT: Final = ROOT / "docs" / "install.md"
BEGIN, END = "<!-- Written by scripts/measure_install.py -->\n", "<!-- The end of the tables -->\n"
NAME: Final = "bpe-explorer"
_RUNS: Final = 5
_TRAINED: Final = """
import bpe_core as bpe
text = "".join(f"The {n} tokens of text {n * n % 997} are not tokens. " for n in range(26_000))
open("text.txt", "w", encoding="utf-8").write(text[:1_000_000])
bpe.save(bpe.train([text[:200_000]], vocab_size=1_000).tokenizer, "mine.bpe.json")
"""
# Prints three times in milliseconds.
_TIMED: Final = """
import json, time
times = [time.perf_counter()]
import bpe_core as bpe
times.append(time.perf_counter())
tokenizer = bpe.load("mine.bpe.json")
tokenizer.encode("This is not a token.")
times.append(time.perf_counter())
tokenizer.encode_to_numpy(open("text.txt", encoding="utf-8").read())
times.append(time.perf_counter())
print(json.dumps([1000 * (b - a) for a, b in zip(times, times[1:])]))
"""


def main() -> None:
    """Measure everything and write the tables."""
    (pure,) = (ROOT / "dist").glob("*-py3-none-any.whl")
    (kernels,) = (path for path in (ROOT / "dist").glob("*.whl") if path != pure)
    tables = "\n".join([*_sizes(pure), "", *_times({"with": kernels, "without": pure}), ""])
    before, _, rest = DOCUMENT.read_text("utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    DOCUMENT.write_text(f"{before}{BEGIN}\n{tables}\n{END}{after}", "utf-8")
    print(tables)


def _sizes(wheel: Path) -> Iterator[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras: dict[str, list[str]] = project["optional-dependencies"]
    with zipfile.ZipFile(wheel) as archive:
        own = sum(file.file_size for file in archive.infolist())
    yield "| installed | packages | MB |"
    yield "|---|--:|--:|"
    for extra in ("", *extras):
        lines = [*project["dependencies"], *extras.get(extra, ())]
        found = {each.name: each for each in _needed(lines, extras)}
        size = own + sum(map(_size, found.values()))
        name = f"{NAME}[{extra}]" if extra else NAME
        yield f"| `{name}` | {len(found) + 1} | {size / 1_000_000:,.0f} |"


def _needed(lines: Sequence[str], extras: dict[str, list[str]]) -> Iterator[Distribution]:
    """Yield the packages that requirements name, and those that they need; some more than once."""
    asked = [(Requirement(line), "") for line in lines]
    seen: set[tuple[str, str]] = set()
    while asked:
        wanted, of = asked.pop()
        if wanted.marker is not None and not wanted.marker.evaluate({"extra": of}):
            continue
        if wanted.name == NAME:
            asked += ((Requirement(line), "") for each in wanted.extras for line in extras[each])
            continue
        found = distribution(wanted.name)
        yield found
        for extra in {"", *wanted.extras}:
            if (found.name, extra) not in seen:
                seen.add((found.name, extra))
                asked += ((Requirement(line), extra) for line in found.requires or ())


def _size(package: Distribution) -> int:
    paths = (Path(str(package.locate_file(file))) for file in package.files or ())
    return sum(path.stat().st_size for path in paths if path.is_file())


def _times(wheels: dict[str, Path]) -> Iterator[str]:
    yield "| wheel | import | open a tokenizer and encode a sentence | encode 1 MB |"
    yield "|---|--:|--:|--:|"
    for name, wheel in wheels.items():
        with TemporaryDirectory() as folder:
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(folder)
            # No kernels but those in the wheel, and no compiler.
            environment = {**os.environ, "NUMBA_CACHE_DIR": str(Path(folder, "empty"))}
            if name == "without":
                environment["NUMBA_DISABLE_JIT"] = "1"
            _run(_TRAINED, folder, environment)
            runs = [json.loads(_run(_TIMED, folder, environment)) for _ in range(_RUNS)]
        shortest = (min(column) for column in zip(*runs, strict=True))
        yield f"| {name} kernels | {' | '.join(f'{time:,.0f} ms' for time in shortest)} |"


def _run(code: str, folder: str, environment: dict[str, str]) -> bytes:
    command = [sys.executable, "-c", code]
    return subprocess.run(
        command, cwd=folder, env=environment, check=True, stdout=subprocess.PIPE
    ).stdout


if __name__ == "__main__":
    main()
