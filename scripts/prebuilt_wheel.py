"""Build a wheel that holds the compiled kernels: `python -m scripts.prebuilt_wheel`.

Such a wheel needs no Numba and compiles nothing. It is for the system that it is built on: Linux on
x86-64 processors with AVX2 or on ARM, or macOS on ARM. With `--kernels` no wheel is built; the
kernels are put next to the sources, where a tool such as cibuildwheel builds it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from bpe_core.kernels import (
    KERNELS,
    SHARED,
    compile_kernels,
    compiled_name,
    portable_kind,
    processor,
)

ROOT = Path(__file__).parents[1]
_NEEDED = (
    "bpe_core",
    "bpe_scale",
    "ui",
    "pages",
    ".streamlit",
    "app.py",
    "setup.py",
    "pyproject.toml",
    "README.md",
    "LICENSE",
    "NOTICE.md",
)
_BUILD = """
from setuptools.build_meta import build_wheel
print(build_wheel("dist"))
"""


def main(arguments: list[str]) -> None:
    """Build the wheel into dist/ and print its path, or put the kernels next to the sources."""
    if arguments == ["--kernels"]:
        put_kernels(ROOT)
    else:
        print(build_wheel(ROOT / "dist", with_kernels=True))


def build_wheel(to: Path, *, with_kernels: bool) -> Path:
    """Build a wheel into a folder, and return its path."""
    with TemporaryDirectory() as folder:
        source = Path(folder, "source")
        _copy_source(source)
        if with_kernels:
            put_kernels(source)
        command = [sys.executable, "-c", _BUILD]
        done = subprocess.run(command, cwd=source, check=True, stdout=subprocess.PIPE, text=True)
        name = done.stdout.splitlines()[-1]
        to.mkdir(exist_ok=True)
        shutil.copyfile(source / "dist" / name, to / name)
    return to / name


def put_kernels(source: Path) -> None:
    """Compile a portable library, and put it next to the kernels of a copy of the sources."""
    with TemporaryDirectory() as folder:
        os.environ |= {"BPE_KERNELS": "portable", "NUMBA_CACHE_DIR": folder}
        compile_kernels()
        library = Path(folder, f"{compiled_name()}{SHARED}")
        if processor() != portable_kind() or not library.exists():
            sys.exit(
                "Expected Linux or macOS with a C compiler named cc, on an ARM or x86-64 processor "
                "with AVX2. Elsewhere, build a wheel without kernels: pip wheel --no-deps ."
            )
        shutil.copyfile(library, source / KERNELS.relative_to(ROOT) / library.name)


def _copy_source(to: Path) -> None:
    to.mkdir()
    ignored = shutil.ignore_patterns("__pycache__", f"kernels-*{SHARED}")
    for name in _NEEDED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, to / name, ignore=ignored)
        else:
            shutil.copyfile(ROOT / name, to / name)


if __name__ == "__main__":
    main(sys.argv[1:])
