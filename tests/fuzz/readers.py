"""The readers of files, each with small valid files of its format."""

from __future__ import annotations

import base64
import gzip
import io
import json
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import gguf
import pyarrow as pa
import pyarrow.parquet as pq
import sentencepiece

import bpe_core as bpe
from bpe_core.adapting import shrink
from bpe_core.corpus import ParallelText, ReadOptions
from bpe_core.corpus.readers import tables_in
from bpe_core.formats import adapted_files, dumps, loads
from bpe_core.formats.opening.opening import open_files
from bpe_core.types import Format
from bpe_core.unicode import to_printable

_TEXT = "Hugs, pugs and naïve cafés:\n\t日本語 🧩 1,234\r\n" * 3
_ROWS = [{"id": n, "text": f"{_TEXT[: n * 9]}", "more": None} for n in range(6)]


@dataclass(frozen=True, slots=True)
class Reader:
    """A reader, and the files that it reads."""

    files: Callable[[], Mapping[str, bytes]]
    """Make one or more valid files, of which one is damaged at a time."""
    read: Callable[[Mapping[str, bytes]], object]
    share: float = 1.0
    """The share of the requested inputs that it gets: less if each one starts a process."""
    is_corpus: bool = False
    """True if it reads text instead of a tokenizer or a run."""


def _read_corpus(files: Mapping[str, bytes]) -> object:
    uploads = [_Upload(name, data) for name, data in files.items()]
    list(tables_in(uploads, ReadOptions(), len(uploads)))
    for upload in uploads:
        upload.seek(0)
    corpus = bpe.read_corpus(uploads)
    return corpus.split(0.1)


class _Upload(io.BytesIO):
    def __init__(self, name: str, data: bytes) -> None:
        super().__init__(data)
        self.name = name


def _open(files: Mapping[str, bytes]) -> object:
    opened = open_files(files, pretokenizer="gpt2" if "a.tiktoken" in files else None)
    ids = opened.encode(_TEXT)
    if isinstance(opened.encoder, bpe.Tokenizer) and opened.encoder.spells_text:
        assert opened.encoder.decode(ids) == _TEXT
    return opened.segments(_TEXT)


def _adapt(files: Mapping[str, bytes]) -> object:
    name, special = ("gpt2", {}) if "a.tiktoken" in files else (None, None)
    beside = ("tokenizer_config.json", "special_tokens_map.json")
    own = {file: data for file, data in files.items() if file not in beside}
    tokenizer = loads(own, pretokenizer=name, special_tokens=special)
    shrunk = shrink(tokenizer, bpe.Corpus.from_text(_TEXT), vocab_size=tokenizer.vocab_size - 2)
    return adapted_files(shrunk, files)


def _corpus(name: str, data: Callable[[], bytes], share: float = 1.0) -> Reader:
    return Reader(lambda: {name: data()}, _read_corpus, share, is_corpus=True)


def _csv() -> bytes:
    lines = ["id,text,more", *(f'{n},"{_TEXT}",x' for n in range(6))]
    return "\n".join(lines).encode()


def _json_lines() -> bytes:
    return "\n".join(json.dumps(row) for row in _ROWS).encode()


def _zip() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a/b.txt", _TEXT)
        archive.writestr("rows.csv", _csv())
        archive.writestr("rows.jsonl.gz", gzip.compress(_json_lines()))
    return buffer.getvalue()


def _parquet() -> bytes:
    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(_ROWS), buffer)
    return buffer.getvalue()


def _trained() -> dict[str, bytes]:
    config = bpe.TrainingConfig(300, special_tokens=("<|end|>", "<pad>"))
    tokenizer = bpe.train(bpe.Corpus.from_text(_TEXT), config).tokenizer
    return {
        format: next(iter(dumps(tokenizer, format).values()))
        for format in ("native", "huggingface", "tiktoken")
    }


def _parts(format: Format) -> dict[str, bytes]:
    config = bpe.TrainingConfig(300, special_tokens=("<|end|>", "<pad>"))
    return dumps(bpe.train(bpe.Corpus.from_text(_TEXT), config).tokenizer, format)


def _transformers_zip() -> bytes:
    tokenizer = bpe.train(bpe.Corpus.from_text(_TEXT), bpe.TrainingConfig(300)).tokenizer
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in dumps(tokenizer, "transformers").items():
            archive.writestr(f"folder/{name}", data)
    return buffer.getvalue()


