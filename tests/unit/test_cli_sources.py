"""All commands that read text take the same sources, and print the same results as JSON."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bpe_core.cli import sources
from tests.commands import run, succeed
from tests.new_process import ROOT

WORDS = ("hugs", "pugs", "buns", "tokens", "merges", "pairs", "words", "lines", "folders")
COMMANDS = {
    "train": "train SOURCE --vocab-size 300 --out OUT --force",
    "compare": "compare SOURCE -t BASE -t gpt2",
    "extend": "extend BASE SOURCE --tokens 9 --out OUT --force",
    "shrink": "shrink BASE SOURCE --size 380 --out OUT --force",
    "replace": "replace BASE SOURCE --tokens 9 --out OUT --force",
    "sample-check": "sample-check SOURCE --vocab-size 280",
}
DOCUMENTED = ROOT / "docs" / "commands.md"
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sources") / "corpus"
    for number in range(24):
        words = (f"{WORDS[(n * n + number) % 9]} and {WORDS[n % 7]}" for n in range(150))
        lines = (f"{both} of {number}, {n}\n" for n, both in enumerate(words))
        path = folder / f"part{number % 6}" / f"{number}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(lines))
    succeed("train", folder, "--vocab-size", "400", "--out", folder.parent / "base.json")
    return folder


def line_for(name: str, corpus: Path, out: Path, *given: str | Path) -> list[str]:
    """Return a command's line with sources in place of SOURCE, and further options."""
    names = {"BASE": [corpus.parent / "base.json"], "OUT": [out], "SOURCE": given}
    return [str(part) for each in COMMANDS[name].split() for part in names.get(each, [each])]


