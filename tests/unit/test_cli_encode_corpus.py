"""`bpe encode-corpus` and what `bpe inspect` says of its folders."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import tokenizers

import bpe_core as bpe
from bpe_core.cli.encode_corpus import parse_count
from bpe_core.errors import ConfigError
from tests.commands import run, succeed

TEXT = "It's 2024: größer,\n\tdef f(x): pass  # 🧩\n"


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "corpus"
    folder.mkdir()
    (folder / "a.txt").write_text(TEXT * 50, encoding="utf-8")
    rows = (json.dumps({"text": f"{n} {TEXT}"}) + "\n" for n in range(60))
    (folder / "b.jsonl").write_text("".join([*rows, "not JSON\n"]), encoding="utf-8")
    return folder


def test_the_result_is_reported_and_inspected(corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = succeed("encode-corpus", corpus, "-t", "gpt2", "--val-share", "0.2", "--out", out)
    assert "After each document: <|endoftext|> (50256)." in result.output
    assert "b.jsonl: took the column 'text'." in result.output
    assert "61 documents, " in result.output
    assert "Skipped 1 rows without text." in result.output
    shown = succeed("inspect", out).output
    assert "format          bin <u2" in shown
    assert "begins with     It 's Ġ2024 :" in shown
    assert "2 files have the SHA-256 of the manifest" in shown
    (out / "train-00000.bin").write_bytes(b"damaged")
    broken = run("inspect", out)
    assert broken.exit_code == 1
    assert "train-00000.bin has 7 bytes instead of" in broken.output


@pytest.mark.parametrize("format", ["npy", "megatron", "parquet"])
def test_each_format_is_inspected(corpus: Path, tmp_path: Path, format: str) -> None:
    out = tmp_path / "out"
    succeed("encode-corpus", corpus, "-t", "gpt2", "--format", format, "--out", out)
    assert "begins with     It 's Ġ2024 :" in succeed("inspect", out).output


def test_a_tokenizer_that_another_library_runs_is_opened_by_its_path(
    corpus: Path, tmp_path: Path
) -> None:
    unigram = tokenizers.Tokenizer(
        tokenizers.models.Unigram([("<unk>", 0.0), ("a", -1.0), ("It", -1.0), ("</s>", 0.0)], 0)
    )
    unigram.add_special_tokens(["</s>"])
    unigram.save(str(tmp_path / "unigram.json"))
    out = tmp_path / "out"
    succeed("encode-corpus", corpus, "-t", tmp_path / "unigram.json", "--out", out)
    ids = np.fromfile(out / "train-00000.bin", "<u2").tolist()
    end = unigram.encode(TEXT * 50, add_special_tokens=False).ids
    assert ids[: len(end) + 1] == [*end, 3]
    shown = succeed("inspect", out).output
    assert "unigram.json" in shown
    assert f"begins with     {' '.join(map(str, ids[:8]))}" in shown


def test_a_manifest_from_anyone_opens_no_other_file_and_prints_no_control_characters(
    corpus: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    succeed("encode-corpus", corpus, "-t", "gpt2", "--out", out)
    path = out / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["tokenizer"]["file"] = "hf:org/model\x1b[2J"
    path.write_text(json.dumps(manifest))
    assert "\x1b" not in succeed("inspect", out).output
    manifest["tokenizer"] = {**manifest["tokenizer"], "file": "tokenizer.bpe.json"}
    manifest["tokenizer"]["fingerprint"] = "0" * 64
    path.write_text(json.dumps(manifest))
    assert "is not the tokenizer whose fingerprint" in run("inspect", out).output
    manifest["shards"][0]["files"][0]["name"] = "../corpus/a.txt"
    path.write_text(json.dumps(manifest))
    assert "corpus/a.txt is missing" in run("inspect", out).output


def test_an_unknown_symbol_names_its_file(corpus: Path, tmp_path: Path) -> None:
    (corpus / "c.txt").write_text("hugs")
    vocab = {97: b"a"}
    bpe.save(bpe.Tokenizer(vocab=vocab, merges=[], pretokenizer="none"), tmp_path / "a.bpe.json")
    command = ["encode-corpus", corpus / "c.txt", "-t", tmp_path / "a.bpe.json", "--eos", "none"]
    result = run(*command, "--out", tmp_path / "out")
    assert result.exit_code == 1
    assert "c.txt: The alphabet of this tokenizer (1 bytes) has no byte 0x68" in result.output


def test_a_folder_that_cannot_be_written_is_refused_before_encoding(corpus: Path) -> None:
    result = run("encode-corpus", corpus, "-t", "gpt2", "--out", "/proc/here")
    assert result.exit_code == 1
    assert "/proc/here/manifest.json cannot be written" in result.output


def test_json_is_an_object_for_each_report(corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = succeed("encode-corpus", corpus, "-t", "gpt2", "--json", "--out", out)
    events = [json.loads(line) for line in result.stdout.splitlines()]
    assert {event["event"] for event in events[:-1]} == {"progress"}
    assert events[-2]["shards_done"] == events[-2]["shards"] == 1
    finished = events[-1]
    assert finished["event"] == "finished"
    assert finished["tokens"] == len(np.fromfile(out / "train-00000.bin", "<u2"))


def test_standard_input_gives_what_a_file_does(tmp_path: Path) -> None:
    text = (TEXT * 50).encode()
    (tmp_path / "a.txt").write_bytes(text)
    succeed("encode-corpus", tmp_path / "a.txt", "-t", "gpt2", "--out", tmp_path / "of-file")
    succeed("encode-corpus", "-", "-t", "gpt2", "--out", tmp_path / "new" / "of-input", stdin=text)
    assert [each.name for each in (tmp_path / "new").iterdir()] == ["of-input"]
    shards = [tmp_path / name / "train-00000.bin" for name in ("of-file", "new/of-input")]
    assert shards[0].read_bytes() == shards[1].read_bytes()
    refused = run("encode-corpus", "-", "-t", "gpt2", "--out", "memory://tokens", stdin=text)
    assert "name a folder, not a URL" in refused.output


def test_a_dry_run_writes_nothing_and_is_near_the_truth(corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = ["encode-corpus", corpus, "-t", "gpt2", "--out", out]
    found = json.loads(succeed(*command, "--dry-run", "--json").stdout)
    assert not out.exists()
    assert "tokens, 0.00 GB of ids" in succeed(*command, "--dry-run").output
    succeed(*command)
    n_tokens = len(np.fromfile(out / "train-00000.bin", "<u2"))
    assert abs(found["n_tokens"] / n_tokens - 1) < 0.02
    assert found["out_bytes"] == 2 * found["n_tokens"]


def test_wrong_options_are_one_line(corpus: Path, tmp_path: Path) -> None:
    command = ["encode-corpus", corpus, "-t", "gpt2", "--out", tmp_path / "out"]
    for options, said in (
        (["--pack", "many"], "Expected --pack N such as 4096 or 100M, got 'many'."),
        (["--eos", "</s>"], "no special token '</s>'"),
        (["--scheduler", "tcp://127.0.0.1:1", "--memory", "2GB"], "not both"),
    ):
        result = run(*command, *options)
        assert result.exit_code == 1
        assert said in result.output
    out = tmp_path / "empty"
    assert "The corpus is empty" in run("encode-corpus", "-", "-t", "gpt2", "--out", out).output
    assert not [*tmp_path.glob("empty*")]
    assert parse_count("100M", "") == 10**8
    with pytest.raises(ConfigError, match="--pack N such as"):
        parse_count("-1", "--pack")
