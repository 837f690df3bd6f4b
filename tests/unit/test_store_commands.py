"""`bpe store`: list, verify, remove and export entries."""

from __future__ import annotations

import io
import json
import os
import re
import zipfile
from functools import partial
from pathlib import Path

import pytest

import bpe_core as bpe
from bpe_core.files.store import MANIFEST
from tests import commands
from tests.unit.test_store import HUGS, RUN, TABLE, as_another_user, flip_a_bit
from ui.storage import Trained, keep_sentences, keep_text, store_run

HOSTILE = "\x1b[2J\x9b31m\u202eevil\u2066\r\n\ud83e"
UNKNOWN = "0" * 32

pytestmark = pytest.mark.usefixtures("store")


run, succeed = partial(commands.run, "store"), partial(commands.succeed, "store")


def kept_run(title: str = "Hugs") -> str:
    return store_run(Trained(title, RUN, HUGS))


def test_list_shows_id_size_time_kind_and_title_the_latest_first(store: Path) -> None:
    run_id, sentences, text = kept_run(), keep_sentences(TABLE), keep_text("x" * 2_000_000)
    for age, name in enumerate((f"upload-{text}", run_id, f"upload-{sentences}")):
        os.utime(store / name, (86_400 * (10 - age), 86_400 * (10 - age)))
    result = succeed("list")
    lines = [re.split("  +", line) for line in result.stdout.splitlines()]
    assert [line[0] for line in lines] == [f"upload-{text}", run_id, f"upload-{sentences}"]
    assert lines[0][1:] == ["2.00 MB", "1970-01-11 00:00", "text"]
    assert lines[1][2:] == ["1970-01-10 00:00", "run", "Hugs"]
    assert lines[2][2:] == ["1970-01-09 00:00", "sentences", "a.csv"]
    assert re.fullmatch(r"3 entries, 2\.\d\d MB, in .*runs\n", result.stderr)


def test_an_empty_or_missing_store_has_no_entries(store: Path) -> None:
    assert run("list").stdout == ""
    assert run("list").stderr == f"0 entries, 0.00 MB, in {store}\n"
    result = run("verify")
    assert (result.exit_code, result.stderr) == (0, "0 whole, 0 damaged or unreadable\n")
    assert not store.exists()


def test_a_title_cannot_control_the_terminal() -> None:
    kept_run(HOSTILE.replace("\ud83e", ""))
    keep_sentences([(f"{HOSTILE}.csv", TABLE[0][1])])
    shown = run("list").stdout
    assert len(shown.splitlines()) == 2
    assert shown.count("U+001B[2JU+009B31mU+202EevilU+2066U+000DU+000A") == 2
    assert "U+D83E.csv" in shown
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", shown)


def test_entries_whose_files_are_damaged_are_listed_too(store: Path) -> None:
    run_id, text = kept_run(), keep_text("hug")
    (store / run_id / "name.json").write_bytes(b"[")
    (store / f"upload-{text}" / "details.json").write_bytes(b"[]")
    result = succeed("list")
    assert len(result.stdout.splitlines()) == 2
    assert "unknown" in result.stdout


def test_verify_names_what_is_damaged_and_exits_with_1(store: Path) -> None:
    run_id, text, older = kept_run(), keep_text("hug"), keep_text("pug")
    (store / f"upload-{older}" / MANIFEST).unlink()
    result = run("verify")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == (
        "2 whole, 0 damaged or unreadable, 1 of an earlier version without checksums\n"
    )
    flip_a_bit(store / run_id / "run.npz")
    (store / f"upload-{text}" / "0").unlink()
    result = run("verify")
    assert result.exit_code == 1
    assert f"{run_id}: run.npz of {run_id} differs from its SHA-256.\n" in result.stdout
    assert f"upload-{text}: 0 is missing from upload-{text}.\n" in result.stdout
    assert result.stderr.startswith("0 whole, 2 damaged")
    succeed("verify", f"upload-{older}")
    assert run("verify", run_id).exit_code == 1


