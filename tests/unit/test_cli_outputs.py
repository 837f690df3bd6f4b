"""No command loses a file or a device, and each finds out first that it cannot write."""

from __future__ import annotations

import errno
import json
import os
import stat
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

import bpe_core as bpe
from tests import commands

TEXT = "hug hugs hugging, the hugs of a pug\n" * 9
RUN = bpe.train(bpe.Corpus.from_text(TEXT), bpe.TrainingConfig(280))
NOTES = b"My thesis.\n"
ID = "0" * 32

COMMANDS = {
    "train": "train notes.txt --vocab-size 280",
    "train --counts": "train --counts counts.parquet --vocab-size 280",
    "convert": "convert mine.json",
    "count": "count notes.txt",
    "merge-counts": "merge-counts counts.parquet",
    "store export": f"store export {ID}",
    "encode": "encode mine.json notes.txt",
    "decode": "decode mine.json ids.txt",
}
FOLDER_COMMANDS = {
    "extend": "extend mine.json notes.txt --tokens 2",
    "shrink": "shrink mine.json notes.txt --size 270",
    "replace": "replace mine.json notes.txt --tokens 2",
    "convert": "convert mine.json --format transformers",
}
INPUTS = {
    "train": "notes.txt",
    "train --counts": "counts.parquet",
    "convert": "mine.json",
    "count": "notes.txt",
    "merge-counts": "counts.parquet",
    "store export": f"store/{ID}/run.npz",
    "encode": "notes.txt",
    "decode": "ids.txt",
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BPE_EXPLORER_RUNS", str(tmp_path / "store"))
    (tmp_path / "store" / ID).mkdir(parents=True)
    bpe.save_run(RUN, tmp_path / "store" / ID / "run.npz")
    (tmp_path / "notes.txt").write_text(TEXT)
    (tmp_path / "ids.txt").write_text("104 117 103\n")
    bpe.save(RUN.tokenizer, "mine.json")
    bpe.write_counts(bpe.count_words(bpe.Corpus.from_text(TEXT), "gpt2"), "counts.parquet")
    return tmp_path


def run(line: str) -> Result:
    return commands.run(*line.split())


def succeed(line: str) -> Result:
    return commands.succeed(*line.split())


def make_null_device() -> None:
    """Make a device that discards what is written; only root can make one that could be lost."""
    try:
        os.mknod("null", 0o666 | stat.S_IFCHR, os.makedev(1, 3))
    except PermissionError:
        os.symlink(os.devnull, "null")


def refusal(line: str) -> str:
    """Run a command that fails, and return its one line."""
    result = run(line)
    assert result.exit_code == 1, result.output
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1
    return result.stderr


# Devices, pipes and links


def test_a_device_is_written_to_and_stays() -> None:
    make_null_device()
    before = sorted(os.listdir())
    for line in COMMANDS.values():
        succeed(f"{line} --out null")
        assert stat.S_ISCHR(os.stat("null").st_mode)
        assert sorted(os.listdir()) == before


@pytest.mark.parametrize("line", COMMANDS.values(), ids=COMMANDS)
def test_a_pipe_is_written_to_and_stays(line: str) -> None:
    succeed(f"{line} --out file")
    os.mkfifo("pipe")
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(Path("pipe").read_bytes()))
    reader.start()
    result = run(f"{line} --out pipe")
    if result.exit_code:  # releases the reader
        os.close(os.open("pipe", os.O_WRONLY | os.O_NONBLOCK))
    reader.join()
    assert result.exit_code == 0, result.output
    assert stat.S_ISFIFO(os.stat("pipe").st_mode)
    if line.startswith("store"):  # a zip file holds the times of its files
        assert len(read[0]) == Path("file").stat().st_size
    else:
        assert read == [Path("file").read_bytes()]


@pytest.mark.parametrize("line", COMMANDS.values(), ids=COMMANDS)
def test_a_link_is_written_through_and_a_file_keeps_its_mode(line: str) -> None:
    Path("elsewhere").mkdir()
    Path("elsewhere/file").touch(0o600)
    Path("link").symlink_to("elsewhere/file")
    Path("dangling").symlink_to("elsewhere/new")
    for name in ("link", "dangling"):
        succeed(f"{line} --out {name}")
        assert Path(name).is_symlink()
        assert Path(name).stat().st_size
    assert stat.S_IMODE(os.stat("elsewhere/file").st_mode) == 0o600
    assert sorted(os.listdir("elsewhere")) == ["file", "new"]


