"""What users of tiktoken, tokenizers and pandas expect to find."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
import tiktoken
import tiktoken_ext.openai_public as public

import bpe_core as bpe
from bpe_core.formats import read_ranks, write_tiktoken
from bpe_core.formats.published.catalogue import TIKTOKEN_ENCODINGS
from tests.new_process import run_python

run = bpe.train(["hug hugs hugging"], vocab_size=262)
P50K_SHA256 = (
    "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069"  # of tiktoken's file
)


@pytest.mark.parametrize(
    ("given", "settings", "message"),
    [
        (bpe.TrainingConfig(300), {"vocab_size": 300}, "also vocab_size"),
        (None, {"vocabsize": 300}, "^vocabsize is not a setting. Use vocab_size, pretokenizer"),
        (300, {}, "For a size alone: vocab_size=300"),
    ],
    ids=["both", "unknown", "a size"],
)
def test_settings_of_train_are_given_once_and_by_name(
    given: object, settings: dict[str, int], message: str
) -> None:
    with pytest.raises(bpe.ConfigError, match=message):
        bpe.train(["hug"], given, **settings)  # pyright: ignore


def test_settings_by_name_train_what_a_configuration_does() -> None:
    config = bpe.TrainingConfig(300, special_tokens=())
    by_name = bpe.train((text for text in ["hug"]), vocab_size=300, special_tokens=())
    assert by_name.tokenizer == bpe.train(["hug"], config).tokenizer


def test_ids_and_tokens_of_gpt2() -> None:
    gpt2 = bpe.gpt2()
    assert len(gpt2) == 50_257
    for id in (0, 262, 50_256):
        token = gpt2.id_to_token(id)
        assert token is not None
        assert gpt2.token_to_id(token) == id
    assert gpt2.id_to_token(-1) is None


def test_the_lowest_id_of_a_token_is_found_and_a_special_token_by_its_text() -> None:
    tokenizer = bpe.Tokenizer(
        vocab={0: b"a", 1: b"<s>", 5: b"<s>", 7: b"<s>"},
        merges=[],
        pretokenizer="none",
        special_tokens={"<s>": 1},
    )
    assert [tokenizer.token_to_id(token) for token in ("a", b"<s>", "<s>")] == [0, 5, 1]


def test_a_tokenizer_is_saved_and_read_by_its_own_methods(tmp_path: Path) -> None:
    run.tokenizer.save(tmp_path / "tokenizer.json")
    assert bpe.Tokenizer.from_file(tmp_path / "tokenizer.json") == run.tokenizer


def test_p50k_base_has_the_ranks_that_openai_published() -> None:
    tokenizer = bpe.open_encoder("p50k_base").encoder
    assert isinstance(tokenizer, bpe.Tokenizer)
    ranks = write_tiktoken(tokenizer)
    assert hashlib.sha256(ranks).hexdigest() == P50K_SHA256
    peer = tiktoken.Encoding(
        "p50k_base",
        pat_str=public.r50k_pat_str,
        mergeable_ranks=read_ranks(ranks),
        special_tokens={"<|endoftext|>": 50_256},
    )
    for text in ("def f():\n        return  1", " " * 60 + "x", "a\t\n  b   ", "it's 漢字"):
        assert peer.encode(text) == tokenizer.encode(text)


def test_tiktokens_names_have_the_special_tokens_of_tiktoken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(public, "load_tiktoken_bpe", lambda *_, **__: {})
    for name, encoding in TIKTOKEN_ENCODINGS.items():
        if encoding.special_tokens is not None:
            special = public.ENCODING_CONSTRUCTORS[name]()["special_tokens"]
            # tiktoken has two names for one id of o200k_harmony.
            special.pop("<|reserved_200018|>", None)
            assert encoding.special_tokens == special


def test_compare_and_extend_take_names_and_paths(tmp_path: Path) -> None:
    run.tokenizer.save(tmp_path / "mine.json")
    found = bpe.compare("hug hugs", ["gpt2", tmp_path / "mine.json", run.tokenizer])
    assert [row.n_tokens for row in found.rows][1:] == [3, 3]
    corpus = bpe.Corpus.from_text("A tokenizer")
    assert len(bpe.extend("r50k_base", corpus, n_tokens=1).new_tokens) == 1
    assert len(bpe.shrink("gpt2", corpus, 50_000).tokenizer) == 50_000
    with pytest.raises(bpe.MissingFileError, match="gpt5 is neither a file nor the name"):
        bpe.compare("hug", ["gpt5"])


def test_public_results_are_shown_in_one_line_and_as_plain_values() -> None:
    comparison = bpe.compare("hug hugs", ["gpt2", run.tokenizer])
    trace = run.trace(0, 2)
    for result in (run, run.tokenizer, comparison, trace, bpe.Corpus.from_text("hug")):
        assert "\n" not in repr(result)
        assert len(repr(result)) < 120
    assert repr(comparison) == "<Comparison of 2 tokenizers on 8 bytes: 3, 3 tokens>"
    for result in (run, run.tokenizer, comparison):
        assert json.loads(json.dumps(result.to_dict())).keys() == result.to_dict().keys()
    assert run.to_frame()["tokenizer"].tolist() == [run.tokenizer.fingerprint] * len(run.merges)
    assert comparison.to_frame()["vocab_size"].tolist() == [50_257, 262]


def test_the_help_of_a_configuration_explains_each_field() -> None:
    explained = bpe.TrainingConfig.__doc__ or ""
    for name in bpe.TrainingConfig.__dataclass_fields__:
        assert f"\n    {name}: " in explained


# Public names


def test_every_public_name_can_be_loaded():
    for name in bpe.__all__:
        assert getattr(bpe, name).__name__ == name


def test_gpt2_is_the_function_regardless_of_import_order():
    code = "import bpe_core.tokenizer, bpe_core as bpe; print(bpe.gpt2().encode('The quick'))"
    assert run_python(code) == "[464, 2068]\n"
