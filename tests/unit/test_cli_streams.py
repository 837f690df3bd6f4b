"""Standard streams that are closed, full, broken or of another encoding end in one line."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import bpe_core as bpe
from tests.new_process import ROOT
from tests.waiting import MAX_WAIT_SECONDS

# Each starts processes.
pytestmark = pytest.mark.slow

TEXT = "hug hugs hugging, the hugs of a pug\n" * 9
TO_STANDARD_OUTPUT = {
    "encode": "encode gpt2 notes.txt",
    "decode": "decode gpt2 ids.txt",
    "inspect": "inspect mine.json",
    "compare": "compare notes.txt -t mine.json",
    "convert": "convert mine.json -",
    "train": "train notes.txt --vocab-size 270 --out -",
    "fetch": "fetch",
    "help": "--help",
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path) -> Path:
    (tmp_path / "notes.txt").write_text(TEXT)
    (tmp_path / "ids.txt").write_text("104 117 103\n")
    run = bpe.train(bpe.Corpus.from_text(TEXT), bpe.TrainingConfig(280))
    bpe.save(run.tokenizer, tmp_path / "mine.json")
    return tmp_path


def shell(line: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a line in which `bpe` is the command, and return its status and what it printed."""
    return subprocess.run(
        ["bash", "-c", line.replace("bpe ", f"{sys.executable} -m bpe_core ")],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )


def assert_one_line(done: subprocess.CompletedProcess[str], said: str) -> None:
    assert done.returncode == 1, done
    lines = done.stderr.splitlines()
    assert lines[-1].startswith("Error: "), done.stderr
    assert said in lines[-1]
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


@pytest.mark.parametrize("line", TO_STANDARD_OUTPUT.values(), ids=TO_STANDARD_OUTPUT)
def test_a_full_disk_behind_standard_output_is_one_line(line: str, folder: Path) -> None:
    done = shell(f"bpe {line} > /dev/full", folder)
    assert_one_line(done, "Standard output cannot be written: No space left on device.")


@pytest.mark.parametrize("name", ["encode", "help"])
def test_a_closed_standard_output_is_one_line(name: str, folder: Path) -> None:
    done = shell(f"bpe {TO_STANDARD_OUTPUT[name]} >&-", folder)
    assert_one_line(done, "Standard output cannot be written: Bad file descriptor.")


@pytest.mark.parametrize(
    ("name", "stdin", "said"),
    [
        ("encode gpt2", "<&-", "Standard input is closed"),
        ("train - --vocab-size 300 --out x", "<&-", "Standard input is closed"),
        ("encode gpt2 .", "", "cannot be read: Is a directory"),
    ],
)
def test_a_standard_input_that_cannot_be_read_is_one_line(
    name: str, stdin: str, said: str, folder: Path
) -> None:
    assert_one_line(shell(f"bpe {name} {stdin}", folder), said)


def test_commands_that_print_nothing_need_no_streams(folder: Path) -> None:
    done = shell("bpe train notes.txt --vocab-size 280 --out x.json <&- >&- 2>&-", folder)
    assert done.returncode == 0
    assert bpe.load(folder / "x.json") == bpe.load(folder / "mine.json")


@pytest.mark.parametrize("line", ["encode none.json notes.txt", "encode gpt2 notes.txt"])
def test_errors_that_nobody_reads_are_a_status(line: str, folder: Path) -> None:
    for redirected in ("2>&-", "2> /dev/full"):
        done = shell(f"bpe {line} {redirected} > out", folder)
        assert done.returncode == int("none" in line)


def test_what_the_terminal_cannot_encode_is_one_line(folder: Path) -> None:
    done = shell("bpe encode gpt2 notes.txt --tokens", folder, PYTHONIOENCODING="cp1252")
    assert_one_line(done, "its encoding, cp1252, has no U+01")


def test_a_locale_without_utf_8_gets_utf_8(folder: Path) -> None:
    # Ids can be printed everywhere, and texts are UTF-8 wherever they are read.
    (folder / "other.txt").write_text("日本", "utf-8")
    for environment in (
        {"PYTHONIOENCODING": "ascii"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    ):
        done = shell("bpe encode gpt2 other.txt | bpe decode gpt2", folder, **environment)
        assert (done.returncode, done.stdout) == (0, "日本")
        done = shell("bpe encode gpt2 notes.txt --tokens", folder, **environment)
        assert (done.returncode, "Ġof" in done.stdout) == (0, True)


@pytest.mark.parametrize("name", ["encode", "decode", "train"])
def test_a_reader_that_leaves_early_is_no_error(name: str, folder: Path) -> None:
    (folder / "notes.txt").write_text(TEXT * 3000)
    (folder / "ids.txt").write_text("104 " * 300_000)
    done = shell(f"bpe {TO_STANDARD_OUTPUT[name]} | true; exit ${{PIPESTATUS[0]}}", folder)
    assert done.returncode in (0, 1)
    assert "Error" not in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("command", "written"),
    [
        ("train notes.txt --vocab-size 270 --out x.json", "x.training.json"),
        ("train notes.txt --vocab-size 270 --out x.tiktoken", "x.tiktoken.training.json"),
        ("train notes.txt --vocab-size 270 --format gpt2 --out x", "x/vocab.training.json"),
        ("extend gpt2 notes.txt --tokens 3 --out x", "x/vocab.training.json"),
        (
            "extend gpt2 notes.txt --tokens 3 --format tiktoken --out x",
            "x/tokenizer.tiktoken.training.json",
        ),
        ("replace gpt2 notes.txt --tokens 1 --out x", "x/vocab.training.json"),
    ],
)
def test_all_is_written_before_anything_is_told(command: str, written: str, folder: Path) -> None:
    # Nobody reads standard error, so the first sentence ends the command.
    shell(f"exec 3> >(exec true); bpe {command} 2>&3", folder)
    assert (folder / written).exists()


def test_an_interrupt_is_one_line_and_leaves_no_file(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    done = subprocess.Popen(
        [sys.executable, "-m", "bpe_core", "encode", "gpt2", "pipe", "--out", "out"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    with (folder / "pipe").open("wb"):  # returns once the command reads
        os.killpg(done.pid, signal.SIGINT)
    # Only now, because a read that begins just after the signal ends with the pipe.
    _, said = done.communicate(timeout=MAX_WAIT_SECONDS)
    assert done.returncode == 1
    assert said.strip() == "Aborted!"
    assert not (folder / "out").exists()