@pytest.mark.parametrize("name", ["count", "merge-counts", "train", "store export", "encode"])
def test_a_dash_is_standard_output(name: str) -> None:
    before = sorted(os.listdir())
    result = succeed(f"{COMMANDS[name]} --out -")
    assert sorted(os.listdir()) == before
    succeed(f"{COMMANDS[name]} --out file")
    assert len(result.stdout_bytes) == Path("file").stat().st_size
    note = ["file.training.json"] if name == "train" else []
    assert sorted(os.listdir()) == sorted([*before, "file", *note])


@pytest.mark.parametrize("line", FOLDER_COMMANDS.values(), ids=FOLDER_COMMANDS)
def test_several_files_are_refused_as_standard_output(line: str) -> None:
    before = sorted(os.listdir())
    assert "too many files for standard output" in refusal(f"{line} --out -")
    assert sorted(os.listdir()) == before


# Inputs


SPELLINGS: list[Callable[[Path], str]] = [
    lambda path: f"{path.parent}/../{path.parent.name}/{path.name}",
    lambda path: path.name,
    lambda path: _linked(path, os.symlink),
    lambda path: _linked(path, os.link),
]


def _linked(path: Path, link: Callable[[Path, str], None]) -> str:
    link(path.absolute(), "linked")
    return "linked"


@pytest.mark.parametrize(
    ("name", "spell"),
    [*((name, str) for name in COMMANDS), *(("convert", spell) for spell in SPELLINGS)],
)
def test_an_input_is_never_the_output(
    name: str, spell: Callable[[Path], str], folder: Path
) -> None:
    path = folder / INPUTS[name]
    before = path.read_bytes()
    for force in ("", " --force"):
        with_format = " --format huggingface" if "train" in name else ""
        (folder / "linked").unlink(missing_ok=True)
        said = refusal(f"{COMMANDS[name]} --out {spell(path)}{with_format}{force}")
        assert "is an input of this command" in said
    assert path.read_bytes() == before


def test_a_folder_of_inputs_is_never_the_output(folder: Path) -> None:
    (folder / "model").mkdir()
    bpe.save(RUN.tokenizer, "model")
    for line in FOLDER_COMMANDS.values():
        said = refusal(f"{line.replace('mine.json', 'model')} --out model --force")
        assert "is an input of this command" in said


def test_terms_and_files_of_folders_and_patterns_are_inputs() -> None:
    for name in ("a/old_ids.npy", "corpus/a.txt"):
        Path(name).parent.mkdir()
        Path(name).write_bytes(NOTES)
    for line in (
        f"{FOLDER_COMMANDS['extend']} --terms a/old_ids.npy --out a",
        "count corpus --out corpus/a.txt",
        "count corpus/*.txt --out corpus/a.txt",
        "train corpus --vocab-size 280 --out corpus/a.txt",
    ):
        assert "is an input of this command" in refusal(f"{line} --force")


# Files that exist


@pytest.mark.parametrize("name", COMMANDS)
def test_another_file_is_overwritten_only_by_force(name: str) -> None:
    line = COMMANDS[name]
    Path("thesis").write_bytes(NOTES)
    assert "--force" in refusal(f"{line} --out thesis")
    assert Path("thesis").read_bytes() == NOTES
    succeed(f"{line} --out thesis --force")
    assert Path("thesis").read_bytes() != NOTES
    again = run(f"{line} --out thesis")
    assert again.exit_code == (1 if name == "decode" else 0), again.output


@pytest.mark.parametrize("name", ["convert", "count"])
def test_an_empty_file_is_overwritten(name: str) -> None:
    Path("empty").touch()
    succeed(f"{COMMANDS[name]} --out empty")
    assert Path("empty").stat().st_size


@pytest.mark.parametrize(
    "content",
    [
        b'{"model": "gpt2", "name": "mine"}',
        b"[1, 2]",
        b"PK\x03\x04 a zip file",
        b"PAR1 a table",
        b"milk 2\neggs 4\n",
        b"\x00\xff",
    ],
)
def test_files_that_look_alike_are_not_overwritten(content: bytes) -> None:
    for name in ("x.json", "x.tiktoken", "x.gguf", "x.bpe.json"):
        Path(name).write_bytes(content)
        assert "--force" in refusal(f"convert mine.json {name}")
        assert Path(name).read_bytes() == content
    Path("x").write_bytes(content)
    for command in ("count", "merge-counts", "store export", "encode"):
        assert "--force" in refusal(f"{COMMANDS[command]} --out x")