def run_to_json(name: str, corpus: Path, out: Path, *given: str | Path) -> dict[str, Any]:
    """Run a command with --json and return what it prints, without paths and times."""
    stdout = succeed(*line_for(name, corpus, out / name, *given), "--json").stdout
    assert len(stdout.splitlines()) == 1
    found: dict[str, Any] = json.loads(stdout)
    for each in ("out", "written", "elapsed_seconds"):
        found.pop(each, None)
    # Text that is counted in stretches has an identity of its own.
    found.get("text", {}).pop("sha256", None)
    return found


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_reads_folders_patterns_urls_and_several_files(
    name: str, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = run_to_json(name, corpus, tmp_path, corpus)
    assert run_to_json(name, corpus, tmp_path, f"{corpus}/**/*.txt") == expected
    assert run_to_json(name, corpus, tmp_path, f"file://{corpus}") == expected
    monkeypatch.setattr(sources, "_MIN_LARGE_BYTES", 1)  # streamed, or kept on disk
    assert run_to_json(name, corpus, tmp_path, corpus) == expected
    files = sorted(corpus.rglob("*.txt"))
    found = run_to_json(name, corpus, tmp_path, *files)
    if name != "sample-check":  # whose samples depend on the folders
        assert found == expected


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_reads_standard_input(name: str, corpus: Path, tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("".join(path.read_text() for path in sorted(corpus.rglob("*.txt"))))
    printed: list[str] = []
    for source, out in ((text, "file"), ("-", "stdin")):
        (tmp_path / out).mkdir()
        line = line_for(name, corpus, tmp_path / out / name, source)
        stdout = succeed(*line, "--json", stdin=text.read_bytes()).stdout
        printed.append(re.sub(rf'{tmp_path}/{out}|"elapsed_seconds": [\d.e-]+', "", stdout))
    assert printed[0] == printed[1]


@pytest.mark.parametrize("options", [(), ("--floor", "2"), ("--processes", "1")])
def test_a_pipe_is_read_as_a_file_is(options: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "text").write_text("hug hugs hugging\n" * 99)
    reading, writing = os.pipe()
    os.write(writing, (tmp_path / "text").read_bytes())
    os.close(writing)
    for name, source in (("file", tmp_path / "text"), ("pipe", Path(f"/dev/fd/{reading}"))):
        succeed("train", source, "--vocab-size", "280", *options, "--out", tmp_path / name)
    os.close(reading)
    assert (tmp_path / "file").read_bytes() == (tmp_path / "pipe").read_bytes()


@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "sample-check"])
def test_text_is_held_out_by_every_command_in_the_same_way(
    name: str, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_folder = ("--held-out", "0.2", "--held-out-by", "folder")
    held_out = run_to_json(name, corpus, tmp_path, corpus, *by_folder)["held_out"]
    assert (held_out["by"], held_out["share_within"]) == ("folder", 0)
    trained_on = run_to_json("train", corpus, tmp_path, corpus, *by_folder)["held_out"]
    for key in ("n_bytes", "n_units"):
        assert held_out[key] == trained_on[key]
    monkeypatch.setattr(sources, "_MIN_LARGE_BYTES", 1)
    assert (
        run_to_json(name, corpus, tmp_path, f"file://{corpus}", *by_folder)["held_out"] == held_out
    )
    assert run_to_json(name, corpus, tmp_path, corpus)["held_out"] is None


@pytest.mark.parametrize("name", ["train", "extend", "shrink", "replace"])
def test_counts_and_stretches_give_what_the_text_gives(
    name: str, corpus: Path, tmp_path: Path
) -> None:
    counts = tmp_path / "counts.parquet"
    succeed("count", corpus, "--out", counts)
    whole = run_to_json(name, corpus, tmp_path, corpus, "--encoding", "utf-8")
    assert run_to_json(name, corpus, tmp_path, corpus, "--work", str(tmp_path / "work")) == whole
    without = line_for(name, corpus, tmp_path / name)
    line = [*without, "--counts", str(counts), "--json"]
    assert json.loads(succeed(*line).stdout)["text"]["n_tokens"] == whole["text"]["n_tokens"]
    assert not list(tmp_path.glob("*.work"))
    both = run(*line, "--held-out", "0.1")
    assert "Words are already counted in a file of counts." in both.stderr
    assert "Missing argument 'SOURCE...'" in run(*without).stderr


def test_large_text_is_kept_on_disk_and_deleted_at_the_end(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(sources, "_MIN_LARGE_BYTES", 1)
    kept: list[Path] = []

    def note_folder(*given: Any, **options: Any) -> None:
        kept.append(options["texts_file"])
        raise KeyboardInterrupt

    succeed("compare", corpus, "-t", corpus.parent / "base.json")
    assert not list(tmp_path.iterdir())
    monkeypatch.setattr("bpe_core.corpus.read_corpus", note_folder)
    assert run("compare", corpus, "-t", corpus.parent / "base.json").exit_code == 1
    assert kept[0].parent.parent == tmp_path
    assert not list(tmp_path.iterdir())


def test_json_and_a_tokenizer_do_not_share_standard_output(corpus: Path) -> None:
    refused = run("train", corpus, "--vocab-size", "300", "--out", "-", "--json")
    assert refused.exit_code == 1
    assert refused.stdout == ""
    assert "--json prints on standard output too. Name a file with --out." in refused.stderr


def test_a_figure_that_is_not_a_number_is_null(tmp_path: Path) -> None:
    (tmp_path / "short.txt").write_text("?!")
    found = json.loads(succeed("compare", tmp_path / "short.txt", "-t", "gpt2", "--json").stdout)
    assert found["rows"][0]["tokens_per_word"] is None


def keys_in(value: object) -> set[str]:
    """Return all keys of nested objects."""
    if isinstance(value, list):
        return set[str]().union(*map(keys_in, value))
    if not isinstance(value, dict):
        return set()
    return {*value, *keys_in([*value.values()])}


@pytest.mark.parametrize("name", COMMANDS)
def test_the_names_in_the_results_are_documented(name: str, corpus: Path, tmp_path: Path) -> None:
    options = () if name == "sample-check" else ("--held-out", "0.2")
    terms = ("--term", "hugs") if name in ("extend", "replace") else ()
    named = set(re.findall(r"`(\w+)`", DOCUMENTED.read_text()))
    assert keys_in(run_to_json(name, corpus, tmp_path, corpus, *options, *terms)) <= named


def in_terminal(*line: str | Path, seconds: float, then: str = "") -> tuple[int, bytes]:
    """Run a command with stderr on a terminal; return the status, and what was shown there.

    A bar is shown after some seconds. `then` is called after each report of merges learned.
    """
    code = f"""
import signal, sys
from bpe_core.cli import commands, outputs
outputs._SECONDS_WITHOUT = {seconds}
class Reporting(outputs.Bar):
    def show_training(self, progress):
        super().show_training(progress)
        {then or "pass"}
from bpe_core.cli import train
train.Bar = Reporting
commands.main(sys.argv[1:])
"""
    main, terminal = pty.openpty()
    done = subprocess.Popen([sys.executable, "-c", code, *line], cwd=ROOT, stderr=terminal)
    os.close(terminal)
    shown = b""
    while True:
        try:
            shown += os.read(main, 1 << 16)
        except OSError:  # nobody has the terminal open any longer
            break
    os.close(main)
    return done.wait(), shown


def test_a_terminal_shows_how_much_is_done(corpus: Path, tmp_path: Path) -> None:
    line = [*line_for("train", corpus, tmp_path / "mine.json", corpus), "--held-out", "0.2"]
    status, shown = in_terminal(*line, seconds=0)
    assert status == 0
    for doing in (b"Reading", b"Counting words", b"Learning merges"):
        assert re.search(rb"\r.*" + doing + rb"  \[[#-]+\] +\d+%", shown), shown
    assert shown.count(b"\x1b[?25h") == 3  # the cursor is shown again
    last = rb"\n\d+ merges in .* on held-out text\)\r\nHeld-out text: .*\r\nTo compare .* gpt2\r\n$"
    assert re.search(last, shown), shown
    status, shown = in_terminal(*line, seconds=1e9)
    assert status == 0
    assert b"[" not in shown


def test_an_interrupt_ends_the_bar_and_leaves_no_file(corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "mine.json"
    line = line_for("train", corpus, out, corpus / "part0" / "0.txt")
    status, shown = in_terminal(*line, seconds=0, then="signal.raise_signal(signal.SIGINT)")
    assert status == 1
    assert re.search(rb"Learning merges .*\x1b\[\?25h\r\n\r\nAborted!\r\n$", shown), shown
    assert [*tmp_path.iterdir()] == []
