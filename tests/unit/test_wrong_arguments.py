"""Arguments of the wrong type raise a `BpeError` that names what was found and what to do."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tokenizers

import bpe_core as bpe
from bpe_core.formats import loads
from bpe_core.kernels import compile_kernels
from bpe_core.tokenizer import CompiledEncoder, boundaries
from bpe_core.vocabulary import token_origin
from tests.foreign_models import library_encoder

gpt2 = bpe.gpt2()
spelled_out = bpe.train(
    bpe.Corpus.from_text("hug hugs"), bpe.TrainingConfig(300, base="characters")
).tokenizer
marked = bpe.Tokenizer(
    vocab={**gpt2.truncated(0).vocab, 464: b"</w>"},
    merges=[],
    pretokenizer="whitespace",
    end_of_word="</w>",
)
foreign = library_encoder(
    json.loads(
        tokenizers.Tokenizer(tokenizers.models.WordLevel({"[UNK]": 0}, unk_token="[UNK]")).to_str()
    )
)
some_text = bpe.Corpus.from_text("hug hugs")
run = bpe.train(some_text, bpe.TrainingConfig(260))
comparison = bpe.compare("hug", [gpt2, run.tokenizer])


def tokenizer(**wrong: Any) -> bpe.Tokenizer:
    given: dict[str, Any] = {"vocab": {0: b"a", 1: b"aa"}, "merges": [(0, 0, 1)]}
    return bpe.Tokenizer(**{"pretokenizer": "none", **given, **wrong})


def trained(**wrong: Any) -> bpe.TrainingRun:
    return bpe.train(some_text, bpe.TrainingConfig(**wrong))


def loaded(**wrong: Any) -> bpe.Tokenizer:
    return loads({"mine.tiktoken": b"YQ== 0"}, pretokenizer="none", **wrong)


REFUSED: dict[str, tuple[Callable[[Any], object], Any, str]] = {
    "nested ids": (gpt2.decode, [[1, 2], [3]], "Number 1 of 2 ids is a value of type list"),
    "many nested ids": (gpt2.decode, [[1, 2]] * 3_000, "Number 1 of 3,000 ids"),
    "ids with an array": (
        gpt2.decode_bytes,
        [1, np.array([2])],
        "Number 2 of 2 .* ndarray",
    ),
    "ids in two dimensions": (gpt2.decode, np.zeros((2, 3), int), r"2 dimensions, shape \(2, 3\)"),
    "ids in none": (gpt2.decode, np.array(3), "0 dimensions"),
    "one id": (gpt2.decode, 5, r"ids, got 5 \(int\): give a list"),
    "ids that are a text": (gpt2.decode, "abc", r"'abc' \(str\)"),
    "how to decode": (lambda given: gpt2.decode([464], errors=given), "ignore", "Use 'replace' or"),
    "no ids of none": (tokenizer(vocab={}, merges=[]).decode, [1], "no tokens at all"),
    "what to do with the unknown": (
        lambda given: gpt2.encode("a", errors=given),
        "replace",
        r"errors is 'replace' \(str\)\. Use 'strict' or 'skip'",
    ),
    "the same in a batch": (lambda given: gpt2.encode_batch(["a"], errors=given), [], "of type li"),
    "the same in an array": (lambda given: gpt2.encode_to_numpy("a", errors=given), None, "None"),
    "the same explained": (lambda given: gpt2.explain("a", errors=given), "ignore", "'ignore'"),
    "bytes to encode": (gpt2.encode, b"abc", r"got b'abc' \(bytes\)\. Decode bytes first"),
    "nothing to encode": (gpt2.encode_to_numpy, None, "Expected a str as text, got None"),
    "nothing to cut": (gpt2.segments, None, "Expected a str as text, got None"),
    "nothing to explain": (gpt2.explain, None, "Expected a str as text, got None"),
    "one of several texts": (gpt2.encode_batch, "abc", "call encode for one"),
    "texts that are none": (gpt2.encode_batch, ["a", 1], r"Expected a str as text, got 1 \(int\)"),
    "places of three": (
        lambda given: comparison.verdict(0, given),
        2,
        r"from 0 to 1, got 2 \(int\)",
    ),
    "a place before the first": (lambda given: comparison.verdict(given, 0), -1, r"got -1 \(int\)"),
    "a truth value for a place": (
        comparison.verdict,
        True,
        r"the index of a tokenizer .* got True \(bool\)",
    ),
    "half a place": (comparison.verdict, 0.0, r"got 0\.0 \(float\)"),
    "a number of merges": (gpt2.truncated, "3", r"n_merges .* to 50,000, got '3' \(str\)"),
    "an id beyond int32": (
        lambda given: tokenizer(vocab=given),
        {0: b"a", 1 << 31: b"aa"},
        r"largest id is 2,147,483,648\. Use ids up to 2,147,483,647",
    ),
    "merges of two": (lambda given: tokenizer(merges=given), [(0, 0)], r"Merge 0 is \(0, 0\)"),
    "merges of four": (lambda given: tokenizer(merges=given), [(0, 0, 1, 2)], "Merge 0 is"),
    "merges of lists": (lambda given: tokenizer(merges=given), [([0], 0, 1)], "Merge 0 is"),
    "merges of text": (lambda given: tokenizer(merges=given), ["aab"], "Merge 0 is 'aab'"),
    "no merges": (
        lambda given: tokenizer(merges=given),
        None,
        "Expected a list of merges, got None",
    ),
    "a vocabulary": (
        lambda given: tokenizer(vocab=given),
        [b"a"],
        "vocabulary as a dict from ids .*, got a value of type list",
    ),
    "tokens as text": (lambda given: tokenizer(vocab=given), {0: "a"}, "token of id 0, .* got 'a'"),
    "ids as text": (lambda given: tokenizer(vocab=given), {"0": b"a"}, r"got '0' \(str\)"),
    "a pre-tokenizer": (
        lambda given: tokenizer(pretokenizer=given),
        gpt2.pretokenizer,
        "Expected the name",
    ),
    "a base": (lambda given: tokenizer(base=given), "bits", "Use 'bytes' or 'characters'"),
    "special ids": (lambda given: tokenizer(special_tokens=given), ["a"], "as a dict from texts"),
    "special texts": (lambda given: tokenizer(special_tokens=given), {5: 0}, "special token 5 has"),
    "a marker": (lambda given: tokenizer(end_of_word=given), 5, r"marker as str, got 5 \(int\)"),
    "counts": (lambda given: tokenizer(counts=given), 5, "give one int per merge"),
    "one tokenizer to compare": (lambda given: bpe.compare("a", given), gpt2, "even for one"),
    "no tokenizers": (lambda given: bpe.compare("a", given), iter(()), "There is no tokenizer"),
    "names of tokenizers": (lambda given: bpe.compare("a", given), [7], "Number 1 of the"),
    "lists of tokens": (bpe.renyi, [[1]], "Number 1 of 1 tokens is a value of type list"),
    "an array of tokens": (bpe.renyi, np.zeros((2, 2)), "join the lists of several documents"),
    "costs that are a text": (bpe.gini, "x", "Expected a list of costs, got 'x'"),
    "no costs": (bpe.gini, None, "Expected a list of costs, got None"),
    "a text among costs": (bpe.gini, [1, "a"], "Number 2 of 2 costs is 'a'"),
    "nested costs": (bpe.gini, [[1]], "Number 1 of 1 costs"),
    "a seed of resamples": (
        lambda given: bpe.mixture(gpt2, {"a": "", "b": ""}, seed=given),
        "x",
        "Expected seed as a whole number",
    ),
    "bytes to compare": (lambda given: bpe.compare(given, [gpt2]), b"a", "Decode bytes first"),
    "a path to save to": (lambda given: bpe.save(gpt2, given), None, "got None"),
    "what to save": (
        lambda given: bpe.save(given, "x"),
        "gpt2",
        r"Expected a Tokenizer, got 'gpt2' \(str\)",
    ),
    "a path to load": (bpe.load, 5, r"got 5 \(int\)"),
    "special tokens to load": (
        lambda given: loaded(special_tokens=given),
        ["a"],
        "Expected special_tokens as a dict",
    ),
    "special texts to load": (
        lambda given: loaded(special_tokens=given),
        {5: 7},
        "Expected special_tokens as a dict",
    ),
    "an empty path to load": (bpe.load, "", "The path is empty"),
    "a path that no file has": (bpe.read_corpus, "\ud800", "a NUL or a lone surrogate"),
    "an empty path": (bpe.read_corpus, "", "The path is empty"),
    "a text for a file": (bpe.read_corpus, b"hug", r"use Corpus\.from_text"),
    "no file": (bpe.read_corpus, None, r"Expected a path, .* got None"),
    "a text": (bpe.Corpus.from_text, None, "Expected a str as text, got None"),
    "one document": (bpe.Corpus.from_documents, "abc", "call from_text for one"),
    "a document": (bpe.Corpus.from_documents, ["a", 1], r"str as document 2, got 1 \(int\)"),
    "documents by name": (
        bpe.Corpus.from_documents,
        {"a": "b"},
        "of type dict: pass its column",
    ),
    "documents in any order": (bpe.Corpus.from_documents, {"a", "b"}, "got a value of type set"),
    "documents from a generator": (
        bpe.Corpus.from_documents,
        (each for each in ("a", b"b")),
        r"str as document 2, got b'b' \(bytes\)\. Decode bytes first",
    ),
    "bytes for documents": (bpe.Corpus.from_documents, bytearray(b"ab"), "of type bytearray"),
    "a name": (
        lambda given: bpe.Corpus.from_documents(["a"], [given]),
        5,
        r"name of document 1, got 5 \(int\)",
    ),
    "files in any order": (
        bpe.read_corpus,
        {"a.txt", "b.txt"},
        "of type set: give a list of paths",
    ),
    "files by name": (bpe.read_corpus, {"a.txt": b"hug"}, "of type dict"),
    "texts in any order": (
        gpt2.encode_batch,
        {"a", "b"},
        "got a value of type set: give a list of str",
    ),
    "texts by name": (gpt2.encode_batch, {"a": "b"}, "got a value of type dict"),
    "tokenizers in any order": (
        lambda given: bpe.compare("a", given),
        {gpt2},
        "got a value of type set",
    ),
    "names of documents": (
        lambda given: bpe.Corpus.from_documents(["a"], given),
        5,
        r"list of names, got 5 \(int\)",
    ),
    "a seed": (lambda given: some_text.split(0.5, given), [], "as seed, got a value of type list"),
    "word counts": (
        bpe.Corpus.from_word_counts,
        ["hug"],
        "Expected a dict of .* got a value of type list",
    ),
    "a word": (bpe.Corpus.from_word_counts, {1: 2}, r"got 1 \(int\)\. Decode"),
    "a share": (some_text.split, "x", r"held-out share .* got 'x' \(str\)"),
    "a corpus": (lambda given: bpe.train(given, bpe.TrainingConfig()), "hug", "make one with"),
    "a configuration": (
        lambda given: bpe.train(some_text, given),
        300,
        r"TrainingConfig, got 300 \(int\)",
    ),
    "its pre-tokenizer": (lambda given: trained(pretokenizer=given), 5, "Expected the name"),
    "a list for a name": (
        lambda given: trained(pretokenizer=given),
        ["gpt2"],
        "got a value of type list",
    ),
    "its special tokens": (lambda given: trained(special_tokens=given), None, "tuple of str"),
    "its marker": (
        lambda given: trained(end_of_word=given),
        5,
        r"marker as a str, .* got 5 \(int\)",
    ),
    "a step": (run.pair_counts, 0.5, r"the step .* got 0\.5 \(float\)"),
    "where a trace starts": (lambda given: run.trace(given, 2), "x", r"start .* got .x. \(str\)"),
    "how much is traced": (
        lambda given: run.trace(0, 2, k=given),
        2.5,
        r"k as a whole .* got 2\.5",
    ),
    "a token's origin": (lambda given: token_origin(run, given), True, r"got True \(bool\)"),
    "half a token's origin": (lambda given: token_origin(run, given), 1.0, r"got 1\.0 \(float\)"),
    "another corpus": (
        run.tokens_after_on,
        None,
        "a list of texts, got None: make one",
    ),
    "how many pairs": (lambda given: run.top_pairs(0, given), -1, r"0 or more, got -1 \(int\)"),
    "a pre-tokenizer's name": (
        bpe.get_pretokenizer,
        None,
        "Expected the name of a pre-tokenizer, got None",
    ),
    "an encoding": (bpe.from_tiktoken, "gpt2", r"tiktoken\.get_encoding"),
    "a foreign tokenizer": (bpe.from_huggingface, "gpt2", "backend_tokenizer"),
}


@pytest.mark.parametrize(("call", "given", "message"), REFUSED.values(), ids=REFUSED)
def test_the_error_names_what_was_found_and_what_to_do(
    call: Callable[[Any], object], given: object, message: str
) -> None:
    with pytest.raises(bpe.BpeError, match=message):
        call(given)


def test_saving_to_an_empty_path_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        bpe.BpeError, match=r"The path is empty\. Name a file or a folder \('\.' for"
    ):
        bpe.save(gpt2, "")
    assert not list(tmp_path.iterdir())


def test_tokenizers_to_compare_may_come_from_a_generator() -> None:
    encoders = [gpt2, run.tokenizer]
    found = bpe.compare("hug hugs", (each for each in encoders))
    assert found == bpe.compare("hug hugs", encoders)


def test_integers_of_numpy_are_accepted() -> None:
    assert gpt2.truncated(np.int64(3)).n_merges == 3  # type: ignore[arg-type]
    assert run.top_pairs(np.int32(1), np.int64(2)) == run.top_pairs(1, 2)  # type: ignore[arg-type]
    vocab = {np.int64(0): b"a", np.int64(1): b"aa"}
    assert tokenizer(vocab=vocab, merges=np.array([[0, 0, 1]])).encode("aaa") == [1, 0]
    words = bpe.Corpus.from_word_counts({"hug": np.int64(3)})  # type: ignore[dict-item]
    config = bpe.TrainingConfig(np.int32(258), special_tokens=())  # type: ignore[arg-type]
    learned = bpe.train(words, config)
    assert learned.config == bpe.TrainingConfig(258, special_tokens=())
    assert isinstance(learned.config.vocab_size, int)


def test_special_tokens_may_come_from_a_generator() -> None:
    config = bpe.TrainingConfig(300, special_tokens=(f"<{name}>" for name in "ab"))  # type: ignore[arg-type]
    assert set(bpe.train(some_text, config).tokenizer.special_tokens) == {"<a>", "<b>"}
    assert hash(config) == hash(bpe.TrainingConfig(300, special_tokens=["<a>", "<b>"]))  # type: ignore[arg-type]


LONG = "a rose is " * 30_000  # long enough for a tokenizer to use kernels


@pytest.fixture(scope="module")
def with_kernels() -> bpe.Tokenizer:
    compile_kernels()
    tokenizer = bpe.Tokenizer(
        vocab=gpt2.vocab, merges=[], pretokenizer="gpt2", special_tokens=gpt2.special_tokens
    )
    CompiledEncoder(tokenizer.table, tokenizer.pretokenizer)  # loads the compiled kernels
    assert tokenizer.encoder.kernels.worth(len(LONG)) is not None
    return tokenizer


WRONG_SPECIAL: dict[str, tuple[object, str]] = {
    "none": (None, "Expected a collection of special tokens or 'all' as allowed_special, got None"),
    "a number": (5, r"a collection .* as allowed_special, got 5 \(int\)"),
    "false": (False, r"as allowed_special, got False \(bool\)"),
    "one token": ("<|endoftext|>", r"For one token, give \['<\|endoftext\|>'\]"),
    "no text": ("", "as allowed_special, got the text ''"),
    "bytes": (b"", r"as allowed_special, got b'' \(bytes\)"),
    "ids": ([50_256], r"Expected a str as number 1 of allowed_special, got 50256 \(int\)"),
    "lists": (["<s>", ["<s>"]], "number 2 of allowed_special, got a value of type list"),
}


@pytest.mark.parametrize(("given", "message"), WRONG_SPECIAL.values(), ids=WRONG_SPECIAL)
@pytest.mark.parametrize("text", ["", "hug", LONG], ids=["empty", "short", "long"])
def test_every_encoder_refuses_wrong_special_tokens(
    with_kernels: bpe.Tokenizer, text: str, given: Any, message: str
) -> None:
    calls: list[Callable[[], object]] = [
        lambda: with_kernels.encode(text, given),
        lambda: with_kernels.encode_batch([text], given),
        lambda: with_kernels.encode_batch([], given),
        lambda: with_kernels.encode_to_numpy(text, given),
        lambda: with_kernels.segments(text, given),
        lambda: spelled_out.segments(text[:20], given),
        lambda: foreign.encode(text[:20], given),
        lambda: foreign.segments(text[:20], given),
        lambda: boundaries(text, with_kernels, given),
    ]
    for call in calls:
        with pytest.raises(bpe.BpeError, match=message):
            call()


@pytest.mark.parametrize("text", ["<|endoftext|>", LONG + "<|endoftext|>"], ids=["short", "long"])
def test_allowed_special_tokens_from_a_generator_hold_for_each_text_of_a_batch(
    with_kernels: bpe.Tokenizer, text: str
) -> None:
    generated: Any = (each for each in ["<|endoftext|>"])
    batch = with_kernels.encode_batch([text, text], generated)
    assert [ids.count(50_256) for ids in batch] == [1, 1]


WRONG_IDS: dict[str, tuple[Callable[[list[int]], object], str]] = {
    "floats": (
        lambda ids: [*ids, 464.0],
        r"ids is 464\.0 \(float\)\. Expected one list or array of i",
    ),
    "truth": (lambda ids: [*ids, True, 464], r"ids is True \(bool\)"),
    "falsehood": (lambda ids: [*ids, False], r"ids is False \(bool\)"),
    "strings": (lambda ids: [*ids, "464"], r"ids is '464' \(str\)"),
    "nothing": (lambda ids: [*ids, None], "ids is None"),
    "a float of numpy": (lambda ids: [*ids, np.float32(464)], r"ids is .*float32"),
    "truth of numpy": (lambda ids: [*ids, np.True_], "ids is a value of type bool"),
    "an array of floats": (
        lambda ids: np.array([*ids, 464.0]),
        "Expected an array of integers, such as int32, got one of float64",
    ),
    "an array of truths": (lambda ids: np.array([True, *map(bool, ids)]), "got one of bool"),
    "an array of strings": (lambda ids: np.array([*map(str, ids), "464"]), "got one of <U"),
    "an array of objects": (lambda ids: np.array([*ids, True], object), r"is True \(bool\)"),
    "a dict": (lambda ids: {464: 1, **dict.fromkeys(ids)}, "ids, got a value of type dict"),
    "a set": (lambda ids: {464, *ids}, "ids, got a value of type set"),
    "bytes to be": (
        lambda ids: bytearray(b"a" * (len(ids) + 1)),
        "ids, got a value of type bytearray",
    ),
}


@pytest.mark.parametrize(("wrong", "message"), WRONG_IDS.values(), ids=WRONG_IDS)
@pytest.mark.parametrize("n_before", [0, 3, 300_000])
def test_every_decoder_refuses_values_that_are_not_ids(
    with_kernels: bpe.Tokenizer,
    wrong: Callable[[list[int]], object],
    message: str,
    n_before: int,
) -> None:
    given: Any = wrong([464, 1, 0] * (n_before // 3))
    for decode in (with_kernels.decode, with_kernels.decode_bytes, marked.decode):
        with pytest.raises(bpe.BpeError, match=message):
            decode(given)


def test_integers_of_any_type_are_ids(with_kernels: bpe.Tokenizer) -> None:
    for n in (1, 100_000):
        expected = "!" * n
        given: list[Any] = [
            [0] * n,
            [np.int64(0)] * n,
            np.zeros(n, np.uint8),
            np.zeros(n, object),
            (0 for _ in range(n)),
            dict.fromkeys(range(n), 0).values(),
            range(1) if n == 1 else [0] * n,
        ]
        for ids in given:
            assert with_kernels.decode(ids) == expected
    assert with_kernels.decode(np.array([])) == ""  # float64, but it is empty
