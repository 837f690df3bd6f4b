"""Encoded corpora hold tiktoken's ids, document by document, in every format and any cut."""

from __future__ import annotations

import gzip
import json
import os
import threading
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any
from uuid import UUID

import fsspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import tiktoken

import bpe_core as bpe
from bpe_core.corpus import read_counts
from bpe_core.kernels import compile_kernels
from bpe_scale import (
    EncodingProgress,
    Manifest,
    ThisProcess,
    WorkFolder,
    encode_corpus,
    encoding,
)
from bpe_scale.shards import DOCUMENT, deal

EOS = 50_256
LINE = "Größe l'été 123 電車は七時に出ます。 def f(x):\n\treturn x  # 🧩<|endoftext|>\r\n\n"
TEXT = "".join(f"{n} {LINE}" for n in range(3_000))
ROWS = [f"row {n} {LINE}" * (n % 5) for n in range(900)]


@pytest.fixture(scope="module", autouse=True)
def kernels() -> None:
    compile_kernels()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write files of several kinds, which together hold what `documents` returns."""
    folder = tmp_path_factory.mktemp("corpus")
    lines = "".join(json.dumps({"text": row}) + "\n" for row in ROWS)
    (folder / "a.txt").write_bytes(("\ufeff" + TEXT).encode())
    (folder / "b.txt").write_bytes(b"hug hugs")
    (folder / "c.jsonl").write_text(lines, encoding="utf-8")
    (folder / "d.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    (folder / "e.txt").write_bytes(TEXT.encode())
    return folder


def documents() -> list[str]:
    rows = [row for row in ROWS if row]
    return [TEXT, "hug hugs", *rows, *rows, TEXT]


@cache
def tiktoken_gpt2() -> tiktoken.Encoding:
    return tiktoken.Encoding(
        "gpt2",
        pat_str=bpe.gpt2().pretokenizer.pattern or "",
        mergeable_ranks={token: id for id, token in bpe.gpt2().vocab.items() if id != EOS},
        special_tokens={"<|endoftext|>": EOS},
    )


@cache
def tiktoken_ids() -> list[list[int]]:
    """Return the ids of the folder's documents, which no test changes."""
    return tiktoken_gpt2().encode_ordinary_batch(documents())


def encode(sources: Any, out: Path, **options: Any) -> Manifest:
    return encode_corpus(sources, "gpt2", out, **{"stretch_bytes": 60_000, **options})


def read_bin(out: Path, manifest: Manifest, split: str = "train") -> list[list[int]]:
    """Return the documents of flat shards, cut after each end of text."""
    found: list[list[int]] = []
    for shard in manifest.shards:
        if shard.split != split:
            continue
        ids = np.memmap(out / shard.files[0].name, manifest.dtype, "r")
        assert len(ids) == shard.tokens
        ends = np.flatnonzero(ids == EOS) + 1
        assert ends[-1] == len(ids)
        assert len(ends) == shard.documents
        found += [ids[begin : end - 1].tolist() for begin, end in pairwise([0, *ends.tolist()])]
    return found


def contents(out: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in out.iterdir()}


@pytest.mark.parametrize("stretch_bytes", [7_000, 60_000, 1 << 26])
def test_ids_are_those_of_tiktoken_document_by_document(
    folder: Path, tmp_path: Path, stretch_bytes: int
) -> None:
    manifest = encode([folder], tmp_path / "out", stretch_bytes=stretch_bytes, shard_tokens=50_000)
    assert read_bin(tmp_path / "out", manifest) == tiktoken_ids()
    assert manifest.documents == len(documents())
    assert manifest.bytes == sum(len(text.encode()) for text in documents())
    assert len(manifest.shards) > 3
    assert manifest.dtype == "<u2"
    assert sum(source.tokens for source in manifest.sources) == manifest.tokens
    assert not (tmp_path / "out.work").exists()
    Manifest.read(str(tmp_path / "out")).verify(str(tmp_path / "out"))


def test_each_format_holds_the_same_documents(folder: Path, tmp_path: Path) -> None:
    expected = [[*ids, EOS] for ids in tiktoken_ids()]
    options = {"shard_tokens": 70_000, "work": tmp_path / "work"}
    for format in ("npy", "megatron", "parquet"):
        out = tmp_path / format
        manifest = encode([folder], out, format=format, **options)
        found: list[list[int]] = []
        for shard in manifest.shards:
            found += list(READERS[format](out / shard.files[0].name))
        assert found == expected


