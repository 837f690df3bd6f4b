"""Teach the third lesson: how GPT-2 cuts a text, printable bytes, and two rules for ties."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

import streamlit as st

from bpe_core.corpus.corpus import Corpus
from bpe_core.corpus.samples import load_sample
from bpe_core.counting.words import seen_symbols
from bpe_core.pretokenizers.pretokenizers import get_pretokenizer
from bpe_core.trainers.reference import (
    choose_pair,
    count_words,
    learn_merges,
)
from bpe_core.types import Merge, TieBreak, TrainingConfig
from bpe_core.unicode.byte_alphabet import to_printable
from ui.components.pretoken_strip import pretoken_strip
from ui.components.symbol_rows import SymbolRow, Tiles, symbol_rows
from ui.lessons import gpt2_texts, parts, printing, sentences, tiles
from ui.lessons.parts import Learned, Lesson, LessonStep, Ran
from ui.lessons.walk import Walk, walk

FIRST_SENTENCES = "\n".join(load_sample("pretokenization-notebook").documents)
VOCABULARY_SIZE = 50
MIN_ROOM = 19
"""The least number of merges with room in the vocabulary: that of the example's text."""
_FOUR_DOCUMENTS = load_sample("notebook").documents
_END_OF_TEXT = "<|endoftext|>"
_MAX_SHOWN = 60
_MAX_MERGES = 19
_SOURCE = "The notebook says"
# Compare uses the name "sentences" in the address.
_NAME = "cut_sentences"


def read_input() -> Learned:
    parts.text_input(_NAME, FIRST_SENTENCES, label="Documents, one per line. Edit them.", lines=5)
    documents = parts.split_documents(parts.own_text(_NAME, FIRST_SENTENCES))
    return Learned(
        trained(documents, "first-seen"),
        trained(parts.split_documents(FIRST_SENTENCES), "first-seen"),
        documents,
    )


def trained(documents: Sequence[str], tie_break: TieBreak) -> Walk:
    words = count_words(documents, get_pretokenizer("gpt2").split)
    symbols = {bytes([byte]) for document in documents for byte in document.encode()}
    config = TrainingConfig(
        max(VOCABULARY_SIZE, len(symbols) + 1 + MIN_ROOM),
        alphabet="seen",
        special_tokens=(_END_OF_TEXT,),
        tie_break=tie_break,
    )
    return walk(words, config, symbols)


def cuts(example: Learned) -> Ran:
    st.markdown(
        "GPT-2 cuts before the space in front of a word. The space belongs to that word, so the "
        "text can be restored from its pieces. Letters, digits and other characters are separated, "
        "except in endings such as `'s`. No merge crosses a gap."
    )
    pretokenizer = get_pretokenizer("gpt2")
    pieces = [one for text in example.documents for one in pretokenizer.split(text)]
    pretoken_strip(key="cuts_strip", pretokens=pieces[:_MAX_SHOWN])
    parts.note_shortened(_MAX_SHOWN, len(pieces), "pieces")
    counts = _printable(example.theirs)
    parts.check_claim(
        "cuts_counts",
        source=_SOURCE,
        stated="This occurs 3 times, Ġis 2 times.",
        found=f"This occurs {counts['This']} times, Ġis {counts['Ġis']} times.",
        agrees=(counts["This"], counts["Ġis"]) == (3, 2),
        on_its_own=example.is_changed,
    )
    return Ran(
        (count_words,),
        "count_words(documents, get_pretokenizer('gpt2').split)",
        printing.printed(count_words(example.documents, pretokenizer.split)),
        f"The pattern: {pretokenizer.pattern}",
    )


def _printable(learned: Walk) -> dict[str, int]:
    words = (to_printable(word.encode()) for word in learned.words)
    return dict(zip(words, learned.counts, strict=True))


def alphabet(example: Learned) -> Ran:
    learned = example.yours
    st.markdown(
        f"The special token `{_END_OF_TEXT}` comes first, with id 0. It marks the end of a text, "
        f"and no merge makes it. {sentences.byte_alphabet(learned)}"
    )
    tiles.id_rows(
        range(learned.n_start),
        learned,
        a_row=12,
        key="cuts_alphabet",
        caption="The special token and the symbols, in order of id",
    )
    theirs = example.theirs
    found = "".join(to_printable(symbol) for symbol in theirs.run.base_ids)
    parts.check_claim(
        "cuts_alphabet",
        source=_SOURCE,
        stated="The alphabet begins with , . C F H and ends with Ġ.",
        found=found,
        how=f"{len(found)} symbols + 1 special token = {theirs.n_start}",
        agrees=found.startswith(",.CFH") and found.endswith("Ġ"),
        on_its_own=example.is_changed,
    )
    corpus = Corpus.from_documents(example.documents)
    return Ran(
        (seen_symbols,),
        "seen_symbols(corpus, 'bytes')",
        printing.printed(sorted(seen_symbols(corpus, "bytes"))),
        "The result is a set; it is printed in byte order.",
    )


