"""Build a wheel with the library of kernels in it: `python -m scripts.prebuilt_wheel`.

Such a wheel needs no Numba, and compiles nothing. It suits Linux on x86-64 processors with AVX2; on
other processors, plain Python does the work unless the extra `numba` is installed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from bpe_core.kernels.compiling.choose import compile_kernels
from bpe_core.kernels.compiling.load import KERNELS, SHARED, X86_64_V3, compiled_name, processor

ROOT = Path(__file__).parents[1]
_NEEDED = (
    "bpe_core",
    "ui",
    "pages",
    ".streamlit",
    "app.py",
    "serve.py",
    "setup.py",
    "pyproject.toml",
    "README.md",
    "LICENSE",
    "NOTICE.md",
)
_BUILD = """
from setuptools.build_meta import build_wheel
print(build_wheel("dist", {"--build-option": ["--plat-name", "linux_x86_64"]}))
"""


def main() -> None:
    """Build the wheel into dist/, and print its path."""
    with TemporaryDirectory() as folder:
        # Next to the sources, a portable library would keep their own from being built.
        os.environ |= {"BPE_KERNELS": "portable", "NUMBA_CACHE_DIR": folder}
        compile_kernels()
        library = Path(folder, f"{compiled_name()}{SHARED}")
        if processor() != X86_64_V3 or not library.exists():
            sys.exit(
                "Such a wheel is built on Linux, on x86-64 with AVX2, with a C compiler as cc."
            )
        source = Path(folder, "source")
        _copy_source(source)
        shutil.copyfile(library, source / KERNELS.relative_to(ROOT) / library.name)
        _make_numba_an_extra(source / "pyproject.toml")
        command = [sys.executable, "-c", _BUILD]
        done = subprocess.run(command, cwd=source, check=True, stdout=subprocess.PIPE, text=True)
        name = done.stdout.splitlines()[-1]
        (ROOT / "dist").mkdir(exist_ok=True)
        shutil.copyfile(source / "dist" / name, ROOT / "dist" / name)
    print(ROOT / "dist" / name)


def _copy_source(to: Path) -> None:
    to.mkdir()
    ignored = shutil.ignore_patterns("__pycache__")
    for name in _NEEDED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, to / name, ignore=ignored)
        else:
            shutil.copyfile(ROOT / name, to / name)


def _make_numba_an_extra(project: Path) -> None:
    text = project.read_text(encoding="utf-8")
    (line,) = (line for line in text.splitlines() if line.strip().startswith('"numba'))
    heading = "[project.optional-dependencies]\n"
    text = text.replace(line + "\n", "", 1)
    text = text.replace(heading, f"{heading}numba = [{line.strip().rstrip(',')}]\n", 1)
    project.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