def _read_npy(path: Path) -> Iterator[list[int]]:
    ids = np.load(path)
    for begin, end in pairwise([0, *(np.flatnonzero(ids == EOS) + 1).tolist()]):
        yield ids[begin:end].tolist()


def _read_megatron(path: Path) -> Iterator[list[int]]:
    """Read as Megatron's IndexedDataset does, from its description of the format."""
    index = path.with_suffix(".idx").read_bytes()
    assert index[:9] == b"MMIDIDX\x00\x00"
    assert int.from_bytes(index[9:17], "little") == 1
    dtype = {8: np.uint16, 4: np.int32}[index[17]]
    n, n_documents = np.frombuffer(index, "<u8", 2, 18).tolist()
    lengths = np.frombuffer(index, "<i4", n, 34)
    pointers = np.frombuffer(index, "<i8", n, 34 + 4 * n)
    documents = np.frombuffer(index, "<i8", n_documents, 34 + 12 * n)
    assert documents.tolist() == list(range(n + 1))
    assert len(index) == 34 + 12 * n + 8 * n_documents
    data = path.read_bytes()
    for length, pointer in zip(lengths.tolist(), pointers.tolist(), strict=True):
        yield np.frombuffer(data, dtype, length, pointer).tolist()


def _read_parquet(path: Path) -> Iterator[list[int]]:
    table = pq.read_table(path)
    assert str(table.schema.field("input_ids").type) == "list<element: int32>"
    rows = table["input_ids"].to_pylist()
    assert table["n_tokens"].to_pylist() == list(map(len, rows))
    yield from rows


READERS = {"npy": _read_npy, "megatron": _read_megatron, "parquet": _read_parquet}


def test_columns_are_kept_next_to_the_ids(tmp_path: Path) -> None:
    rows = [
        {"text": row, "url": None if n % 3 else f"https://a/{n}/é\ud800", "n": {"at": [n, "é"]}}
        for n, row in enumerate(ROWS)
    ]
    half = len(rows) // 2
    lines = "".join(json.dumps(row) + "\n" for row in rows[:half])
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    others = [{**row, "url": row["url"] and row["url"].encode(errors="replace")} for row in rows]
    table = pa.Table.from_pylist([{**row, "n": n} for n, row in enumerate(others)][half:])
    pq.write_table(table, tmp_path / "b.parquet", row_group_size=100)
    sources = [tmp_path / "a.jsonl.gz", tmp_path / "b.parquet"]
    options = {"format": "parquet", "keep_columns": ["n", "url"], "text_column": "text"}
    plain = encode(sources, tmp_path / "plain", **options, stretch_bytes=9_000)
    expected = [
        (json.dumps(row["n"], ensure_ascii=False) if n < half else str(n), row["url"])
        for n, row in enumerate(rows)
        if row["text"]
    ]
    table = pq.read_table(tmp_path / "plain" / plain.shards[0].files[0].name)
    assert table.column_names == ["input_ids", "n_tokens", "n", "url"]
    clean = [(n, url and url.replace("\ud800", "?")) for n, url in expected]
    assert list(zip(table["n"].to_pylist(), table["url"].to_pylist(), strict=True)) == clean
    ids = dict(zip(table["n"].to_pylist(), table["input_ids"].to_pylist(), strict=True))
    options |= {"shuffle_seed": 3, "val_share": 0.2, "shard_tokens": 9_000}
    mixed = encode(sources, tmp_path / "mixed", **options, stretch_bytes=20_000)
    assert len(mixed.shards) > 3
    files = [tmp_path / "mixed" / shard.files[0].name for shard in mixed.shards]
    found = pa.concat_tables(map(pq.read_table, files)).to_pylist()
    assert {row["n"]: row["input_ids"] for row in found} == ids
    assert {(row["n"], row["url"]) for row in found} == set(clean)


