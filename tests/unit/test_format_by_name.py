"""The name of an output chooses its format, in the library and on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import bpe_core as bpe
from bpe_core.formats import dumps
from bpe_core.types import Format
from tests.commands import run, succeed

TEXT = "hug hugs hugging, the hugs of a pug\n" * 9
RUN = bpe.train(bpe.Corpus.from_text(TEXT), bpe.TrainingConfig(280))
TOKENIZER = RUN.tokenizer

NAMES: dict[str, Format] = {
    "x.tiktoken": "tiktoken",
    "X.TIKTOKEN": "tiktoken",
    "x.gguf": "gguf",
    "x.json": "huggingface",
    "tokenizer.json": "huggingface",
    "my.tokenizer.json": "huggingface",
    "x": "huggingface",
    "x-1.5": "huggingface",
    "tokenizer.bpe.json": "native",
    "x.bpe.json": "native",
}


@pytest.fixture(autouse=True)
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.txt").write_text(TEXT)
    return tmp_path / "notes.txt"


@pytest.mark.parametrize(("name", "format"), NAMES.items())
def test_a_file_is_written_in_the_format_of_its_name(name: str, format: Format) -> None:
    (expected,) = dumps(TOKENIZER, format).values()
    bpe.save(TOKENIZER, name)
    assert Path(name).read_bytes() == expected
    Path(name).unlink()
    bpe.save(TOKENIZER, "source.bpe.json")
    (recorded,) = dumps(RUN, format).values()
    for command, written in (
        (["train", "notes.txt", "--vocab-size", "280", "--out", name], recorded),
        (["convert", "source.bpe.json", name], expected),
    ):
        result = succeed(*command)
        assert Path(name).read_bytes() == written
        assert "format" not in result.stderr
        Path(name).unlink()


@pytest.mark.parametrize("name", ["existing", "new/"])
def test_a_folder_is_written_for_transformers(name: str) -> None:
    Path("existing").mkdir()
    names = ["special_tokens_map.json", "tokenizer.json", "tokenizer_config.json"]
    bpe.save(TOKENIZER, name)
    assert sorted(path.name for path in Path(name).iterdir()) == names
    succeed("train", "notes.txt", "--vocab-size", "280", "--out", name)
    # And what it was trained on.
    written = {path.name for path in Path(name).iterdir()}
    assert written == {*names, "tokenizer.training.json"}


def test_a_format_of_one_file_is_put_into_a_new_folder() -> None:
    bpe.save(TOKENIZER, "new/", "tiktoken")
    assert [path.name for path in Path("new").iterdir()] == ["tokenizer.tiktoken"]


@pytest.mark.parametrize(
    ("name", "format", "named"),
    [
        ("x.tiktoken", "huggingface", "tiktoken"),
        ("tokenizer.json", "native", "huggingface"),
        ("x.bpe.json", "huggingface", "native"),
        ("x.json", "tiktoken", "huggingface"),
        ("x.gguf", "gpt2", "gguf"),
    ],
)
def test_a_format_overrides_the_name_and_the_disagreement_is_reported(
    name: str, format: Format, named: str
) -> None:
    note = f"{name} is written in the format {format}, although its name says {named}."
    with pytest.warns(UserWarning, match=note):
        bpe.save(TOKENIZER, name, format)
    files = dumps(TOKENIZER, format)
    for file, data in files.items():
        assert (Path(name, file) if len(files) > 1 else Path(name)).read_bytes() == data
    bpe.save(TOKENIZER, "source.bpe.json")
    Path("folder").mkdir()
    result = succeed("convert", "source.bpe.json", f"folder/{name}", "--format", format)
    assert "although its name says" in result.stderr


@pytest.mark.parametrize(
    ("name", "format"),
    [("x.json", "native"), ("x", "tiktoken"), ("x.txt", "gguf"), ("existing", "native")],
)
def test_a_name_that_fits_several_formats_is_no_disagreement(name: str, format: Format) -> None:
    Path("existing").mkdir()
    bpe.save(TOKENIZER, name, format)  # a warning would be an error here


def test_an_ending_that_says_no_format_is_reported() -> None:
    with pytest.warns(UserWarning, match=r"No format is written as \.bin"):
        bpe.save(TOKENIZER, "x.bin")
    assert "model" in json.loads(Path("x.bin").read_bytes())


@pytest.mark.parametrize("name", ["vocab.json", "merges.txt", "encoder.json"])
def test_one_of_two_files_is_not_an_output(name: str) -> None:
    for format in (None, "gpt2"):
        with pytest.raises(bpe.ConfigError, match="Name their folder"):
            bpe.save(TOKENIZER, name, format)
    assert not Path(name).exists()


def test_standard_output_is_a_tokenizer_json() -> None:
    result = run("train", "notes.txt", "--vocab-size", "280", "--out", "-")
    assert result.stdout_bytes == dumps(TOKENIZER, "huggingface")["tokenizer.json"]
