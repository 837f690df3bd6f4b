"""Streaming a corpus gives the same result as reading it whole, with less memory."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

import bpe_core as bpe
from bpe_core.corpus import count_corpus, count_pretokens, seen_symbols, stream_corpus
from bpe_core.corpus.trained_on import hash_documents
from bpe_core.kernels import compile_kernels
from bpe_core.types import Base
from tests.new_process import run_python

LINE = "Größe l'été 123 電車は七時に出ます。 def f(x):\n\treturn x  # 🧩\r\n\n"


@pytest.fixture(scope="module", autouse=True)
def _kernels() -> None:
    compile_kernels()


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    numbered = "".join(f"{n} {LINE}" for n in range(20_000))
    texts = ["hug", numbered, "", "\ufeffmarked " + LINE * 5_000, "é" * 700_000]
    paths = [tmp_path / f"{n}.txt" for n in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        path.write_bytes(text.encode())
    return paths


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gpt2", "cl100k", "o200k", "whitespace", "none", "regex:\\d"])
def test_streaming_counts_the_same_as_reading_whole_files(files: list[Path], name: str) -> None:
    pretokenizer = bpe.get_pretokenizer(name)
    streamed = stream_corpus(files)
    whole = bpe.read_corpus([path for path in files if path.stat().st_size])
    expected = count_pretokens(whole, pretokenizer)
    found = count_corpus(streamed, pretokenizer, lists_characters=True)
    assert found.pretokens.words == expected.words
    assert found.pretokens.counts.tolist() == expected.counts.tolist()
    assert {base: found.symbols(base) for base in get_args(Base)} == {
        base: seen_symbols(whole, base) for base in get_args(Base)
    }
    assert found.n_bytes == streamed.n_bytes == whole.n_bytes


@pytest.mark.slow
def test_training_on_a_stream_gives_the_same_run(files: list[Path]) -> None:
    full = [path for path in files if path.stat().st_size]
    config = bpe.TrainingConfig(600, alphabet="seen")
    streamed, whole = (
        bpe.train(stream_corpus(full), config),
        bpe.train(bpe.read_corpus(full), config),
    )
    assert streamed.tokenizer == whole.tokenizer
    assert streamed.corpus_sha256 == whole.corpus_sha256
    assert streamed.corpus_bytes == whole.corpus_bytes
    assert streamed.tokens_after.tolist() == whole.tokens_after.tolist()


def test_a_small_stream_is_counted_like_the_same_corpus(tmp_path: Path) -> None:
    path = tmp_path / "hug.txt"
    path.write_bytes("\ufeffhug hügs".encode())
    found = count_corpus(stream_corpus([path]), bpe.get_pretokenizer("gpt2"))
    whole = bpe.read_corpus(path)
    assert found.pretokens.words == (b"hug", " hügs".encode())
    assert (found.summary.sha256, found.n_bytes) == (whole.sha256, whole.n_bytes)


def test_a_corpus_of_files_is_one_like_any_other(tmp_path: Path) -> None:
    paths = [tmp_path / "a.txt", tmp_path / "b.txt"]
    for path in paths:
        path.write_text("\ufeffeine Größe\n" * 200 + f"the end of {path.name}\n")
    streamed, whole = stream_corpus(paths), bpe.read_corpus(paths)
    assert streamed == whole
    assert streamed.documents[:] == whole.documents
    assert (streamed.n_bytes, streamed.n_characters) == (whole.n_bytes, whole.n_characters)
    assert streamed.characters() == whole.characters()
    assert streamed.composition() == whole.composition()
    assert streamed.split(0.1) == whole.split(0.1)
    assert streamed.count("whitespace") == whole.count("whitespace")
    assert hash_documents(streamed.documents) == hash_documents(whole.documents)


def test_counts_equal_the_run_that_counts_by_itself() -> None:
    corpus = bpe.Corpus.from_text("hug hugs hugging")
    runs = [bpe.train(given, vocab_size=262) for given in (corpus, corpus.count())]
    assert runs[0].tokenizer == runs[1].tokenizer
    assert runs[0].corpus_sha256 == runs[1].corpus_sha256
    with pytest.raises(bpe.ConfigError, match="cut by the pre-tokenizer whitespace, not by gpt2"):
        bpe.train(corpus.count("whitespace"), vocab_size=262)


@pytest.mark.slow
def test_a_stream_has_the_same_counts_without_kernels(
    files: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    full = [path for path in files if path.stat().st_size]
    with_kernels = count_corpus(stream_corpus(full), bpe.get_pretokenizer("gpt2"))
    monkeypatch.setattr("bpe_core.corpus.count.use_kernels", lambda n_bytes: False)
    found = count_corpus(stream_corpus(full), bpe.get_pretokenizer("gpt2"))
    assert found.pretokens.words == with_kernels.pretokens.words
    assert found.pretokens.counts.tolist() == with_kernels.pretokens.counts.tolist()
    assert found.summary.sha256 == with_kernels.summary.sha256


@pytest.mark.slow
@pytest.mark.parametrize("kernels", [True, False])
def test_a_cancelled_stream_has_an_empty_hash(
    files: list[Path], monkeypatch: pytest.MonkeyPatch, kernels: bool
) -> None:
    monkeypatch.setattr("bpe_core.corpus.count.use_kernels", lambda n_bytes: kernels)
    corpus = stream_corpus(files)
    cancelled = bpe.train(corpus, bpe.TrainingConfig(300), should_stop=lambda: True)
    assert (cancelled.stop_reason, cancelled.corpus_sha256) == ("cancelled", "")


def test_the_error_for_a_file_deleted_meanwhile_names_it(tmp_path: Path) -> None:
    path = tmp_path / "gone.txt"
    path.write_text("hug")
    corpus = stream_corpus([path])
    path.unlink()
    with pytest.raises(bpe.CorpusError, match=r"gone\.txt' cannot be read: No such file"):
        count_corpus(corpus, bpe.get_pretokenizer("gpt2"))


@pytest.mark.parametrize(
    ("before", "tail"),
    [
        (b"x y\n" * 300_000, b"\xff" + b"x y\n" * 300_000),
        *((b"x" * 500_000, tail) for tail in (b"\xc3", b"\xe6\x97", b"\xf0\x9f\xa7")),
    ],
    ids=["invalid", "cut after 1", "cut after 2", "cut after 3"],
)
def test_the_error_for_invalid_utf_8_names_the_byte(
    tmp_path: Path, before: bytes, tail: bytes
) -> None:
    path = tmp_path / "broken.txt"
    path.write_bytes(before + tail)
    place = rf"broken\.txt is not valid UTF-8 at byte {len(before):,} "
    with pytest.raises(bpe.TextDecodingError, match=place):
        count_corpus(stream_corpus([path]), bpe.get_pretokenizer("gpt2"))


def test_text_appended_to_a_file_meanwhile_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "log.txt"
    path.write_text("line\n" * 200_000)
    corpus, whole = stream_corpus([path]), bpe.read_corpus(path)
    with path.open("a") as file:
        file.write("more\n")
    found = count_corpus(corpus, bpe.get_pretokenizer("gpt2"))
    assert found.pretokens.words == (b"line", b"\n")
    assert found.summary.sha256 == whole.sha256


def test_a_file_that_shrinks_meanwhile_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "log.txt"
    path.write_text("line\n" * 200_000)
    corpus = stream_corpus([path])
    path.write_text("line\n" * 199_999)
    with pytest.raises(bpe.CorpusError, match="had 1,000,000 bytes and now has 999,995"):
        count_corpus(corpus, bpe.get_pretokenizer("gpt2"))


@pytest.mark.parametrize(
    ("name", "data", "error"),
    [
        ("empty.txt", b"", bpe.EmptyCorpusError),
        ("mark.txt", b"\xef\xbb\xbf", bpe.EmptyCorpusError),
        ("table.csv", b"a,b\n", bpe.UnsupportedFileError),
        ("packed.gz", b"\x1f\x8b", bpe.UnsupportedFileError),
        ("archive.bin", b"PK\x03\x04", bpe.UnsupportedFileError),
        ("wide.txt", b"\xff\xfeh\0", bpe.UnsupportedFileError),
    ],
)
def test_files_that_cannot_be_streamed_are_refused(
    tmp_path: Path, name: str, data: bytes, error: type[bpe.CorpusError]
) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(error):
        stream_corpus([path])


@pytest.mark.slow
def test_training_on_a_large_file_needs_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "large.txt"
    block = "".join(f"{n} {LINE}" for n in range(10_000)).encode()
    with path.open("wb") as file:
        for _ in range(200):
            file.write(block)
    code = f"""
from benchmarks.peak_memory import peak_megabytes
from bpe_core.corpus import stream_corpus
from bpe_core.trainers.training import train
from bpe_core.types import TrainingConfig
train(stream_corpus([{str(path.parent / "small.txt")!r}]), TrainingConfig(2_000))
before = peak_megabytes()
run = train(stream_corpus([{str(path)!r}]), TrainingConfig(2_000))
assert run.corpus_bytes == {path.stat().st_size}
print(round(peak_megabytes() - before))
"""
    (tmp_path / "small.txt").write_bytes(block)
    megabytes = path.stat().st_size >> 20
    assert megabytes > 150
    assert int(run_python(code)) < 80