def test_columns_of_any_type_are_kept_and_may_be_empty(tmp_path: Path) -> None:
    columns = {
        "nothing": pa.array([None, None]),
        "id": pa.array([UUID(int=7).bytes, None], pa.uuid()),
        "at": pa.array([datetime(2026, 1, 2, tzinfo=UTC), None]),
        "kind": pa.array([3, None]).dictionary_encode(),
        "tags": pa.array([["a", "é"], None]),
    }
    pq.write_table(pa.table({"text": ["hug", "pug"], **columns}), tmp_path / "a.parquet")
    line = b'{"text": "bun", "nothing": null, "kind": true}\n'
    (tmp_path / "b.jsonl").write_bytes(line)
    sources = [tmp_path / "a.parquet", tmp_path / "b.jsonl"]
    encode(sources, tmp_path / "out", format="parquet", keep_columns=[*columns], text_column="text")
    table = pq.read_table(tmp_path / "out" / "train-00000.parquet")
    assert [table[name].to_pylist() for name in columns] == [
        [None, None, None],
        [str(UUID(int=7)), None, None],
        ["2026-01-02 00:00:00.000000Z", None, None],
        ["3", None, "true"],
        ['["a", "é"]', None, None],
    ]


def test_columns_that_cannot_be_kept_are_refused_before_text_is_encoded(
    folder: Path, tmp_path: Path
) -> None:
    def refusal(*sources: Path, columns: Sequence[Any], **options: Any) -> str:
        options = {"format": "parquet", "text_column": "text", **options}
        with pytest.raises((bpe.ConfigError, bpe.CorpusError)) as raised:
            encode(sources, tmp_path / "out", keep_columns=columns, **options)
        assert not WorkFolder(f"{tmp_path}/out.work").done()
        return str(raised.value)

    rows = folder / "c.jsonl"
    pq.write_table(pa.table({"text": ["hug"], "url": ["a"]}), tmp_path / "a.parquet")
    assert "Choose --format parquet" in refusal(rows, columns=["url"], format="bin")
    assert "without --pack" in refusal(rows, columns=["url"], pack=4)
    assert "got 7 (int)" in refusal(rows, columns=[7])
    assert "'n_tokens' would be written twice" in refusal(rows, columns=["n_tokens"])
    assert "'a' would be written twice" in refusal(rows, columns=["a", "a"])
    assert "a.txt is neither" in refusal(rows, folder / "a.txt", columns=["text"])
    unknown = "No file has the column 'url' in its first 2,000 rows. Found: 'text'."
    assert unknown in refusal(rows, columns=["text", "url"])
    (tmp_path / "rows").mkdir()
    pq.write_table(pa.table({"text": ["hug"], "url": ["a"]}), tmp_path / "rows" / "a.parquet")
    missing = "a.parquet has no column 'link' to keep. Found: 'text', 'url'."
    # Neither is it skipped as damaged, nor as a file of a folder that cannot be read.
    assert missing in refusal(rows, tmp_path / "rows", columns=["link"], skip_damaged=True)
    with pytest.raises(bpe.ConfigError, match="No file has the column 'url'"):
        encoding.estimate_corpus([rows], "gpt2", format="parquet", keep_columns=["url"])


@pytest.mark.parametrize("format", ["bin", "npy", "megatron", "parquet"])
def test_packed_rows_have_the_same_length(folder: Path, tmp_path: Path, format: str) -> None:
    out = tmp_path / "out"
    manifest = encode([folder], out, format=format, pack=512, shard_tokens=100_000)
    stream = [id for ids in tiktoken_ids() for id in (*ids, EOS)]
    n_kept = 0
    for shard in manifest.shards:
        assert shard.tokens == 512 * shard.rows
        assert shard.left_out_tokens < 512
        path = out / shard.files[0].name
        if format == "npy":
            rows = np.load(path)
            assert rows.shape == (shard.rows, 512)
            ids = rows.ravel().tolist()
        elif format == "bin":
            ids = np.fromfile(path, "<u2").tolist()
        else:
            ids = [id for row in READERS[format](path) for id in row]
        assert ids == stream[n_kept : n_kept + shard.tokens]
        n_kept += shard.tokens + shard.left_out_tokens
    assert n_kept == len(stream)


def test_held_out_documents_are_whole_and_chosen_by_their_text(
    folder: Path, tmp_path: Path
) -> None:
    options = {"val_share": 0.3, "shard_tokens": 30_000}
    manifest = encode([folder], tmp_path / "a", **options)
    train, val = (read_bin(tmp_path / "a", manifest, split) for split in ("train", "val"))
    assert sorted([*train, *val]) == sorted(tiktoken_ids())
    # The same rows are in two files, and the same text in a.txt and e.txt.
    assert not {*map(tuple, train)} & {*map(tuple, val)}
    assert 0.2 < manifest.splits["val"].documents / manifest.documents < 0.4
    backwards = encode([*sorted(folder.iterdir(), reverse=True)], tmp_path / "b", **options)
    assert sorted(read_bin(tmp_path / "b", backwards, "val")) == sorted(val)


