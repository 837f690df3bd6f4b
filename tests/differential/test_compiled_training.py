"""Kernels, Hugging Face and plain Python learn the same merges from megabytes of real text."""

from __future__ import annotations

import sysconfig
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from pydoc_data.topics import topics  # pyright: ignore[reportAttributeAccessIssue]
from typing import get_args

import pytest

import bpe_core as bpe
from bpe_core.corpus import Layout, count_pretokens
from bpe_core.kernels import compile_kernels
from bpe_core.trainers import GrowingVocabulary, train_reference
from bpe_core.trainers import compiled as compiled_training
from bpe_core.trainers.incremental import LearnedMerges, learn_merges
from bpe_core.types import PretokenCounts, TieBreak
from bpe_core.unicode import to_printable
from tests.differential.test_training_against_huggingface import (
    MULTILINGUAL,
    assert_equal_to_huggingface,
    assert_equals_huggingfaces,
    train_huggingface,
)

N_BYTES = 8_000_000  # with less text there are fewer than 50,000 merges


@pytest.fixture(scope="module", autouse=True)
def _kernels() -> None:
    compile_kernels()


@pytest.fixture(scope="module")
def documents() -> list[str]:
    """Return the language reference, a text of many scripts, and Python's library source."""
    taken = [*topics.values(), MULTILINGUAL]
    left = N_BYTES
    library = Path(sysconfig.get_path("stdlib"))
    for path in (*sorted(library.glob("*.py")), *sorted(library.glob("[a-l]*/*.py"))):
        taken.append(path.read_bytes().decode())
        left -= len(taken[-1])
        if left < 0:
            break
    return taken


@pytest.fixture(scope="module")
def huggingface(documents: list[str]) -> tuple[list[tuple[str, str]], dict[str, int]]:
    """Return Hugging Face's merges and ids; those of a smaller vocabulary are a prefix of these."""
    config = bpe.TrainingConfig(50_257)
    return train_huggingface(documents, config.vocab_size, config.special_tokens)


@pytest.mark.parametrize("vocab_size", [1_000, 50_257])
def test_separate_documents_equal_huggingface(
    documents: list[str],
    huggingface: tuple[list[tuple[str, str]], dict[str, int]],
    vocab_size: int,
) -> None:
    run = bpe.train(bpe.Corpus.from_documents(documents), bpe.TrainingConfig(vocab_size))
    merges, ids = huggingface
    n_merges = vocab_size - 257  # 256 bytes and one special token
    smaller = {token: id for token, id in ids.items() if id < vocab_size}
    assert_equals_huggingfaces(run.tokenizer, merges[:n_merges], smaller)
    assert len(run.merges) == n_merges


@pytest.fixture(scope="module")
def pretokens(documents: list[str]) -> PretokenCounts:
    return counted(documents)


def counted(documents: list[str]) -> PretokenCounts:
    return count_pretokens(bpe.Corpus.from_documents(documents), bpe.get_pretokenizer("gpt2"))


@pytest.fixture(scope="module")
def first_seen_merges(pretokens: PretokenCounts) -> list[tuple[int, int, int]]:
    """Return the merges that plain Python learns if ties go to the pair seen first."""
    return merges_learned(learn_merges, pretokens, 50_257)


@pytest.mark.parametrize("vocab_size", [1_000, 50_257])
def test_first_seen_ties_are_broken_like_in_plain_python(
    pretokens: PretokenCounts, first_seen_merges: list[tuple[int, int, int]], vocab_size: int
) -> None:
    learned = merges_learned(compiled_training.learn_merges, pretokens, vocab_size)
    assert len(learned) == vocab_size - 256
    assert learned == first_seen_merges[: len(learned)]


@pytest.mark.parametrize("step", [12_345, 40_000])
def test_first_seen_ties_are_broken_like_by_recounting_all_pairs(
    pretokens: PretokenCounts, first_seen_merges: list[tuple[int, int, int]], step: int
) -> None:
    # Encode each word with the earlier merges, count every pair and take the dict's `max`. This
    # uses none of the state that either trainer updates from merge to merge.
    config = bpe.TrainingConfig(257, special_tokens=())
    vocab = dict(enumerate(GrowingVocabulary(config, ()).tokens))
    for left, right, new in first_seen_merges[:step]:
        vocab[new] = vocab[left] + vocab[right]
    merges = first_seen_merges[:step]
    tokenizer = bpe.Tokenizer(vocab=vocab, merges=merges, pretokenizer="none")
    counts: dict[tuple[int, int], int] = {}
    for word, count in zip(pretokens.words, pretokens.counts.tolist(), strict=True):
        for pair in pairwise(tokenizer.encode(word.decode())):
            counts[pair] = counts.get(pair, 0) + count
    assert max(counts, key=counts.__getitem__) == first_seen_merges[step][:2]


@pytest.mark.parametrize("unit", ["a", " ", "1234567890", "🧩", "ab"])
def test_degenerate_texts_equal_huggingface(unit: str) -> None:
    # A word of 20 kB, because tokenizers needs more than 15 s for the benchmarks' megabyte.
    text = unit * (20_000 // len(unit.encode()))
    learned = merges_learned(compiled_training.learn_merges, counted([text]), 400, "smallest-pair")
    vocab = dict(
        enumerate(GrowingVocabulary(bpe.TrainingConfig(256, special_tokens=()), ()).tokens)
    )
    ours: list[tuple[str, str]] = []
    for left, right, new in learned:
        ours.append((to_printable(vocab[left]), to_printable(vocab[right])))
        vocab[new] = vocab[left] + vocab[right]
    merges, _ = train_huggingface([text], 400)
    assert len(merges) > 10
    assert ours == merges


@pytest.mark.parametrize("tie_break", get_args(TieBreak))
def test_real_text_equals_the_reference(documents: list[str], tie_break: TieBreak) -> None:
    # The reference takes the `max` of a dict at each step, so all 8 MB would take an hour. In these
    # 16 kB, six of seven merges tie with the one before.
    some = [*(text[:400] for text in documents[:40]), MULTILINGUAL]
    pretokens = counted(some)
    config = bpe.TrainingConfig(1_000, special_tokens=(), tie_break=tie_break)
    reference = train_reference(pretokens, config).merges
    learned = merges_learned(compiled_training.learn_merges, pretokens, 1_000, tie_break)
    assert learned == [(merge.left, merge.right, merge.id) for merge in reference]


def merges_learned(
    learn: Callable[..., LearnedMerges],
    pretokens: PretokenCounts,
    vocab_size: int,
    tie_break: TieBreak = "first-seen",
) -> list[tuple[int, int, int]]:
    config = bpe.TrainingConfig(vocab_size, special_tokens=(), tie_break=tie_break)
    vocabulary = GrowingVocabulary(config, ())
    layout = Layout.of_symbols(pretokens, "bytes", vocabulary.base_ids)
    return learn(layout, vocabulary, config, lambda done, saved, count: False).merges


def test_one_large_document_equals_huggingface_up_to_the_last_pair(documents: list[str]) -> None:
    config = bpe.TrainingConfig(500_000, special_tokens=(), min_frequency=3)
    # The kernels count this text in three blocks.
    assert_equal_to_huggingface(["".join(documents)[:5_000_000]], config)
