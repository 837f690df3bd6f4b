"""Weighted documents are counted as if each stood in the corpus that many times."""

from __future__ import annotations

import json
from copy import deepcopy
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

import bpe_core as bpe
from bpe_core.corpus import count_corpus
from bpe_core.errors import BpeError
from bpe_core.formats import dumps, loads
from bpe_core.types import TieBreak

LINES = st.text("ab c\n", min_size=1, max_size=12)
TWO = bpe.Corpus.from_documents(["ein Hut", "a hat"], ["de/news/a.csv row 3", "en.txt"])


@pytest.mark.parametrize("with_kernels", [False, True])
@given(
    texts=st.lists(st.tuples(LINES, st.integers(0, 2)), min_size=1, max_size=6),
    weights=st.lists(st.sampled_from([0.5, 1, 1.5, 3, Fraction(2, 3)]), min_size=3, max_size=3),
    tie_break=st.sampled_from(["smallest-pair", "first-seen"]),
)
def test_a_weight_is_a_number_of_copies(
    *,
    with_kernels: bool,
    texts: list[tuple[str, int]],
    weights: list[float | Fraction],
    tie_break: TieBreak,
) -> None:
    names = [f"part{folder}/{at}.txt" for at, (_, folder) in enumerate(texts)]
    corpus = bpe.Corpus.from_documents([text for text, _ in texts], names)
    used = {f"part{folder}": weights[folder] for _, folder in texts}
    weighted = corpus.weighted(used)
    exact = [Fraction(used[f"part{folder}"]) for _, folder in texts]
    copies = weighted.weights or (1,) * len(texts)
    assert [n / copies[0] for n in copies] == [float(weight / exact[0]) for weight in exact]
    # Copies after the first of all documents, so that words are first seen in the same order.
    documents = [*corpus.documents]
    for (text, _), n in zip(texts, copies, strict=True):
        documents += [text] * (n - 1)
    repeated = bpe.Corpus.from_documents(documents)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bpe_core.corpus.count.use_kernels", lambda n_bytes: with_kernels)
        cut = bpe.get_pretokenizer("gpt2")
        one, other = count_corpus(weighted, cut), count_corpus(repeated, cut)
    assert one.pretokens == other.pretokens
    assert one.n_bytes == other.n_bytes
    run = bpe.train(weighted, vocab_size=262, tie_break=tie_break)
    assert run.tokenizer == bpe.train(repeated, vocab_size=262, tie_break=tie_break).tokenizer
    assert (run.corpus_sha256 == corpus.sha256) == (not weighted.weights)


@given(
    texts=st.lists(LINES, min_size=2, max_size=6),
    weights=st.lists(st.integers(1, 4), min_size=2, max_size=2),
)
def test_weights_are_copies_in_parity_aware_training(texts: list[str], weights: list[int]) -> None:
    names = [f"part{2 * at // len(texts)}/{at}.txt" for at in range(len(texts))]
    weighted = bpe.Corpus.from_documents(texts, names).weighted(
        {"part0": weights[0], "part1": weights[1]}
    )
    copies = weighted.weights or (1,) * len(texts)
    # Copies after the first of all documents, so that words are first seen in the same order.
    places = [*range(len(texts))]
    places += [at for at, n in enumerate(copies) for _ in range(n - 1)]
    repeated = bpe.Corpus.from_documents(
        [texts[at] for at in places], [f"{names[at]} row {row}" for row, at in enumerate(places)]
    )
    figures = []
    for corpus in (weighted, repeated):
        run = bpe.train(corpus, vocab_size=261, special_tokens=(), parity=True)
        assert run.parity is not None
        history = run.parity
        learned = run.tokenizer.merges, history.picked.tolist(), history.lengths.tolist()
        sizes = history.plain, run.corpus_bytes, run.tokens_after.tolist()
        figures.append((learned, sizes, history.languages))
    assert figures[0] == figures[1]
    by_hand = bpe.train_parity(weighted.by_language(), run.config)
    assert by_hand.corpus_sha256 == weighted.sha256