def test_shuffled_shards_hold_the_same_documents(folder: Path, tmp_path: Path) -> None:
    plain = encode([folder], tmp_path / "plain", shard_tokens=100_000)
    orders: list[list[list[int]]] = []
    for seed in (1, 2, 1):
        out = tmp_path / f"out{len(orders)}"
        manifest = encode([folder], out, shard_tokens=100_000, shuffle_seed=seed)
        orders.append(read_bin(out, manifest))
        assert [shard.tokens for shard in manifest.shards] == [s.tokens for s in plain.shards]
    in_order = read_bin(tmp_path / "plain", plain)
    assert sorted(orders[0]) == sorted(in_order)
    assert orders[0] == orders[2]
    assert orders[0] != orders[1] != in_order != orders[0]


def test_a_manifest_names_no_path_of_its_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[dict[str, bytes]] = []
    for machine in (tmp_path / "one", tmp_path / "another"):
        for name, text in {
            "data/a.txt": "hug",
            "data/b/a.txt": "hugs",
            "data/p.png": "\x89PNG\r\n\x1a\n",
            "data/c.csv": "id,text\n1,hug, and hugs\n",
            "data/d.jsonl": '{"text": "hug"}\n{"text": ""}\n',
            "data/e.parquet": "no Parquet",
            "data/f.txt": "",
            "more/a.txt": "more",
        }.items():
            path = machine / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="latin-1")
        monkeypatch.chdir(machine)
        sources = [machine / "data", machine / "more" / "a.txt", "d*a/**/a.txt"]
        manifest = encode(sources, Path("out"))
        assert [source.name for source in manifest.sources] == [
            "data/a.txt", "data/b/a.txt", "data/c.csv", "data/d.jsonl", "a.txt",
        ]  # fmt: skip
        assert manifest.sources[0].documents == 2
        assert "data/f.txt is empty and was skipped." in manifest.notes
        made.append(contents(machine / "out"))
    assert made[0] == made[1]
    assert str(tmp_path).encode() not in made[0]["manifest.json"]


def test_files_of_one_name_are_told_apart_in_the_manifest(tmp_path: Path) -> None:
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.txt").write_text(f"hug {folder}")
    sources = [tmp_path / "x" / "a.txt", tmp_path / "y" / "a.txt"]
    manifest = encode([*sources, sources[0]], tmp_path / "out")
    assert [source.name for source in manifest.sources] == ["x/a.txt", "y/a.txt"]
    assert [source.documents for source in manifest.sources] == [2, 1]


def test_a_pipe_is_encoded_as_a_file_is(tmp_path: Path) -> None:
    data = b"hug and hugs\n" * 20_000
    (tmp_path / "a.txt").write_bytes(data)
    encode([tmp_path / "a.txt"], tmp_path / "file")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for out in ("piped", "counted"):
        writer = threading.Thread(target=pipe.write_bytes, args=[data])
        writer.start()
        if out == "piped":
            encode([pipe], tmp_path / out)
        else:
            bpe.count_files([pipe], tmp_path / out, work=tmp_path / "work")
        writer.join()
    shard = "train-00000.bin"
    assert (tmp_path / "piped" / shard).read_bytes() == (tmp_path / "file" / shard).read_bytes()
    assert not (tmp_path / "piped.work").exists()
    assert read_counts(tmp_path / "counted").summary.n_bytes == len(data)
    # A file of the system that says it is empty.
    manifest = encode(["/proc/self/status"], tmp_path / "status")
    assert manifest.sources[0].name == "status"
    assert manifest.bytes > 100


