"""Teach the fourth lesson: why tokenizers use bytes, cut their text, and backtrack."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

import streamlit as st

from bpe_core.corpus.samples import load_sample
from bpe_core.corpus.word_counts import parse_word_counts
from bpe_core.pretokenizers.pretokenizers import get_pretokenizer
from bpe_core.tokenizer.gpt2 import gpt2
from bpe_core.tokenizer.trie import Trie
from bpe_core.trainers.base_vocabulary import split_symbols
from bpe_core.trainers.reference import count_words
from bpe_core.types import TrainingConfig
from ui.components.symbol_rows import SymbolRow, Tile, Tiles, symbol_rows
from ui.lessons import parts, printing, sentences, tiles
from ui.lessons.parts import Lesson, LessonStep, Ran
from ui.lessons.shortcuts import build_trie, crossing, longest_matches
from ui.lessons.walk import Walk, walk
from ui.tokenizers.longest_match import longest_match_differences

N_MERGES = 14
FIRST_TEXT = "My dog. Your dog! Whose dog? The dog, the dog; a dog."
FIRST_WORDS = "un 4\nit 5\nuni 3"
FIRST_WORD = "unit"
_MAX_MERGES = 40
_MAX_ATTEMPTS = 24
_OUTCOMES = {
    "taken": "taken",
    "would merge": "refused: a merge would cross the boundary before it",
    "leads nowhere": "refused: no token can follow it",
    "given back": "removed: no token can follow it",
}


def read_input() -> None:
    """Draw nothing: each step of this lesson draws its own field."""


def in_bytes(_: None) -> Ran:
    st.markdown(
        "A vocabulary that starts from characters can encode only the characters seen in training. "
        "There are only 256 bytes, and every text consists of them, so nothing is ever unknown. A "
        "character beyond ASCII takes two to four bytes; merges make up for that if it is frequent."
    )
    text = parts.one_text("any_text", "Is this naïve café 日本 🧩?")
    seen = {character for document in load_sample("notebook").documents for character in document}
    characters = split_symbols(text.encode(), "characters")
    unknown = [place for place, one in enumerate(characters) if one.decode() not in seen]
    symbols = split_symbols(text.encode(), "bytes")
    symbol_rows(
        [
            SymbolRow(
                "characters",
                (
                    Tiles(
                        tuple(Tile(one) for one in characters),
                        tuple((place, place + 1) for place in unknown),
                        "differs",
                    ),
                ),
            ),
            SymbolRow("bytes", (Tiles(tuple(Tile(one) for one in symbols)),)),
        ],
        key="reasons_bytes",
        caption="The text as characters, with a ring around those without a token, and as bytes",
    )
    st.markdown(sentences.without_token(len(unknown), len(characters), len(symbols)))
    return Ran(
        (split_symbols,),
        f"split_symbols({text!r}.encode(), 'bytes')",
        printing.printed(symbols),
    )


def cuts(_: None) -> Ran:
    st.markdown(
        "Without cuts, merges may cross words: there is a token for `dog.`, another for `dog!`, "
        "and so on, although `dog` would do. A line is then one long word, which must be recounted "
        "for each merge. In a cut text, each distinct word is counted once."
    )
    picture = st.container()
    parts.text_input("cut_text", FIRST_TEXT, label="A text. Edit it.", lines=2)
    documents = parts.split_documents(parts.own_text("cut_text", FIRST_TEXT))
    whole, cut = (
        walk(
            count_words(documents, get_pretokenizer(name).split),
            TrainingConfig(256 + N_MERGES, pretokenizer=name, special_tokens=()),
        )
        for name in ("none", "gpt2")
    )
    over = crossing(whole, get_pretokenizer("gpt2").split)
    with picture:
        symbol_rows(
            [
                SymbolRow(f"{place + 1}", (_token(whole, place, over), _token(cut, place, ())))
                for place, _ in enumerate(zip_longest(whole.merges, cut.merges))
            ],
            key="reasons_cuts",
            caption="The tokens learned without cuts, ringed if they cross a boundary, and with "
            "GPT-2’s cuts",
            columns=("Without cuts", "With GPT-2’s cuts"),
        )
        if whole.merges:
            st.markdown(sentences.over_boundaries(over, cut))
        else:
            parts.no_pair()
    return Ran(
        (count_words,),
        "count_words(documents, get_pretokenizer('gpt2').split)",
        printing.printed(dict(zip(cut.words, cut.counts, strict=True))),
    )


def _token(learned: Walk, place: int, over: Sequence[bool]) -> Tiles:
    if place >= len(learned.merges):
        return Tiles(())
    merge = learned.merges[place]
    return Tiles(
        (tiles.tile(merge.id, learned),),
        ((0, 1),) if any(over[place : place + 1]) else (),
        "differs",
    )


def longest(_: None) -> Ran:
    st.markdown(
        "A trie finds the longest token at a position at once. It is tempting to take it, and then "
        "the next. But merges are applied in the order in which they were learned, and this may "
        "produce other tokens."
    )
    learned, word, symbols = _own_training()
    trie = build_trie(learned)
    by_merges, greedy = learned.encode(symbols), longest_matches(trie, symbols)
    symbol_rows(
        [
            SymbolRow("by the merges", (tiles.tiles(by_merges, learned),)),
            SymbolRow("longest match", (_ringed(greedy, by_merges, learned),)),
        ],
        key="reasons_longest",
        caption="The word as cut by the merges, and by longest match",
    )
    if greedy == by_merges:
        st.markdown(f":gray[Both agree on {parts.safe(word)}. Try another word.]")
    overwrites = longest_match_differences(" overwrites", gpt2().fingerprint, gpt2()).words[0]
    names = [
        " + ".join(printing.format_token(gpt2().vocab[id]) for id in ids)
        for ids in (overwrites.ids, overwrites.longest_match_ids)
    ]
    parts.check_claim(
        "reasons_longest",
        source="A teaching module says",
        stated="Tries for inference.",
        found=f"A trie alone is not BPE. GPT-2’s merges make {names[0]}, longest match {names[1]}.",
        how="“ overwrites” with GPT-2’s 50,257 tokens",
    )
    return Ran(
        (longest_matches, Trie.longest_match),
        f"longest_matches(trie, {symbols})",
        printing.printed(greedy),
        printing.legend(greedy, learned.run.vocab),
    )


def step_back(_: None) -> Ran:
    st.markdown(
        "To be exact, take the longest token, but check for each pair of neighbours whether a "
        "merge would have crossed the boundary between them. If so, try a shorter token; if none "
        "is left, step back. Only neighbours need checking, so this is fast."
    )
    learned, _word, symbols = _own_training()
    trie = build_trie(learned)
    attempts = _attempt_rows(trie, symbols, learned)
    symbol_rows(
        attempts[:_MAX_ATTEMPTS],
        key="reasons_step_back",
        caption="Each token tried, and the outcome",
    )
    parts.note_shortened(_MAX_ATTEMPTS, len(attempts), "tries")
    ids = trie.encode(symbols)
    if ids == learned.encode(symbols):
        st.badge("✓ equal to the merges’ tokens", color="green")
    parts.check_claim(
        "reasons_speed",
        source="A teaching module says",
        stated="Trie = 5–10x faster encoding.",
        found="Its two loops time the same encoder. The Lab times real ones on this machine.",
        how='encoder.encode("the quick brown fox") is in both loops',
    )
    st.page_link("pages/lab.py", label="Measure them in the Lab")
    return Ran(
        (Trie.attempts, Trie.stay_apart),
        f"trie.encode({symbols})",
        printing.printed(ids),
        printing.legend(ids, learned.run.vocab),
    )


def _own_training() -> tuple[Walk, str, list[int]]:
    """Draw the fields for the words and the word to encode; return the training and the word."""
    picture = st.container()
    parts.text_input("few_words", FIRST_WORDS, label="Words and their counts. Edit them.", lines=3)
    counts = parse_word_counts(parts.own_text("few_words", FIRST_WORDS))
    n_start = len({character for word in counts for character in word})
    learned = walk(
        counts, TrainingConfig(n_start + _MAX_MERGES, base="characters", special_tokens=())
    )
    with picture:
        word = parts.one_word("few_word", FIRST_WORD)
        symbols = learned.base_symbols(word)
        if symbols is None:
            st.info(
                f"{parts.safe(word)} contains a character that is in none of the words, so "
                f"{parts.safe(learned.words[0])} is encoded instead."
            )
            return learned, learned.words[0], list(learned.starts[0])
        return learned, word, symbols


def _ringed(ids: list[int], others: list[int], learned: Walk) -> Tiles:
    """Return a word's tiles, with a ring around them if the other encoding differs."""
    drawn = tuple(tiles.tile(id, learned) for id in ids)
    return Tiles(drawn, ((0, len(ids)),) if ids != others else (), "differs")


def _attempt_rows(trie: Trie, symbols: list[int], learned: Walk) -> list[SymbolRow]:
    rows: list[SymbolRow] = []
    taken: list[int] = []
    for number, attempt in enumerate(trie.attempts(symbols), 1):
        if attempt.outcome == "given back":
            taken.pop()
        shown = (*taken, attempt.id)
        place = len(taken)
        cell = Tiles(
            tuple(tiles.tile(id, learned) for id in shown),
            ((place, place + 1),),
            "chosen" if attempt.outcome == "taken" else "differs",
        )
        rows.append(SymbolRow(f"{number}", (cell,), _OUTCOMES[attempt.outcome]))
        if attempt.outcome == "taken":
            taken.append(attempt.id)
    return rows


LESSON = Lesson(
    "Why this way",
    "Three choices that make a tokenizer exact and fast, and what happens without them.",
    read_input,
    (
        LessonStep("Bytes", "Why bytes", in_bytes),
        LessonStep("Cuts", "Why the text is cut first", cuts),
        LessonStep("Longest match", "Why longest match is not enough", longest),
        LessonStep("Step back", "How to use a trie exactly", step_back),
    ),
)
