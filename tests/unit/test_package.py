"""The library can be built and run away from the app."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import bpe_core

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A built wheel, unpacked; built from a copy, since building writes into the folder."""
    source = tmp_path_factory.mktemp("source")
    for name in ("pyproject.toml", "README.md", "requirements.txt"):
        shutil.copy(ROOT / name, source)
    for name in ("bpe_core", "ui", "pages", "docs"):
        shutil.copytree(ROOT / name, source / name)
    code = "from setuptools.build_meta import build_wheel; print(build_wheel('.'))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=source, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    target = tmp_path_factory.mktemp("unpacked")
    with zipfile.ZipFile(source / done.stdout.splitlines()[-1]) as wheel:
        wheel.extractall(target)
    return target


def test_the_wheel_holds_all_of_the_library_and_nothing_else(unpacked: Path) -> None:
    def files(folder: Path) -> set[str]:
        paths = (path for path in (folder / "bpe_core").rglob("*") if path.is_file())
        return {p.relative_to(folder).as_posix() for p in paths if "__pycache__" not in p.parts}

    assert files(unpacked) == files(ROOT)
    assert {path.name for path in unpacked.iterdir()} == {
        "bpe_core",
        f"bpe_explorer-{bpe_core.__version__}.dist-info",
    }


def test_the_wheel_asks_for_what_the_requirements_name(unpacked: Path) -> None:
    (metadata,) = unpacked.glob("*.dist-info/METADATA")
    wanted = re.findall("^Requires-Dist: (.*)$", metadata.read_text(encoding="utf-8"), re.M)
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    assert wanted == [line for line in lines if line and not line.startswith("#")]


def test_the_library_runs_from_the_wheel(unpacked: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bpe_core", "encode", "gpt2"],
        cwd=unpacked,
        input="The quick brown fox",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == ["464", "2068", "7586", "21831"], done.stderr


def test_the_command_line_tells_the_version_of_the_library() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bpe_core", "--version"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split()[-1] == bpe_core.__version__


def test_the_map_in_the_readme_has_every_file_and_folder() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    of_house = readme[readme.index("## The map") : readme.index("Imports run one way")]
    for place in (ROOT, ROOT / "ui", ROOT / "bpe_core"):
        named = [path.name for path in place.glob("*.py") if not path.name.startswith("__")]
        named += [f"{path.parent.name}/" for path in place.glob("*/__init__.py")]
        assert not [name for name in named if not re.search(rf"(?<!\w){re.escape(name)}", of_house)]