def test_an_interrupted_run_resumes_with_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    options: dict[str, Any] = {"shard_tokens": 40_000, "val_share": 0.2, "shuffle_seed": 7}
    encode([folder], tmp_path / "whole", **options)
    found: list[EncodingProgress] = []

    def stop(progress: EncodingProgress) -> None:
        found.append(progress)
        n_new = progress.source_bytes_done - progress.source_bytes_found
        if n_new > 200_000 or progress.shards_done:
            raise KeyboardInterrupt

    for _ in range(30):
        with pytest.raises(KeyboardInterrupt):
            encode([folder], tmp_path / "out", **options, on_progress=stop)
        if found[-1].shards_done:
            break
        assert not (tmp_path / "out").exists()
    assert found[-1].shards_done == 1
    assert found[-1].source_bytes_found > 500_000
    encode([folder], tmp_path / "out", **options)
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


def test_a_shard_that_was_deleted_or_that_another_run_has_replaced_is_written_again(
    folder: Path, tmp_path: Path
) -> None:
    options = {"shard_tokens": 40_000, "work": tmp_path / "work"}
    for seed in (1, 2, 1):
        manifest = encode([folder], tmp_path / "out", **options, shuffle_seed=seed)
    manifest.verify(str(tmp_path / "out"))
    whole = contents(tmp_path / "out")
    (tmp_path / "out" / "train-00001.bin").unlink()
    encode([folder], tmp_path / "out", **options, shuffle_seed=1)
    assert contents(tmp_path / "out") == whole
    WorkFolder(str(tmp_path / "work")).clear()
    assert not (tmp_path / "work").exists()


def test_a_folder_has_no_manifest_while_its_shards_are_replaced(
    folder: Path, tmp_path: Path
) -> None:
    encode([folder], tmp_path / "out")

    def stop(progress: EncodingProgress) -> None:
        if progress.shards_done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        encode([folder], tmp_path / "out", shard_tokens=40_000, on_progress=stop)
    assert "manifest.json" not in contents(tmp_path / "out")
    manifest = encode([folder], tmp_path / "out", shard_tokens=40_000)
    manifest.verify(str(tmp_path / "out"))


@pytest.mark.parametrize("name", ["train-00000.parquet", "manifest.json", "tokenizer.bpe.json"])
def test_files_of_others_with_such_names_are_not_replaced(
    folder: Path, tmp_path: Path, name: str
) -> None:
    (tmp_path / name).write_text('{"name": "mine"}')
    with pytest.raises(bpe.ConfigError, match=f"has other files, such as '{name}'"):
        encode([folder], tmp_path)
    assert contents(tmp_path) == {name: b'{"name": "mine"}'}


def test_shards_of_an_earlier_run_are_replaced_and_other_files_are_not(
    folder: Path, tmp_path: Path
) -> None:
    encode([folder], tmp_path / "out", shard_tokens=10_000)
    encode([folder / "b.txt"], tmp_path / "out")
    assert sorted(contents(tmp_path / "out")) == [
        "manifest.json",
        "tokenizer.bpe.json",
        "train-00000.bin",
    ]
    (tmp_path / "out" / "notes.txt").write_text("mine")
    with pytest.raises(bpe.ConfigError, match=r"has other files, such as 'notes\.txt'"):
        encode([folder / "b.txt"], tmp_path / "out")
    encode([folder / "b.txt"], tmp_path / "out", overwrite=True)
    assert (tmp_path / "out" / "notes.txt").read_text() == "mine"
    with pytest.raises(bpe.ConfigError, match="where this command writes"):
        encode([tmp_path / "out" / "train-00000.bin"], tmp_path / "out", overwrite=True)


def test_a_run_that_writes_into_the_folder_of_its_sources_resumes(tmp_path: Path) -> None:
    for number in range(9):
        (tmp_path / f"{number}.txt").write_text(f"{number} {LINE}" * 50, encoding="utf-8")

    def stop(progress: EncodingProgress) -> None:
        if progress.shards_done:
            raise KeyboardInterrupt

    options: dict[str, Any] = {"stretch_bytes": 9_000, "shard_tokens": 5_000}
    with pytest.raises(KeyboardInterrupt):
        encode([tmp_path], tmp_path / "out", **options, on_progress=stop)
    first = encode([tmp_path], tmp_path / "out", **options)
    assert [Path(source.name).name for source in first.sources] == [f"{n}.txt" for n in range(9)]
    assert encode([f"{tmp_path}/out/.."], tmp_path / "out", **options).tokens == first.tokens


