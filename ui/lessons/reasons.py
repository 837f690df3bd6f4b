"""Teach the fourth lesson: why tokenizers use bytes, cut their text, and backtrack."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

import streamlit as st

from bpe_core.corpus import load_sample, parse_word_counts
from bpe_core.lab import Differences
from bpe_core.pretokenizers import get_pretokenizer
from bpe_core.tokenizer import Trie, gpt2
from bpe_core.trainers import count_words, split_symbols
from bpe_core.types import TrainingConfig
from ui.components import Claim, Question, SymbolRow, Tile, Tiles, draw_symbol_rows
from ui.lessons import parts, showing
from ui.lessons.parts import Lesson, LessonSource, LessonStep, Ran, choose_number, pair_option
from ui.lessons.walk import Walk, build_trie, crossing, longest_matches, walk
from ui.look import counted, plain_markdown

N_MERGES = 14
_ANY = ("any_text", "Is this naïve café 日本 🧩?")
_TEXT = ("cut_text", "My dog. Your dog! Whose dog? The dog, the dog; a dog.")
_WORDS = ("few_words", "un 4\nit 5\nuni 3")
_WORD = ("few_word", "unit")
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


def ask_bytes(_: None) -> Question:
    parts.draw_field(*_ANY)
    text = parts.field_text(*_ANY)
    unknown = _unknown(text)
    known = " ".join(sorted(_known() - {" "}, key=lambda one: (not one.isalpha(), one)))
    return choose_number(
        f"A vocabulary has tokens for the space and for these characters alone: {known} How many "
        "characters of this text are unknown to it?",
        len(unknown),
        (0, len(text), len(unknown) + 2),
        f"{showing.without_token(len(unknown), len(text), len(text.encode()))} There are only "
        "256 bytes, and every text consists of them, so nothing is ever unknown. A character "
        "beyond ASCII takes two to four bytes; merges make up for that if it is frequent.",
    )


def _known() -> set[str]:
    """Return the characters of the notebook's four documents."""
    return {character for document in load_sample("notebook").documents for character in document}


def _unknown(text: str) -> list[int]:
    """Return the places of the characters that the vocabulary lacks."""
    known = _known()
    return [place for place, character in enumerate(text) if character not in known]


def show_bytes(_: None) -> Ran:
    text = parts.field_text(*_ANY)
    characters = split_symbols(text.encode(), "characters")
    symbols = split_symbols(text.encode(), "bytes")
    draw_symbol_rows(
        [
            SymbolRow(
                "characters",
                (
                    Tiles(
                        tuple(Tile(one) for one in characters),
                        tuple((place, place + 1) for place in _unknown(text)),
                        "differs",
                    ),
                ),
            ),
            SymbolRow("bytes", (Tiles(tuple(Tile(one) for one in symbols)),)),
        ],
        key="reasons_bytes",
        caption="The text as characters, with a ring around those without a token, and as bytes",
    )
    return Ran(
        (split_symbols,),
        f"split_symbols({text!r}.encode(), 'bytes')",
        parts.printed(symbols),
    )


def _trained_on_text() -> tuple[Walk, Walk]:
    """Return the trainings on the text without cuts, and with GPT-2's."""
    documents = parts.split_documents(parts.own_text(*_TEXT))
    whole, cut = (
        walk(
            count_words(documents, get_pretokenizer(name).split),
            TrainingConfig(256 + N_MERGES, pretokenizer=name, special_tokens=()),
        )
        for name in ("none", "gpt2")
    )
    return whole, cut


def ask_cuts(_: None) -> Question | None:
    st.markdown(plain_markdown(parts.own_text(*_TEXT), 200))
    parts.text_input(*_TEXT, label="Change the text", lines=2)
    whole, cut = _trained_on_text()
    if not whole.merges:
        return None
    over = crossing(whole, get_pretokenizer("gpt2").split)
    n = len(whole.merges)
    return choose_number(
        "GPT-2 cuts a text into words, each with the space before it, and other signs. This text "
        f"is not cut. Of the first {counted(n, 'token')} learned, how many cross a place where "
        "GPT-2 cuts?",
        sum(over),
        (0, 1, n),
        f"{showing.over_boundaries(over, whole, cut)} Each distinct piece is counted once.",
    )


