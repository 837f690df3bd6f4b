"""Training as SentencePiece's family does: merges as Hugging Face's, files as both libraries read.

`BpeTrainer` gets the alphabet as `initial_alphabet`: among equally rare characters, it would draw
its own at random.
"""

from __future__ import annotations

import argparse
import inspect
import json
import random
import textwrap
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from pydoc_data.topics import topics  # pyright: ignore[reportAttributeAccessIssue]

import pytest
import sentencepiece
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer as Peer
from tokenizers import models, pre_tokenizers, trainers

import bpe_core as bpe
from bpe_core.corpus import count_pretokens, load_sample
from bpe_core.formats import dumps, load, save
from bpe_core.trainers import train_reference
from bpe_core.vocabulary import Reachability
from tests.differential.test_across_words import hostile_texts
from tests.strategies import fallback_configs, word_counts

SPECIAL = ("<unk>", "<s>", "</s>")
documents = st.lists(
    st.text("ab \n▁é漢漣😀😁 ", min_size=1, max_size=40).filter(bool), min_size=1, max_size=8
)


def llama(vocab_size: int, coverage: float = 0.9995) -> bpe.TrainingConfig:
    return bpe.TrainingConfig(
        vocab_size,
        base="characters",
        byte_fallback=True,
        character_coverage=coverage,
        pretokenizer="metaspace",
        special_tokens=SPECIAL,
    )


