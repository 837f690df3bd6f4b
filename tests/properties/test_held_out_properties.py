"""Splitting any corpus repeats nothing, and loses only the margins around stretches."""

from __future__ import annotations

from collections import Counter

from hypothesis import example, given
from hypothesis import strategies as st

from bpe_core.corpus import Corpus
from bpe_core.corpus.composition import border_near

lines = st.text("ab é漢。,\n\r\u0301", max_size=40)
long_texts = st.builds(
    lambda parts, times: "".join(part * times for part in parts),
    st.lists(lines, max_size=8),
    st.integers(1, 60),
)
corpora = st.lists(long_texts, min_size=1, max_size=12).filter(any).map(Corpus.from_documents)
shares_held_out = st.sampled_from([0.0, 0.01, 0.08, 0.3, 0.5, 0.95])


@given(corpora, shares_held_out, st.integers(0, 2), st.sampled_from(["document", "stretch"]))
def test_the_parts_are_of_the_corpus_and_do_not_overlap(
    corpus: Corpus, share: float, seed: int, by: str
) -> None:
    training, held_out = corpus.split(share, seed, by)
    assert training.n_bytes > 0
    for name, source in zip(corpus.names, corpus.documents, strict=True):
        end = lost = 0
        pieces = sorted(
            (start, text)
            for side in (training, held_out)
            for of, (start, _), text in zip(side.names, side.places, side.documents, strict=True)
            if of == name
        )
        for start, text in pieces:
            assert start >= end
            assert source.startswith(text, start)
            lost += start - end
            end = start + len(text)
        held = sum(
            len(text)
            for of, text in zip(held_out.names, held_out.documents, strict=True)
            if of == name
        )
        # A margin is at most half a stretch and a line or word more.
        assert lost + len(source) - end <= held + 2 * 2_000
        if held in (0, len(source)):
            assert lost + len(source) - end == 0


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