@pytest.mark.parametrize(
    "pretokenizer", ["none", "regex:[a-z]+|[^a-z]+", "whitespace", "metaspace"]
)
def test_every_pretokenizer_gives_the_ids_of_whole_documents(
    folder: Path, tmp_path: Path, pretokenizer: str
) -> None:
    vocab = {**{byte: bytes([byte]) for byte in range(256)}, 256: b" ", 257: b"hug", 300: b"<e>"}
    if pretokenizer == "metaspace":
        vocab[256] = "▁".encode()
    tokenizer = bpe.Tokenizer(
        vocab=vocab if pretokenizer == "metaspace" else {**vocab, 256: b"ug"},
        merges=[] if pretokenizer == "metaspace" else [(117, 103, 256), (104, 256, 257)],
        base="characters" if pretokenizer == "metaspace" else "bytes",
        byte_fallback=range(256) if pretokenizer == "metaspace" else (),
        pretokenizer=pretokenizer,
        special_tokens={"<e>": 300},
    )
    texts = documents()[:40]
    for number, text in enumerate(texts):
        (tmp_path / f"{number:02}.txt").write_bytes(text[:30_000].encode())
    manifest = encode_corpus(
        [tmp_path], tokenizer, tmp_path.with_name("out"), eos="<e>", stretch_bytes=9_000
    )
    ids = np.fromfile(tmp_path.with_name("out") / "train-00000.bin", manifest.dtype).tolist()
    expected = [id for text in texts for id in (*tokenizer.encode(text[:30_000]), 300)]
    assert ids == expected


def test_damage_is_an_error_or_noted(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"hug\n" * 300_000 + b"\xff hug")
    rows = b"".join(b'{"text": "hug %d"}\n' % n for n in range(100_000))
    packed = gzip.compress(rows, mtime=0)
    (tmp_path / "b.jsonl.gz").write_bytes(packed[: len(packed) // 2])
    (tmp_path / "c.txt").write_bytes(b"hugs")
    out = tmp_path / "out"
    sources = [tmp_path / name for name in ("a.txt", "b.jsonl.gz", "c.txt")]
    with pytest.raises(
        bpe.TextDecodingError, match=r"a\.txt is not valid UTF-8 at byte 1,200,000 "
    ):
        encode(sources, out, stretch_bytes=1 << 20)
    with pytest.raises(
        bpe.CorpusError, match=r"b\.jsonl\.gz is damaged .* read before that: [0-9,]+"
    ):
        encode(sources[1:], out)
    manifest = encode(sources, out, stretch_bytes=1 << 20, skip_damaged=True)
    assert manifest.damaged == 2
    assert sum("Skipped" in note for note in manifest.notes) == 2
    assert read_bin(out, manifest)[-1] == [71, 10339]


def test_an_estimate_reads_only_the_beginning_of_a_packed_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encoding, "_MAX_PACKED_BYTES", 1_000_000)
    text = np.random.default_rng(0).bytes(2_500_000).hex(" ", 3)
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(text.encode(), 1))
    found = encoding.estimate_corpus([tmp_path], "gpt2")
    assert found.sampled_bytes == 1_000_000 < found.source_bytes // 2
    # Text is unpacked by the megabyte, so up to one is lost where the sample ends.
    assert 0.5 < found.n_tokens / len(bpe.gpt2().encode_to_numpy(text)) < 1.02


