"""Tokens that a model hardly learned: on models whose untrained rows are known."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy
from click.testing import CliRunner
from numpy.typing import NDArray

import bpe_core as bpe
from bpe_core.cli import main
from bpe_core.models import tensors as reading
from bpe_core.models.tensors import (
    from_float32,
    make_header,
    open_rows,
    to_float32,
    write_tensors,
)
from bpe_core.models.untrained_rows import RowFigures, first_component, line, separation
from bpe_core.vocabulary import Reachability
from tests.loopback_hub import loopback_hub

TEXT = " ".join(f"hug{a}{b} pun{b} bun{a} añ{a}o 木{b}" for a in "bcdfgst" for b in "aeiou")
TOKENIZER = bpe.train(
    [TEXT] * 3, vocab_size=330, special_tokens=("<|end|>", "<|reserved_0|>")
).tokenizer
N_ROWS, N_COLUMNS = 352, 48
UNREACHABLE = frozenset(Reachability.of(TOKENIZER).unreachable)
RESERVED = TOKENIZER.special_tokens["<|reserved_0|>"]
UNUSED = UNREACHABLE | {RESERVED} | {*range(330, N_ROWS)}
PLANTED = frozenset([*TOKENIZER.encode("\x01\x02ÿ"), 300, 311, 329]) - UNUSED


def make_model(tied: bool) -> dict[str, NDArray[np.float32]]:
    """Return rows in which those of `UNUSED` and `PLANTED` are as they were before training."""
    rng = np.random.default_rng(7)
    untrained = sorted(UNUSED | PLANTED)
    rows = rng.normal(0, 1, (N_ROWS, N_COLUMNS))
    if tied:
        # Softmax pushes the rows that it never asks for the same way.
        rows[untrained] = rng.normal(0, 0.1, (len(untrained), N_COLUMNS)) + rng.normal(
            0, 1, N_COLUMNS
        )
        return {"model.embed_tokens.weight": rows.astype(np.float32)}
    rows[untrained] = rng.normal(0, 0.3, (len(untrained), N_COLUMNS))
    output = rng.normal(0, 1, (N_ROWS, N_COLUMNS))
    output[untrained] = rng.normal(0, 0.2, (len(untrained), N_COLUMNS)) + rng.normal(
        0, 1, N_COLUMNS
    )
    # What all rows have in common hides everything else until it is removed.
    output += 30 * rng.normal(0, 1, N_COLUMNS)
    return {
        "model.embed_tokens.weight": rows.astype(np.float32),
        "lm_head.weight": output.astype(np.float32),
    }


def write_model(
    folder: Path, rows: dict[str, NDArray[np.float32]], dtype: str, *, sharded: bool
) -> Path:
    folder.mkdir(parents=True)
    others = {"model.layers.0.weight": np.ones((3, 5), np.float32)}
    if sharded:
        names = [f"model-0000{n}-of-00003.safetensors" for n in (1, 2, 3)]
        parts = [*({name: array} for name, array in rows.items()), others]
        for name, part in zip(names, parts, strict=False):
            write_tensors(folder / name, part, dtype)
        weight_map = {
            tensor: name for name, part in zip(names, parts, strict=False) for tensor in part
        }
        index = {"metadata": {"total_size": 1}, "weight_map": weight_map}
        (folder / "model.safetensors.index.json").write_text(json.dumps(index))
        # A second copy of the weights, as some publishers add, is not in the index.
        write_tensors(
            folder / "consolidated.safetensors",
            {"tok_embeddings.weight": np.ones((2, 2), np.float32)},
        )
    else:
        write_tensors(folder / "model.safetensors", {**others, **rows}, dtype)
    bpe.save(TOKENIZER, folder / "tokenizer.json")
    config = {"tie_word_embeddings": len(rows) == 1, "vocab_size": N_ROWS, "model_type": "llama"}
    (folder / "config.json").write_text(json.dumps(config))
    return folder


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize(("dtype", "sharded"), [("F32", False), ("F16", True), ("BF16", True)])
def test_exactly_the_rows_that_were_never_trained_are_found(
    tied: bool, dtype: str, sharded: bool, tmp_path: Path
) -> None:
    folder = write_model(tmp_path / "model", make_model(tied), dtype, sharded=sharded)
    found = bpe.undertrained(folder)
    assert {*found.known} == UNUSED
    assert found.known[RESERVED] == "reserved"
    assert found.known[N_ROWS - 1] == "no token"
    assert found.is_tied == tied
    assert found.dtype == dtype
    chosen = {*found.candidates}
    precision = len(chosen & PLANTED) / len(chosen)
    recall = len(chosen & PLANTED) / len(PLANTED)
    assert (precision, recall) == (1, 1), found.to_dict()
    # The direction of the untrained rows is the main one of the tied model, so it is removed there.
    assert found.indicator == ("input cosine" if tied else "output cosine")


def test_the_indicators_are_those_of_the_paper(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Written out in NumPy on whole matrices, and read here in blocks of a few rows."""
    monkeypatch.setattr(reading, "BLOCK_BYTES", 4 * N_COLUMNS * 7)
    rows = make_model(tied=False)
    found = bpe.undertrained(write_model(tmp_path / "model", rows, "F32", sharded=True))
    known = sorted(UNUSED)
    inputs, outputs = (array.astype(np.float64) for array in rows.values())
    component = np.linalg.svd(outputs, full_matrices=False)[2][0]
    centred = outputs - np.outer(outputs @ component, component)
    assert np.allclose(found.input_norms, np.linalg.norm(inputs, axis=1), rtol=1e-5)
    for values, matrix in ((found.input_cosines, inputs), (found.output_cosines, centred)):
        for id in (0, 100, known[0], known[-1]):
            mean = matrix[[each for each in known if each != id]].mean(axis=0)
            row = matrix[id]
            cosine = row @ mean / (np.linalg.norm(row) * np.linalg.norm(mean))
            assert values[id] == pytest.approx(1 - cosine, abs=1e-3)
    own = open_rows(tmp_path / "model").output
    assert own is not None
    direction = first_component(own, lambda *_: None)
    assert abs(direction @ component) == pytest.approx(1, abs=1e-6)


