"""The files of published tokenizers: found in two caches, without the network."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import tiktoken.load

import bpe_core as bpe
from bpe_core.formats import VARIABLE, Published
from tests.oracles import RANKS, TOKENIZERS, tiktoken_published
from ui.tokenizers.by_name import download_words

CL100K = "https://openaipublic.blob.core.windows.net/encodings/cl100k_base.tiktoken"
TEXT = "The quick brown fox <|endoftext|> naïve 東京"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return tiktoken's cache; neither cache has a file yet."""
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv(VARIABLE, str(tmp_path / "fetched"))
    return tmp_path


def cache_with_tiktoken(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    """Let tiktoken put a file of this size into its cache, as if it had downloaded it."""
    monkeypatch.setattr(tiktoken.load, "read_file", lambda _: b"x" * size)
    tiktoken.load.read_file_cached(CL100K)


def states() -> list[str]:
    return [Published.named(name).state for name in ("gpt4", "gpt4o", "llama3")]


def test_a_file_that_tiktoken_cached_is_found(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert states() == ["missing"] * 3
    cache_with_tiktoken(monkeypatch, Published.named("gpt4").n_bytes)
    assert states() == ["here", "missing", "missing"]
    words = download_words(["gpt2", "gpt4", "gpt4o"])
    assert words.startswith("GPT-2, GPT-4: on this server. GPT-4o needs a download (")
    with pytest.raises(bpe.IntegrityError, match="damaged"):
        Published.named("gpt4").read()
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    assert states() == ["missing"] * 3
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR")
    monkeypatch.setenv("DATA_GYM_CACHE_DIR", str(folder))
    assert states() == ["here", "missing", "missing"]


def test_a_file_cut_short_counts_as_missing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache_with_tiktoken(monkeypatch, 1_000)
    assert states() == ["missing"] * 3
    with pytest.raises(bpe.UnavailableError, match="Run: bpe fetch gpt4"):
        bpe.open_encoder("gpt4")


@pytest.mark.slow
def test_both_caches_give_tiktokens_ids_without_its_downloads(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tiktoken.load, "read_file", lambda _: pytest.fail("It was downloaded."))
    expected = tiktoken_published("cl100k_base").encode_ordinary(TEXT)
    for variable, files in (("TIKTOKEN_CACHE_DIR", RANKS), (VARIABLE, TOKENIZERS)):
        with monkeypatch.context() as patch:
            patch.setenv(variable, str(files))
            opened = bpe.open_encoder("gpt4")
            assert (opened.encode(TEXT), opened.engine) == (expected, "bpe_core")


def test_a_fetched_file_is_taken_before_tiktokens(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache_with_tiktoken(monkeypatch, Published.named("gpt4").n_bytes)
    fetched = folder / "fetched" / "cl100k_base.tiktoken"
    fetched.parent.mkdir()
    shutil.copy(TOKENIZERS / fetched.name, fetched)
    assert Published.named("gpt4").read() == fetched.read_bytes()