@pytest.mark.parametrize("format", ["native", "huggingface", "tiktoken", "gguf"])
def test_a_tokenizer_replaces_one_of_the_same_format_only(format: str) -> None:
    bpe.save(RUN.tokenizer.truncated(3), "x", format)  # pyright: ignore[reportArgumentType]
    succeed(f"convert mine.json x --format {format}")
    other = "gguf" if format != "gguf" else "native"
    assert "--force" in refusal(f"convert mine.json x --format {other}")


@pytest.mark.parametrize("line", FOLDER_COMMANDS.values(), ids=FOLDER_COMMANDS)
def test_a_folder_is_written_twice_but_not_over_other_files(line: str) -> None:
    for _ in range(2):
        succeed(f"{line} --out folder")
    Path("folder/README.md").write_bytes(NOTES)
    succeed(f"{line} --out folder")
    assert Path("folder/README.md").read_bytes() == NOTES
    Path("folder/tokenizer.json").write_bytes(NOTES)
    assert "--force" in refusal(f"{line} --out folder")
    assert Path("folder/tokenizer.json").read_bytes() == NOTES
    succeed(f"{line} --out folder --force")
    Path("thesis").write_bytes(NOTES)
    assert "Name a folder" in refusal(f"{line} --out thesis --force")
    assert Path("thesis").read_bytes() == NOTES


def test_a_format_that_does_not_hold_the_cut_says_what_reads_it() -> None:
    succeed("train notes.txt --vocab-size 280 --pretokenizer cl100k --out cut.bpe.json")
    told = succeed("convert cut.bpe.json cut --format gpt2").stderr
    assert "are read as if by GPT-2's pre-tokenizer" in told
    assert "To read them: --pretokenizer cl100k\n" in told
    assert bpe.load("cut", pretokenizer="cl100k") == bpe.load("cut.bpe.json")


def test_a_folder_does_not_mix_two_tokenizers() -> None:
    assert "pre-tokenizer" not in succeed("convert mine.json folder --format gpt2").stderr
    said = refusal("convert mine.json folder --format native")
    assert "has vocab.json, merges.txt, which would belong to another tokenizer" in said
    assert sorted(os.listdir("folder")) == ["merges.txt", "vocab.json"]
    succeed("convert mine.json folder --format native --force")


def test_the_file_of_a_run_is_an_output_too() -> None:
    line = "train notes.txt --vocab-size 280 --out x.json --run"
    for _ in range(2):
        succeed(f"{line} mine.bpe-run")
    assert bpe.load_run("mine.bpe-run").tokenizer == bpe.load("x.json") == RUN.tokenizer
    Path("thesis").write_bytes(NOTES)
    assert "thesis exists, and is not a saved run" in refusal(f"{line} thesis")
    assert Path("thesis").read_bytes() == NOTES
    assert "is an input of this command" in refusal(f"{line} notes.txt --force")
    result = run(f"{line} ./x.json --force")
    assert (result.exit_code, "name the same file" in result.stderr) == (2, True)
    make_null_device()
    succeed(f"{line} null")
    assert stat.S_ISCHR(os.stat("null").st_mode)


@pytest.mark.parametrize("source", ["cor", "cor/*"])
def test_counts_in_the_folder_of_their_corpus_are_not_counted(source: str) -> None:
    Path("cor").mkdir()
    Path("cor/a.txt").write_text(TEXT)
    succeed(f"count {source} --out cor/c.parquet")
    first = bpe.read_counts("cor/c.parquet")
    again = succeed(f"count {source} --out cor/c.parquet")
    assert "holds words and their counts, not text" in again.stderr
    assert bpe.read_counts("cor/c.parquet").summary == first.summary
    succeed(f"train {source} --vocab-size 270 --out x.json")
    assert "bpe train --counts" in refusal("count cor/c.parquet --floor 2 --out d.parquet")


def test_counting_prints_json(tmp_path: Path) -> None:
    Path("a.txt").write_text("hug hugs hug hugs")
    printed = json.loads(succeed("count a.txt --floor 2 --out c.parquet --json").stdout)
    known = bpe.read_counts("c.parquet").summary
    assert printed == {
        "out": "c.parquet",
        "pretokenizer": "gpt2",
        "n_bytes": 17,
        "sha256": known.sha256,
        "floor": 2,
        "dropped_words": 2,
        "dropped_occurrences": 2,
    }
    added = succeed("merge-counts c.parquet c.parquet --out sum.parquet --json")
    assert json.loads(added.stdout)["n_bytes"] == 34
    assert "Name a file with --out" in refusal("count a.txt --out - --json")


