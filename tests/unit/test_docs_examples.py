"""Every command and every example in the documentation runs, page by page, in the order shown.

A command that needs a server, a cluster or the network is parsed only: its options exist.
"""

from __future__ import annotations

import doctest
import json
import os
import re
import shlex
import tomllib
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from safetensors.numpy import save_file

from bpe_core.cli import main
from bpe_core.corpus import load_sample
from tests.commands import run
from tests.more_cases import first_of
from tests.new_process import ROOT
from tests.oracles import TOKENIZERS
from tests.unit.test_counts_file import duckdb

PAGES = ["README.md", "CONTRIBUTING.md", *(f"docs/{p.name}" for p in (ROOT / "docs").glob("*.md"))]
LARGE = {"docs/adapt-llama3.md"}  # docs/adapt.md walks the same commands on a small tokenizer
# A fence may be inside a list.
FENCE = re.compile(r"(?ms)^( *)```(\w*)[^\n]*\n(.*?)^\1```$")
SHOWN_ONLY = {"", "text", "toml", "yaml", "html"}
PROGRAMS_NOT_RUN = {"cd", "dask", "docker", "git", "uvx"}
COMMANDS_NOT_RUN = {"explore", "fetch"}
NEEDS_OTHERS = re.compile(r"hf:|s3://|--scheduler|--memory|\bID\b")


@dataclass(frozen=True)
class Block:
    """A block of code on a page."""

    line: int
    language: str
    code: str


def blocks(page: str) -> list[Block]:
    text = (ROOT / page).read_text("utf-8")
    return [
        Block(
            text.count("\n", 0, found.start()) + 2,
            found[2],
            re.sub(rf"(?m)^{found[1]}", "", found[3]),
        )
        for found in FENCE.finditer(text)
    ]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder for all pages, so that each tokenizer is read from its file once."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def folder(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder with the files that the pages name."""
    assert TOKENIZERS.is_dir(), f"{TOKENIZERS} is missing. Run make ranks."
    monkeypatch.setenv("BPE_EXPLORER_TOKENIZERS", str(TOKENIZERS))
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    monkeypatch.chdir(tmp_path)
    chapters = load_sample("alice").documents
    others = ("rotkaeppchen", "chaperon-rouge", "kong-yiji", "multilingual")
    texts = {
        "notes.txt": "".join(
            [*chapters, *(d for name in others for d in load_sample(name).documents)]
        ),
        "corpus/a.txt": chapters[1],
        "corpus/b.txt": chapters[2],
        "monday/a.txt": chapters[3],
        "tuesday/a.txt": chapters[4],
        "languages/en/a.txt": chapters[5],
        "languages/fr/a.txt": load_sample("chaperon-rouge").documents[0],
    }
    for name, text in texts.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text, encoding="utf-8")
    pq.write_table(pa.table({"text": ["hug hugs"]}), "corpus/c.parquet")
    Path("model").mkdir()
    rows = np.zeros((50_257, 2), np.float32)
    save_file({"wte.weight": rows}, "model/model.safetensors")
    return tmp_path


def run_command(line: str, targets: set[str], extras: set[str]) -> str:
    """Run one line of a shell, or check what it names; return what it prints."""
    *before, command = line.split(" | ")
    words = shlex.split(command, comments=True)
    stdin = "".join(" ".join(shlex.split(echo)[1:]) + "\n" for echo in before).encode()
    match words:
        case []:
            pass
        case ["make", target, *_]:
            assert target in targets, target
        case ["source", ".venv/bin/activate"]:
            assert "run" in targets
        case ["pip", "install", wanted]:
            found = re.fullmatch(r"(?:\.|bpe-explorer)(?:\[([\w,]+)\])?", wanted)
            assert found, wanted
            assert extras.issuperset((found[1] or "all").split(",")), wanted
        case ["bpe", *arguments]:
            if arguments[0] in COMMANDS_NOT_RUN or NEEDS_OTHERS.search(command):
                parse(main, "bpe", arguments)
            else:
                result = run(*arguments, stdin=stdin)
                assert result.exit_code == 0, result.output
                return result.output
        case ["python" | "python3", "-m", module, *_]:
            assert find_spec(module), module
        case ["python", script, *_] | [script, *_] if script.startswith("scripts/"):
            assert (ROOT / script).exists(), script
        case [program, *_]:
            assert program in PROGRAMS_NOT_RUN, f"Nothing is known of {program!r}."
    return ""


def parse(command: click.Command, name: str, arguments: list[str]) -> None:
    """Check a command's options and arguments without running it."""
    context = command.make_context(name, list(arguments))
    if isinstance(command, click.Group):
        subname, subcommand, rest = command.resolve_command(context, arguments)
        assert subname
        assert subcommand
        parse(subcommand, subname, rest)


def lines(code: str) -> list[str]:
    return re.sub(r"\\\n\s*", "", code).splitlines()


def run_console(code: str, targets: set[str], extras: set[str]) -> None:
    """Run commands after `$ `, and compare what they print; `...` stands for anything."""
    parts = re.split(r"(?m)^\$ ", re.sub(r"\\\n\s*", "", code))
    assert parts[0] == "", "A block of the console begins with a command."
    for part in parts[1:]:
        command, _, expected = part.partition("\n")
        printed = run_command(command, targets, extras)
        checker = doctest.OutputChecker()
        if expected and not checker.check_output(expected, printed, doctest.ELLIPSIS):
            raise AssertionError(f"{command}\nexpected:\n{expected}\nprinted:\n{printed}")


def run_doctest(block: Block, page: str, names: dict[str, Any]) -> None:
    test = doctest.DocTestParser().get_doctest(block.code, names, page, page, block.line - 1)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    printed: list[str] = []
    # The names that a block defines are there in the next one.
    runner.run(test, out=printed.append, clear_globs=False)
    names.update(test.globs)
    assert runner.summarize(verbose=False).failed == 0, "".join(printed)


@pytest.mark.slow
@pytest.mark.parametrize("page", first_of(PAGES, *sorted({*PAGES} - LARGE)))
def test_the_examples_of_a_page_run_in_order(page: str, folder: Path) -> None:
    targets = set(re.findall(r"(?m)^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8")))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = set(project["optional-dependencies"])
    names: dict[str, Any] = {"__name__": page}
    for block in blocks(page):
        match block.language:
            case "python" if ">>>" in block.code:
                run_doctest(block, page, names)
            case "python":
                exec(compile("\n" * (block.line - 1) + block.code, page, "exec"), names)
            case "sh":
                for line in lines(block.code):
                    run_command(line, targets, extras)
            case "console":
                run_console(block.code, targets, extras)
            case "sql":
                duckdb(folder, block.code)
            case "json":
                for line in block.code.splitlines():
                    json.loads(line)
            case language:
                assert language in SHOWN_ONLY, f"{page}:{block.line}: {language}"


def test_a_wrong_example_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AssertionError, match="printed:\nbpe, version"):
        run_console("$ bpe --version\nnothing\n", set(), set())
    with pytest.raises(AssertionError, match="is neither a file nor the name"):
        run_command("bpe encode missing.json", set(), set())
    with pytest.raises(AssertionError, match="Nothing is known of 'rm'"):
        run_command("rm missing.json", set(), set())
    with pytest.raises(click.NoSuchOption):
        run_command("bpe fetch --never", set(), set())
    with pytest.raises(AssertionError, match="Expected:"):
        run_doctest(Block(1, "python", ">>> 1 + 1\n3\n"), "page", {})
    assert os.listdir(tmp_path) == []
