"""Figures of three teaching examples, recomputed by hand and by independent programs.

Sources: the four-document notebook (characters and `</w>`), the GPT-2 pre-tokenization notebook
(vocabulary of 50, both tie rules; the second is what Hugging Face's trainer 0.23.3 learns), and
the hug example (weighted words). Each is checked on the reference and on the trainer in use.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

import bpe_core as bpe
from bpe_core.corpus import count_pretokens, seen_symbols
from bpe_core.trainers import train_reference
from bpe_core.types import Pair, TieBreak

FOUR_DOCUMENTS = (
    "This is the first document.",
    "This document is the second document.",
    "And this is the third one.",
    "Is this the first document?",
)
FOUR_DOCUMENTS_CONFIG = bpe.TrainingConfig(
    35,
    pretokenizer="whitespace",
    base="characters",
    alphabet="seen",
    end_of_word="</w>",
    special_tokens=(),
    tie_break="first-seen",
)
GPT2_SENTENCES = (
    "This is the Hugging Face Course.",
    "This chapter is about tokenization.",
    "This section shows several tokenizer algorithms.",
    "Hopefully, you will be able to understand how they are trained and generate tokens.",
)
HUG_WORDS = {"hug": 10, "ugg": 5, "ggi": 3, "gin": 3, "ing": 3}


@dataclass(frozen=True)
class Result:
    """The result of any trainer, with tokens as text."""

    alphabet: list[str]
    merges: list[str]
    counts: list[int | None]
    splits: list[str]
    vocab_size: int


ResultOf = Callable[[bpe.Corpus, bpe.TrainingConfig], Result]


def reference_result(corpus: bpe.Corpus, config: bpe.TrainingConfig) -> Result:
    pretokens = count_pretokens(corpus, bpe.get_pretokenizer(config.pretokenizer))
    run = train_reference(pretokens, config, seen_symbols(corpus, config.base))
    return Result(
        [symbol.decode() for symbol in run.base_ids],
        [f"{_text(run.vocab[m.left])}·{_text(run.vocab[m.right])}" for m in run.merges],
        [merge.count for merge in run.merges],
        ["·".join(_text(run.vocab[id]) for id in split) for split in run.splits],
        len(run.vocab),
    )


def trained_result(corpus: bpe.Corpus, config: bpe.TrainingConfig) -> Result:
    run = bpe.train(corpus, config)
    vocab = run.tokenizer.vocab
    layout = run.layout_at(len(run.merges))
    words: list[list[str]] = [[]]
    for id in layout.ids.tolist()[1:]:
        if id < 0:
            words.append([])
        else:
            words[-1].append(_text(vocab[id]))
    return Result(
        [symbol.decode() for symbol in run.tokenizer.base_ids],
        [f"{_text(vocab[m.left])}·{_text(vocab[m.right])}" for m in run.merges],
        [merge.count for merge in run.merges],
        ["·".join(word) for word in words[:-1]],
        run.tokenizer.vocab_size,
    )


def _text(token: bytes) -> str:
    return token.decode().replace(" ", "Ġ")


def spelled_counts(run: bpe.TrainingRun, step: int) -> dict[str, int]:
    return {_spelled(run, pair): count for pair, count in run.pair_counts(step).items()}


def _spelled(run: bpe.TrainingRun, pair: Pair) -> str:
    return "·".join(_text(run.tokenizer.vocab[id]) for id in pair)


trainers = pytest.mark.parametrize("result_of", [reference_result, trained_result])


@trainers
def test_the_four_document_notebook_is_reproduced(result_of: ResultOf) -> None:
    result = result_of(bpe.Corpus.from_documents(FOUR_DOCUMENTS), FOUR_DOCUMENTS_CONFIG)
    assert result.alphabet == list(" .?AITcdefhimnorstu")
    assert " ".join(result.merges) == (
        "s·</w> i·s</w> t·h th·e the·</w> d·o do·c doc·u docu·m docum·e docume·n documen·t "
        "i·r .·</w> d·</w>"
    )
    assert result.counts == [8, 7, 7, 4, 4, 4, 4, 4, 4, 4, 4, 4, 3, 3, 3]
    assert result.vocab_size == 35
    assert " ".join(result.splits) == (
        "T·h·is</w> is</w> the</w> f·ir·s·t·</w> document·.</w> document·</w> s·e·c·o·n·d</w> "
        "A·n·d</w> th·is</w> th·ir·d</w> o·n·e·.</w> I·s</w> document·?·</w>"
    )


def test_the_first_step_of_the_four_document_notebook_lists_its_pairs_in_order() -> None:
    run = bpe.train(bpe.Corpus.from_documents(FOUR_DOCUMENTS), FOUR_DOCUMENTS_CONFIG)
    top = [(_spelled(run, (left, right)), n) for left, right, n in run.top_pairs(0, 5)]
    assert top == [("s·</w>", 8), ("i·s", 7), ("t·h", 7), ("h·i", 5), ("h·e", 4)]
    assert run.tokenizer.vocab_size - len(run.merges) == 20


@trainers
@pytest.mark.parametrize(
    ("tie_break", "merges"),
    [
        (
            "first-seen",
            "Ġ·t i·s e·r Ġ·a Ġt·o e·n T·h Th·is o·u s·e Ġto·k Ġtok·en n·d Ġ·is Ġt·h Ġth·e "
            "i·n Ġa·b Ġtoken·i",
        ),
        (
            "smallest-pair",
            "Ġ·t e·r i·s Ġ·a e·n Ġt·o T·h k·en n·d o·u s·e Ġto·ken Th·is a·t h·e h·o i·n i·o i·z",
        ),
    ],
)
def test_the_pretokenization_notebook_is_learned_under_both_tie_rules(
    result_of: ResultOf, tie_break: TieBreak, merges: str
) -> None:
    config = bpe.TrainingConfig(50, alphabet="seen", tie_break=tie_break)
    result = result_of(bpe.Corpus.from_documents(GPT2_SENTENCES), config)
    assert result.alphabet == list(",.CFHTabcdefghiklmnoprstuvwyz ")
    assert " ".join(result.merges) == merges
    assert result.vocab_size == 50


def test_the_special_token_of_the_pretokenization_notebook_comes_first() -> None:
    config = bpe.TrainingConfig(50, alphabet="seen")
    tokenizer = bpe.train(bpe.Corpus.from_documents(GPT2_SENTENCES), config).tokenizer
    assert dict(tokenizer.special_tokens) == {"<|endoftext|>": 0}
    assert tokenizer.base_ids[b" "] == 30


def test_the_pairs_of_the_hug_words_have_the_published_counts() -> None:
    config = bpe.TrainingConfig(9, base="characters", end_of_word="</w>", special_tokens=())
    run = bpe.train(bpe.Corpus.from_word_counts(HUG_WORDS), config)
    assert spelled_counts(run, 0) == {
        "g·</w>": 18,
        "u·g": 15,
        "h·u": 10,
        "g·g": 8,
        "g·i": 6,
        "i·n": 6,
        "i·</w>": 3,
        "n·</w>": 3,
        "n·g": 3,
    }


@pytest.mark.parametrize(("marker", "pair", "count"), [("</w>", "g·</w>", 18), (None, "u·g", 15)])
def test_the_first_merge_of_the_hug_words_is_not_hu(
    marker: str | None, pair: str, count: int
) -> None:
    config = bpe.TrainingConfig(9, base="characters", end_of_word=marker, special_tokens=())
    run = bpe.train(bpe.Corpus.from_word_counts(HUG_WORDS), config)
    assert (_spelled(run, run.merges[0].pair), run.merges[0].count) == (pair, count)
