"""The house rules on who imports whom, read from the source itself."""

from __future__ import annotations

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
CORE = ROOT / "bpe_core"

# A module may import those of its own floor and of the floors below it.
FLOORS = (
    {
        *("types", "errors", "byte_alphabet", "unicode", "alphabet", "layout", "encoders"),
        *("token_table", "word_cache", "sections", "checks", "whole_files", "immutable", "extras"),
    },
    {
        *("pretokenizers", "corpora", "corpus", "counting", "streaming", "reference"),
        *("incremental", "tracing", "rivals", "encoding", "placement", "kernels", "engine"),
    },
    {"training", "runs", "tokenizer", "token_curves", "trie", "foreign"},
    {
        *("gpt2", "formats", "metrics", "alignment", "comparison", "frequencies", "languages"),
        *("adapters", "published", "boundaries", "vocabulary", "pair_lives", "rehearsal"),
    },
    {"cli", "cli_support", "explore", "__main__", "distributed", "lab", "lessons", "__init__"},
)
NOT_IN_CORE = {"streamlit", "plotly", "pandas", "ui", "pages", "tests"}


def python_files(*folders: Path) -> list[Path]:
    return sorted(path for folder in folders for path in folder.rglob("*.py"))


@cache
def imported_modules(path: Path) -> frozenset[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path}: a relative import"
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return frozenset(found)


def part_of(module: str) -> str:
    """bpe_core.formats.native -> formats."""
    return module.split(".")[1] if "." in module else "__init__"


def core_part(path: Path) -> str:
    return path.relative_to(CORE).parts[0].removesuffix(".py")


def floor_of(part: str) -> int:
    floors = [number for number, parts in enumerate(FLOORS) if part in parts]
    assert floors, f"bpe_core/{part} has no floor in this test: give it one"
    return floors[0]


def test_every_core_module_has_a_floor() -> None:
    for path in python_files(CORE):
        floor_of(core_part(path))


@pytest.mark.parametrize("path", python_files(CORE), ids=lambda path: path.stem)
def test_a_core_module_imports_nothing_from_a_floor_above(path: Path) -> None:
    own = floor_of(core_part(path))
    parts = {part_of(m) for m in imported_modules(path) if m.startswith("bpe_core.")}
    known = {part for part in parts if any(part in floor for floor in FLOORS)}
    above = {part for part in known if floor_of(part) > own}
    assert not above, f"{path.name} reaches up to {sorted(above)}"


@pytest.mark.parametrize("path", python_files(CORE), ids=lambda path: path.stem)
def test_the_core_knows_nothing_of_the_app(path: Path) -> None:
    assert not {m.split(".")[0] for m in imported_modules(path)} & NOT_IN_CORE


def test_the_reference_stands_alone() -> None:
    parts = {part_of(m) for m in imported_modules(CORE / "reference.py") if "bpe_core" in m}
    assert not parts & {"incremental", "kernels", "training", "tokenizer", "tracing", "layout"}


def test_pages_are_imported_by_nobody() -> None:
    for path in [ROOT / "app.py", *python_files(CORE, ROOT / "ui", ROOT / "pages")]:
        assert not any(m.split(".")[0] in ("pages", "app") for m in imported_modules(path)), path


def test_components_know_nothing_of_sessions_jobs_or_the_store() -> None:
    paths = python_files(ROOT / "ui" / "components")
    assert len(paths) > 5
    for path in paths:
        own = {m for m in imported_modules(path) if m.split(".")[0] == "ui"}
        allowed = ("ui.components", "ui.labels")
        assert not {m for m in own if m != "ui" and not m.startswith(allowed)}, path


def test_session_state_is_touched_in_one_place() -> None:
    touching = [
        path.relative_to(ROOT).as_posix()
        for path in [ROOT / "app.py", *python_files(ROOT / "ui", ROOT / "pages")]
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr == "session_state"
    ]
    assert set(touching) == {"ui/workspace.py"}


def test_no_pickle_anywhere() -> None:
    for path in [ROOT / "app.py", *python_files(CORE, ROOT / "ui", ROOT / "pages")]:
        assert not {"pickle", "shelve", "marshal"} & imported_modules(path), path


def test_importing_the_core_pulls_in_nothing_heavy() -> None:
    heavy = (
        "numpy",
        "regex",
        "streamlit",
        "plotly",
        "pandas",
        "numba",
        "pyarrow",
        "tokenizers",
        "tiktoken",
        "dask",
    )
    code = f"import sys, bpe_core; print([m for m in {heavy!r} if m in sys.modules])"
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"
