"""Every download can be read back and encodes as the run's tokenizer does."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

import bpe_core as bpe
from bpe_core.formats import loads
from ui.host import server_cache
from ui.run import downloads
from ui.run.page_parts import Download
from ui.storage import Trained, load_run, store_run

TEXT = "hug hugs pug pugs naïve 日本 \U0001f9e9<|endoftext|>\n" * 20


@pytest.fixture
def run_id(store: Path) -> str:
    run = bpe.train(bpe.Corpus.from_text(TEXT), bpe.TrainingConfig(vocab_size=300))
    return store_run(Trained("Hugs", run, bpe.Corpus.from_text(TEXT).split(0.0)[1]))


def offered(run_id: str) -> dict[str, Download]:
    return {download.label: download for download in downloads(run_id)}


def read_files(download: Download) -> dict[str, bytes]:
    assert download.data is not None
    data = download.data()
    if not download.file_name.endswith(".zip"):
        return {download.file_name: data}
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        return {name.rpartition("/")[2]: archive.read(name) for name in archive.namelist()}


@pytest.mark.parametrize(
    "label",
    [
        "tokenizer.json",
        "transformers folder",
        "vocab + merges",
        ".tiktoken",
        "GGUF (vocabulary)",
        "BPE Explorer (.json)",
    ],
)
def test_a_download_encodes_as_the_run_does(run_id: str, label: str) -> None:
    tokenizer = load_run(run_id).run.tokenizer
    files = read_files(offered(run_id)[label])
    # A tiktoken file has no pre-tokenizer and no special tokens; GPT-2's have no special tokens.
    says_all = label not in ("vocab + merges", ".tiktoken")
    back = loads(
        files,
        pretokenizer=None if says_all else "gpt2",
        special_tokens=None if says_all else tokenizer.special_tokens,
    )
    for allowed in ((), "all"):
        assert back.encode(TEXT, allowed_special=allowed) == tokenizer.encode(
            TEXT, allowed_special=allowed
        )
    assert back.vocab_size == tokenizer.vocab_size


def test_the_gpt2_download_is_a_reproducible_zip_of_the_two_files(run_id: str) -> None:
    download = offered(run_id)["vocab + merges"]
    assert download.file_name == "gpt2-tokenizer.zip"
    assert set(read_files(download)) == {"vocab.json", "merges.txt"}
    server_cache.forget()
    again = offered(run_id)["vocab + merges"]
    assert download.data is not None
    assert again.data is not None
    assert again.data() == download.data()


@pytest.mark.usefixtures("store")
def test_a_format_that_cannot_represent_the_tokenizer_shows_why() -> None:
    config = bpe.TrainingConfig(12, pretokenizer="whitespace", base="characters", special_tokens=())
    run = bpe.train(bpe.Corpus.from_text("hug hugs pug"), config)
    found = offered(store_run(Trained("Hugs", run, bpe.Corpus.from_text("x").split(0.0)[1])))
    assert found[".tiktoken"].data is None
    assert found[".tiktoken"].problem
    assert found["BPE Explorer (.json)"].problem is None
    assert loads(read_files(found["BPE Explorer (.json)"])) == run.tokenizer