def show_cuts(_: None) -> Ran:
    whole, cut = _trained_on_text()
    over = crossing(whole, get_pretokenizer("gpt2").split)
    if not whole.merges:
        return parts.no_pair()
    draw_symbol_rows(
        [
            SymbolRow(f"{place + 1}", (_token(whole, place, over), _token(cut, place, ())))
            for place, _ in enumerate(zip_longest(whole.merges, cut.merges))
        ],
        key="reasons_cuts",
        caption="The tokens learned without cuts, ringed if they cross a place where "
        "GPT-2 cuts, and with its cuts",
        columns=("Without cuts", "With GPT-2’s cuts"),
    )
    return Ran(
        (count_words,),
        "count_words(documents, get_pretokenizer('gpt2').split)",
        parts.printed(dict(zip(cut.words, cut.counts, strict=True))),
    )


def _token(learned: Walk, place: int, over: Sequence[bool]) -> Tiles:
    if place >= len(learned.merges):
        return Tiles(())
    merge = learned.merges[place]
    return Tiles(
        (showing.tile(merge.id, learned),),
        ((0, 1),) if any(over[place : place + 1]) else (),
        "differs",
    )


def ask_longest(_: None) -> Question:
    learned, word, symbols = _own_training(draws=True)
    cuts = [learned.encode(symbols), longest_matches(build_trie(learned), symbols), symbols]
    options = sorted({tuple(ids) for ids in cuts}, key=len)
    made = ", ".join(parts.format_token(learned.run.vocab[m.id]) for m in learned.merges[:6])
    agree = " Both agree here. Try another word." if cuts[0] == cuts[1] else ""
    return Question(
        f"The tokens {made} are learned, in this order. Which encoding of {word} do the merges "
        "make?",
        tuple(pair_option(ids, learned) for ids in options),
        (options.index(tuple(cuts[0])),),
        "The merges are applied in their order. Taking the longest token at each position, which "
        f"a trie finds in one walk, may give other tokens.{agree}",
    )


def show_longest(_: None) -> Ran:
    learned, _word, symbols = _own_training()
    trie = build_trie(learned)
    by_merges, greedy = learned.encode(symbols), longest_matches(trie, symbols)
    rings = ((0, len(greedy)),) if greedy != by_merges else ()
    ringed = Tiles(showing.tiles(greedy, learned).tiles, rings, "differs")
    draw_symbol_rows(
        [
            SymbolRow("by the merges", (showing.tiles(by_merges, learned),)),
            SymbolRow("longest match", (ringed,)),
        ],
        key="reasons_longest",
        caption="The word as cut by the merges, and by longest match",
    )
    return Ran(
        (longest_matches, Trie.longest_match),
        f"longest_matches(trie, {symbols})",
        parts.printed(greedy),
        parts.legend(greedy, learned.run.vocab),
    )


def ask_step_back(_: None) -> Question:
    learned, word, symbols = _own_training(draws=True)
    attempts = list(build_trie(learned).attempts(symbols))
    n = sum(attempt.outcome != "given back" for attempt in attempts)
    return choose_number(
        "A trie can be exact: take the longest token, but refuse one if a merge would have crossed "
        f"its boundary, and step back. How many tokens are tried for {word}?",
        n,
        (1, len(learned.encode(symbols)), n + 2, len(symbols)),
        f"{'It is' if n == 1 else 'They are'} numbered below. A token that no other can follow is "
        "removed again, which is no new try. Only neighbours need checking, and the tokens are "
        "those of the merges.",
    )


