"""Print what bpe_core makes of the start page's story, for its tests in Node."""

from __future__ import annotations

import json
import random
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Literal

import numpy as np

import bpe_core as bpe
from bpe_core.corpus import parallel_texts, samples
from bpe_core.trainers import apply_merge
from tests.js.from_python import CONTROLS, LONG, MARKUP, SCRIPTS
from tests.js.from_site import BETWEEN, PIECES
from ui.components import story_data

CUTS = ("none", "gpt2", "o200k")
MOST = 10
MAX_IN_LIST = 14
WOODCHUCK = "how much wood would a woodchuck chuck if a woodchuck could chuck wood"
VISITORS = (
    WOODCHUCK,
    "यह किताब मेरी है, और वह किताब मेरे भाई की है",
    "ที่นี่มีที่จอดรถที่ดีที่สุด",
    "بِسْمِ اللَّهِ الرَّحْمَٰنِ، بِسْمِ اللَّهِ",
    "日本語日本語の日本，日本語！",
    "👩\u200d👩\u200d👧 👩\u200d👩\u200d👧 🧩🧩 hugs, hugs, hugs",
)
WORDS = (
    "woodchucks",
    "hugs",
    "chuckle",
    "मेरी",
    "किताबें",
    "ที่จอด",
    "الرحيم",
    "日本語の",
    "👩\u200d👩\u200d👧!",
    "x",
)
LEARNED_FROM = (
    *VISITORS,
    *(each["text"] for each in story_data()["languages"]),
    "Grace Hopper Grace Hopper",
    "aaa aaaa aaaaaaa",
    SCRIPTS,
    "ab" * 40,
)
N_RANDOM = 2_000


def cut_texts() -> Iterator[str]:
    """Yield texts of every kind, and thousands drawn at random."""
    yield from (CONTROLS, SCRIPTS, MARKUP, LONG, "", " " * 40, "a" * 300, "I'Ll'dſ 'ſ'S It'RE'm")
    for language in parallel_texts():
        yield from language.sentences
    drawn = random.Random(11)
    for _ in range(N_RANDOM):
        kinds = (PIECES, BETWEEN)
        yield "".join(drawn.choice(drawn.choice(kinds)) for _ in range(drawn.randrange(1, 24)))


def cut(text: str) -> list[Any]:
    """Return a text, and its pieces under each cut."""
    return [text, *(bpe.get_pretokenizer(name).split(text) for name in CUTS)]


def learned(
    text: str,
    unseen: str = "",
    *,
    cut: str = "gpt2",
    base: Literal["bytes", "characters"] = "bytes",
    most: int | None = None,
    min_frequency: int = 0,
) -> dict[str, Any]:
    """Return what bpe_core learns from a text, and the tokens at each step, also of unseen text."""
    corpus = bpe.Corpus.from_text(text)
    n_base = 256 if base == "bytes" else len(set(text))
    config = bpe.TrainingConfig(
        10**6 if most is None else n_base + most,
        pretokenizer=cut,
        base=base,
        special_tokens=(),
        min_frequency=min_frequency,
        tie_break="smallest-pair",
    )
    run = bpe.train(corpus, config)
    steps = range(0, len(run.merges) + 1, max(1, len(run.merges) // 20))
    return {
        "text": text,
        "unseen": unseen,
        "cut": cut,
        "base": base,
        "most": most,
        "min": min_frequency,
        "merges": [[merge.left, merge.right, merge.id, merge.count] for merge in run.merges],
        "tokens_after": run.tokens_after.tolist(),
        "ends": [[step, *(ends(run, step, each) for each in (text, unseen))] for step in steps],
    }


def ends(run: bpe.TrainingRun, step: int, text: str) -> list[int]:
    """Return where the tokens of a text end after some merges, in bytes."""
    lengths = [len(run.tokenizer.vocab[id]) for id in run.tokenizer.truncated(step).encode(text)]
    return np.cumsum(lengths, dtype=int).tolist()


def seams(text: str, cut: str) -> dict[str, list[int]]:
    """Return each pair of characters that is parted twice and is no space, and how often.

    The second number is how often the pair stands in the text.
    """
    pieces = bpe.get_pretokenizer(cut).split(text)
    parted = Counter(
        one[-1] + other[0]
        for one, other in pairwise(pieces)
        if not one[-1].isspace() and not other[0].isspace()
    )
    pairs = Counter(map("".join, pairwise(text)))
    return {pair: [n, pairs[pair]] for pair, n in parted.items() if n > 1}


def replayed(sentence: str, word: str) -> dict[str, Any]:
    """Return the first merges of a sentence as they fire on a word inside a sentence.

    It is cut as GPT-2 does, or as GPT-4o does if that gives fewer than three merges.
    """
    found = ((cut, learn_list(sentence, cut)) for cut in CUTS[1:])
    cut, run = next(((cut, run) for cut, run in found if len(run.merges) > 2), (None, None))
    if cut is None or run is None:
        return {"sentence": sentence, "word": word}
    ids = {token.decode(): id for id, token in run.tokenizer.vocab.items()}
    names = {id: token for token, id in ids.items()}
    unknown = {character: -1 - i for i, character in enumerate(f" {word}") if character not in ids}
    names |= {id: character for character, id in unknown.items()}
    pieces = bpe.get_pretokenizer(cut).split(f" {word}")
    symbols = [[(ids | unknown)[each] for each in piece] for piece in pieces]
    fired: list[int] = []
    merges = run.merges[:MAX_IN_LIST]
    for merge in merges:
        joined = [apply_merge(piece, merge.pair, merge.id) for piece in symbols]
        if joined != symbols:
            fired.append(merge.rank + 1)
        symbols = joined
    return {
        "sentence": sentence,
        "word": word,
        "cut": cut,
        "n_merges": len(merges),
        "fired": fired,
        "tokens": [names[id] for piece in symbols for id in piece],
    }


def learn_list(sentence: str, cut: str) -> bpe.TrainingRun:
    """Return all that a sentence teaches a small tokenizer of characters."""
    config = bpe.TrainingConfig(
        10**6,
        pretokenizer=cut,
        base="characters",
        special_tokens=(),
        min_frequency=2,
        tie_break="smallest-pair",
    )
    return bpe.train(bpe.Corpus.from_text(sentence), config)


def story() -> dict[str, Any]:
    """Return all that the story's computing is checked against."""
    return {
        "data": story_data(),
        "samples": [sample.id for sample in samples()],
        "visitors": VISITORS,
        "seams": [[text, cut, seams(text, cut)] for text in LEARNED_FROM for cut in CUTS],
        "replayed": [replayed(text, word) for text in VISITORS for word in WORDS],
        "cuts": [cut(text) for text in cut_texts()],
        "learned": [
            *(learned(text) for text in LEARNED_FROM),
            learned(LONG[:1200], LONG[1200:1500]),
            learned(story_data()["seen"], story_data()["unseen"]),
            *(
                learned(text, cut=name, base="characters", most=MOST, min_frequency=2)
                for text in LEARNED_FROM
                for name in CUTS
            ),
        ],
    }


if __name__ == "__main__":
    json.dump(story(), sys.stdout)