def ties(example: Learned) -> Ran:
    learned = example.yours
    other = trained(example.documents, "smallest-pair")
    if not learned.merges:
        return parts.no_pair()
    place, sentence = sentences.first_difference(learned, other)
    st.markdown(
        "Of equally frequent pairs, the notebook takes the one seen first, and Hugging Face’s "
        f"trainer the one with the smallest ids. {sentence}"
    )
    symbol_rows(
        [
            SymbolRow(f"{number}", (_merged_parts(one, learned), _merged_parts(two, other)))
            for number, (one, two) in enumerate(
                zip_longest(learned.merges[:_MAX_MERGES], other.merges[:_MAX_MERGES]), 1
            )
        ],
        key="cuts_ties",
        caption="The merges with each rule for ties",
        columns=("First seen", "Smallest ids"),
    )
    parts.note_shortened(_MAX_MERGES, max(len(learned.merges), len(other.merges)), "merges")
    theirs = example.theirs
    elsewhere = trained(_FOUR_DOCUMENTS, "first-seen")
    winner, count = theirs.merges[0], theirs.merges[0].count
    there = elsewhere.merges[0]
    parts.check_claim(
        "cuts_first",
        source="A comment in the notebook says",
        stated="The first merge is (Ġ, t).",
        found=f"True here, where {_printable_pair(theirs, winner)} occurs {count} times. On the "
        f"four documents it would be {_printable_pair(elsewhere, there)}.",
        how=f"{printing.format_sum(elsewhere, 0, there.pair)}\n"
        "A result written down before counting is right only by luck.",
        on_its_own=example.is_changed,
    )
    step = min(place, len(learned.merges) - 1)
    counts = learned.pair_counts_at(step)
    chosen = (
        [choose_pair(counts, rule) for rule in ("first-seen", "smallest-pair")] if counts else []
    )
    return Ran(
        (choose_pair,),
        "[choose_pair(pair_counts, rule) for rule in ('first-seen', 'smallest-pair')]",
        printing.printed(chosen, learned.run.vocab),
        f"The counts before merge {step + 1}. {printing.SPELLED}",
    )


def _merged_parts(merge: Merge | None, learned: Walk) -> Tiles:
    if merge is None:
        return Tiles(())
    return Tiles((tiles.tile(merge.left, learned), tiles.tile(merge.right, learned)))


def _printable_pair(learned: Walk, merge: Merge) -> str:
    left, right = (to_printable(learned.run.vocab[id]) for id in merge.pair)
    return f"({left}, {right})"


def merges(example: Learned) -> Ran:
    learned = example.yours
    st.markdown(
        f"{sentences.room(learned)} A token may begin with a space, but only a token of white "
        "space alone contains one after its start."
    )
    step = parts.merges_slider(len(learned.merges), key="cuts_step", start=8)
    tiles.word_rows(learned, step, key="cuts_merges", ring=learned.pair_joined_at(step))
    return Ran(
        (learn_merges,),
        "merges, splits, why = learn_merges(words, counts, vocabulary, config)",
        printing.printed(list(learned.merges), learned.run.vocab),
        printing.SPELLED,
    )


LESSON = Lesson(
    "GPT-2’s cuts",
    "Four sentences cut as in GPT-2: spaces, bytes, ties, and GPT-2 itself.",
    read_input,
    (
        LessonStep("Cuts", "Where the text is cut", cuts),
        LessonStep("Bytes", "Bytes written as printable characters", gpt2_texts.printable),
        LessonStep("Alphabet", "What the vocabulary starts with", alphabet),
        LessonStep("Ties", "Two rules for ties", ties),
        LessonStep("Merges", "Merge by merge", merges),
        LessonStep("New text", "Encode a new text", gpt2_texts.new_text),
        LessonStep("GPT-2", "The same with 50,000 merges", gpt2_texts.of_gpt2),
    ),
)
