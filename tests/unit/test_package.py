"""The wheel has the library and the app, and works where only its requirements are installed."""

from __future__ import annotations

import os
import re
import tarfile
import tomllib
import zipfile
from collections.abc import Generator
from contextlib import contextmanager
from email.parser import Parser
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import bpe_core
from scripts import prebuilt_wheel
from tests.new_process import ROOT
from tests.packaging import CHECK, build, copy_source, install
from tests.packaging import run_installed as run

pytestmark = pytest.mark.slow

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_source(tmp_path_factory.mktemp("source"))


@pytest.fixture(scope="module")
def wheel(source: Path) -> Path:
    return build("wheel", source)


@contextmanager
def old_kernels(source: Path) -> Generator[None]:
    """Leave kernels next to the sources, as a build of an earlier wheel does."""
    left = source / "bpe_core" / "kernels" / "kernels-old.so"
    left.touch()
    yield
    left.unlink()


@pytest.fixture(scope="module")
def sdist(source: Path) -> Path:
    with old_kernels(source):
        return build("sdist", source)


def contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def files_below(*folders: str) -> set[str]:
    paths = (path for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file())
    return {p.relative_to(ROOT).as_posix() for p in paths if "__pycache__" not in p.parts}


def test_the_wheel_has_one_folder_each_for_the_library_and_the_app(wheel: Path) -> None:
    found = {name for name in contents(wheel) if ".dist-info/" not in name}
    app = {"app.py", ".streamlit/config.toml", *files_below("pages", "ui")}
    assert found == files_below("bpe_core", "bpe_scale") | {f"bpe_explorer/{name}" for name in app}
    assert (ROOT / "app.py").read_bytes() == contents(wheel)["bpe_explorer/app.py"]


def test_the_source_distribution_builds_the_same_wheel(
    sdist: Path, wheel: Path, tmp_path: Path
) -> None:
    with tarfile.open(sdist) as packed:
        packed.extractall(tmp_path, filter="data")
    again = build("wheel", tmp_path / sdist.name.removesuffix(".tar.gz"))
    assert contents(again) == contents(wheel)


def test_a_wheel_without_kernels_holds_no_old_ones(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prebuilt_wheel, "ROOT", source)
    with old_kernels(source):
        wheel = prebuilt_wheel.build_wheel(tmp_path, with_kernels=False)
    assert wheel.name.endswith("-py3-none-any.whl")


def test_the_source_distribution_has_the_complete_source(sdist: Path, tmp_path: Path) -> None:
    with tarfile.open(sdist) as packed:
        names = {name.partition("/")[2] for name in packed.getnames()}
    source = copy_source(tmp_path)
    files = {p.relative_to(source).as_posix() for p in source.rglob("*") if p.is_file()}
    assert len(files) > 400
    assert not files - names


def test_the_wheel_requires_only_what_the_library_needs(wheel: Path) -> None:
    metadata = Parser().parsestr(
        next(data for name, data in contents(wheel).items() if name.endswith("/METADATA")).decode()
    )
    wanted = map(Requirement, metadata.get_all("Requires-Dist", []))
    plain = {requirement.name for requirement in wanted if requirement.marker is None}
    assert plain == {"numpy", "regex", "click"}
    assert metadata.get_all("Provides-Extra") == list(EXTRAS)
    assert metadata["Version"] == bpe_core.__version__
    assert metadata.get_all("License-File") == ["LICENSE", "NOTICE.md"]
    assert metadata.get_all("Project-URL") is None
    entries = next(data for name, data in contents(wheel).items() if "entry_points" in name)
    assert b"bpe = bpe_core.__main__:main" in entries


def test_the_extra_all_includes_every_other() -> None:
    asked = {extra for line in EXTRAS["all"] for extra in Requirement(line).extras}
    of_app = {extra for line in EXTRAS["app"] for extra in Requirement(line).extras}
    assert asked | of_app == EXTRAS.keys() - {"all"}


def test_every_shipped_data_file_is_in_the_notices() -> None:
    notices = (ROOT / "NOTICE.md").read_text("utf-8")
    shipped = files_below("bpe_core/data", "ui/data")
    assert len(shipped) > 5
    assert not [name for name in shipped if name.rpartition("/")[2] not in notices]


def test_no_font_is_shipped_or_embedded() -> None:
    names = files_below("bpe_core", "bpe_scale", "ui", "pages", "docs")
    assert not [name for name in names if re.search(r"\.(woff2?|[ot]tf|eot)$", name)]
    texts = [ROOT / name for name in names if name.endswith((".py", ".js", ".css", ".html"))]
    assert len(texts) > 100
    assert not [path for path in texts if "@font-face" in path.read_text("utf-8")]


def test_the_map_of_the_code_lists_exactly_the_existing_files_and_folders() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    tree = page[page.index("## The map") : page.index("Imports only point down")]
    in_tree = set(re.findall(r"(?<![\w/])[a-z_]+(?:/|\.py)", tree.split("```")[1]))
    there: set[str] = set()
    for place in (ROOT, ROOT / "ui", ROOT / "bpe_core", ROOT / "bpe_scale"):
        there |= {path.name for path in place.glob("*.py") if not path.name.startswith("__")}
        there |= {f"{path.parent.name}/" for path in place.glob("*/__init__.py")}
    not_imported = {"pages/", "scripts/", "typings/"}
    assert in_tree == there | not_imported


# The wheel, installed in a separate environment


@pytest.fixture(scope="module")
def bare(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the Python executable of an environment with only the library."""
    return install(wheel, tmp_path_factory.mktemp("bare") / "venv")


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
from bpe_core.corpus.sample_texts import samples, load_sample
print(sum(load_sample(sample.id).n_bytes > 0 for sample in samples()) == len(samples()))
"""


def test_the_library_trains_saves_and_loads_without_extras(bare: Path, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hug hugs hugging and hugged " * 20)
    assert run(bare, "-c", LIBRARY, cwd=tmp_path) == "hugs and hugging 11\nTrue\n"


def test_the_command_is_on_the_path_and_works_without_extras(bare: Path, tmp_path: Path) -> None:
    path = f"{bare.parent}{os.pathsep}{os.environ['PATH']}"
    (tmp_path / "notes.txt").write_text("hug hugs hugging and hugged " * 20)
    options = ("--vocab-size", "270", "--out", "mine.json")
    run("bpe", "train", "notes.txt", *options, cwd=tmp_path, PATH=path)
    ids = run("bpe", "encode", "mine.json", cwd=tmp_path, stdin="hugs", PATH=path)
    assert run("bpe", "decode", "mine.json", cwd=tmp_path, stdin=ids, PATH=path) == "hugs"
    assert run("bpe", "--help", cwd=tmp_path, PATH=path).startswith("Usage: bpe ")


def test_a_wheel_without_kernels_works_in_plain_python(bare: Path, tmp_path: Path) -> None:
    printed = run(bare, CHECK, "--python", cwd=tmp_path)
    assert "plain Python, training and encoding, files, command: all as expected" in printed