def test_an_error_in_a_thread_stops_the_others(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    # Further on than what decides whether a file is UTF-8.
    long = TEXT * (1 + (1 << 20) // len(TEXT))
    (corpus / "a.txt").write_bytes(long.encode() + b"\xff" + TEXT.encode())
    for n in range(30):
        (corpus / f"b{n}.txt").write_bytes(TEXT.encode())
    with pytest.raises(bpe.TextDecodingError, match=r"a\.txt is not valid UTF-8 at byte"):
        encode([corpus], tmp_path / "out", engine=ThisProcess(3), stretch_bytes=60_000)
    assert len(WorkFolder(f"{tmp_path}/out.work").done()) < 100  # of about 150
    (corpus / "a.txt").write_bytes(TEXT.encode())
    one = encode([corpus], tmp_path / "out", engine=ThisProcess(), stretch_bytes=60_000)
    several = encode([corpus], tmp_path / "b", engine=ThisProcess(3), stretch_bytes=60_000)
    assert several.shards == one.shards


def test_matches_of_a_custom_pattern_are_not_found_in_several_threads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The time of all threads counts against the limit for a pattern.
    monkeypatch.setattr(encoding, "n_threads", lambda: 4)
    custom = bpe.train(["hug hugs"], vocab_size=258, pretokenizer="regex:[a-z]+").tokenizer
    opened = encoding.open_tokenizer("gpt2", "bin", None)
    numbers = [
        opened._replace(encoder=encoder).engine.threads_for(2)
        for encoder in (opened.encoder, custom)
    ]
    assert numbers == [1, None]


def test_options_that_make_no_sense_are_refused(folder: Path, tmp_path: Path) -> None:
    for options, said in (
        ({"shard_tokens": 0}, "shard_tokens as a whole number from 1 .* got 0"),
        ({"shard_tokens": 10**19}, "shard_tokens .* to 1,000,000,000,000,000,000, got"),
        ({"pack": "a"}, "pack as a whole number .* got 'a'"),
        ({"val_share": 1.5}, "from 0 to below 1, got 1.5"),
        ({"shuffle_seed": 0.5}, "as shuffle_seed, got 0.5"),
        ({"format": "txt"}, "format"),
        ({"eos": "</s>"}, r"no special token '</s>'; its special tokens: <\|endoftext\|>"),
    ):
        with pytest.raises(bpe.ConfigError, match=said):
            encode([folder], tmp_path / "out", **options)
    manifest = encode([folder / "b.txt"], tmp_path / "out")
    with pytest.raises(bpe.EmptyCorpusError, match="fill no row"):
        encode([folder / "b.txt"], tmp_path / "out", pack=4096)
    assert Manifest.read(str(tmp_path / "out")) == manifest
    tokenizer = bpe.Tokenizer(vocab={97: b"a"}, merges=[], pretokenizer="none")
    with pytest.raises(
        bpe.ConfigError, match="no known end-of-text token; its special tokens: none"
    ):
        encode_corpus([folder], tokenizer, tmp_path / "out")


def test_urls_are_read_and_written(tmp_path: Path) -> None:
    memory = fsspec.filesystem("memory")
    memory.pipe("/data/a.txt", b"hug hugs")
    encode_corpus(["memory://data"], "gpt2", "memory://out/here")
    manifest = Manifest.read("memory://out/here")
    manifest.verify("memory://out/here")
    ids = np.frombuffer(memory.cat("/out/here/train-00000.bin"), "<u2").tolist()
    assert ids == [71, 1018, 40657, EOS]
    again = encode_corpus(["memory://"], "gpt2", "memory://out/here")
    assert again.tokens == manifest.tokens
    with pytest.raises(bpe.ConfigError, match="where this command writes"):
        encode_corpus(["memory://out/here/train-00000.bin"], "gpt2", "memory://out/here")
    memory.rm("/", recursive=True)


def test_changed_files_and_manifests_are_named(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    manifest = encode([folder / "b.txt"], out)
    (out / "train-00000.bin").write_bytes(b"12345678")
    with pytest.raises(
        bpe.IntegrityError, match=r"train-00000\.bin has the right size, and another"
    ):
        manifest.verify(str(out))
    (out / "train-00000.bin").write_bytes(b"")
    with pytest.raises(bpe.IntegrityError, match="has 0 bytes instead of 8"):
        manifest.verify(str(out))
    (out / "train-00000.bin").unlink()
    with pytest.raises(bpe.IntegrityError, match="is missing"):
        manifest.verify(str(out))
    (out / "manifest.json").write_text('{"bpe_core": 9}')
    with pytest.raises(bpe.FormatError, match="has version 9"):
        Manifest.read(str(out))
    (out / "manifest.json").write_text('{"bpe_core": 1}')
    with pytest.raises(bpe.FormatError, match="does not describe an encoded corpus"):
        Manifest.read(str(out))


def test_a_document_longer_than_a_shard_leaves_no_gap_in_the_numbers() -> None:
    first = np.array([(3, True, False), (20, True, True)], DOCUMENT)
    second = np.array([(30, False, False), (5, True, False), (4, True, True)], DOCUMENT)
    shards = deal([first, second], 10)
    assert [(s.split, s.number, s.n_documents, s.n_tokens) for s in shards] == [
        ("train", 0, 2, 8),
        ("val", 0, 1, 50),
        ("val", 1, 1, 4),
    ]
    assert [part.stretch for part in shards[1].slices] == [0, 1]