def assert_equal_to_huggingface(texts: Sequence[str], config: bpe.TrainingConfig) -> bpe.Tokenizer:
    tokenizer = bpe.train(bpe.Corpus.from_documents(texts), config).tokenizer
    written = json.loads(dumps(tokenizer, "huggingface")["tokenizer.json"])["model"]
    alphabet = [symbol.decode().replace(" ", "▁") for symbol in tokenizer.base_ids]
    peer = Peer(models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    peer.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.BpeTrainer(
        vocab_size=config.vocab_size,
        special_tokens=[*SPECIAL, *(f"<0x{byte:02X}>" for byte in range(256))],
        limit_alphabet=len(alphabet),
        initial_alphabet=alphabet,
        show_progress=False,
    )
    peer.train_from_iterator(texts, trainer)
    model = json.loads(peer.to_str())["model"]
    assert written["merges"] == model["merges"]
    assert written["vocab"] == model["vocab"]
    return tokenizer


@given(documents, st.integers(280, 320), st.sampled_from([1.0, 0.9995, 0.9, 0.7, 0.4]))
def test_small_corpora_equal_huggingface(texts: list[str], size: int, coverage: float) -> None:
    assert_equal_to_huggingface(texts, llama(size, coverage))


@pytest.mark.parametrize("coverage", [1.0, 0.9995])
def test_the_python_language_reference_equals_huggingface(coverage: float) -> None:
    texts = [topics[name] for name in sorted(topics)]
    tokenizer = assert_equal_to_huggingface(texts, llama(8_000, coverage))
    assert tokenizer.n_merges > 7_000


def test_source_code_equals_huggingface() -> None:
    sources = [inspect.getsource(module) for module in (argparse, inspect, textwrap, pytest, json)]
    assert_equal_to_huggingface(sources, llama(3_000))


def test_many_scripts_equal_huggingface() -> None:
    tokenizer = assert_equal_to_huggingface(load_sample("multilingual").documents, llama(2_500))
    every = assert_equal_to_huggingface(load_sample("multilingual").documents, llama(2_500, 1.0))
    assert len(tokenizer.base_ids) < len(every.base_ids)


@given(word_counts, fallback_configs)
def test_the_reference_starts_from_the_words_as_they_are_given(
    words: dict[str, int], config: bpe.TrainingConfig
) -> None:
    corpus = bpe.Corpus.from_word_counts(words)
    pretokens = count_pretokens(corpus, bpe.get_pretokenizer("metaspace"))
    run, reference = bpe.train(corpus, config), train_reference(pretokens, config)
    assert list(run.merges) == reference.merges
    assert dict(run.tokenizer.vocab) == reference.vocab
    assert run.tokenizer.base_ids == reference.base_ids


def test_text_that_begins_with_a_space_gets_none_in_training(tmp_path: Path) -> None:
    # As in Hugging Face's Metaspace; encoding puts one in front of it, as SentencePiece does.
    run = bpe.train([" hug hug", "▁hug", "hug"], llama(300))
    assert dict(zip(run.pretokens.words, run.pretokens.counts.tolist(), strict=True)) == {
        b" hug": 4
    }
    assert run.tokenizer.decode(run.tokenizer.encode(" hug")) == " hug"
    assert len(run.tokenizer.encode(" hug")) == 2


@cache
def trained() -> bpe.Tokenizer:
    return bpe.train(load_sample("multilingual"), llama(3_000, 0.99)).tokenizer


@pytest.fixture(scope="module")
def readers(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("written")
    paths = folder / "mine.model", folder / "tokenizer.json"
    for path in paths:
        save(trained(), path)
    return paths


def test_both_files_give_the_ids_of_their_libraries(readers: tuple[Path, Path]) -> None:
    tokenizer = trained()
    model, described = readers
    theirs = sentencepiece.SentencePieceProcessor(model_file=str(model))
    peer = Peer.from_file(str(described))
    peer.encode_special_tokens = True
    opened = [bpe.open_encoder(path).encoder for path in readers]
    for encoder in opened:
        assert isinstance(encoder, bpe.Tokenizer)
        assert load(readers[opened.index(encoder)]) == tokenizer
    for text in ["", " ", "\x00", *hostile_texts(3_000, seed=7)]:
        ids = tokenizer.encode(text)
        assert theirs.encode(text) == ids, text
        assert peer.encode(text, add_special_tokens=False).ids == ids, text
        assert all(encoder.encode(text) == ids for encoder in opened), text
        assert tokenizer.decode(ids) == text.replace("▁", " ")
        assert peer.decode(ids, skip_special_tokens=False) == tokenizer.decode(ids)
        assert [id for word in tokenizer.explain(text) for id in word.ids] == ids
        places = [each.segments(text) for each in (tokenizer, *opened)]
        assert places[0] == places[1] == places[2]
    assert theirs.decode(tokenizer.encode("a  b漢")) == "a  b漢"


def test_long_texts_and_batches_are_encoded_alike() -> None:
    tokenizer = trained()
    texts = [*hostile_texts(300, seed=3)]
    by_kernels = tokenizer.encode_batch(texts * 50)[: len(texts)]
    assert by_kernels == [tokenizer.encode(text) for text in texts]
    whole = "".join(texts) * 40
    plain = tokenizer.truncated(tokenizer.n_merges)
    ids = [id for word in plain.explain(whole[:20_000]) for id in word.ids]
    assert tokenizer.encode(whole[:20_000]) == ids
    texts = [text for text in texts if "<s>" not in text and text]
    mixed = "<s>".join(texts)
    parts = [id for text in texts for id in (*tokenizer.encode(text), 1)][:-1]
    assert tokenizer.encode(mixed, ["<s>"]) == parts


def test_no_token_that_was_learned_is_called_unreachable() -> None:
    tokenizer = trained()
    found = Reachability.of(tokenizer)
    used = {id for text in load_sample("multilingual").documents for id in tokenizer.encode(text)}
    assert not used & found.unreachable.keys()
    kinds = {tokenizer.vocab[id] for id in found.unreachable if id not in tokenizer.table.parts}
    # A character of the alphabet is never spelled in bytes.
    assert b"a" in kinds
    assert {bytes([byte]) for byte in (0xC0, 0xC1, 0xF5, 0xFF)} <= kinds


def test_a_model_that_would_encode_otherwise_is_refused() -> None:
    tokenizer = bpe.train(["<0x41>".join("abcdefgh")], llama(320)).tokenizer
    with pytest.raises(bpe.ConfigError, match="both be written '<0x41>'"):
        dumps(tokenizer, "sentencepiece")
    with pytest.raises(bpe.ConfigError, match="Train with base='characters'"):
        dumps(bpe.train(["hug"], vocab_size=260).tokenizer, "sentencepiece")


def test_a_model_without_an_unknown_token_uses_the_first_special_one() -> None:
    config = bpe.TrainingConfig(
        300, base="characters", byte_fallback=True, pretokenizer="metaspace"
    )
    tokenizer = bpe.train(["hug hugs pug"], config).tokenizer
    written = dumps(tokenizer, "sentencepiece")["tokenizer.model"]
    theirs = sentencepiece.SentencePieceProcessor(model_proto=written)
    assert theirs.id_to_piece(theirs.unk_id()) == "<|endoftext|>"
    assert theirs.encode("hugs 漢") == tokenizer.encode("hugs 漢")
    none = bpe.train(["hug"], replace(config, special_tokens=())).tokenizer
    with pytest.raises(bpe.ConfigError, match="an unknown piece"):
        dumps(none, "sentencepiece")


def test_random_words_make_models_that_read_back_equal() -> None:
    drawn = random.Random(5)
    for _ in range(60):
        texts = ["".join(drawn.choices("abab  c", k=60)) for _ in range(20)]
        tokenizer = bpe.train(texts, llama(320)).tokenizer
        written = dumps(tokenizer, "sentencepiece")["tokenizer.model"]
        theirs = sentencepiece.SentencePieceProcessor(model_proto=written)
        for _ in range(30):
            text = "".join(drawn.choices("ababab  cd▁", k=drawn.randint(0, 30)))
            assert theirs.encode(text) == tokenizer.encode(text), text
