"""Opening tokenizer files: which engine encodes and why, and which files are refused."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from tokenizers import AddedToken, normalizers, pre_tokenizers

import bpe_core as bpe
from bpe_core.corpus import load_sample
from bpe_core.formats import dumps, loads, native, open_plainest, open_untrusted
from bpe_core.formats.opening import opening
from bpe_core.formats.opening.opening import open_files
from bpe_core.formats.patterns import check_patterns
from bpe_core.kernels import compile_kernels
from bpe_core.tokenizer import NamedEncoder
from tests import foreign_models as models
from tests.foreign_models import library_encoder

SAMPLE = load_sample("multilingual")
TRAINED = bpe.train(SAMPLE, bpe.TrainingConfig(400)).tokenizer
TEXT = "The first document, it's 2024: naïve\tcafé 漢字 नमस्ते <s>\n\n  x"


def opened(peer: tokenizers.Tokenizer, **changes: object) -> NamedEncoder:
    described: dict[str, Any] = models.described(peer)
    described["model"] = {**described["model"], **changes}
    return open_files({"tokenizer.json": json.dumps(described).encode()})


def byte_level() -> tokenizers.Tokenizer:
    return tokenizers.Tokenizer.from_str(models.byte_level().to_str())


@pytest.mark.parametrize("format", ["huggingface", "native", "gpt2"])
def test_tokenizers_saved_by_bpe_core_are_encoded_by_it(format: Any) -> None:
    encoder = open_files(dumps(TRAINED, format)).encoder
    assert encoder.engine == "bpe_core"
    assert encoder.encode(TEXT) == TRAINED.encode(TEXT)


def test_a_tiktoken_file_needs_a_pretokenizer_and_uses_it() -> None:
    files = dumps(TRAINED, "tiktoken")
    with pytest.raises(bpe.ConfigError, match="does not store its pre-tokenizer"):
        open_files(files)
    named = open_files(files, pretokenizer="gpt2")
    assert named.encoder.encode(TEXT) == TRAINED.encode(TEXT)
    assert named.provenance == "Pre-tokenizer gpt2, encoded by bpe_core."


def test_plain_byte_level_bpe_is_encoded_by_bpe_core() -> None:
    named = opened(byte_level())
    assert (named.name, named.encoder.engine) == ("tokenizer.json", "bpe_core")
    expected = byte_level().encode(TEXT, add_special_tokens=False).ids
    assert named.encoder.encode(TEXT, allowed_special="all") == expected


def with_normalizer(peer: tokenizers.Tokenizer) -> None:
    peer.normalizer = normalizers.Lowercase()


def with_own_pattern(peer: tokenizers.Tokenizer) -> None:
    split = pre_tokenizers.Split(tokenizers.Regex(r"\d|[^\d]+"), "isolated")
    peer.pre_tokenizer = pre_tokenizers.Sequence(
        [split, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    )


def with_ordinary_added_token(peer: tokenizers.Tokenizer) -> None:
    peer.add_tokens([AddedToken("naïve", normalized=False)])


def with_greedy_added_token(peer: tokenizers.Tokenizer) -> None:
    peer.add_special_tokens([AddedToken("<mask>", lstrip=True)])


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (with_normalizer, "normalizer"),
        (with_own_pattern, "regular expression"),
        (with_greedy_added_token, "lstrip"),
    ],
)
def test_features_not_in_plain_bpe_are_left_to_the_library_with_the_reason(
    change: Callable[[tokenizers.Tokenizer], None], reason: str
) -> None:
    peer = byte_level()
    change(peer)
    named = opened(peer)
    assert named.encoder.engine.startswith("tokenizers ")
    assert reason in named.provenance
    expected = peer.encode(TEXT, add_special_tokens=False).ids
    assert named.encoder.encode(TEXT, allowed_special="all") == expected


def test_an_added_token_that_is_not_special_is_found_here() -> None:
    peer = byte_level()
    with_ordinary_added_token(peer)
    named = opened(peer)
    assert named.encoder.engine == "bpe_core"
    assert "ordinary text" in named.provenance
    assert named.encoder.encode("naïve") == peer.encode("naïve", add_special_tokens=False).ids


@pytest.mark.parametrize(
    ("option", "value"),
    [("dropout", 0.5), ("end_of_word_suffix", "</w>")],
)
def test_options_not_in_plain_bpe_are_left_to_the_library(option: str, value: object) -> None:
    named = opened(byte_level(), **{option: value})
    assert named.encoder.engine.startswith("tokenizers ")
    assert option in named.provenance


def test_ignore_merges_is_encoded_here_too() -> None:
    assert opened(byte_level(), ignore_merges=True).encoder.engine == "bpe_core"
    vocab = models.described(byte_level())["model"]["vocab"]
    more = opened(byte_level(), ignore_merges=True, vocab={**vocab, "Ġzebra": len(vocab)})
    assert more.encoder.engine == "bpe_core"
    assert more.encoder.encode(" zebra") == [len(vocab)]
    assert more.encoder.encode(" zebra") == [len(vocab)]


def test_an_alphabet_that_lacks_bytes_is_left_to_the_library() -> None:
    peer = tokenizers.Tokenizer(tokenizers.models.BPE({"a": 0, "b": 1, "ab": 2}, [("a", "b")]))
    named = opened(peer)
    # The library drops x and merges across the gap, which bpe_core never does.
    assert named.encoder.encode("axb") == peer.encode("axb").ids == [2]


@pytest.mark.parametrize("peer", [models.word_piece(), models.unigram()])
def test_other_models_are_named_in_the_provenance(peer: tokenizers.Tokenizer) -> None:
    named = opened(peer)
    assert f"A {named.encoder.model} model." in named.provenance
    assert (
        named.encoder.encode("the first") == peer.encode("the first", add_special_tokens=False).ids
    )


def native_file(**changes: object) -> bytes:
    return json.dumps({**native.tokenizer_to_dict(TRAINED.truncated(3)), **changes}).encode()


HOSTILE = {
    "nothing": b"",
    "a picture": b"\x89PNG\r\n\x1a\n\x00\x00",
    "not UTF-8": b'{"model": "\xff"}',
    "deep": b'{"a":' * 100_000,
    "a list": b"[1, 2]",
    "a number too long": b'{"model": ' + b"9" * 5_000 + b"}",
    "no tokenizer": b'{"name": "x"}',
    "a model of no kind": b'{"model": {"type": "Other"}}',
    "a model that is a text": b'{"model": "BPE"}',
    "ids of the wrong type": b'{"model": {"type": "BPE", "vocab": {"a": "0"}, "merges": []}}',
    "ids beyond all": b'{"model": {"type": "BPE", "vocab": {"a": 99999999999}, "merges": []}}',
    "merges of tokens that are not there": (
        b'{"model": {"type": "BPE", "vocab": {"a": 0}, "merges": ["a zz"]}}'
    ),
    "merges in a circle": native_file(merges=[[300, 301, 300], [301, 300, 301]]),
    "a merge of itself": native_file(merges=[[40, 40, 40]]),
    "merges that double": native_file(
        merges=[[40, 40, 1000], *([n, n, n + 1] for n in range(1000, 1060))]
    ),
    "merges of the wrong type": native_file(merges=[["a", "b", None]]),
    "tokens of the wrong type": native_file(tokens={"a": 1}),
    "a pattern that is none": native_file(pretokenizer="regex:("),
    "another's fingerprint": native_file(fingerprint="0" * 64),
    "ranks that are no numbers": b"YQ== x\n",
    "a rank too long": b"YQ== " + b"9" * 400,
    "base 64 that is none": b"!!! 0\n",
}


@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_files_are_a_clear_error(what: str) -> None:
    with pytest.raises(bpe.BpeError) as caught:
        open_files({"upload": HOSTILE[what]}, pretokenizer="gpt2")
    assert 20 < len(str(caught.value)) < 600


def test_two_unrelated_files_and_three_files_are_a_clear_error() -> None:
    pair = dumps(TRAINED, "gpt2")
    with pytest.raises(bpe.FormatError):
        open_files({"vocab.json": pair["vocab.json"], "merges.txt": b"a b c\n"})
    with pytest.raises(bpe.FormatError):
        open_files({**pair, "more.txt": b""})
    with pytest.raises(bpe.FormatError):
        open_files({"a.txt": b"\xff", "b.txt": b"\xfe"})


@pytest.mark.slow
def test_a_very_large_id_needs_little_memory() -> None:
    small = bpe.gpt2().truncated(2)
    far = 2**31 - 1
    vocab = {**small.vocab, far: b"<far>"}
    merges = [(merge.left, merge.right, merge.id) for merge in small.merges]
    tokenizer = bpe.Tokenizer(
        vocab=vocab, merges=merges, pretokenizer="gpt2", special_tokens={"<far>": far}
    )
    encoder = open_files(dumps(tokenizer, "native")).encoder
    compile_kernels()
    import_module("bpe_core.tokenizer.compiled")
    # Texts shorter and longer than the least length for kernels; a table of all ids up to the
    # largest would take 16 GB.
    for text in ("the <far>", "the <far> " * 21_000):
        (row,) = bpe.compare(text, [encoder]).rows
        assert row.n_tokens == len(small.encode(text))
        assert far in encoder.encode(text, allowed_special="all")


def test_a_file_that_crashes_the_library_is_refused_without_ending_this_process() -> None:
    # tokenizers aborts because it cuts the one-byte prefix off "Ġ", which has two bytes.
    model = {
        "type": "BPE",
        "continuing_subword_prefix": "x",
        "vocab": {"a": 0, "Ġ": 1, "aĠ": 2},
        "merges": [["a", "Ġ"]],
    }
    described = json.dumps({"version": "1.0", "added_tokens": [], "model": model})
    with pytest.raises(
        bpe.FormatError, match=r"cannot be opened\. The process crashed \(SIGABRT\)"
    ):
        open_files({"mine.json": described.encode()})


def test_a_tokenizer_that_does_not_finish_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "_MAX_SECONDS", 0.01)
    with pytest.raises(bpe.FormatError, match="took more than 0 seconds"):
        open_files({"mine.json": json.dumps(split_by("a+")).encode()})


def split_by(pattern: str) -> dict[str, Any]:
    return {
        "model": {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "a"},
        "pre_tokenizer": {
            "type": "Split",
            "pattern": {"Regex": pattern},
            "behavior": "Isolated",
            "invert": False,
        },
    }


@pytest.mark.slow
def test_a_pattern_that_takes_long_on_a_text_nobody_tried_is_refused() -> None:
    # A run of "qz" has 2**18 ways to match at each place. No text of the probe has such a run.
    described = split_by("(?:qz|qz){18}[^q]")
    for n in (1, 20_000):  # small files are read here, and then opened in another process
        described["model"]["vocab"] |= {f"token {id}": id for id in range(1, n)}
        with pytest.raises(bpe.FormatError, match=r"The pattern .* takes too long"):
            open_untrusted({"mine.json": json.dumps(described).encode()})


def test_patterns_of_real_tokenizers_pass() -> None:
    seen: list[str] = []
    for pattern in (r"\s+(?!\S)|\s+| ?\p{L}+", r"[^\r\n\p{L}\p{N}]?\p{L}+|\x{4e00}", "(a|b)*c"):
        foreign = library_encoder(split_by(pattern))
        check_patterns(foreign.described, foreign.encode)
        check_patterns(split_by(pattern), seen.append)
    assert any(text.startswith("\u4e00" * 9) for text in seen)


@pytest.mark.parametrize("name", ["config.json", "added_tokens.json"])
def test_what_lies_next_to_a_file_that_does_not_need_it_may_be_damaged(name: str) -> None:
    files = dumps(bpe.gpt2().truncated(9), "native")
    assert loads({**files, name: b"{oops"}) == loads(files)


def test_a_tokenizer_may_come_through_a_pipe(tmp_path: Path) -> None:
    (data,) = dumps(bpe.gpt2().truncated(9), "huggingface").values()
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor() as pool:
        written = pool.submit(pipe.write_bytes, data)
        assert bpe.load(pipe) == bpe.gpt2().truncated(9)
    assert written.result() == len(data)


def test_an_error_names_its_file_and_first_says_what_that_lacks(tmp_path: Path) -> None:
    folder = tmp_path / "model"  # a word of the error
    folder.mkdir()
    for path in (tmp_path / "mine.json", tmp_path / "tokenizer.json", folder):
        file = folder / "tokenizer.json" if path == folder else path
        file.write_text('{"model": {"type": "BPE", "vocab": {"a": 0}}}')
        for read in (bpe.load, bpe.open_encoder, open_plainest):
            with pytest.raises(bpe.FormatError) as raised:
                read(path)
            assert str(raised.value).startswith(f"{path}: The model has no list of merges.")
