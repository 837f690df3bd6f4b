"""The command line: each example in the help runs, and an error is one line with a remedy."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import textwrap
from pathlib import Path
from typing import cast, get_args

import click
import pytest

import bpe_core as bpe
from bpe_core import types
from bpe_core.cli import commands, encode, sources, support
from bpe_core.corpus import load_sample, parallel_texts
from bpe_core.formats import dumps, folder_files, load
from bpe_core.formats.checking import opened_elsewhere
from bpe_core.formats.checking.reading_libraries import Reader
from bpe_core.tokenizer import DROPOUT, MAX_PROMPT
from tests.commands import run, succeed
from tests.new_process import run_python
from tests.plurals import ONE_OF_MANY

TEXT = "".join([*load_sample("notebook").documents] * 3) + "\nnaïve 漢字 😀\r\n"


@pytest.fixture
def trained(tmp_path: Path) -> Path:
    (tmp_path / "notes.txt").write_bytes(TEXT.encode())
    out = tmp_path / "mine.bpe.json"
    succeed("train", tmp_path / "notes.txt", "--vocab-size", "300", "--out", out)
    return out


def test_one_of_anything_is_in_the_singular(tmp_path: Path) -> None:
    text, out = tmp_path / "one.txt", tmp_path / "one.bpe.json"
    text.write_text("aa")
    written = [
        succeed("train", text, "--vocab-size", "258", "--out", out),
        succeed("inspect", out, "--merges", "1"),
        succeed("inspect", out, "--text", "aa"),
        succeed("compare", text, "-t", "gpt2", "-t", out),
        succeed("count", text, "--out", tmp_path / "counts.parquet"),
        succeed("encode-corpus", text, "-t", out, "--out", tmp_path / "data"),
    ]
    shown = "".join(result.output for result in written)
    assert "1 merge" in shown
    assert not ONE_OF_MANY.search(shown), shown


OTHERS_RUN = ("explore", "undertrained", "fit-rows")


def examples() -> list[tuple[str, str]]:
    """Return the examples in the help: the line after `$`, and the output below it, if any.

    Omits those of `explore`, which start a server; `test_installed_app.py` runs them. Omits those
    of `undertrained` and `fit-rows`, which read a model; `test_undertrained.py` and
    `test_fit_rows.py` make some.
    """
    found: list[tuple[str, str]] = []
    named = commands.main.commands
    for command in (
        commands.main,
        *(named[name] for name in named if name not in OTHERS_RUN),
    ):
        lines = (command.help or "").split("Examples:")[1].strip("\n").replace("\\\n", "")
        for block in re.split(r"(?m)^ *\$ ", textwrap.dedent(lines))[1:]:
            line, _, output = block.partition("\n")
            found.append((line, textwrap.dedent(output).strip()))
    return found


@pytest.mark.slow
def test_the_examples_in_the_help_run_in_order_and_print_the_output_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("notes.txt").write_bytes(TEXT.encode())
    Path("sample.txt").write_bytes(TEXT.encode() * 100)
    Path("texts").mkdir()
    for number in range(40):
        Path("texts", f"{number}.txt").write_text(f"{number} {TEXT[number * 20 :]}")
    Path("corpus").mkdir()
    Path("corpus", "code.txt").write_bytes(TEXT.encode())
    Path("sizes.toml").write_text(
        'vocab_sizes = [270, 280]\nheld_out = 0.3\n[corpora]\nmine = ["texts"]\n'
    )
    for text in parallel_texts():
        Path(f"{text.name}.txt").write_text("\n".join(text.sentences))
    for language in ("en", "fr"):
        Path("languages", language).mkdir(parents=True)
        Path("languages", language, "a.txt").write_text(TEXT)
    assert len(examples()) >= 10
    for line, output in examples():
        printed = run_as_shell(line)
        if output:
            assert textwrap.dedent(printed.decode()).strip() == output, line


def run_as_shell(line: str) -> bytes:
    """Return what a line of echo, cat and bpe prints, with pipes and a file as in a shell."""
    pipeline, _, file = line.partition(" > ")
    printed = b""
    for part in pipeline.split(" | "):
        name, *arguments = shlex.split(part)
        if name == "bpe":
            result = succeed(*arguments, stdin=printed)
            printed = result.stdout_bytes
        else:
            printed = subprocess.run([name, *arguments], capture_output=True, check=True).stdout
    if file:
        Path(file).write_bytes(printed)
    return printed


def test_every_command_has_an_example_and_help_for_each_option() -> None:
    for name, command in commands.main.commands.items():
        result = succeed(name, "--help")
        assert re.search(rf"\$ .*bpe {name}", result.output)
        assert not re.search(r"\$ .*\S  ", result.output), "lines of an example are joined"
        options = [option for option in command.params if isinstance(option, click.Option)]
        assert all(option.help for option in options)


def test_the_choices_equal_those_of_the_configuration() -> None:
    assert get_args(types.Base) == support.BASES
    assert {*support.ALPHABETS} < {*get_args(types.Alphabet)}
    assert get_args(types.TieBreak) == support.TIE_BREAKS
    assert set(folder_files.FORMATS) == set(support.FORMATS)


def test_train_reports_why_it_stopped_and_the_held_out_bytes_per_token(tmp_path: Path) -> None:
    path = tmp_path / "lines.txt"
    path.write_text("some line of text\n" * 300)
    out = tmp_path / "mine.json"
    result = succeed("train", path, "--vocab-size", "5000", "--out", out, "--held-out", "0.1")
    assert "no pairs are left" in result.stderr
    assert "on held-out text" in result.stderr
    assert result.stdout == ""


def test_train_says_what_it_has_learned_by_heart(tmp_path: Path) -> None:
    (tmp_path / "essay.txt").write_text(load_sample("alice").documents[0][:4_000])
    line = ("train", tmp_path / "essay.txt", "--vocab-size", "4096", "--out", tmp_path / "e.json")
    for more, said in (((), "Learned by heart: "), (("--held-out", "0.2"), "% more of the tr")):
        told = succeed(*line, *more, "--json")
        assert said in told.stderr
        assert "--min-frequency 2 leaves these merges out." in told.stderr
        found = json.loads(told.stdout)
        assert found["n_merges"] / 3 < found["n_merges_once"] < found["n_merges"]
    told = succeed(*line, "--min-frequency", "2", "--json")
    assert "Learned by heart" not in told.stderr
    assert json.loads(told.stdout)["n_merges_once"] == 0


def test_text_of_folders_and_patterns_is_held_out_and_decoded(tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    (folder / "deep").mkdir(parents=True)
    (folder / "a.txt").write_bytes(TEXT.encode() * 9)
    (folder / "deep" / "b.txt").write_bytes("Größe, süß. ".encode("cp1252") * 9)
    for source in (folder, folder / "**" / "*.txt"):
        for option in ("--held-out", "0.1"), ("--encoding", "cp1252"):
            out = tmp_path / "mine.bpe.json"
            result = succeed("train", source, "--vocab-size", "300", "--out", out, *option)
            assert ("on held-out text" in result.stderr) == (option[0] == "--held-out")
        encoding = ("--encoding", "cp1252", "--pretokenizer", "whitespace")
        counts = tmp_path / "counts.parquet"
        succeed("count", source, "--out", counts, *encoding)
        assert "Größe,".encode() in bpe.read_counts(counts).pretokens.words
    result = run("train", folder, "--vocab-size", "300", "--out", out, "--floor", "2", *option)
    assert "Omit --held-out, --encoding and -." in result.stderr
    result = run("train", folder / "*.md", "--vocab-size", "300", "--out", out, *option)
    assert "matches no file. Check the path." in result.stderr
    for option in ("--floor", "2"), ("--held-out", "0.1"), ():
        result = run("train", "", "--vocab-size", "300", "--out", out, *option)
        assert "The path is empty" in result.stderr


def test_held_out_text_without_a_token_has_no_figure(tmp_path: Path) -> None:
    path = tmp_path / "blank.txt"
    path.write_text("\n" * 300 + "word " * 40 + "\n" * 300)
    out = tmp_path / "mine.json"
    choices = ("--pretokenizer", "whitespace", "--vocab-size", "260", "--held-out", "0.5")
    result = succeed("train", path, "--out", out, *choices)
    assert "bytes per token" in result.stderr
    assert "Held out: " in result.stderr
    assert "on held-out" not in result.stderr


def test_encode_and_decode_preserve_every_byte(trained: Path) -> None:
    for text in ("hug, 漢字\r\n\n", "\ufeffmark", "<|endoftext|>", " "):
        encoded = succeed("encode", trained, stdin=text.encode())
        decoded = run("decode", trained, stdin=encoded.stdout_bytes)
        assert decoded.stdout_bytes == text.encode()


def test_decode_accepts_a_json_list_and_writes_partial_characters_as_bytes() -> None:
    ids = bpe.gpt2().encode("😀")
    assert len(ids) > 1
    result = run("decode", "gpt2", stdin=f"[{ids[0]}]".encode())
    assert result.stdout_bytes == bpe.gpt2().decode_bytes(ids[:1])
    for written in (str(ids), ", ".join(map(str, ids)), f" [ {ids[0]} ,\n{ids[1]}]\n"):
        assert run("decode", "gpt2", stdin=written.encode()).stdout == "😀", written
    assert run("decode", "gpt2", stdin=b"[ ]").stdout_bytes == b""


def test_writing_a_tokenizer_to_a_folder_prints_its_path(tmp_path: Path) -> None:
    train = ("train", "-", "--vocab-size", "260")
    result = succeed(*train, "--out", tmp_path, "--format", "native", stdin=b"hug hugs")
    assert f"Written: {tmp_path / 'tokenizer.bpe.json'}" in result.stderr.splitlines()
    assert (tmp_path / "tokenizer.bpe.json").is_file()
    result = run(*train, "--out", tmp_path / "mine.json", stdin=b"hug hugs")
    assert "Written" not in result.stderr
    assert (tmp_path / "mine.json").is_file()


def test_a_special_token_is_text_unless_allowed() -> None:
    assert run("encode", "--allow-special", "gpt2", stdin=b"<|endoftext|>").stdout == "50256\n"
    assert run("encode", "gpt2", stdin=b"<|endoftext|>").stdout.split() != ["50256"]


def test_a_character_not_in_the_alphabet_is_an_error_unless_skipped(tmp_path: Path) -> None:
    out = tmp_path / "letters.json"
    settings = ("--base", "characters", "--alphabet", "seen", "--special-token", "")
    succeed("train", "-", "--vocab-size", "4", "--out", out, *settings, stdin=b"hug")
    assert "☃" in run("encode", out, stdin="h☃ug".encode()).stderr
    assert run("encode", "--skip-unknown", out, stdin="h☃ug".encode()).stdout == "1 2 0\n"


def test_characters_with_bytes_for_the_rest_are_trained_and_checked(tmp_path: Path) -> None:
    out = tmp_path / "mine.model"
    settings = ["--base", "characters", "--byte-fallback", "--pretokenizer", "metaspace"]
    for token in ("<unk>", "<s>", "</s>"):
        settings += ["--special-token", token]
    text = "hug hugs pug \n" * 40
    saved = tmp_path / "mine.bpe-run"
    settings += ["--character-coverage", "0.9", "--run", str(saved)]
    succeed("train", "-", "--vocab-size", "280", "--out", out, *settings, stdin=text.encode())
    assert out.read_bytes().startswith(b"\n\x0e\n\x05<unk>")
    succeed("train", "-", "--vocab-size", "280", "--out", out, *settings, stdin=text.encode())
    ids = succeed("encode", out, stdin="hug é".encode()).stdout
    assert succeed("decode", out, stdin=ids.encode()).stdout == "hug é"
    assert "same ids" in succeed("convert", out, tmp_path / "tokenizer.json", "--check").stderr
    run_again = bpe.load_run(saved)
    assert run_again.config.character_coverage == 0.9
    assert run_again.tokenizer == load(out) == load(tmp_path / "tokenizer.json")
    refused = run("train", "-", "--vocab-size", "280", "--out", out, "--byte-fallback", stdin=b"a")
    assert "--byte-fallback needs the pre-tokenizer metaspace" in refused.stderr


def test_compare_prints_what_a_difference_is_on_if_it_is_not_words(tmp_path: Path) -> None:
    lines = [f"{' ' * (n % 7)}the cat{' ' * (n % 5)} of (the) house\n" for n in range(400)]
    (tmp_path / "code.txt").write_text("".join(lines))
    run("train", tmp_path / "code.txt", "--vocab-size", "280", "--out", tmp_path / "mine.json")
    said = run("compare", tmp_path / "code.txt", "-t", tmp_path / "mine.json", "-t", "gpt2").stdout
    assert (
        "mine.json needs 27.5% fewer tokens than gpt2\n"
        "  All of the difference is on white space; on words alone it needs as many.\n"
    ) in said


def test_compare_prints_the_interval_of_each_difference(trained: Path, tmp_path: Path) -> None:
    texts = many_texts(tmp_path)
    result = run("compare", texts, "-t", "gpt2", "-t", trained, "-t", "gpt2")
    gain, same = result.stdout.splitlines()[-3:-1]
    loss = run("compare", texts, "-t", trained, "-t", "gpt2").stdout.splitlines()[-2]
    for said, line in (
        ("gpt2 needs {}% fewer tokens than mine.bpe.json", gain),
        ("mine.bpe.json needs {}% more tokens than gpt2", loss),
    ):
        figure = r"([\d.]+)"
        interval = rf" \(95% interval {figure}–{figure}%\)"
        found = re.fullmatch(said.format(figure) + interval, line)
        assert found is not None
        assert float(found[2]) <= float(found[1]) <= float(found[3])
    assert same == "gpt2 needs as many tokens as gpt2 (2)"
    assert result.stdout.endswith("95% intervals over whole documents, 2,000 resamples.\n")
    one = run("compare", tmp_path / "texts" / "0.txt", "-t", "gpt2", "-t", trained).stdout
    assert "interval 0" not in one
    assert one.endswith("No interval: it takes 20 documents, and there is 1.\n")


def many_texts(folder: Path) -> Path:
    """Write enough documents for an interval, and return their folder."""
    (folder / "texts").mkdir()
    for file in range(30):
        lines = (f"It is line {n} of {file}, and there are more.\n" for n in range(9 + file))
        (folder / "texts" / f"{file}.txt").write_text("".join(lines))
    return folder / "texts"


def test_compare_measures_what_train_holds_out(trained: Path, tmp_path: Path) -> None:
    texts = many_texts(tmp_path)
    choices = ("--held-out", "0.3")
    out = tmp_path / "held.json"
    told = run("train", texts, "--vocab-size", "300", "--out", out, *choices).stderr
    found = re.search(r"Held out: ([\d,]+) bytes, (\d+) documents\.", told)
    assert found is not None, told
    compared = run("compare", texts, "-t", out, "-t", trained, *choices)
    assert f"documents {found[2]}, bytes {found[1]}," in compared.stdout
    own = tmp_path / "texts" / "3.txt"
    told = run(
        "train",
        texts,
        "--vocab-size",
        "300",
        "--out",
        out,
        "--force",
        "--held-out-file",
        own,
    ).stderr
    assert "on held-out text" in told
    assert "Left out of the training text: 1 document that is in the held-out text too." in told
    for wrong, why in (
        (("--held-out-by", "foo"), "as what to hold out by"),
        (("--held-out-file", own), "either --held-out or --held-out-file"),
        (("--held-out-by", "folder"), "All text is in one unit"),
        (("--held-out", "0", "--held-out-by", "folder"), "Nothing is held out by folder without"),
    ):
        refused = run("train", texts, "--vocab-size", "300", "--out", out, *choices, *wrong)
        assert refused.exit_code != 0
        assert why in refused.output


def test_a_corpus_large_enough_to_be_streamed_keeps_no_held_out_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "_MIN_LARGE_BYTES", 1)
    text, own, out = tmp_path / "a.txt", tmp_path / "b.txt", tmp_path / "out.json"
    text.write_text("It is one line, and there are more.\n" * 9)
    own.write_bytes(text.read_bytes())
    told = run("train", text, "--vocab-size", "300", "--out", out, "--held-out-file", own)
    assert told.exit_code != 0
    assert "All documents of the corpus are also in the held-out text" in told.output


def test_one_document_that_is_held_out_in_part_is_said(tmp_path: Path) -> None:
    text = tmp_path / "one.txt"
    text.write_text("".join(f"It is line {n}, and there are more.\n" for n in range(900)))
    out = tmp_path / "one.json"
    told = run("train", text, "--vocab-size", "300", "--out", out, "--held-out", "0.1").stderr
    assert " 1 document. From within documents that training saw: all of " in told


def test_compare_and_counting_report_the_column(trained: Path, tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    table = tmp_path / "a" / "a.jsonl"
    table.write_text('{"title": "A", "story": "hugs and more hugs"}\n' * 9)
    assert "took the column 'story'" in run("compare", table, "-t", trained).stderr
    counted = run("count", tmp_path / "a", "--out", tmp_path / "c.parquet")
    assert "took the column 'story'" in counted.stderr


def test_inspect_lists_ten_special_tokens_and_the_number_of_the_others(tmp_path: Path) -> None:
    special = [part for n in range(256) for part in ("--special-token", f"<|{n}|>")]
    train = ("train", "-", "--vocab-size", "512", *special, "--out", tmp_path / "x.json")
    succeed(*train, stdin=b"hug")
    lines = run("inspect", tmp_path / "x.json").stdout.splitlines()
    at = lines.index("special tokens  256")
    assert lines[at + 1].split() == ["0", "'<|0|>'"]
    assert lines[at + 10].split() == ["9", "'<|9|>'"]
    assert lines[at + 11].split() == ["and", "246", "more"]


def test_every_command_takes_the_short_options() -> None:
    groups = ((commands.main, ()), (commands.main.commands["store"], ("store",)))
    for group, before in groups:
        for name, command in cast("click.Group", group).commands.items():
            assert run(*before, name, "-h").output == run(*before, name, "--help").output
            outs = [option.opts for option in command.params if "--out" in option.opts]
            assert all("-o" in names for names in outs)


def test_compare_gives_no_verdict_on_a_short_text(trained: Path, tmp_path: Path) -> None:
    text = tmp_path / "short.txt"
    text.write_text("It is a line.\n")
    result = run("compare", text, "-t", "gpt2", "-t", trained)
    assert "too little text for a verdict" in result.stdout
    assert "fewer tokens" not in result.stdout


@pytest.mark.slow
def test_inspect_lists_the_libraries_of_each_format(trained: Path) -> None:
    lines = run("inspect", trained, "--opens-in").output.splitlines()
    of_format = {line.split()[0]: line for line in reversed(lines)}  # the first: its own library
    assert list(of_format)[::-1] == list(folder_files.FORMATS)
    assert all("same ids on" in line or "Refused: " in line for line in of_format.values())
    assert re.match(r"huggingface +Opened by tokenizers .+: same ids on", lines[0])
    assert re.match(r"huggingface +Opened by transformers .+: same ids on", lines[1])


def test_inspect_shows_the_first_merges_with_their_counts(trained: Path) -> None:
    result = run("inspect", trained, "--merges", "2")
    assert re.search(r"(?m)^vocabulary +300$", result.stdout)
    assert re.search(r"(?m)^merge 1: .+ \+ .+, \d+ times$", result.stdout)
    assert "merge 2" not in result.stdout


def test_inspect_answers_one_question_at_a_time() -> None:
    refused = run("inspect", "gpt2", "--opens-in", "--text", "")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "Give only one of --text and --opens-in." in refused.stderr


def test_convert_says_which_cut_its_reader_must_use(tmp_path: Path) -> None:
    source, out = tmp_path / "mine.json", tmp_path / "mine.tiktoken"
    tokenizer = bpe.train(["to be or not to be"] * 3, vocab_size=262, pretokenizer="cl100k")
    bpe.save(tokenizer, source)
    result = succeed("convert", source, out, "--json")
    assert "To read it: --pretokenizer cl100k" in result.stderr
    told = json.loads(result.stdout)
    assert (told["format"], told["pretokenizer"]) == ("tiktoken", "cl100k")
    assert told["written"] == [str(out)]
    assert "".join(told["lacks"]) in result.stderr.replace("\n", "")
    assert bpe.load(out, told["pretokenizer"], told["special_tokens"]) == bpe.load(source)
    assert "Name a file" in run("convert", source, "-", "--json").stderr


@pytest.mark.slow
@pytest.mark.parametrize("format", ["transformers", "tiktoken"])
def test_convert_checks_the_file_in_its_library(trained: Path, tmp_path: Path, format: str) -> None:
    out = tmp_path / "out"
    result = succeed("convert", trained, out, "--format", format, "--check")
    assert re.match(
        rf"Opened by {format} \d+\.\d+: same ids on 10\d,\d{{3}} tokens\.", result.stderr
    )
    assert out.exists()


def test_convert_writes_nothing_that_fails_its_check(
    trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = Reader("tiktoken", lambda _: "tokenizer = None", "[1, 2]")
    monkeypatch.setattr(opened_elsewhere, "find_reader", lambda *_: reader)
    result = run("convert", trained, tmp_path / "out", "--format", "tiktoken", "--check")
    assert result.exit_code == 1
    assert "other ids after 0 equal tokens" in result.stderr
    assert result.stderr.strip().endswith("Nothing was written.")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "stdin", "said"),
    [
        (["train", "-", "--vocab-size", "300", "--out", "x"], b"", "standard input is empty"),
        (["train", "-", "--vocab-size", "9", "--out", "x"], b"hug", "vocab"),
        (["train", "no such file", "--vocab-size", "300", "--out", "x"], b"", "no such file"),
        (["train", "-", "--vocab-size", "300", "--out", "no/such/x"], b"hug", "no/such"),
        (["encode", "gpt2"], b"ab\xff", "byte 2"),
        (["encode", "gpt2", "no such file"], b"", "no such file"),
        (["encode", "gpt-2x"], b"a", "gpt-2x is neither a file nor the name of a published tok"),
        (["inspect", "gpt-2x"], b"", "gpt-2x is neither a file nor the name of a published tok"),
        (["encode", "gpt2", "gone.txt"], b"", "'gone.txt' cannot be read: No such file"),
        (
            ["encode", "--pretokenizer", "nope", "gpt2"],
            b"a",
            "not 'nope'. Leave out the pre-tokenizer",
        ),
        (["encode", "--special-token", "x=1", "gpt2"], b"a", "has special tokens of its own"),
        (["decode", "gpt2"], b"464 x", "Number 2 of 2 ids is 'x'"),
        (["decode", "gpt2"], b"[1,[2],3]", "Number 2 of 3 ids is '[2]'"),
        (["decode", "gpt2"], b"[1,,3]", "Number 2 of 3 ids is ''"),
        (["decode", "gpt2"], b"99999999", "99999999 (number 1 of 1 ids)"),
        (["decode", "gpt2"], b"-1", "-1"),
        (["compare", "-", "-t", "gpt2"], b"", "empty"),
        (["convert", "gpt2", "-", "--format", "gpt2"], b"", "standard output"),
        (["encode", "--special-token", "x", "t.tiktoken"], b"a", "TEXT=ID"),
    ],
)
def test_an_error_is_one_line_on_stderr_with_status_1(
    arguments: list[str],
    stdin: bytes,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run(*arguments, stdin=stdin)
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1
    assert said in result.stderr


@pytest.mark.parametrize("folder", ["held_out", "vocab_size", "floor=1"])
def test_an_error_leaves_paths_as_they_are(tmp_path: Path, folder: str) -> None:
    path = tmp_path / folder / "held_out" / "a.txt"
    path.parent.mkdir(parents=True)
    path.write_text("hug hugs")
    assert str(path) in run("train", path, "--vocab-size", "260", "--out", path).stderr
    missing = path.with_name("vocab_size.json")
    assert str(missing) in run("encode", missing, stdin=b"a").stderr


def test_an_error_names_the_options_of_the_command(trained: Path) -> None:
    def error(*arguments: str | Path) -> str:
        return run(*arguments, "--out", trained.with_name("out")).stderr

    text = trained.with_name("notes.txt")
    assert "Expected --vocab-size as a whole number" in error("train", text, "--vocab-size", "0")
    train = "train", text, "--vocab-size", "300"
    assert "Set --byte-fallback, or a" in error(*train, "--character-coverage", "0.9")
    spaces = error(*train, "--pretokenizer", "metaspace")
    assert "metaspace needs --base characters --byte-fallback." in spaces
    marked = ("--base", "characters", "--byte-fallback", "--pretokenizer", "metaspace")
    both = error(*train, *marked, "--end-of-word", "</w>")
    assert both.startswith("Error: --base characters --byte-fallback and an end-of-word marker")
    assert "Use no --end-of-word." in both
    ranks = error(*train, "--format", "tiktoken", "--end-of-word", "</w>")
    assert "or train with no --end-of-word." in ranks
    ranks = error(*train, "--format", "tiktoken", "--base", "characters")
    assert "or train with --base bytes." in ranks
    assert "such as '</w>', or no --end-of-word." in error(*train, "--end-of-word", "")
    assert "from 0 to 300, got 301" in error("shrink", trained, text, "--size", "301")
    assert "Expected --size" in error("shrink", trained, text, "--size", "301")
    # The option of another command, but not with a value that it refuses.
    letters = trained.with_name("letters.bpe.json")
    succeed(*train, "--alphabet", "seen", "--out", letters)
    assert "train with --alphabet full." in error("convert", letters, "--format", "gguf")
    assert "errors='skip' or --skip-unknown" in run("encode", letters, stdin=b"Q").stderr
    # A key of a file is not an option, and neither is a column.
    rows = trained.with_name("rows.jsonl")
    rows.write_text('{"text": "hug", "n_tokens": 3}')
    columns = "--format", "parquet", "--keep-column", "n_tokens"
    refused = error("encode-corpus", rows, "-t", "gpt2", *columns)
    assert "and none named input_ids or n_tokens" in refused
    damaged = json.loads(trained.read_text("utf-8")) | {"special_tokens": 5}
    letters.write_text(json.dumps(damaged), "utf-8")
    assert "special_tokens" in run("inspect", letters).stderr


def test_help_imports_no_heavy_modules() -> None:
    code = (
        "import sys, runpy, click\n"
        "sys.argv = ['bpe_core', '--help']\n"
        "try: runpy.run_module('bpe_core', run_name='__main__')\n"
        "except SystemExit: pass\n"
        "heavy = {'tokenizers', 'tiktoken', 'pyarrow', 'pandas', 'streamlit', 'numba'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    assert run_python(code).endswith("\n[]\n")


def test_published_names_and_other_models_encode_by_their_library(tmp_path: Path) -> None:
    model = tmp_path / "words.json"
    model.write_text(
        '{"model": {"type": "WordPiece", "vocab": {"a": 0, "##b": 1, "[UNK]": 2}, '
        '"unk_token": "[UNK]", "continuing_subword_prefix": "##", '
        '"max_input_chars_per_word": 100}}'
    )
    assert succeed("encode", model, stdin=b"ab").stdout == "0 1\n"
    assert succeed("decode", model, stdin=b"0 1").stdout == "a ##b"
    assert run("inspect", model).exit_code == 1


def test_a_tokenizer_that_normalizes_text_is_decoded_and_explained(tmp_path: Path) -> None:
    tokenizer = bpe.train(["hugs é"] * 3, bpe.TrainingConfig(260)).tokenizer
    described = json.loads(dumps(tokenizer, "huggingface")["tokenizer.json"])
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(described | {"normalizer": {"type": "NFC"}}))
    ids = succeed("encode", path, stdin="hugs e\u0301".encode()).stdout
    assert succeed("decode", path, stdin=ids.encode()).stdout == "hugs é"
    assert f"merges          {tokenizer.n_merges}\n" in succeed("inspect", path).stdout
    of_text = succeed("inspect", path, "--text", "e\u0301 hugs").stdout
    assert of_text == succeed("inspect", path, "--text", "é hugs").stdout
    opened = bpe.open_encoder(path).encoder
    assert isinstance(opened, bpe.Tokenizer)
    assert opened.explain("e\u0301 hugs")[-1].start == 2


def test_a_published_tokenizer_is_fetched_when_it_is_first_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted: list[str] = []

    def fetch(name: str, on_progress: object) -> str:
        wanted.append(name)
        raise bpe.UnavailableError("There is no network.")

    monkeypatch.setenv("BPE_EXPLORER_TOKENIZERS", str(tmp_path))
    monkeypatch.setattr("bpe_core.formats.fetch", fetch)
    for name in ("llama3", "gpt-4o", "gpt2"):
        assert run("encode", name, stdin=b"ab").exit_code == (name != "gpt2")
    assert "There is no network." in run("compare", "-", "-t", "llama3", stdin=b"ab").stderr
    assert wanted == ["llama3", "gpt-4o", "llama3"]


def test_training_for_parity_shows_each_language_beside_plain_bpe(tmp_path: Path) -> None:
    chosen = [text for text in parallel_texts() if text.code in ("en", "th", "el")]
    for text in chosen:
        path = tmp_path / "languages" / text.code / "a.txt"
        path.parent.mkdir(parents=True)
        path.write_text("\n".join(text.sentences), "utf-8")
    out, command = tmp_path / "fair.json", ("train-parity", "--vocab-size", "500", "--json")
    found = json.loads(succeed(*command, tmp_path / "languages", "--out", out).stdout)
    tokenizer = load(out)
    assert (found["vocab_size"], found["fingerprint"]) == (500, tokenizer.fingerprint)
    assert found["gini"] < found["plain_gini"]
    rows = found["languages"]
    assert rows.keys() == {"en", "th", "el"}
    assert sum(row["n_merges_picked"] for row in rows.values()) == tokenizer.n_merges
    for text in chosen:
        row = rows[text.code]
        assert row["n_tokens"] == len(tokenizer.encode("\n".join(text.sentences)))
        assert row["n_tokens"] < row["n_tokens_before"]

    files = [tmp_path / "languages" / code / "a.txt" for code in ("en", "th")]
    named = [f"first={files[0]}", f"second={files[1]}"]
    more = ("--hybrid-merges", "5", "--window", "4", "--force")
    measured = [part for name in named for part in ("--development", name)]
    shown = succeed(*command[:-1], *named, *measured, *more, "--out", out).stderr
    assert re.search(r"(?m)^second( +[\d,]+){4}$", shown), shown
    assert re.search(r"(?m)^Gini coefficient( +0\.\d{3}){2}$", shown), shown
    assert "are both named a. Name one of them" in run(*command, *files, "--out", out).stderr
    assert "two or more" in run(*command, named[0], "--out", tmp_path / "no.json").stderr
    only = ("--development", named[0], "--out", tmp_path / "no.json")
    assert "'second' is in only one" in run(*command, *named, *only).stderr


def test_a_vocabulary_is_cut_five_ways(tmp_path: Path) -> None:
    shown = succeed("readers", "gpt2", stdin=b" Northamptonshire").stdout.splitlines()
    assert shown[0].split() == ["merges", "5", "0.149", "ĠNorth", "am", "pt", "ons", "hire"]
    assert shown[3].split() == ["fewest-tokens", "3", "0.101", "ĠNorth", "ampton", "shire"]
    dropped = ("--dropout", "1", "--json", "--allow-special")
    found = json.loads(succeed("readers", "gpt2", *dropped, stdin=b"I like th").stdout)
    assert [row["tokens"] for row in found["readers"]] == [3, 3, 3, 3, 9]
    assert found["unstable_end"] == {"n_stable": 2, "n_unstable": 1, "added": "e", "ids": [262]}
    assert succeed("readers", "gpt2").stdout.splitlines()[::5] == [
        "merges         0",
        "Unstable at the end: no token.",
    ]
    (default,) = [each.default for each in encode.readers.params if each.name == "dropout"]
    assert default == DROPOUT
    long = tmp_path / "long.txt"
    long.write_text("the sea " * (MAX_PROMPT // 8))
    assert len(succeed("readers", "gpt2", long).stdout.splitlines()) == 6
    long.write_text("the sea " * (MAX_PROMPT // 8) + "t")
    shown = succeed("readers", "gpt2", long).stdout.splitlines()
    assert len(shown) == 5
    assert all(line.endswith(" …") for line in shown)


def test_tokens_are_taken_out_again_and_only_the_native_format_says_so(tmp_path: Path) -> None:
    text, out = tmp_path / "notes.txt", tmp_path / "picky.bpe.json"
    text.write_text("the hedgehog and the hedge, hedgehogs and hedges " * 9)
    size = ("--vocab-size", "262", "--picky", "0.6")
    refused = run("train", text, *size, "--out", tmp_path / "no.json")
    assert refused.exit_code == 2
    assert "the format huggingface is a plain list of merges" in refused.stderr
    assert json.loads(succeed("train", text, *size, "--out", out, "--json").stdout)[
        "vocab_size"
    ] == len(load(out))
    assert load(out) == bpe.train([text.read_text()], vocab_size=262, picky=0.6).tokenizer
    converted = run("convert", out, "--out", tmp_path / "no.tiktoken", "--format", "tiktoken")
    assert "the format tiktoken is a plain list of merges" in converted.stderr
    for name, size in (("extend", "--tokens"), ("shrink", "--size"), ("replace", "--tokens")):
        # The text does not exist: the base is refused before any text is read.
        adapted = run(name, out, tmp_path / "no.txt", size, "2", "--out", tmp_path / "no")
        assert "its training removed tokens again (PickyBPE)" in adapted.stderr


def test_superwords_of_a_folder_are_those_of_its_text(tmp_path: Path) -> None:
    folder, out = tmp_path / "texts", tmp_path / "joined.json"
    folder.mkdir()
    for number, text in enumerate(load_sample("alice").documents[:3]):
        (folder / f"{number}.txt").write_bytes(text.encode())
    size = ("--vocab-size", "320", "--superwords-from", "300")
    seeds = ("--seed-token", "cmpxchg", "--seed-token", "New York")
    result = succeed("train", folder, *size, *seeds, "--out", out, "--json")
    config = bpe.TrainingConfig(320, superwords_from=300, seeds=["cmpxchg", "New York"])
    expected = bpe.train(bpe.read_corpus(folder), config)
    assert load(out) == expected.tokenizer
    terms = json.loads(result.stdout)["terms"]
    assert [term["tokens_added"] for term in terms] == [7, 0]
    assert "'New York' is not one token: The pre-tokenizer cuts it into 2 words" in result.stderr
    for more in (("--floor", "2", folder), ("--counts", tmp_path / "counts.parquet")):
        refused = run("train", *size, *more, "--out", tmp_path / "no.json")
        assert refused.exit_code == 1
        assert "Omit --superwords-from and --weight, or --counts" in refused.stderr


def test_files_and_folders_count_as_often_as_their_weights_say(tmp_path: Path) -> None:
    for name, text in {"de/a.txt": "der Hut", "en/a.txt": "the hat", "fr.txt": "le chat"}.items():
        path = tmp_path / "texts" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    command = ("train", tmp_path / "texts", "--vocab-size", "262")
    weights = ("--weight", "de=2", "--weight", "fr=0.5")
    out = tmp_path / "mine.json"
    found = json.loads(succeed(*command, *weights, "--out", out, "--json").stdout)
    texts = ["der Hut"] * 4 + ["the hat"] * 2 + ["le chat"]
    assert load(out) == bpe.train(texts, vocab_size=262).tokenizer
    assert found["text"]["n_bytes"] == sum(map(len, texts))
    for wrong, told in (
        ("de", "Expected NAME=NUMBER"),
        ("es=2", "is called 'es'"),
        ("de=0", "above 0"),
        ("de=1e999999999", "The weight of 'de' is inf"),
        ("de=1e-999999999", "The weight of 'de' is 0"),
        ("de=nan", "The weight of 'de' is nan"),
        ("de=1/0", "Expected NAME=NUMBER"),
        ("de=3/1e9", "Expected NAME=NUMBER"),
    ):
        assert told in run(*command, "--weight", wrong, "--out", tmp_path / "no.json").stderr
    twice = run(*command, *weights, "--weight", "de=3", "--out", tmp_path / "no.json")
    assert "--weight is given twice for 'de'" in twice.stderr
    thirds = ("--weight", "de=2/3", "--weight", "fr=1/3")
    assert succeed(*command, *thirds, "--out", tmp_path / "thirds.json")
