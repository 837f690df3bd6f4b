"""Extended tokenizers agree with other libraries on thousands of texts.

tiktoken and `tokenizers`, with the base, give the ids of the extended tokenizer once each new token
is replaced by its parts. `tokenizers`, with the extended tokenizer.json, gives the ids of bpe_core.
"""

from __future__ import annotations

import base64
import random
from functools import cache
from pydoc_data.topics import topics  # pyright: ignore[reportAttributeAccessIssue]

import pytest
import tiktoken
import tokenizers

import bpe_core as bpe
from bpe_core.adapting import extend
from bpe_core.formats import dumps
from bpe_core.kernels import compile_kernels
from tests.differential.test_training_against_huggingface import MULTILINGUAL
from tests.extending import spell_in_base
from tests.more_cases import first_of
from tests.oracles import GPT2_PATTERN, opened_by_name, tiktoken_gpt2, tokenizers_gpt2

N_TEXTS = 3_000
N_TOKENS = 500


@pytest.fixture(scope="module", autouse=True)
def _kernels() -> None:
    compile_kernels()


@cache
def corpus() -> str:
    """Return English prose, many scripts, and a log."""
    prose = "\n".join(topics[name] for name in sorted(topics))[:300_000]
    log = "".join(f"2026-11-22T19:{n % 60:02}:17Z ERROR {n:08x} retrying\n" for n in range(2_000))
    return prose + MULTILINGUAL * 200 + log


@cache
def texts() -> list[str]:
    """Return pieces of the training text, shuffled pieces, and arbitrary characters."""
    draw = random.Random(5)
    found: list[str] = []
    for n in range(N_TEXTS):
        start = draw.randrange(len(corpus()) - 300)
        text = corpus()[start : start + draw.randrange(1, 300)]
        if n % 3 == 1:
            text = "".join(draw.sample(text, len(text)))
        elif n % 3 == 2:
            text += "".join(chr(draw.choice((draw.randrange(0xD7FF), 97, 32))) for _ in range(30))
        found.append(text)
    return found


@cache
def extended(name: str) -> bpe.TrainingRun:
    """Extend a published tokenizer for the corpus."""
    base = bpe.gpt2() if name == "gpt2" else opened_by_name(name).encoder
    assert isinstance(base, bpe.Tokenizer)
    run = extend(base, bpe.Corpus.from_text(corpus()), N_TOKENS)
    assert len(run.new_tokens) == N_TOKENS
    return run


def test_the_base_of_extended_gpt2_is_what_tiktoken_and_tokenizers_encode() -> None:
    run = extended("gpt2")
    n_before = n_after = 0
    peer = tokenizers_gpt2()
    for text, ids in zip(texts(), run.tokenizer.encode_batch(texts()), strict=True):
        theirs = tiktoken_gpt2().encode_ordinary(text)
        assert spell_in_base(run, ids) == theirs
        assert theirs == peer.encode(text).ids
        assert len(ids) <= len(theirs)
        n_before += len(theirs)
        n_after += len(ids)
    assert n_after < 0.95 * n_before


@pytest.mark.parametrize("name", first_of(["llama3", "qwen2", "mistral-nemo"], "llama3"))
def test_extended_published_tokenizers_keep_their_bases_ids(name: str) -> None:
    run = extended(name)
    base = run.base
    assert base is not None
    before = base.encode_batch(texts())
    after = run.tokenizer.encode_batch(texts())
    for old, new in zip(before, after, strict=True):
        assert spell_in_base(run, new) == old
        assert len(new) <= len(old)
    assert sum(map(len, after)) < 0.97 * sum(map(len, before))


@pytest.mark.parametrize("name", first_of(["gpt2", "llama3", "qwen2"], "gpt2"))
def test_an_extended_tokenizer_json_encodes_alike_in_tokenizers(name: str) -> None:
    run = extended(name)
    (data,) = dumps(run.tokenizer, "huggingface").values()
    peer = tokenizers.Tokenizer.from_str(data.decode())
    encoded = peer.encode_batch(texts(), add_special_tokens=False)
    for text, theirs, ours in zip(
        texts(), encoded, run.tokenizer.encode_batch(texts()), strict=True
    ):
        assert theirs.ids == ours, text


def test_extended_with_terms_and_without_tokens_left_out_it_keeps_gpt2s_ids() -> None:
    """Extend with terms in several scripts, and leave out the first tokens learned before."""
    learned = extended("gpt2")
    left_out = [learned.tokenizer.vocab[merge.id] for merge in learned.merges[:40]]
    words = sorted({word for word in corpus().split() if word.isalpha() and len(word) > 7})
    terms = random.Random(7).sample(words, 150)
    run = extend(
        bpe.gpt2(), bpe.Corpus.from_text(corpus()), N_TOKENS, terms=terms, left_out=left_out
    )
    assert run.n_term_merges > 30
    made = [run.tokenizer.vocab[id] for id in run.new_tokens]
    assert not {*made} & {*left_out}
    (data,) = dumps(run.tokenizer, "huggingface").values()
    peer = tokenizers.Tokenizer.from_str(data.decode())
    encoded = peer.encode_batch(texts(), add_special_tokens=False)
    ours = run.tokenizer.encode_batch(texts())
    for text, theirs, ids in zip(texts(), encoded, ours, strict=True):
        assert theirs.ids == ids
        before = tiktoken_gpt2().encode_ordinary(text)
        assert spell_in_base(run, ids) == before
        assert len(ids) <= len(before)
    for cost in run.terms:
        if cost.token is not None:
            assert len(peer.encode(cost.token.decode()).ids) == 1


def test_a_tiktoken_file_of_extended_gpt2_encodes_alike() -> None:
    run = extended("gpt2")
    (data,) = dumps(run.tokenizer, "tiktoken").values()
    ranks = {
        base64.b64decode(token): int(rank)
        for token, rank in (line.split() for line in data.splitlines())
    }
    peer = tiktoken.Encoding(
        "extended", pat_str=GPT2_PATTERN, mergeable_ranks=ranks, special_tokens={}
    )
    for text, ours in zip(texts(), run.tokenizer.encode_batch(texts()), strict=True):
        assert peer.encode_ordinary(text) == ours
