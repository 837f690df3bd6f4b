"""Compare the origin of tokens in training with an encoder that explains each word."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

import bpe_core as bpe
from bpe_core.vocabulary import SourceLines, token_origin

words = st.text("abé", min_size=1, max_size=8)
configs = st.builds(
    bpe.TrainingConfig,
    vocab_size=st.just(272),
    pretokenizer=st.just("whitespace"),
    end_of_word=st.sampled_from([None, "</w>"]),
    special_tokens=st.just(()),
) | st.builds(
    bpe.TrainingConfig,
    vocab_size=st.integers(6, 16),
    pretokenizer=st.just("whitespace"),
    base=st.just("characters"),
    end_of_word=st.sampled_from([None, "</w>"]),
    special_tokens=st.just(()),
)


def slow_counts(run: bpe.TrainingRun, counts: dict[str, int]) -> tuple[Counter[int], Counter[int]]:
    """Count how often each id is made in the words, and how often it is left at the end."""
    made: Counter[int] = Counter()
    kept: Counter[int] = Counter()
    for word, count in counts.items():
        (explained,) = run.tokenizer.explain(word)
        for id in explained.symbols:
            made[id] += count
        before = len(explained.symbols)
        for step in explained.steps:
            made[step.merge.id] += count * (before - len(step.symbols))
            before = len(step.symbols)
        for id in explained.ids:
            kept[id] += count
    return made, kept


@given(st.dictionaries(words, st.integers(1, 9), min_size=1, max_size=8), configs)
def test_counts_equal_those_of_explaining_each_word(
    counts: dict[str, int], config: bpe.TrainingConfig
) -> None:
    run = bpe.train(bpe.Corpus.from_word_counts(counts), config)
    made, kept = slow_counts(run, counts)
    for id, token in run.tokenizer.vocab.items():
        origin = token_origin(run, id, n_words=100)
        assert (origin.n_made, origin.n_kept) == (made[id], kept[id])
        assert origin.n_words == len(origin.words)
        assert origin.n_made == sum(each.count * len(each.spans) for each in origin.words)
        assert origin.n_kept == sum(each.count * each.n_kept for each in origin.words)
        spelled = token
        if config.end_of_word and id in run.tokenizer.table.ending_word:
            spelled = token.removesuffix(config.end_of_word.encode())
        for each in origin.words:
            assert each.count == counts[each.word.decode()]
            assert {each.word[start:end] for start, end in each.spans} == {spelled}
        most = [each.count * len(each.spans) for each in origin.words]
        assert most == sorted(most, reverse=True)


@given(st.text("ab \n", min_size=1, max_size=60).filter(str.strip))
def test_lines_are_those_where_the_tokenizer_truncated_after_the_merge_finds_the_token(
    text: str,
) -> None:
    config = bpe.TrainingConfig(264, "whitespace", special_tokens=())
    corpus = bpe.Corpus.from_text(text)
    run = bpe.train(corpus, config)
    for merge in run.merges:
        # With no later merges to absorb it, the token is found wherever it was made.
        truncated = run.tokenizer.truncated(merge.rank + 1)
        expected = {(s.start, s.end) for s in truncated.segments(text) if s.id == merge.id}
        found = SourceLines.find(run, corpus, merge.id, n_lines=100)
        line_starts = [0]
        for line in text.split("\n"):
            line_starts.append(line_starts[-1] + len(line) + 1)
        spans = {
            (line_starts[line.line - 1] + start, line_starts[line.line - 1] + end)
            for line in found.lines
            for start, end in line.spans
        }
        assert spans == expected
        assert found.is_all
        for line in found.lines:
            assert line.text == text.split("\n")[line.line - 1]
