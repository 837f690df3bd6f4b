"""Splitting any corpus loses and repeats nothing."""

from __future__ import annotations

import re
from collections import Counter

from hypothesis import example, given
from hypothesis import strategies as st

from bpe_core.corpus.borders import border_near
from bpe_core.corpus.corpus import Corpus

LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|$)")
lines = st.text("ab é漢。,\n\r\u0301", max_size=40)
long_texts = st.builds(
    lambda parts, times: "".join(part * times for part in parts),
    st.lists(lines, max_size=8),
    st.integers(1, 60),
)
corpora = st.lists(long_texts, min_size=1, max_size=12).filter(any).map(Corpus.from_documents)
shares_held_out = st.sampled_from([0.0, 0.01, 0.08, 0.3, 0.5, 0.95])


def line_counts(documents: tuple[str, ...]) -> Counter[str]:
    """Count lines, including their line endings."""
    return Counter(line for text in documents for line in LINE.findall(text) if line)


@given(corpora, shares_held_out, st.integers(0, 2))
def test_the_parts_add_up_to_the_corpus(corpus: Corpus, share: float, seed: int) -> None:
    training, held_out = corpus.split(share, seed)
    assert training.n_bytes > 0
    assert training.n_bytes + held_out.n_bytes == corpus.n_bytes
    pieces = [
        (name, start, text)
        for side in (training, held_out)
        for name, (start, _), text in zip(side.names, side.places, side.documents, strict=True)
    ]
    for name, source in zip(corpus.names, corpus.documents, strict=True):
        found = sorted((start, text) for of, start, text in pieces if of == name)
        assert "".join(text for _, text in found) == source
        assert all(source.startswith(text, start) for start, text in found)


@given(corpora, shares_held_out, st.integers(0, 2))
def test_no_line_that_occurs_once_is_in_both_parts(corpus: Corpus, share: float, seed: int) -> None:
    training, held_out = corpus.split(share, seed)
    whole = line_counts(corpus.documents)
    for line in line_counts(training.documents).keys() & line_counts(held_out.documents).keys():
        # A piece of a cut line may equal another whole line.
        assert whole[line] != 1 or any(line in other and line != other for other in whole)


@given(st.dictionaries(st.text("abéд", min_size=1, max_size=5), st.integers(1, 500), min_size=1))
def test_the_parts_of_weighted_words_add_up_to_the_corpus(words: dict[str, int]) -> None:
    training, held_out = Corpus.from_word_counts(words).split(0.1)
    assert Counter(training.word_counts) + Counter(held_out.word_counts) == words
    assert training.word_counts
    assert all(count > 0 for count in (held_out.word_counts or {}).values())


@given(long_texts, st.integers(-5, 500), st.integers(0, 50))
@example("one\ntwo", 5, 1)
def test_a_border_is_the_nearest_line_ending_or_between_words(
    text: str, near: int, reach: int
) -> None:
    border = border_near(text, near, reach)
    place = min(max(near, 0), len(text))
    ends = {0, len(text)} | {
        n for n in range(1, len(text)) if text[n - 1] in "\r\n" and text[n - 1 : n + 1] != "\r\n"
    }
    close = [end for end in ends if abs(end - place) <= reach]
    if close:
        assert border is not None
        assert border in ends
        assert abs(border - place) == min(abs(end - place) for end in close)
    elif border is not None and border not in ends:  # an end after CR LF may be one further
        assert place <= border <= place + reach + 1
        assert text[border].isspace() or text[border - 1] in "。,"
