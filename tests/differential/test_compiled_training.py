"""From megabytes of real text kernels learn what Hugging Face's trainer and plain Python learn."""

from __future__ import annotations

import sysconfig
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from pydoc_data.topics import topics  # pyright: ignore[reportAttributeAccessIssue]
from typing import get_args

import pytest

from bpe_core.compiling.processes import compile_kernels
from bpe_core.corpus.corpus import Corpus
from bpe_core.counting.word_row import lay_out_pretokens
from bpe_core.counting.words import count_pretokens
from bpe_core.pretokenizers.pretokenizers import get_pretokenizer
from bpe_core.runs.train import train
from bpe_core.tokenizer.tokenizer import Tokenizer
from bpe_core.trainers import compiled as compiled_training
from bpe_core.trainers.base_vocabulary import GrowingVocabulary
from bpe_core.trainers.incremental import Learned, learn_merges
from bpe_core.trainers.reference import train_reference
from bpe_core.types import PretokenCounts, TieBreak, TrainingConfig
from bpe_core.unicode.byte_alphabet import to_printable
from tests.differential.test_training_against_huggingface import (
    MULTILINGUAL,
    assert_equal_to_huggingface,
    assert_is_huggingfaces,
    train_huggingface,
)

N_BYTES = 8_000_000  # fewer have no 50,000 merges in them


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
    """Return what Hugging Face learns from all of them; a smaller vocabulary is a prefix of it."""
    config = TrainingConfig(50_257)
    return train_huggingface(documents, config.vocab_size, config.special_tokens)


@pytest.mark.parametrize("vocab_size", [1_000, 50_257])
def test_each_file_a_document(
    documents: list[str],
    huggingface: tuple[list[tuple[str, str]], dict[str, int]],
    vocab_size: int,
) -> None:
    run = train(Corpus.from_documents(documents), TrainingConfig(vocab_size))
    merges, ids = huggingface
    n_merges = vocab_size - 257  # all bytes, and one special token
    smaller = {token: id for token, id in ids.items() if id < vocab_size}
    assert_is_huggingfaces(run.tokenizer, merges[:n_merges], smaller)
    assert len(run.merges) == n_merges


@pytest.fixture(scope="module")
def pretokens(documents: list[str]) -> PretokenCounts:
    return counted(documents)


def counted(documents: list[str]) -> PretokenCounts:
    return count_pretokens(Corpus.from_documents(documents), get_pretokenizer("gpt2"))


@pytest.fixture(scope="module")
def first_seen_merges(pretokens: PretokenCounts) -> list[tuple[int, int, int]]:
    """Return what plain Python learns if ties go to the pair seen first."""
    return merges_learned(learn_merges, pretokens, 50_257)


@pytest.mark.parametrize("vocab_size", [1_000, 50_257])
def test_the_first_seen_of_equals_wins_as_in_plain_python(
    pretokens: PretokenCounts, first_seen_merges: list[tuple[int, int, int]], vocab_size: int
) -> None:
    learned = merges_learned(compiled_training.learn_merges, pretokens, vocab_size)
    assert len(learned) == vocab_size - 256
    assert learned == first_seen_merges[: len(learned)]


@pytest.mark.parametrize("step", [12_345, 40_000])
def test_the_first_seen_of_equals_wins_by_a_count_from_nothing(
    pretokens: PretokenCounts, first_seen_merges: list[tuple[int, int, int]], step: int
) -> None:
    # What the merges before it make of each word, every pair counted, and `max` over the dict: no
    # more is needed of what either trainer keeps up to date from merge to merge.
    config = TrainingConfig(257, special_tokens=())
    vocab = dict(enumerate(GrowingVocabulary(config, ()).tokens))
    for left, right, new in first_seen_merges[:step]:
        vocab[new] = vocab[left] + vocab[right]
    merges = first_seen_merges[:step]
    tokenizer = Tokenizer(vocab=vocab, merges=merges, pretokenizer="none")
    counts: dict[tuple[int, int], int] = {}
    for word, count in zip(pretokens.words, pretokens.counts.tolist(), strict=True):
        for pair in pairwise(tokenizer.encode(word.decode())):
            counts[pair] = counts.get(pair, 0) + count
    assert max(counts, key=counts.__getitem__) == first_seen_merges[step][:2]


@pytest.mark.parametrize("unit", ["a", " ", "1234567890", "🧩", "ab"])
def test_a_text_that_is_all_one_thing_equals_huggingface(unit: str) -> None:
    # A word of 20 kB; of a megabyte, as benchmarks have it, tokenizers takes longer than 15 s.
    text = unit * (20_000 // len(unit.encode()))
    learned = merges_learned(compiled_training.learn_merges, counted([text]), 400, "smallest-pair")
    vocab = dict(enumerate(GrowingVocabulary(TrainingConfig(256, special_tokens=()), ()).tokens))
    ours: list[tuple[str, str]] = []
    for left, right, new in learned:
        ours.append((to_printable(vocab[left]), to_printable(vocab[right])))
        vocab[new] = vocab[left] + vocab[right]
    merges, _ = train_huggingface([text], 400)
    assert len(merges) > 10
    assert ours == merges


@pytest.mark.parametrize("tie_break", get_args(TieBreak))
def test_real_text_equals_the_reference_which_recounts_everything(
    documents: list[str], tie_break: TieBreak
) -> None:
    # The reference takes the `max` of a dict at each step; all 8 MB would take it an hour. Of these
    # 16 kB, six in seven merges are tied with the one before.
    some = [*(text[:400] for text in documents[:40]), MULTILINGUAL]
    pretokens = counted(some)
    config = TrainingConfig(1_000, special_tokens=(), tie_break=tie_break)
    reference = train_reference(pretokens, config).merges
    learned = merges_learned(compiled_training.learn_merges, pretokens, 1_000, tie_break)
    assert learned == [(merge.left, merge.right, merge.id) for merge in reference]


def merges_learned(
    learn: Callable[..., Learned],
    pretokens: PretokenCounts,
    vocab_size: int,
    tie_break: TieBreak = "first-seen",
) -> list[tuple[int, int, int]]:
    config = TrainingConfig(vocab_size, special_tokens=(), tie_break=tie_break)
    vocabulary = GrowingVocabulary(config, ())
    layout = lay_out_pretokens(pretokens, "bytes", vocabulary.base_ids)
    return learn(layout, vocabulary, config, lambda done, saved, count: False).merges


def test_all_in_one_document_up_to_the_last_pair(documents: list[str]) -> None:
    config = TrainingConfig(500_000, special_tokens=(), min_frequency=3)
    # Kernels count it in three blocks.
    assert_equal_to_huggingface(["".join(documents)[:5_000_000]], config)