def _tekken() -> bytes:
    tokens = [bytes([byte]) for byte in range(256)] + [b"hu", b"hug"]
    vocab = [
        {"rank": rank, "token_bytes": base64.b64encode(token).decode(), "token_str": None}
        for rank, token in enumerate(tokens)
    ]
    config = {
        "pattern": bpe.get_pretokenizer("gpt2").pattern,
        "default_vocab_size": 268,
        "default_num_special_tokens": 10,
    }
    return json.dumps({"config": config, "vocab": vocab}).encode()


def _sentencepiece(model_type: str) -> bytes:
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([_TEXT] * 9),
        model_writer=written,
        model_type=model_type,
        vocab_size=300,
        byte_fallback=True,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    return written.getvalue()


def _gguf() -> bytes:
    small = bpe.gpt2().truncated(60)
    tokens = {id: to_printable(token) for id, token in small.vocab.items()}
    ids = sorted(tokens)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.gguf"
        writer = gguf.GGUFWriter(path, "gpt2")
        writer.add_tokenizer_model("gpt2")
        writer.add_tokenizer_pre("gpt-2")
        writer.add_token_list([tokens[id] for id in ids])
        writer.add_token_merges([f"{tokens[m.left]} {tokens[m.right]}" for m in small.merges])
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.close()
        return path.read_bytes()


def _run() -> bytes:
    run = bpe.train(bpe.Corpus.from_text(_TEXT), bpe.TrainingConfig(300))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.npz"
        bpe.save_run(run, path)
        return path.read_bytes()


def _load_run(files: Mapping[str, bytes]) -> object:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.npz"
        path.write_bytes(files["a.npz"])
        run = bpe.load_run(path)
    return run.pair_counts(len(run.merges) // 2)


READERS: Mapping[str, Reader] = {
    "text": _corpus("a.txt", _TEXT.encode),
    "text in UTF-16": _corpus("a.txt", lambda: _TEXT.encode("utf-16")),
    "csv": _corpus("a.csv", _csv),
    "tsv": _corpus("a.tsv", lambda: _csv().replace(b",", b"\t")),
    "JSON": _corpus("a.json", lambda: json.dumps(_ROWS).encode()),
    "JSON lines": _corpus("a.jsonl", _json_lines),
    "gzip": _corpus("a.txt.gz", lambda: gzip.compress(_TEXT.encode())),
    "zip": _corpus("a.zip", _zip),
    "Parquet": _corpus("a.parquet", _parquet, share=0.05),
    "BPE Explorer’s JSON": Reader(lambda: {"a.json": _trained()["native"]}, _open),
    "tokenizer.json": Reader(
        lambda: {"tokenizer.json": _trained()["huggingface"]}, _open, share=0.1
    ),
    ".tiktoken": Reader(lambda: {"a.tiktoken": _trained()["tiktoken"]}, _open),
    "vocab.json and merges.txt": Reader(lambda: dumps(bpe.gpt2().truncated(60), "gpt2"), _open),
    "transformers zip": Reader(lambda: {"a.zip": _transformers_zip()}, _open, share=0.1),
    "Tekken": Reader(lambda: {"tekken.json": _tekken()}, _open, share=0.2),
    "SentencePiece BPE": Reader(lambda: {"a.model": _sentencepiece("bpe")}, _open, share=0.05),
    "SentencePiece Unigram": Reader(
        lambda: {"a.model": _sentencepiece("unigram")}, _open, share=0.05
    ),
    "GGUF": Reader(lambda: {"a.gguf": _gguf()}, _open),
    "adapted tokenizer.json": Reader(lambda: _parts("transformers"), _adapt),
    "adapted vocab.json and merges.txt": Reader(
        lambda: dumps(bpe.gpt2().truncated(60), "gpt2"), _adapt
    ),
    "adapted .tiktoken": Reader(lambda: {"a.tiktoken": _trained()["tiktoken"]}, _adapt),
    "adapted Tekken": Reader(lambda: {"tekken.json": _tekken()}, _adapt),
    "adapted BPE Explorer’s JSON": Reader(lambda: {"a.json": _trained()["native"]}, _adapt),
    "run": Reader(lambda: {"a.npz": _run()}, _load_run),
    "sentences of languages": Reader(
        lambda: {"de.txt": b"Hallo.\nWelt.\n", "en.txt": b"Hello.\nWorld.\n"},
        lambda files: ParallelText.read(list(files.items())),
        is_corpus=True,
    ),
}
