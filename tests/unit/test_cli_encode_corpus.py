"""`bpe encode-corpus` and what `bpe inspect` says of its folders."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import tokenizers

import bpe_core as bpe
from bpe_core.cli.encode import parse_count
from bpe_core.cli.outputs import StandardInput
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
    assert "Skipped 1 row without text." in result.output
    shown = succeed("inspect", out).output
    assert "format          bin <u2" in shown
    assert "begins with     It 's Ġ2024 :" in shown
    assert "2 files, by the SHA-256 of the manifest" in shown
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
    # Not a colour or a movement, which click removes unless it writes to a terminal.
    hostile = "\x1b]0;title\x07"
    manifest["tokenizer"] |= {"file": f"hf:org/model{hostile}", "fingerprint": hostile}
    manifest["eos"]["token"] = hostile
    path.write_text(json.dumps(manifest))
    assert "\x1b" not in succeed("inspect", out).output
    missing = json.loads(path.read_text())
    missing["shards"][0]["files"][0]["name"] = hostile
    path.write_text(json.dumps(missing))
    assert "U+001B]0;titleU+0007 is missing" in run("inspect", out).output
    manifest["tokenizer"] = {**manifest["tokenizer"], "file": "tokenizer.bpe.json"}
    manifest["tokenizer"]["fingerprint"] = "0" * 64
    path.write_text(json.dumps(manifest))
    assert "is not the tokenizer whose fingerprint" in run("inspect", out).output
    manifest["shards"][0]["files"][0]["name"] = "../corpus/a.txt"
    path.write_text(json.dumps(manifest))
    assert "corpus/a.txt is missing" in run("inspect", out).output


@pytest.mark.parametrize("columns", [{"text": ["a"]}, {"input_ids": []}, {"input_ids": [None]}])
def test_parquet_of_another_kind_is_one_line(
    corpus: Path, tmp_path: Path, columns: dict[str, Any]
) -> None:
    out = tmp_path / "out"
    succeed("encode-corpus", corpus, "-t", "gpt2", "--format", "parquet", "--out", out)
    manifest = json.loads((out / "manifest.json").read_text())
    shard = out / "train-00000.parquet"
    pq.write_table(pa.table(columns), shard)
    manifest["shards"][0]["files"][0] |= {
        "bytes": shard.stat().st_size,
        "sha256": hashlib.sha256(shard.read_bytes()).hexdigest(),
    }
    (out / "manifest.json").write_text(json.dumps(manifest))
    result = run("inspect", out)
    assert result.exit_code == 1
    assert "have no ids in rows of input_ids" in result.output


def test_names_of_files_print_no_control_characters(tmp_path: Path) -> None:
    name = "a\x1b]0;title\x07"
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    (corpus / f"{name}.jsonl").write_text('{"text": "hug"}\n')
    (corpus / f"{name}.parquet").write_bytes(b"damaged")
    for command in (
        ("encode-corpus", corpus, "-t", "gpt2", "--out", tmp_path / "out"),
        ("count", corpus, "--out", tmp_path / "counts.parquet"),
        ("compare", corpus, "-t", "gpt2"),
    ):
        printed = succeed(*command).output
        assert "U+001B]0;titleU+0007" in printed
        assert "\x1b" not in printed


def test_an_unknown_symbol_names_its_file(corpus: Path, tmp_path: Path) -> None:
    (corpus / "c.txt").write_text("hugs")
    vocab = {97: b"a"}
    bpe.save(bpe.Tokenizer(vocab=vocab, merges=[], pretokenizer="none"), tmp_path / "a.bpe.json")
    command = ["encode-corpus", corpus / "c.txt", "-t", tmp_path / "a.bpe.json", "--eos", "none"]
    result = run(*command, "--out", tmp_path / "out")
    assert result.exit_code == 1
    assert "c.txt: The alphabet of this tokenizer (1 byte) has no byte 0x68" in result.output


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
    (tmp_path / "full.stdin").symlink_to("/dev/full")
    full = run("encode-corpus", "-", "-t", "gpt2", "--out", tmp_path / "full", stdin=text)
    assert "full.stdin cannot be written: No space left on device." in full.output
    refused = run("encode-corpus", "-", "-t", "gpt2", "--out", "memory://tokens", stdin=text)
    assert "name a folder, not a URL" in refused.output


def test_standard_input_is_never_in_memory_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    read = StandardInput.read

    def recorded(given: StandardInput, size: int = -1) -> bytes:
        sizes.append(size)
        return read(given, size)

    monkeypatch.setattr(StandardInput, "read", recorded)
    succeed("encode-corpus", "-", "-t", "gpt2", "--out", tmp_path / "out", stdin=b"hug hugs")
    assert sizes
    assert 0 < min(sizes) <= max(sizes) <= 1 << 20


def test_a_dry_run_writes_nothing_and_is_near_the_truth(corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = ["encode-corpus", corpus, "-t", "gpt2", "--out", out]
    found = json.loads(succeed(*command, "--dry-run", "--json").stdout)
    assert not out.exists()
    said = f"About {found['n_tokens']:,} tokens, estimated from 0.0 of 0.0 MB of sources."
    assert said in succeed(*command, "--dry-run").output
    without = json.loads(succeed(*command, "--dry-run", "--json", "--eos", "none").stdout)
    assert found["n_tokens"] - without["n_tokens"] == 61
    succeed(*command)
    n_tokens = len(np.fromfile(out / "train-00000.bin", "<u2"))
    assert abs(found["n_tokens"] / n_tokens - 1) < 0.02
    assert found["out_bytes"] == 2 * found["n_tokens"]


def test_wrong_options_are_one_line(corpus: Path, tmp_path: Path) -> None:
    command = ["encode-corpus", corpus, "-t", "gpt2", "--out", tmp_path / "out"]
    for options, said in (
        (["--pack", "many"], "Expected --pack N such as 4096 or 100M, got 'many'."),
        (["--out", "-"], "The result has several files. Name a folder with --out."),
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
    assert parse_count("1.001k", "") == 1_001
    for wrong in ("-1", "1.5", "K"):
        with pytest.raises(bpe.ConfigError, match="--pack N such as"):
            parse_count(wrong, "--pack")