def test_the_name_nearest_to_the_document_holds() -> None:
    for weights, expected in [
        ({"de": 2}, (2, 1)),
        ({"de": 2, "news": 3}, (3, 1)),
        ({"de": 2, "a": 4, "de/news/a.csv": 5}, (5, 1)),
        ({"de": 2, "de/news/a.csv row 3": 7, "en": 3}, (7, 3)),
        ({"de": 2, "en.txt": 2}, ()),
        ({"de": 2**53 + 1}, (2**53 + 1, 1)),
    ]:
        assert TWO.weighted(weights).weights == expected, weights


def test_weights_are_saved_and_held_out_text_has_none(tmp_path: Path) -> None:
    weighted = TWO.weighted({"de": 2})
    weighted.save(tmp_path)
    for again in (bpe.Corpus.open(tmp_path), deepcopy(weighted)):
        assert (again.weights, again.sha256) == (weighted.weights, weighted.sha256)
    lines = bpe.Corpus.from_documents(["a line of text\n" * 99] * 2, ["de/a", "en/a"])
    training, held_out = lines.weighted({"de": 2}).split(0.2)
    assert set(training.weights) == {1, 2}
    assert len(training.weights) == len(training.documents)
    assert not held_out.weights


@pytest.mark.parametrize(
    ("weights", "told"),
    [
        ({"es": 1}, "is called 'es', whose weight is given. It has a, a.csv, de"),
        ({"de": 0}, "The weight of 'de' is 0"),
        ({"de": float("nan")}, "is nan. Use a number above 0"),
        ({"de": float("inf")}, "is inf. Use a number above 0"),
        ({"de": "2"}, "got 'de' \\(str\\): '2'"),
        ([("de", 2)], "as a dict from names to numbers.* of type list"),
        ({"de": 10**400}, "too finely, for exact counts in 64 bits"),
        ({"de": 1e-300}, "too finely, for exact counts in 64 bits"),
    ],
)
def test_wrong_weights_are_refused(weights: Any, told: str) -> None:
    with pytest.raises(BpeError, match=told):
        TWO.weighted(weights)


@given(st.text("0123456789٣ a,.\n-", max_size=30))
def test_numbers_are_cut_from_the_right_and_tokenizers_cuts_alike(text: str) -> None:
    cut = bpe.get_pretokenizer("digits-from-right").split(text)
    assert "".join(cut) == text
    for number in "".join(c if c.isdecimal() else " " for c in text).split():
        first = len(number) % 3 or 3
        groups = [number[:first], *(number[at : at + 3] for at in range(first, len(number), 3))]
        assert ["x", *groups, "x"] == bpe.get_pretokenizer("digits-from-right").split(f"x{number}x")
    ids = [id for piece in cut for id in DIGITS.encode(piece)]
    assert DIGITS.encode(text) == ids == OPENED.encode(text).ids


DIGITS = bpe.train(
    ["1234567 12 1 1234 x123456 2024-01-02 1,234 " * 3],
    vocab_size=290,
    pretokenizer="digits-from-right",
).tokenizer
OPENED = Tokenizer.from_str(dumps(DIGITS, "huggingface")["tokenizer.json"].decode())


def test_long_numbers_are_cut_in_linear_time() -> None:
    text = f"x{'1234567' * 60_000}"  # a look-ahead from every part takes minutes
    ids = DIGITS.encode(text)
    assert ids == OPENED.encode(text).ids
    assert DIGITS.decode(ids) == text
    assert bpe.Corpus.from_text(text).count("digits-from-right").pretokens.counts.sum() == 140_001
    each = r"\p{N}{1,3}(?=(?:\p{N}{3})*(?!\p{N}))"
    written = dumps(DIGITS, "huggingface")["tokenizer.json"].decode()
    ours = json.dumps(rf"(?<=\p{{N}})\p{{N}}{{3}}|{each}")[1:-1]
    assert ours in written
    older = written.replace(ours, json.dumps(each)[1:-1])
    assert loads({"tokenizer.json": older.encode()}) == DIGITS


def test_counts_of_numbers_from_the_right_can_be_trained_on() -> None:
    counted = bpe.Corpus.from_text("1234567 1234").count("digits-from-right")
    run = bpe.train(counted, vocab_size=260, pretokenizer="digits-from-right")
    assert json.loads(json.dumps(run.to_dict()))["config"]["pretokenizer"] == "digits-from-right"