def test_remove_deletes_what_is_named_or_nothing(store: Path) -> None:
    first, second, third = kept_run(), keep_text("hug"), keep_text("pug")
    for unknown in (UNKNOWN, "..", "../runs", ""):
        result = run("remove", first, unknown)
        assert result.exit_code == 1
        assert "bpe store list" in result.stderr
        assert (store / first).is_dir()
    result = run("remove", first, f"upload-{second}", first)
    assert (result.exit_code, result.stdout) == (0, "")
    assert os.listdir(store) == [f"upload-{third}"]


def test_export_writes_the_whole_entry_as_a_zip_file(store: Path, tmp_path: Path) -> None:
    run_id = kept_run()
    succeed("export", run_id, "--out", tmp_path / "run.zip")
    with zipfile.ZipFile(tmp_path / "run.zip") as archive:
        assert archive.testzip() is None
        found = {name: archive.read(name) for name in archive.namelist()}
    files = (store / run_id).iterdir()
    assert found == {f"{run_id}/{path.name}": path.read_bytes() for path in files}
    piped = run("export", run_id, "--out", "-")
    assert zipfile.ZipFile(io.BytesIO(piped.stdout_bytes)).namelist() == [*found]
    # What was exported can be put into another store.
    with zipfile.ZipFile(tmp_path / "run.zip") as archive:
        archive.extractall(tmp_path / "other")
    assert bpe.load_run(tmp_path / "other" / run_id / "run.npz").merges == RUN.merges


def test_export_writes_the_tokenizer_of_a_run(tmp_path: Path) -> None:
    run_id, text = kept_run(), keep_text("hug")
    out = tmp_path / "tokenizer.json"
    succeed("export", run_id, "--out", out, "--format", "huggingface")
    assert bpe.load(out).encode("hug pugs") == RUN.tokenizer.encode("hug pugs")
    result = run("export", f"upload-{text}", "--out", out, "--format", "native")
    assert result.exit_code == 1
    assert "Omit --format" in result.stderr


@pytest.mark.parametrize("options", [(), ("--format", "native")])
def test_a_damaged_entry_is_not_exported(
    store: Path, tmp_path: Path, options: tuple[str, ...]
) -> None:
    run_id = kept_run()
    flip_a_bit(store / run_id / "entry.json.gz")
    result = run("export", run_id, "--out", tmp_path / "out", *options)
    assert result.exit_code == 1
    assert "entry.json.gz" in result.stderr
    assert not (tmp_path / "out").exists()


def test_another_users_entries_are_listed_and_refused_in_one_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        monkeypatch.setenv("BPE_EXPLORER_RUNS", name)
        run_id = kept_run()
        Path(name).chmod(0o755)
        with as_another_user(Path(name, run_id)):
            assert "(belongs to another user)" in run("list").stdout
            result = run("verify")
            assert result.exit_code == 1
            assert result.stdout == f"{run_id}: cannot be read: Permission denied.\n"
            for arguments in (("remove", run_id), ("export", run_id, "--out", "-")):
                result = run(*arguments)
                assert result.exit_code == 1
                assert result.stderr.count("\n") == 1
                assert "belongs to another user of this computer" in result.stderr
        assert Path(name, run_id, "run.npz").is_file()


@pytest.mark.parametrize("target", ["nowhere", "link"], ids=["dangling", "circular"])
def test_a_broken_link_hides_no_entry(store: Path, target: str) -> None:
    whole, broken = kept_run(), kept_run()
    (store / broken / "link").symlink_to(target)
    result = succeed("list")
    assert whole in result.stdout
    assert broken in result.stdout
    succeed("remove", broken)
    assert [path.name for path in store.iterdir()] == [whole]


@pytest.mark.parametrize("name", ["a\0b", "a\ud800"])
def test_a_manifest_that_names_no_possible_file_is_reported_as_damage(
    store: Path, name: str
) -> None:
    whole, damaged = kept_run(), kept_run()
    manifest = json.loads((store / damaged / MANIFEST).read_bytes())
    manifest["files"] = {name: ["0" * 64]}
    (store / damaged / MANIFEST).write_text(json.dumps(manifest), "utf-8")
    result = run("verify")
    assert (result.exit_code, result.exception.__class__) == (1, SystemExit)
    assert result.stdout == f"{damaged}: {MANIFEST} of {damaged} is damaged.\n"
    succeed("verify", whole)
