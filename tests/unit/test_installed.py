"""The wheel, installed in a separate environment with only its requirements."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from bpe_core.kernels.compiling.load import portable_kind
from tests.new_process import ROOT
from tests.packaging import build, copy_source, install


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("wheel", copy_source(tmp_path_factory.mktemp("source")))


@pytest.fixture(scope="module")
def bare(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the Python executable of an environment with only the library."""
    return install(wheel, tmp_path_factory.mktemp("bare") / "venv")


def run(*command: str | Path, cwd: Path, stdin: str = "", **environment: str) -> str:
    """Return a program's output, without environment variables that point to this checkout."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        command,
        cwd=cwd,
        env={**kept, **environment},
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


LIBRARY = """
from importlib.util import find_spec
import bpe_core as bpe
assert "venv" in bpe.__file__, bpe.__file__
absent = ("streamlit", "plotly", "pandas", "tokenizers", "tiktoken", "pyarrow", "dask", "ui", "app")
assert not [name for name in absent if find_spec(name)]
corpus = bpe.read_corpus(["notes.txt"])
run = bpe.train(corpus, bpe.TrainingConfig(300, pretokenizer="regex:[a-z]+"))
bpe.save(run.tokenizer, "mine.bpe.json")
bpe.save(run.tokenizer.truncated(9), "short.tiktoken")
bpe.save(run.tokenizer, "tokenizer.json")
loaded = bpe.load("mine.bpe.json")
assert loaded == run.tokenizer
print(loaded.decode(loaded.encode("hugs and hugging")), len(run.merges))
assert 'data-part="merges"' in run.player()._repr_html_()
from bpe_core.corpus.samples import samples, load_sample
print(sum(load_sample(sample.id).n_bytes > 0 for sample in samples()) == len(samples()))
"""


@pytest.mark.slow
def test_the_library_trains_saves_and_loads_without_extras(bare: Path, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hug hugs hugging and hugged " * 20)
    assert run(bare, "-c", LIBRARY, cwd=tmp_path) == "hugs and hugging 11\nTrue\n"


@pytest.mark.slow
def test_the_command_is_on_the_path_and_works_without_extras(bare: Path, tmp_path: Path) -> None:
    path = f"{bare.parent}{os.pathsep}{os.environ['PATH']}"
    (tmp_path / "notes.txt").write_text("hug hugs hugging and hugged " * 20)
    options = ("--vocab-size", "270", "--out", "mine.json")
    run("bpe", "train", "notes.txt", *options, cwd=tmp_path, PATH=path)
    ids = run("bpe", "encode", "mine.json", cwd=tmp_path, stdin="hugs", PATH=path)
    assert run("bpe", "decode", "mine.json", cwd=tmp_path, stdin=ids, PATH=path) == "hugs"
    assert run("bpe", "--help", cwd=tmp_path, PATH=path).startswith("Usage: bpe ")


CHECK = ROOT / "scripts" / "check_installed.py"


@pytest.mark.slow
def test_a_wheel_without_kernels_works_in_plain_python(bare: Path, tmp_path: Path) -> None:
    printed = run(bare, CHECK, "--python", cwd=tmp_path)
    assert "plain Python, training and encoding, files, command: all as expected" in printed


@pytest.mark.slow
def test_a_wheel_with_the_library_in_it_runs_kernels_without_numba(tmp_path: Path) -> None:
    # The library is compiled for such processors, and cannot be run on another.
    assert portable_kind() is not None, "tests run on processors that wheels have kernels for"
    built = run(sys.executable, "-m", "scripts.prebuilt_wheel", cwd=ROOT)
    wheel = Path(built.splitlines()[-1])
    assert wheel.name.endswith(f"-py3-none-linux_{platform.machine()}.whl")
    python = install(wheel, tmp_path / "venv")
    wheel.unlink()
    home = {"HOME": str(tmp_path), "XDG_CACHE_HOME": "", "NUMBA_CACHE_DIR": ""}
    printed = run(python, CHECK, "--kernels", cwd=tmp_path, **home)
    assert ": kernels, training and encoding, files, command: all as expected" in printed