# Before the work


@pytest.fixture
def no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    def work(*_: object, **__: object) -> None:
        raise AssertionError("The work began.")

    for name in (
        "bpe_core.corpus.read.read_corpus",
        "bpe_core.corpus.count.count_words",
        "bpe_core.corpus.counts_file.merge_counts",
        "bpe_core.formats.checking.opened_elsewhere.check_opens",
        "bpe_core.adapting.extending.extend",
        "bpe_core.adapting.shrinking.shrink",
        "bpe_core.adapting.shrinking.replace",
    ):
        monkeypatch.setattr(name, work)


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize(
    ("name", "out"),
    [
        ("train", "notes.txt/x"),
        ("train", "store"),
        ("train", "/proc/x"),
        ("train", f"/tmp/{'x' * 300}"),
        ("convert", "store"),
        ("count", "store"),
        ("merge-counts", "store"),
    ],
)
def test_an_output_that_cannot_be_written_is_found_before_the_work(name: str, out: str) -> None:
    check = " --check" if name == "convert" else ""
    file = " --format huggingface" if name in ("train", "convert") else ""
    if out == "store":
        Path("store/tokenizer.json").mkdir()
    refusal(f"{COMMANDS[name]}{check}{file} --out {out}")


@pytest.mark.usefixtures("no_work")
def test_a_missing_folder_is_found_before_the_work() -> None:
    for line in ("train notes.txt --vocab-size 280", "convert mine.json --check"):
        said = refusal(f"{line} --out no/such/x.json")
        assert "no/such/x.json cannot be written: No such file or directory" in said


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize("line", FOLDER_COMMANDS.values(), ids=FOLDER_COMMANDS)
def test_a_folder_that_cannot_be_written_is_found_before_the_work(line: str) -> None:
    for out in ("notes.txt", "notes.txt/x", "/proc/x"):
        refusal(f"{line} --out {out}")


@pytest.mark.usefixtures("no_work")
def test_a_format_that_cannot_express_a_tokenizer_is_found_before_the_work() -> None:
    said = refusal("train notes.txt --vocab-size 280 --alphabet seen --out x.tiktoken")
    assert "tiktoken needs all 256 bytes" in said


def test_the_library_writes_to_devices_through_links_and_keeps_modes() -> None:
    make_null_device()
    bpe.save(RUN.tokenizer, "null")
    bpe.write_counts(bpe.read_counts("counts.parquet"), "null")
    bpe.save_run(RUN, "null")
    assert stat.S_ISCHR(os.stat("null").st_mode)
    Path("mine.json").chmod(0o640)
    Path("link.json").symlink_to("mine.json")
    bpe.save(RUN.tokenizer.truncated(1), "link.json")
    assert Path("link.json").is_symlink()
    assert bpe.load("mine.json") == RUN.tokenizer.truncated(1)
    assert stat.S_IMODE(os.stat("mine.json").st_mode) == 0o640
    Path("loop").symlink_to("loop")
    with pytest.raises(bpe.BpeError, match="loop cannot be written"):
        bpe.save(RUN.tokenizer, "loop")


@pytest.mark.parametrize(
    ("number", "remedy"),
    [
        (errno.ENOSPC, "No space left on device. Free some space there, or choose another disk."),
        (errno.EROFS, "Read-only file system. Choose a folder that can be written."),
        (errno.EMFILE, "Too many open files. Close other files, or raise the limit"),
        (errno.EACCES, "Permission denied. Check the permissions of the path"),
    ],
    ids=errno.errorcode.get,
)
def test_what_to_do_fits_what_the_system_says(
    number: int, remedy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.txt").write_text("hug hugs")

    def fail(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    for line in (
        "encode-corpus a.txt -t gpt2 --out tokens",
        "train a.txt --vocab-size 260 --out a",
    ):
        with monkeypatch.context() as context:
            context.chdir(tmp_path)
            context.setattr(os, "replace", fail)
            result = commands.run(*line.split())
        assert result.exit_code == 1
        assert f"cannot be written: {remedy}" in " ".join(result.output.split())