def test_without_a_line_only_rows_of_zeros_are_listed(tmp_path: Path) -> None:
    rows = np.random.default_rng(0).normal(0, 1, (N_ROWS, N_COLUMNS)).astype(np.float32)
    rows[300] = 0
    folder = write_model(tmp_path / "model", {"wte.weight": rows}, "F32", sharded=False)
    found = bpe.undertrained(folder)
    assert found.indicator is None
    assert found.candidates == [300]
    assert np.isnan(found.input_cosines[300])


def test_types_are_read_and_written_as_the_formats_own_library_does(tmp_path: Path) -> None:
    numbers = np.array([[0.1, -2.5, 3e-8], [65504, 0, -0.0]], np.float32)
    for dtype, numpy_type in (("F32", np.float32), ("F16", np.float16)):
        write_tensors(tmp_path / "a.safetensors", {"a": numbers}, dtype)
        read = safetensors.numpy.load_file(tmp_path / "a.safetensors")["a"]
        assert read.dtype == numpy_type
        assert np.array_equal(read, numbers.astype(numpy_type))
    # Halfway between two numbers of bfloat16, the even one is nearest.
    halves = np.array([1 + 2**-8, 1 + 3 * 2**-8, -1 - 2**-8, np.inf, np.nan], np.float32)
    kept = to_float32(from_float32(halves, "BF16"), "BF16")
    assert kept[:4].tolist() == [1, 1 + 2**-6, -1, np.inf]
    assert np.isnan(kept[4])


def test_figures_of_indicators() -> None:
    assert separation(np.array([1.0, np.nan]), np.array([2.0, 3.0])) == 1
    assert separation(np.array([]), np.array([2.0])) == 0
    assert line(np.array([1.0, 2.0, 3.0])) == pytest.approx(2 + 3 * 1.4826)


def run(*arguments: str | Path) -> Any:
    return CliRunner().invoke(main, ["undertrained", *map(str, arguments)])


def test_the_command_prints_json_and_csv(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "model", make_model(tied=True), "BF16", sharded=True)
    printed = run(folder)
    assert printed.exit_code == 0
    assert "352 rows of 48 (BF16), used for output too; 330 tokens" in printed.output
    figures = json.loads(run(folder, "--json", "--csv", tmp_path / "rows.csv").output)
    assert {each["id"] for each in figures["candidates"]} == PLANTED
    assert figures["known_unused"]["no token"] == N_ROWS - 330
    table = list(csv.DictReader(io.StringIO((tmp_path / "rows.csv").read_text())))
    assert {int(row["id"]) for row in table if row["candidate"] == "True"} == PLANTED
    assert len(table) == N_ROWS
    cut = [each for each in figures["candidates"] if each["bigram"]]
    for each in cut:
        assert each["id"] in TOKENIZER.encode(each["bigram"])
    assert cut
    one_file = run(folder / "model-00001-of-00003.safetensors")
    assert one_file.output == printed.output