def show_step_back(_: None) -> Ran:
    learned, _word, symbols = _own_training()
    trie = build_trie(learned)
    attempts = _attempt_rows(trie, symbols, learned)
    draw_symbol_rows(
        attempts[:_MAX_ATTEMPTS],
        key="reasons_step_back",
        caption="Each token tried, with its number, the outcome, and each step back",
    )
    parts.note_shortened(_MAX_ATTEMPTS, len(attempts), "steps")
    ids = trie.encode(symbols)
    if ids == learned.encode(symbols):
        st.badge("✓ equal to the merges’ tokens", color="green")
    st.page_link("pages/lab.py", label="Measure them in the Lab")
    return Ran(
        (Trie.attempts, Trie.stay_apart),
        f"trie.encode({symbols})",
        parts.printed(ids),
        parts.legend(ids, learned.run.vocab),
    )


def _own_training(*, draws: bool = False) -> tuple[Walk, str, list[int]]:
    """Return the training on the visitor's words, and the word to encode; draw their fields."""
    if draws:
        parts.draw_field(*_WORD, label="Word to encode", max_chars=40)
        parts.text_input(*_WORDS, label="Change the words and their counts", lines=3)
    counts = parse_word_counts(parts.own_text(*_WORDS))
    n_start = len({character for word in counts for character in word})
    learned = walk(
        counts, TrainingConfig(n_start + _MAX_MERGES, base="characters", special_tokens=())
    )
    word = parts.field_word(*_WORD)
    symbols = learned.base_symbols(word)
    if symbols is not None:
        return learned, word, symbols
    if draws:
        st.info(
            f"{plain_markdown(word)} contains a character that is in none of the words, so "
            f"{plain_markdown(learned.words[0])} is encoded instead."
        )
    return learned, learned.words[0], list(learned.starts[0])


def _attempt_rows(trie: Trie, symbols: list[int], learned: Walk) -> list[SymbolRow]:
    rows: list[SymbolRow] = []
    taken: list[int] = []
    n_tried = 0
    for attempt in trie.attempts(symbols):
        steps_back = attempt.outcome == "given back"
        if steps_back:
            taken.pop()
        n_tried += not steps_back
        shown = (*taken, attempt.id)
        place = len(taken)
        cell = Tiles(
            tuple(showing.tile(id, learned) for id in shown),
            ((place, place + 1),),
            "chosen" if attempt.outcome == "taken" else "differs",
        )
        label = "back" if steps_back else f"{n_tried}"
        rows.append(SymbolRow(label, (cell,), _OUTCOMES[attempt.outcome]))
        if attempt.outcome == "taken":
            taken.append(attempt.id)
    return rows


def find_claims() -> tuple[Claim, ...]:
    """Check what the teaching module states about tries."""
    vocab = gpt2().vocab
    overwrites = Differences.of(gpt2(), " overwrites").words[0]
    by_merges, by_match = (
        " + ".join(parts.format_token(vocab[id]) for id in ids)
        for ids in (overwrites.ids, overwrites.longest_match_ids)
    )
    return (
        Claim(
            "Tries for inference.",
            f"A trie alone is not BPE. GPT-2’s merges make {by_merges}, longest match {by_match}.",
            "“ overwrites” with GPT-2’s 50,257 tokens",
        ),
        Claim(
            "Trie = 5–10x faster encoding.",
            "Its two loops time the same encoder. The Lab times real ones on this machine.",
            'encoder.encode("the quick brown fox") is in both loops',
        ),
    )


LESSON = Lesson(
    "Why this way",
    "Why tokenizers use bytes and cut their text, and what keeps a trie’s tokens exact.",
    read_input,
    (
        LessonStep("Bytes", "Why bytes", ask_bytes, show_bytes),
        LessonStep("Cuts", "Why the text is cut first", ask_cuts, show_cuts),
        LessonStep("Longest match", "Why longest match is not enough", ask_longest, show_longest),
        LessonStep("Step back", "How to use a trie exactly", ask_step_back, show_step_back),
    ),
    (LessonSource(parts.MODULE, find_claims),),
)
