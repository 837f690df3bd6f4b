"""The store: checksums, newer formats, other users' entries, its place, and sweeps by a clock."""

from __future__ import annotations

import json
import logging
import os
import stat
import tempfile
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

import bpe_core as bpe
from bpe_core.files import Entry, Store
from bpe_core.files.store import MANIFEST
from bpe_core.formats import native, run_archive
from tests.new_process import run_python
from tests.power_cut import Disk
from tests.waiting import MAX_WAIT_SECONDS
from ui.storage import (
    DAYS_KEPT_UNOPENED,
    Trained,
    find_run_name,
    keep_sentences,
    keep_text,
    keeping,
    load_run,
    load_sentences,
    load_text,
    start_sweeping,
    store_run,
    upload_store,
)
from ui.storage.keeping import kept_folder, sweep_hourly, sweep_store

HUGS = bpe.Corpus.from_text("hug hugs pug pugs\n" * 40)
RUN = bpe.train(HUGS, bpe.TrainingConfig(260))
TABLE = [("a.csv", b"A,B\nx,y\n")]
ID = "a" * 32

pytestmark = pytest.mark.usefixtures("store")


def kept_run() -> str:
    return store_run(Trained("Hugs", RUN, HUGS, training=HUGS))


def flip_a_bit(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def test_each_file_of_a_run_has_a_checksum(store: Path) -> None:
    folder = store / kept_run()
    listed = json.loads((folder / MANIFEST).read_bytes())["files"]
    assert {*listed, MANIFEST} == {path.name for path in folder.iterdir()}
    assert len(listed) == 4
    assert Entry(folder).check()


@pytest.mark.parametrize(
    "keep", [kept_run, lambda: keep_text("hug"), lambda: keep_sentences(TABLE)]
)
def test_other_users_cannot_list_the_store(store: Path, keep: Callable[[], str]) -> None:
    keep()
    assert stat.S_IMODE(store.stat().st_mode) == 0o700
    # As earlier versions made it.
    store.chmod(0o755)
    keep()
    assert stat.S_IMODE(store.stat().st_mode) == 0o700


def test_a_server_closes_a_store_to_others_and_writes_files_for_itself_alone(store: Path) -> None:
    store.mkdir(mode=0o755)
    code = """
import asyncio
from app import app
from ui.serving.server import lifespan
async def start():
    async with lifespan(app):
        pass
asyncio.run(start())
from ui.storage.upload_store import keep_text
keep_text("hug")
"""
    run_python(code)
    found = {path: stat.S_IMODE(path.stat().st_mode) for path in (store, *store.rglob("*"))}
    assert len(found) > 3
    assert all(mode & 0o077 == 0 for mode in found.values()), found


def test_a_read_only_store_stays_read_only(store: Path) -> None:
    store.mkdir(mode=0o555)
    Store().keep_private()
    assert stat.S_IMODE(store.stat().st_mode) == 0o500


def test_a_missing_file_of_a_run_is_noticed(store: Path) -> None:
    run_id = kept_run()
    # Without the manifest, this is a run whose held-out text was never counted.
    (store / run_id / "held_out_tokens_after.npy").unlink()
    with pytest.raises(bpe.FormatError, match="damaged"):
        load_run(run_id)
    (store / run_id / MANIFEST).unlink()
    assert load_run(run_id).held_out_tokens_after is None


def test_altered_sentences_and_texts_are_noticed(store: Path) -> None:
    sentences, text = keep_sentences(TABLE), keep_text("hug")
    for upload_id in (sentences, text):
        flip_a_bit(store / f"upload-{upload_id}" / "0")
    with pytest.raises(bpe.FormatError, match="What is kept at this address is damaged"):
        load_sentences(sentences)
    with pytest.raises(bpe.FormatError, match="What is kept at this address is damaged"):
        load_text(text)


def test_entries_of_earlier_versions_have_no_manifest_and_are_read(store: Path) -> None:
    run_id, text_id = kept_run(), keep_text("hug")
    for folder in store.iterdir():
        (folder / MANIFEST).unlink()
        assert not Entry(folder).check()
    assert load_run(run_id).title == "Hugs"
    assert find_run_name(run_id).title == "Hugs"
    assert load_text(text_id) == "hug"
    assert keep_text("pug", instead_of=text_id) == text_id
    assert load_text(text_id) == "pug"


@pytest.mark.parametrize(
    "manifest",
    [
        b"",
        b"{}",
        b"[]",
        b"\xff",
        b'{"format": 5}',
        b"[" * 100_000,
        b'{"format": "bpe-explorer-entry", "version": "1", "files": {}}',
        b'{"format": "bpe-explorer-entry", "version": 1, "files": []}',
        b'{"format": "bpe-explorer-entry", "version": 1, "files": {"0": 5}}',
        b'{"format": "bpe-explorer-entry", "version": 1, "files": {"../../x": ["a"]}}',
    ],
)
def test_a_damaged_manifest_is_damage(store: Path, manifest: bytes) -> None:
    folder = store / f"upload-{keep_text('hug')}"
    (folder / MANIFEST).write_bytes(manifest)
    with pytest.raises(bpe.IntegrityError, match=r"manifest\.json .*damaged"):
        Entry(folder).check()


def make_newer(folder: Path) -> None:
    manifest = json.loads((folder / MANIFEST).read_bytes())
    (folder / MANIFEST).write_text(json.dumps({**manifest, "version": 2, "files": "unknown"}))


def test_an_entry_of_a_newer_version_is_called_newer(store: Path) -> None:
    run_id, text_id = kept_run(), keep_text("hug")
    for folder in store.iterdir():
        make_newer(folder)
    for load in (load_run, find_run_name):
        with pytest.raises(
            bpe.NewerFormatError, match=r"by a newer version .*\. Update BPE Explorer"
        ):
            load(run_id)
    with pytest.raises(bpe.NewerFormatError, match=r"by a newer version .*\. Update BPE Explorer"):
        load_text(text_id)
    other = keep_text("pug", instead_of=text_id)
    assert (other != text_id, load_text(other)) == (True, "pug")


def test_a_run_and_a_tokenizer_of_a_newer_format_are_called_newer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.npz"
    with monkeypatch.context() as patch:
        patch.setattr(run_archive, "_VERSION", 7)
        run_archive.save_run(RUN, path)
    with pytest.raises(
        bpe.NewerFormatError, match=r"run\.npz .* newer version .* version 7 .* Update"
    ):
        run_archive.load_run(path)
    saved = native.tokenizer_to_dict(RUN.tokenizer)
    with pytest.raises(bpe.NewerFormatError, match="newer version of BPE Explorer, as version 2"):
        native.tokenizer_from_dict({**saved, "version": 2})
    with pytest.raises(bpe.FormatError, match="Save the tokenizer again") as raised:
        native.tokenizer_from_dict({**saved, "version": "2"})
    assert not isinstance(raised.value, bpe.NewerFormatError)


def test_at_each_moment_of_replacing_a_text_it_is_whole(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = store / f"upload-{keep_text('old')}"
    replace, seen = os.replace, list[bytes]()

    def observed(source: Path, target: Path) -> None:
        seen.append(Entry(folder).read("0"))
        replace(source, target)
        seen.append(Entry(folder).read("0"))

    monkeypatch.setattr(os, "replace", observed)
    for text in (b"newer", b"newest"):
        Entry(folder).replace("0", text)
    assert seen == [*[b"old"] * 3, *[b"newer"] * 4, b"newest"]
    (folder / "0").write_bytes(b"old")
    with pytest.raises(bpe.IntegrityError, match="differs from its SHA-256"):
        Entry(folder).read("0")


def test_after_a_power_cut_a_replaced_text_and_its_checksum_are_on_the_disk(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = store / f"upload-{keep_text('old')}"
    disk = Disk(monkeypatch)
    Entry(folder).replace("0", b"new")
    assert disk.moved == [MANIFEST, "0"]
    assert disk.lost() == []


@contextmanager
def as_another_user(*folders: Path) -> Generator[None]:
    """Deny access to folders and to all below them, even if the tests run as root."""
    below = [path for folder in folders for path in (folder, *folder.rglob("*"))]
    modes = [path.stat().st_mode for path in below]
    for path in reversed(below):
        path.chmod(0)
    is_root = os.geteuid() == 0
    if is_root:
        os.seteuid(65_534)
    try:
        yield
    finally:
        if is_root:
            os.seteuid(0)
        for path, mode in zip(below, modes, strict=True):
            path.chmod(mode)


@pytest.fixture
def shared(monkeypatch: pytest.MonkeyPatch) -> Generator[Path]:
    """Return a store that every user can list, unlike pytest's own folders."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        folder = Path(name, "runs")
        monkeypatch.setenv("BPE_EXPLORER_RUNS", str(folder))
        yield folder


def test_another_users_entries_are_answered_with_a_message(
    shared: Path,
) -> None:
    run_id, text_id, sentences = kept_run(), keep_text("hug"), keep_sentences(TABLE)
    loads: list[Callable[[], object]] = [
        lambda: load_run(run_id),
        lambda: find_run_name(run_id),
        lambda: load_text(text_id),
        lambda: load_sentences(sentences),
    ]
    shared.chmod(0o755)
    with as_another_user(*shared.iterdir()):
        for load in loads:
            assert "belongs to another user of this computer" in (said := str(load_error(load)))
            assert str(shared) not in said
        listed = Store().entries()
        names = [entry.name for entry in listed]
        with pytest.raises(PermissionError):
            Entry(shared / names[0]).delete()
    assert sorted(names) == sorted(os.listdir(shared))
    assert [entry.is_permitted for entry in listed] == [False] * 3


def load_error(load: Callable[[], object]) -> bpe.NotPermittedError | None:
    """Return the NotPermittedError that `load` raises, or None if it raises nothing."""
    try:
        load()
    except bpe.NotPermittedError as error:
        return error
    return None


def test_another_users_store_is_answered_with_a_message(
    shared: Path, caplog: pytest.LogCaptureFixture
) -> None:
    run_id, text_id = kept_run(), keep_text("hug")
    loads: list[Callable[[], object]] = [
        lambda: load_run(run_id),
        lambda: find_run_name(run_id),
        lambda: load_text(text_id),
        Store().entries,
    ]
    with as_another_user(shared), caplog.at_level(logging.WARNING):
        assert all(load_error(load) is not None for load in loads)
        for instead_of in (None, text_id):
            with pytest.raises(bpe.NotKeptError, match="belongs to another user"):
                keep_text("pug", instead_of=instead_of)
        sweep_store()
    assert "Cannot sweep the store" in caplog.text
    assert load_text(text_id) == "hug"


def test_a_sweep_leaves_another_users_entries_and_goes_on(
    shared: Path, caplog: pytest.LogCaptureFixture
) -> None:
    foreign, own = keep_text("hug"), keep_text("pug")
    later = time.time() + (DAYS_KEPT_UNOPENED + 1) * 86_400
    shared.chmod(0o777)
    folder = shared / f"upload-{own}"
    if os.geteuid() == 0:
        for path in (folder, *folder.iterdir()):
            os.chown(path, 65_534, -1)
    with as_another_user(shared / f"upload-{foreign}"), caplog.at_level(logging.WARNING):
        sweep_store(now=later)
        assert os.listdir(shared) == [f"upload-{foreign}"]
    assert "1 entries" in caplog.text


def test_room_is_not_counted_for_an_entry_that_could_not_be_deleted(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = store / f"upload-{keep_text('hug' * 1_000)}"
    then = time.time() - 5 * 86_400
    os.utime(folder, (then, then))
    monkeypatch.setattr(keeping, "MAX_BYTES_KEPT", 1_000)

    def refuse(_: Entry) -> None:
        raise PermissionError

    monkeypatch.setattr(Entry, "delete", refuse)
    with pytest.raises(bpe.NotKeptError, match="fill"):
        keep_text("pug")


def test_a_deletion_that_is_cut_off_leaves_no_half_entry(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text_id = keep_text("hug")

    def stop(_: Path) -> None:
        raise OSError("the power is cut")

    with monkeypatch.context() as patch:
        patch.setattr("shutil.rmtree", stop)
        with pytest.raises(OSError, match="cut"):
            Entry(store / f"upload-{text_id}").delete()
    with pytest.raises(upload_store.UploadNotFoundError):
        load_text(text_id)
    sweep_store(now=time.time() + 2 * 86_400)
    assert os.listdir(store) == []


class StoppedError(Exception):
    """Raised to end an endless loop."""


def test_old_entries_are_deleted_while_the_server_runs(store: Path) -> None:
    text_id = keep_text("hug")
    start = (store / f"upload-{text_id}").stat().st_mtime
    clock = start
    last_day_seen = 0.0

    def wait(seconds: float) -> None:
        nonlocal clock, last_day_seen
        if store.joinpath(f"upload-{text_id}").exists():
            last_day_seen = (clock - start) / 86_400
        clock += seconds
        if clock - start > (DAYS_KEPT_UNOPENED + 2) * 86_400:
            raise StoppedError

    with pytest.raises(StoppedError):
        sweep_hourly(wait, lambda: clock)
    assert DAYS_KEPT_UNOPENED - 0.1 < last_day_seen <= DAYS_KEPT_UNOPENED
    assert os.listdir(store) == []


def test_a_sweep_that_fails_does_not_end_the_sweeping(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    n_sweeps = 0

    def fail(*, now: float) -> None:
        nonlocal n_sweeps
        n_sweeps += 1
        raise RuntimeError("unforeseen")

    def wait(_: float) -> None:
        if n_sweeps == 3:
            raise StoppedError

    monkeypatch.setattr(keeping, "sweep_store", fail)
    with pytest.raises(StoppedError):
        sweep_hourly(wait)
    assert n_sweeps == 3
    assert "unforeseen" in caplog.text


def test_sweeping_starts_at_once_in_a_thread_that_holds_nobody_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    swept = threading.Event()
    threads: list[threading.Thread] = []

    def sweep() -> None:
        threads.append(threading.current_thread())
        swept.set()

    monkeypatch.setattr(keeping, "sweep_hourly", sweep)
    start_sweeping()
    assert swept.wait(MAX_WAIT_SECONDS)
    assert threads[0].daemon


def test_a_store_is_where_the_variable_or_a_checkout_or_the_users_data_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/home/somebody")
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.delenv("BPE_EXPLORER_RUNS")
    monkeypatch.setattr("bpe_core.files.store._CHECKOUT", tmp_path)
    assert Store().folder == Path("/home/somebody/.local/share/bpe-explorer/runs")
    monkeypatch.setenv("XDG_DATA_HOME", "/data")
    assert Store().folder == Path("/data/bpe-explorer/runs")
    (tmp_path / ".runs").mkdir()
    assert Store().folder == tmp_path / ".runs"
    monkeypatch.setenv("BPE_EXPLORER_RUNS", "/elsewhere")
    assert Store().folder == Path("/elsewhere")


def test_without_platformdirs_the_error_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("BPE_EXPLORER_RUNS")
    monkeypatch.setattr("bpe_core.files.store._CHECKOUT", tmp_path)
    monkeypatch.setitem(__import__("sys").modules, "platformdirs", None)
    with pytest.raises(bpe.MissingExtraError, match=r"bpe-explorer\[formats\]"):
        Store()


def test_a_new_entry_is_whole_or_absent_if_its_writing_fails(store: Path) -> None:
    def fail() -> None:
        with kept_folder(ID) as folder:
            (folder / "0").write_bytes(b"hug")
            raise OSError(28, "No space left on device")

    with pytest.raises(bpe.NotKeptError, match="disk is full"):
        fail()
    assert os.listdir(store) == []
