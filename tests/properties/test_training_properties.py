"""The incremental trainer equals the reference on small alphabets, which have many ties."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bpe_core as bpe
from bpe_core.corpus import count as counting
from bpe_core.corpus import count_pretokens
from bpe_core.pretokenizers import PRETOKENIZER_NAMES
from bpe_core.trainers import apply_merge, count_pairs, train_reference
from bpe_core.types import PretokenCounts
from tests.strategies import hostile_texts, texts, training_configs, word_counts


def start_symbols(run: bpe.TrainingRun) -> list[list[int]]:
    tokenizer = run.tokenizer
    marker = [] if tokenizer.table.end_of_word_id is None else [tokenizer.table.end_of_word_id]
    if run.config.base == "bytes":
        split = [[word[i : i + 1] for i in range(len(word))] for word in run.pretokens.words]
    else:
        split = [[c.encode() for c in word.decode()] for word in run.pretokens.words]
    return [[tokenizer.base_ids[symbol] for symbol in word] + marker for word in split]


def allowed(run: bpe.TrainingRun, counts: dict[tuple[int, int], int]) -> dict[tuple[int, int], int]:
    longest = run.config.max_token_bytes
    vocab = run.tokenizer.vocab
    return {
        (left, right): count
        for (left, right), count in counts.items()
        if longest is None or len(vocab[left]) + len(vocab[right]) <= longest
    }


@given(word_counts, training_configs)
def test_the_trainer_learns_the_same_merges_as_the_reference(
    words: dict[str, int], config: bpe.TrainingConfig
) -> None:
    run = bpe.train(bpe.Corpus.from_word_counts(words), config)
    # The words of a run have only characters of the alphabet.
    reference = train_reference(run.pretokens, replace(config, character_coverage=1.0))
    assert list(run.merges) == reference.merges
    assert dict(run.tokenizer.vocab) == reference.vocab
    assert run.stop_reason == reference.stop_reason
    row = run.layout_at(len(run.merges)).ids
    assert row.tolist() == [-1, *(id for split in reference.splits for id in (*split, -1))]


@given(word_counts, training_configs)
def test_every_step_of_a_run_agrees_with_recounting(
    words: dict[str, int], config: bpe.TrainingConfig
) -> None:
    run = bpe.train(bpe.Corpus.from_word_counts(words), config)
    symbols = start_symbols(run)
    weights: list[int] = run.pretokens.counts.tolist()
    for step in range(len(run.merges) + 1):
        counts = allowed(run, count_pairs(symbols, weights))
        assert list(run.pair_counts(step).items()) == list(counts.items())
        assert run.tokens_after[step] == sum(
            len(word) * n for word, n in zip(symbols, weights, strict=True)
        )
        seen = list(counts)
        by_rule = sorted(
            counts,
            key=lambda pair: (
                -counts[pair],
                pair if config.tie_break == "smallest-pair" else seen.index(pair),
            ),
        )
        most = max(counts.values(), default=0)
        n_tied = sum(count == most for count in counts.values())
        assert [(p.left, p.right, p.count, p.tied) for p in run.top_pairs(step, 5)] == [
            (*pair, counts[pair], n_tied > 1 and counts[pair] == most) for pair in by_rule[:5]
        ]
        if step < len(run.merges):
            merge = run.merges[step]
            assert by_rule[0] == merge.pair
            symbols = [apply_merge(word, merge.pair, merge.id) for word in symbols]


@given(word_counts, training_configs, st.data())
def test_a_trace_agrees_with_recounting(
    words: dict[str, int], config: bpe.TrainingConfig, data: st.DataObject
) -> None:
    run = bpe.train(bpe.Corpus.from_word_counts(words), config)
    start = data.draw(st.integers(0, len(run.merges)))
    stop = data.draw(st.integers(start, len(run.merges)))
    trace = run.trace(start, stop, k=4, n_touched=3, n_changes=2)
    assert (trace.start, trace.stop, len(trace.n_pairs)) == (start, stop, stop - start)
    symbols = start_symbols(run)
    weights: list[int] = run.pretokens.counts.tolist()
    for merge in run.merges[:start]:
        symbols = [apply_merge(word, merge.pair, merge.id) for word in symbols]
    for row, merge in enumerate(run.merges[start:stop]):
        before = allowed(run, count_pairs(symbols, weights))
        merged = [apply_merge(word, merge.pair, merge.id) for word in symbols]
        after = allowed(run, count_pairs(merged, weights))

        top = run.top_pairs(merge.rank, 4)
        fill = [-1] * (4 - len(top))
        assert trace.top_left[row].tolist() == [pair.left for pair in top] + fill
        assert trace.top_right[row].tolist() == [pair.right for pair in top] + fill
        assert trace.top_count[row].tolist() == [pair.count for pair in top] + fill
        assert trace.n_pairs[row] == len(before)
        count = before[merge.pair]
        assert trace.n_tied[row] == sum(n == count for n in before.values())
        tied = [(p.left, p.right) for p in run.top_pairs(merge.rank, len(before)) if p.tied]
        shown = (trace.tied_from <= merge.rank) & (merge.rank < trace.tied_until)
        pairs = zip(trace.tied_left[shown].tolist(), trace.tied_right[shown].tolist(), strict=True)
        assert list(pairs) == tied
        assert trace.next_count[row] == max((n for n in before.values() if n < count), default=0)

        given_by = [
            (len(old) - len(new)) * n for old, new, n in zip(symbols, merged, weights, strict=True)
        ]
        touched = [word for word, n in enumerate(given_by) if n]
        assert trace.n_words[row] == len(touched)
        most = sorted(touched, key=lambda word: (-given_by[word], word))[:3]
        fill = [-1] * (3 - len(most))
        assert trace.touched[row].tolist() == most + fill
        assert trace.touched_given[row].tolist() == [given_by[word] for word in most] + fill
        assert trace.n_overlapping[row] == before[merge.pair] - sum(given_by)

        changes = {
            pair: after.get(pair, 0) - before.get(pair, 0)
            for pair in {*before, *after} - {merge.pair}
        }
        risen = sorted((-by, *pair) for pair, by in changes.items() if by > 0)[:2]
        fallen = sorted((by, *pair) for pair, by in changes.items() if by < 0)[:2]
        fill = [(1, -1, -1)]
        risen, fallen = risen + fill * (2 - len(risen)), fallen + fill * (2 - len(fallen))
        columns = (trace.risen_by, trace.risen_left, trace.risen_right)
        assert [column[row].tolist() for column in columns] == [
            [-by for by, _, _ in risen],
            [left for _, left, _ in risen],
            [right for _, _, right in risen],
        ]
        columns = (trace.fallen_by, trace.fallen_left, trace.fallen_right)
        assert [column[row].tolist() for column in columns] == [
            [-by for by, _, _ in fallen],
            [left for _, left, _ in fallen],
            [right for _, _, right in fallen],
        ]
        symbols = merged


@given(word_counts, training_configs, st.text("abc ", max_size=60).filter(bool))
def test_token_counts_on_another_corpus_agree_with_encoding_it(
    words: dict[str, int], config: bpe.TrainingConfig, text: str
) -> None:
    run = bpe.train(bpe.Corpus.from_word_counts(words), config)
    other = bpe.Corpus.from_text(text)
    tokens = run.tokens_after_on(other)
    if config.byte_fallback:
        for step in (0, len(run.merges) // 2, len(run.merges)):
            # In a corpus, a text that begins with a space gets no other in front.
            ids = run.tokenizer.truncated(step).encode(text)
            assert tokens[step] == len(ids) - text.startswith(" ")
        return
    unknown = sum(
        symbol.encode() not in run.tokenizer.base_ids
        for symbol in text
        if symbol != " " or not run.tokenizer.pretokenizer.drops_text
    )
    for step in (0, len(run.merges) // 2, len(run.merges)):
        cut = run.tokenizer.truncated(step)
        pretokens = run.tokenizer.pretokenizer.split(text)
        ids = [id for pretoken in pretokens for id in cut.encode(pretoken, errors="skip")]
        if not unknown:
            assert tokens[step] == len(ids)
    assert np.all(np.diff(tokens) <= 0)
    assert tokens[-1] >= unknown


@given(word_counts, training_configs)
def test_token_counts_on_the_training_corpus_agree_with_training(
    words: dict[str, int], config: bpe.TrainingConfig
) -> None:
    corpus = bpe.Corpus.from_word_counts(words)
    run = bpe.train(corpus, config)
    on_text = run.tokens_after_on(corpus)
    if config.character_coverage < 1:  # rare characters are in no word of the training
        assert (on_text >= run.tokens_after).all()
    else:
        assert on_text.tolist() == run.tokens_after.tolist()


@given(texts, texts, st.sampled_from(["gpt2", "whitespace", "none", "words-punctuation"]))
def test_pretokens_are_counted_separately_in_each_document(
    first: str, second: str, name: str
) -> None:
    corpus = bpe.Corpus.from_documents([first, second, "."])
    pretokenizer = bpe.get_pretokenizer(name)
    found = count_pretokens(corpus, pretokenizer)
    split = [p for text in (first, second, ".") for p in pretokenizer.split(text)]
    assert found.words == tuple(word.encode() for word in dict.fromkeys(split))
    assert found.counts.tolist() == [split.count(word.decode()) for word in found.words]


@pytest.mark.parametrize(
    "name", [name for name in PRETOKENIZER_NAMES if bpe.get_pretokenizer(name).ends_before_space]
)
@pytest.mark.parametrize("block_characters", [1, 2, 3])
@given(st.one_of(hostile_texts, st.text("aZé1!'/ \n\r")))
def test_counting_a_text_in_blocks_finds_the_same_pretokens(
    name: str, block_characters: int, text: str
) -> None:
    pretokenizer = bpe.get_pretokenizer(name)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "_BLOCK_CHARACTERS", block_characters)
        found = count_pretokens(bpe.Corpus.from_documents([text, "."]), pretokenizer)
    words = [word.encode() for document in (text, ".") for word in pretokenizer.split(document)]
    assert found.words == tuple(dict.fromkeys(words))
    assert found.counts.tolist() == [words.count(word) for word in found.words]


def test_a_long_text_is_counted_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "_BLOCK_CHARACTERS", 2)
    answers = iter([False, True])
    found = count_pretokens(
        bpe.Corpus.from_text("one two three"),
        bpe.get_pretokenizer("gpt2"),
        should_stop=lambda: next(answers),
    )
    assert found.words == (b"one",)


def test_training_on_no_words_gives_an_empty_run() -> None:
    nothing = PretokenCounts((), np.zeros(0, np.int64))
    reference = train_reference(nothing, bpe.TrainingConfig(300, special_tokens=()))
    assert (reference.merges, reference.stop_reason) == ([], "no-pairs")
