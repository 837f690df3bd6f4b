"""What callers pass as texts: lists, columns of tables, and what is taken for one by mistake."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import bpe_core as bpe
from bpe_core.adapting import replace

TEXTS = ["hug hugs", "a hug"]
FRAME = pd.DataFrame({"text": TEXTS, "label": [0, 1]})
CONFIG = bpe.TrainingConfig(260, special_tokens=())
RUN = bpe.train(bpe.Corpus.from_documents(TEXTS), CONFIG)

TAKERS: Mapping[str, Callable[[Any], object]] = {
    "train": lambda given: bpe.train(given, CONFIG).merges,
    "compare": lambda given: bpe.compare(given, [RUN.tokenizer]).rows,
    "extend": lambda given: bpe.extend(RUN.tokenizer, given, 1).merges,
    "shrink": lambda given: bpe.shrink(RUN.tokenizer, given, 258).tokenizer,
    "replace": lambda given: replace(RUN.tokenizer, given, 1).tokenizer,
    "sample_check": lambda given: bpe.sample_check(given, CONFIG, n_halvings=1),
    "count_words": lambda given: bpe.count_words(given).pretokens.words,
    "tokens_after_on": lambda given: RUN.tokens_after_on(given).tolist(),
}


@pytest.mark.parametrize(
    ("taker", "table"),
    [
        *((taker, FRAME) for taker in [*TAKERS, "from_documents"]),
        ("train", pa.table({"text": TEXTS})),
        ("train", {"text": TEXTS}),
        ("train", FRAME.to_dict("series")),
    ],
)
def test_a_table_is_refused_and_its_column_asked_for(taker: str, table: object) -> None:
    column = r"pass its column of text, such as table\['text'\]"
    with pytest.raises(bpe.ArgumentTypeError, match=column):
        TAKERS.get(taker, bpe.Corpus.from_documents)(table)


@pytest.mark.parametrize(
    ("taker", "to_column"),
    [*((taker, pd.Series) for taker in TAKERS), ("train", tuple), ("train", np.array)],
)
def test_a_column_of_texts_is_a_corpus(taker: str, to_column: Callable[[list[str]], Any]) -> None:
    # Some of the texts are held out, and copies of a text would be held out together.
    texts = [f"{text} {n}" for n in range(400) for text in TEXTS]
    texts = texts if taker == "sample_check" else TEXTS
    assert TAKERS[taker](to_column(texts)) == TAKERS[taker](bpe.Corpus.from_documents(texts))


def test_texts_may_come_one_by_one() -> None:
    for name in ("train", "replace", "compare"):
        assert TAKERS[name](text for text in TEXTS) == TAKERS[name](TEXTS)


@pytest.mark.parametrize(
    ("given", "remedy"),
    [
        (["hug", None], "Leave missing values out"),
        (pd.Series(["hug", float("nan")]), "Leave missing values out"),
        (pd.Series(["hug", pd.NA]), "Leave missing values out"),
        (pa.array(TEXTS), "Call to_pylist"),
        ([Path("a.txt")], "Call read_corpus"),
        (Path("a.txt"), "call read_corpus"),
        ([FRAME], r"Pass its column of text"),
        ([["hug"]], "one str for each document"),
        ([b"hug"], "Decode bytes"),
        ("hug", "call from_text"),
    ],
)
def test_what_is_not_a_text_is_refused_with_the_remedy(given: Any, remedy: str) -> None:
    with pytest.raises(bpe.BpeError, match=remedy):
        bpe.Corpus.from_documents(given)


def test_a_table_is_not_a_text() -> None:
    with pytest.raises(bpe.BpeError, match="Pass its column of text"):
        bpe.Corpus.from_text(FRAME)  # type: ignore[arg-type]
    with pytest.raises(bpe.ArgumentTypeError, match="pass one of its columns"):
        bpe.read_corpus(FRAME)  # type: ignore[arg-type]
