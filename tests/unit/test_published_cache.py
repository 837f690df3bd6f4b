"""Checking tiktoken's cache for a published tokenizer needs no network."""

from __future__ import annotations

from pathlib import Path

import pytest
import tiktoken.load

from bpe_core.formats.openai_tokenizers import published_tokenizer
from bpe_core.published.tiktoken_cache import EncodingName, is_cached, of_encoding
from tests.oracles import TOKENIZERS
from ui.tokenizers.additions import published_words

CL100K = "https://openaipublic.blob.core.windows.net/encodings/cl100k_base.tiktoken"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    return tmp_path


def cache_with_tiktoken(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    """Let tiktoken put a file of this size into its cache, as if it had downloaded it."""
    monkeypatch.setattr(tiktoken.load, "read_file", lambda _: b"x" * size)
    tiktoken.load.read_file_cached(CL100K)


def test_a_file_that_tiktoken_cached_is_found(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names: list[EncodingName] = ["cl100k_base", "o200k_base"]
    assert [is_cached(name) for name in names] == [False, False]
    cache_with_tiktoken(monkeypatch, of_encoding("cl100k_base").n_bytes)
    assert [is_cached(name) for name in names] == [True, False]
    expected = "GPT-2, GPT-4: on this server. GPT-4o needs a download (3.6 MB)."
    assert published_words() == expected
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    assert not is_cached("cl100k_base")


def test_a_file_cut_short_is_downloaded_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache_with_tiktoken(monkeypatch, 1_000)
    assert not is_cached("cl100k_base")
    assert "GPT-4 needs a download (1.7 MB)" in published_words()


@pytest.mark.slow
def test_a_file_that_was_fetched_needs_no_download(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not is_cached("cl100k_base")
    monkeypatch.setenv("BPE_EXPLORER_TOKENIZERS", str(TOKENIZERS))
    assert is_cached("cl100k_base")
    assert "GPT-4o: on this server" in published_words()
    published_tokenizer.cache_clear()
    monkeypatch.setattr(tiktoken.load, "read_file", lambda _: pytest.fail("It was downloaded."))
    assert published_tokenizer("cl100k_base").encode("Hello") == [9906]
    published_tokenizer.cache_clear()
