"""A pipe or a device in the place of a stored file blocks neither commands nor the server."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from click.testing import CliRunner

import bpe_core as bpe
from bpe_core.cli import commands
from bpe_core.corpus.corpus import CORPUS_FILES
from bpe_core.files import locked, read_regular
from bpe_core.files.store import MANIFEST
from bpe_core.files.whole_files import NotRegularError
from bpe_core.formats import load_run as load_archive
from tests.unit.test_store import HUGS, RUN
from ui.storage import (
    Trained,
    find_run_name,
    keep_text,
    load_run,
    load_text,
    read_base,
    store_run,
)
from ui.storage.keeping import sweep_store

OF_RUN = ("entry.json.gz", "held_out_tokens_after.npy", "name.json", "run.npz")

pytestmark = pytest.mark.usefixtures("store")


def to_pipe(path: Path) -> None:
    path.unlink(missing_ok=True)
    os.mkfifo(path)


def to_device(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.symlink_to("/dev/zero")


def to_folder(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.mkdir()


IRREGULAR = pytest.mark.parametrize("put", [to_pipe, to_device, to_folder])


@IRREGULAR
def test_what_is_not_a_file_is_an_error_at_once(put: object, tmp_path: Path) -> None:
    assert callable(put)
    put(tmp_path / "a")
    with pytest.raises(NotRegularError):
        read_regular(tmp_path / "a")
    with pytest.raises(FileNotFoundError):
        read_regular(tmp_path / "b")


@pytest.mark.parametrize(
    ("put", "name", "has_manifest"),
    [
        *((to_pipe, name, True) for name in (*OF_RUN, MANIFEST)),
        *((to_pipe, name, False) for name in OF_RUN),
        (to_device, "run.npz", True),
        (to_folder, "run.npz", True),
        (to_folder, MANIFEST, False),
    ],
)
def test_commands_and_pages_go_on(put: object, name: str, has_manifest: bool, store: Path) -> None:
    assert callable(put)
    id = store_run(Trained("Hugs", RUN, HUGS, training=HUGS))
    text = keep_text("hug")
    if not has_manifest:
        (store / id / MANIFEST).unlink()
    put(store / id / name)

    def run(*arguments: str) -> tuple[int, str]:
        result = CliRunner().invoke(commands.main, ["store", *arguments])
        return result.exit_code, result.stdout

    exit_code, listed = run("list")
    assert (exit_code, len(listed.splitlines())) == (0, 2)
    exit_code, found = run("verify")
    if has_manifest or name == MANIFEST:
        assert exit_code == 1
        assert f"{name} of {id} is not a regular file." in found
        assert run("export", id, "--out", str(store / "a.zip"))[0] == 1
    run("export", id, "--out", str(store / "a.json"), "--format", "native")
    for read in (load_run, find_run_name):
        try:
            read(id)
        except bpe.BpeError:
            continue
    sweep_store()
    assert load_text(text) == "hug"
    assert run("remove", id)[0] == 0
    assert not (store / id).exists()


def test_a_text_whose_file_is_not_one_is_kept_as_a_new_one(store: Path) -> None:
    text = keep_text("hug")
    to_pipe(store / f"upload-{text}" / "0")
    with pytest.raises(bpe.FormatError, match="damaged"):
        load_text(text)
    other = keep_text("pug", instead_of=text)
    assert other != text
    assert load_text(other) == "pug"


@pytest.mark.parametrize("name", CORPUS_FILES)
def test_a_corpus_on_disk_is_damaged(name: str, tmp_path: Path) -> None:
    # The corpus is empty, because a pipe reports a size of 0 too.
    bpe.Corpus((), ()).save(tmp_path)
    to_pipe(tmp_path / name)
    with pytest.raises(bpe.FormatError):
        bpe.Corpus.open(tmp_path)


def test_a_tokenizer_to_work_on_is_not_read_from_a_pipe(tmp_path: Path) -> None:
    to_pipe(tmp_path / "base.bpe.json")
    with pytest.raises(bpe.FormatError):
        read_base(tmp_path)


def test_a_lock_that_is_a_pipe_is_an_error(tmp_path: Path) -> None:
    to_pipe(tmp_path / "lock")
    with pytest.raises(OSError, match="No such device"):
        locked(tmp_path / "lock").__enter__()


def test_a_run_is_not_read_from_a_pipe(tmp_path: Path) -> None:
    to_pipe(tmp_path / "run.npz")
    with pytest.raises(bpe.FormatError, match="not a saved run"):
        load_archive(tmp_path / "run.npz")