def test_the_file_of_the_command_is_read_back(tmp_path: Path) -> None:
    write_tensors(tmp_path / "model.safetensors", make_model(tied=False))
    found = bpe.undertrained(tmp_path, TOKENIZER)
    data = found.to_csv().encode()
    for written in (data, b"\xef\xbb\xbf" + data.replace(b"\n", b"\r\n")):
        read = RowFigures.read(written, TOKENIZER.vocab)
        assert {*read.candidates} == {*found.candidates}
        assert np.array_equal(read.input_norms, found.input_norms[read.ids])
        assert {*read.ids.tolist()} == {*TOKENIZER.vocab}
        assert read.bigrams == found.bigrams
        assert [read.kinds[id] for id in read.candidates] == [*map(found.kind, read.candidates)]
    for wrong, vocab, message in (
        (b"\xff\xfe", TOKENIZER.vocab, "is not a file that bpe undertrained"),
        (b"a,b\n1,2\n", TOKENIZER.vocab, "is not a file that bpe undertrained"),
        (b"id,bytes\n", TOKENIZER.vocab, "has no rows"),
        (b"", TOKENIZER.vocab, "has no rows"),
        (data, bpe.gpt2().vocab, "are not those of this tokenizer"),
    ):
        with pytest.raises(bpe.FormatError, match=message):
            RowFigures.read(wrong, vocab)


def test_errors_say_what_to_do(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "model", make_model(tied=True), "F32", sharded=False)
    weights = (folder / "model.safetensors").read_bytes()
    empty = tmp_path / "empty"
    empty.mkdir()
    pytorch = tmp_path / "pytorch"
    pytorch.mkdir()
    (pytorch / "pytorch_model.bin").write_bytes(b"no")
    cases: list[tuple[bytes | None, Path, list[str], str]] = [
        (None, tmp_path / "none", [], "does not exist. Expected the folder of a model"),
        (None, empty, [], "has no .safetensors file."),
        (None, pytorch, [], "save them as safetensors"),
        (None, folder, ["--input-tensor", "x"], "has no tensor 'x'. It has model.embed_tokens"),
        (None, folder, ["--tokenizer", "gpt2"], "ids up to 50,256, and .* has 352 rows"),
        (weights[:100], folder, [], "is not a safetensors file, or it is incomplete"),
        (weights[:-1], folder, [], "does not fit its contents"),
        (b"", folder, [], "is not a safetensors file"),
        (make_header({"a": ("F32", (0, 2))}), folder, [], "no input embedding under a known name"),
    ]
    quantized = json.dumps(
        {"wte.weight": {"dtype": "I8", "shape": [2, 2], "data_offsets": [0, 4]}}
    ).encode()
    cases.append(
        (len(quantized).to_bytes(8, "little") + quantized + b"1234", folder, [], "quantized")
    )
    for data, place, options, message in cases:
        if data is not None:
            (folder / "model.safetensors").write_bytes(data)
        failed = run(place, *options)
        assert failed.exit_code == 1
        assert failed.exception is None or isinstance(failed.exception, SystemExit)
        assert re.search(message, failed.output), failed.output


def test_of_a_model_on_the_hub_only_its_rows_are_downloaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))
    rows = make_model(tied=False)
    folder = write_model(tmp_path / "model", rows, "BF16", sharded=True)
    filler = {"model.layers.0.weight": np.ones((2000, 500), np.float32)}
    write_tensors(folder / "model-00003-of-00003.safetensors", filler, "BF16")
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    seen: list[str] = []
    with loopback_hub() as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.address)
        hub.add("org/model", files)
        found = bpe.undertrained("hf:org/model", on_progress=lambda what, *_: seen.append(what))
        local = bpe.undertrained(folder)
        assert found.candidates == local.candidates
        assert np.array_equal(found.output_cosines, local.output_cosines, equal_nan=True)
        assert "Downloading rows" in seen
        fetched = {path.rpartition("/")[2] for path in hub.paths("GET") if "/resolve/" in path}
        assert "model-00003-of-00003.safetensors" not in fetched
        assert "consolidated.safetensors" not in fetched
        sizes = sum(2 * array.size for array in rows.values())
        assert sizes < hub.sent_bytes < sizes + 5_000
        assert not [*(tmp_path / "cache").glob(".bpe-explorer-*")]
        hub.add("org/whole", files, "whole files")
        failed = run("hf:org/whole")
        assert failed.exit_code == 1
        assert "does not send parts of files" in failed.output
        hub.add("org/none", {"tokenizer.json": files["tokenizer.json"], "config.json": b"{}"})
        assert "has no model.safetensors" in run("hf:org/none").output
