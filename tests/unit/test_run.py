"""A run's figures on another corpus, which can be cancelled."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import CancelledError

import numpy as np
import pytest
from hypothesis import given

import bpe_core as bpe
from bpe_core.kernels.compiling.choose import compile_kernels
from bpe_core.runs.token_curves import count_ids, merges_are_recoverable, unfolded_tokens
from tests.strategies import training_configs, word_counts

TEXT = "".join(f"line {n} of {n * 7_919 % 997}, hugs and pugs\n" for n in range(60))


def after(n_looks: int) -> Callable[[], bool]:
    """Return a callback that is True from call `n_looks` + 1 on."""
    looks = iter(range(n_looks))
    return lambda: next(looks, None) is None


def test_a_cancelled_count_on_another_corpus_raises() -> None:
    run = bpe.train(bpe.Corpus.from_text(TEXT), bpe.TrainingConfig(vocab_size=257 + 200))
    assert len(run.merges) > 150
    other = bpe.Corpus.from_documents([TEXT[:300], "pugs"])
    whole = run.tokens_after_on(other)
    run.tokens_after_on(other, after(1_000))
    # There are at least five calls, for two documents, the count and the merges; stop at each.
    for n in range(5):
        with pytest.raises(CancelledError):
            run.tokens_after_on(other, after(n))
    for never in (None, lambda: False):
        assert run.tokens_after_on(other, never).tolist() == whole.tolist()


def test_cancellation_is_checked_while_merges_are_replayed() -> None:
    run = bpe.train(bpe.Corpus.from_text(TEXT), bpe.TrainingConfig(vocab_size=257 + 200))
    asked: list[int] = []

    def should_stop() -> bool:
        asked.append(1)
        return False

    run.tokens_after_on(bpe.Corpus.from_text("pugs"), should_stop)
    assert len(asked) >= 2 + len(run.merges) // 64


def test_counts_on_a_long_corpus_equal_encoding_with_each_truncated_tokenizer() -> None:
    compile_kernels()
    run = bpe.train(bpe.Corpus.from_text(TEXT), bpe.TrainingConfig(vocab_size=257 + 200))
    # Lines with other numbers, and bytes that are not in the training text.
    lines = [f"line {n} of {n * 31 % 9_973}, hugs, pügs<|endoftext|>\n" for n in range(12_000)]
    other = bpe.Corpus.from_documents(["".join(lines), TEXT])
    tokens = run.tokens_after_on(other)
    assert tokens.shape == (len(run.merges) + 1,)
    for step in (0, 1, 50, len(run.merges)):
        cut = run.tokenizer.truncated(step)
        assert tokens[step] == sum(len(cut.encode(document)) for document in other.documents)
    # Before each of the two documents.
    run.tokens_after_on(other, after(2))
    for n in range(2):
        with pytest.raises(CancelledError):
            run.tokens_after_on(other, after(n))


@given(word_counts, training_configs)
def test_counts_from_encoding_equal_those_from_replaying_merges(
    words: dict[str, int], config: bpe.TrainingConfig
) -> None:
    run = bpe.train(bpe.Corpus.from_word_counts(words), config)
    other = bpe.Corpus.from_documents([*words, " ".join(words), "abé abab"])
    if merges_are_recoverable(run.tokenizer):
        found = unfolded_tokens(count_ids(run.tokenizer, other.documents), run.merges)
        np.testing.assert_array_equal(found, run.tokens_after_on(other))


def test_a_run_is_unaffected_by_changes_to_the_arrays_it_was_built_from() -> None:
    run = bpe.train(bpe.Corpus.from_text("hug hugs"), bpe.TrainingConfig(vocab_size=259))
    tokens = run.tokens_after.copy()
    again = bpe.TrainingRun(
        tokenizer=run.tokenizer,
        config=run.config,
        corpus_sha256=run.corpus_sha256,
        corpus_bytes=run.corpus_bytes,
        pretokens=run.pretokens,
        joined_at=run.joined_at,
        stop_reason=run.stop_reason,
        elapsed_seconds=run.elapsed_seconds,
        tokens_after=tokens,
    )
    tokens[0] = 0
    assert again.tokens_after.tolist() == run.tokens_after.tolist()
