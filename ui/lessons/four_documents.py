"""Teach the second lesson: four short documents, from the text to a vocabulary with ids."""

from __future__ import annotations

from typing import Final

import streamlit as st

from bpe_core.corpus import Corpus, load_sample, seen_symbols
from bpe_core.pretokenizers import get_pretokenizer
from bpe_core.trainers import GrowingVocabulary, choose_pair, count_pairs, count_words
from bpe_core.types import TrainingConfig
from ui.components import Claim, Question, SymbolRow, Tile, Tiles, draw_symbol_rows
from ui.lessons import parts, showing
from ui.lessons.parts import (
    MAX_OPTIONS,
    Learned,
    Lesson,
    LessonSource,
    LessonStep,
    Ran,
    choose_most_frequent,
    choose_number,
    choose_text,
    pair_option,
)
from ui.lessons.walk import Walk, walk
from ui.look import counted

MARKER: Final = "</w>"
N_MERGES: Final = 15
FIRST_DOCUMENTS: Final = "\n".join(load_sample("notebook").documents)
_MAX_SHOWN: Final = 8
_NAME: Final = "documents"


def read_input() -> Learned:
    parts.text_input(_NAME, FIRST_DOCUMENTS, label="Change the documents, one per line", lines=4)
    documents = parts.split_documents(parts.own_text(_NAME, FIRST_DOCUMENTS))
    return Learned(trained(documents), documents)


def trained(documents: tuple[str, ...]) -> Walk:
    words = count_words(documents, get_pretokenizer("whitespace").split)
    symbols = {character.encode() for document in documents for character in document}
    config = TrainingConfig(
        len(symbols) + 1 + N_MERGES,
        pretokenizer="whitespace",
        base="characters",
        end_of_word=MARKER,
        special_tokens=(),
        tie_break="first-seen",
    )
    return walk(words, config, symbols)


def ask_words(example: Learned) -> Question:
    cut = get_pretokenizer("whitespace").split
    draw_symbol_rows(
        [
            SymbolRow(
                f"document {number}",
                (Tiles(tuple(Tile(word.encode()) for word in cut(document))),),
            )
            for number, document in enumerate(example.documents[:_MAX_SHOWN], 1)
        ],
        key="documents_words",
        caption="The documents, cut into words",
    )
    parts.note_shortened(_MAX_SHOWN, len(example.documents), "documents")
    n = len(example.run.words)
    bare = {"".join(filter(str.isalnum, word.lower())) for word in example.run.words}
    return choose_number(
        "The text is cut at white space. How many distinct words has it?",
        n,
        (len(bare), sum(example.run.counts), n + 2),
        "A full stop stays with its word and capitals count: “document.” and “document” are "
        "two words. Each word is counted over all documents.",
    )


def show_words(example: Learned) -> Ran:
    cut = get_pretokenizer("whitespace").split
    showing.whole_words(example.run, key="documents_counted")
    return Ran(
        (count_words,),
        "count_words(documents, get_pretokenizer('whitespace').split)",
        parts.printed(count_words(example.documents, cut)),
    )


def ask_alphabet(example: Learned) -> Question:
    n = example.run.n_start
    return choose_number(
        "With how many symbols does the vocabulary start?",
        n,
        (26, len(example.run.words), n - 1),
        "Every distinct character of the documents, sorted, and the marker. These symbols are "
        "never removed, so any word of these characters can be encoded.",
    )


def show_alphabet(example: Learned) -> Ran:
    learned = example.run
    start = [Tile(learned.run.vocab[id]) for id in range(learned.n_start)]
    draw_symbol_rows(
        [SymbolRow(f"{learned.n_start:,}", (Tiles(tuple(start)),))],
        key="documents_alphabet",
        caption="The symbols that the vocabulary starts with",
    )
    unused = showing.unused_symbols(learned)
    if unused:
        st.markdown(unused)
    corpus = Corpus.from_documents(example.documents)
    symbols = sorted(symbol.decode() for symbol in seen_symbols(corpus, "characters"))
    return Ran(
        (seen_symbols,),
        "sorted(seen_symbols(corpus, 'characters'))",
        parts.printed(symbols),
        "The function returns bytes; here they are printed as characters.",
    )


def ask_pairs(example: Learned) -> Question | None:
    showing.word_rows(example.run, 0, key="documents_pair_words")
    because = showing.winner(example.run) if example.run.merges else ""
    return choose_most_frequent(
        "Which pair of neighbours occurs most often?",
        example.run,
        f"{because} No pair crosses from one word into the next: that is why the text is cut.",
    )


def show_pairs(example: Learned) -> Ran:
    learned = example.run
    showing.bars_at(learned, 0, key="documents_pairs")
    return Ran(
        (count_pairs,),
        "count_pairs(words, counts)",
        parts.printed(count_pairs(learned.starts, learned.counts), learned.run.vocab),
        parts.SPELLED,
    )


def ask_ties(example: Learned) -> Question | None:
    learned = example.run
    step = learned.first_split()
    if step is None:
        return None
    first, lowest = _winners(learned, step)
    names = [parts.pair_name(pair, learned.run.vocab) for pair in (first, lowest)]
    return choose_text(
        f"Before merge {step + 1}, {names[0]} and {names[1]} are equally frequent. Which is "
        "joined?",
        (names[0], names[1], "It depends on the rule"),
        2,
        f"The pair seen first in the text is {names[0]}: this lesson joins it. The pair with the "
        f"lowest ids is {names[1]}: Hugging Face’s trainer joins it, and so do Start and, unless "
        "you choose otherwise, Train.",
    )


def show_ties(example: Learned) -> Ran:
    learned = example.run
    step = learned.first_split()
    if step is None:
        st.info("On these words both rules for ties choose the same pair at every step.")
        step = 0
    counts = learned.pair_counts_at(step)
    if not counts:
        return parts.no_pair()
    showing.bars_at(learned, step, key="documents_ties")
    first, lowest = _winners(learned, step)
    draw_symbol_rows(
        [
            SymbolRow(rule, (showing.tiles(pair, learned),), f"ids {pair[0]} and {pair[1]}")
            for rule, pair in (("first in the text", first), ("lowest ids", lowest))
        ],
        key="documents_rules",
        caption="The pair that each rule joins",
    )
    return Ran(
        (choose_pair,),
        "choose_pair(pair_counts, 'first-seen'), choose_pair(pair_counts, 'smallest-pair')",
        parts.printed(_winners(learned, step), learned.run.vocab),
        parts.SPELLED,
    )


def _winners(learned: Walk, step: int) -> tuple[tuple[int, int], tuple[int, int]]:
    counts = learned.pair_counts_at(step)
    return choose_pair(counts, "first-seen"), choose_pair(counts, "smallest-pair")


def ask_merges(example: Learned) -> Question | None:
    learned = example.run
    if len(learned.merges) < 2:
        return None
    ids = [merge.id for merge in learned.merges]
    shown = [ids[i] for i in (len(ids) - 1, len(ids) // 2, 1, 0)][:MAX_OPTIONS]
    shown = sorted(dict.fromkeys(shown), key=lambda id: learned.run.vocab[id])
    return Question(
        "Which of these tokens is learned first?",
        tuple(pair_option((id,), learned) for id in shown),
        (shown.index(ids[0]),),
        "A token is made of two that exist already, so parts come before the whole, and frequent "
        f"pairs before rare ones. {showing.rounds(learned, N_MERGES)}",
    )


def show_merges(example: Learned) -> Ran:
    return showing.show_merges(example.run, key="documents", start=5)


def ask_vocabulary(example: Learned) -> Question:
    learned = example.run
    ends = learned.words_at(len(learned.merges))
    i = max(range(len(ends)), key=lambda i: (len(learned.words[i]), -i))
    return choose_number(
        f"After {counted(len(learned.merges), 'merge')}, how many tokens is {learned.words[i]}?",
        len(ends[i]),
        (1, len(learned.starts[i]), 4),
        f"It is {' + '.join(parts.format_token(learned.run.vocab[id]) for id in ends[i])}. A "
        "model only ever sees the ids of these tokens: their positions in this list.",
    )


def show_vocabulary(example: Learned) -> Ran:
    learned = example.run
    vocab = learned.run.vocab
    st.markdown(showing.list_size(learned))
    showing.id_rows(
        list(vocab),
        learned,
        a_row=10,
        key="documents_vocabulary",
        caption="The tokens in order of id",
    )
    learned_ids = {merge.id: parts.format_token(vocab[merge.id]) for merge in learned.merges}
    return Ran(
        (GrowingVocabulary.join,),
        "{merge.id: vocabulary.tokens[merge.id] for merge in merges}",
        parts.printed(learned_ids),
    )


def find_claims() -> tuple[Claim, ...]:
    """Check what the notebook's comments say about its documents."""
    learned = trained(parts.split_documents(FIRST_DOCUMENTS))
    vocab = learned.run.vocab
    words = dict(zip(learned.words, learned.counts, strict=True))
    this = [parts.format_token(vocab[id]) for id in learned.base_symbols("this") or ()]
    counts = learned.pair_counts_at(0)
    stated = {("s", MARKER): 7, ("h", "i"): 4}
    found = {pair: learned.find_pair(*pair) for pair in stated}
    i_s = learned.find_pair("i", "s")
    before, after = (learned.pair_counts_at(step).get(i_s, 0) if i_s else 0 for step in (0, 1))
    one, two = (parts.format_token(vocab[merge.id]) for merge in learned.merges[:2])
    splits = {
        word: " + ".join(parts.format_token(vocab[id]) for id in split)
        for word, split in zip(learned.words, learned.words_at(len(learned.merges)), strict=True)
    }
    return (
        Claim(
            "document. occurs 3 times.",
            f"document. occurs {words['document.']} times.",
            ",  ".join(f"{word} {n}" for word, n in words.items() if word.startswith("document")),
        ),
        Claim(
            "“this” starts as t, h, i, s</w>.",
            f"It starts as {', '.join(this)}.",
            f"{len(this)} symbols: the marker is a separate symbol until a merge joins it",
        ),
        Claim(
            " and ".join(f"({', '.join(pair)}) {n}" for pair, n in stated.items()) + ".",
            " and ".join(f"({', '.join(p)}) {counts[ids]}" for p, ids in found.items() if ids)
            + ".",
            "\n".join(parts.format_sum(learned, ids) for ids in found.values() if ids),
        ),
        Claim(
            "is and th are learned first.",
            f"{one} is first, then {two}. is alone never becomes a token.",
            f"(i, s) occurs {before} times before the first merge and {after} times after it: "
            "each of these s has joined the marker",
        ),
        Claim(
            "The words end as This + </w> and doc + ument + .</w>.",
            f"They end as {splits['This']} and {splits['document.']}.",
            f"{learned.n_start} symbols + {len(learned.merges)} merges = {len(vocab)}",
        ),
    )


LESSON = Lesson(
    "Four documents",
    "Four sentences, cut at white space: from the text to a vocabulary with ids.",
    read_input,
    (
        LessonStep("Words", "Cut at white space", ask_words, show_words),
        LessonStep("Alphabet", "What the vocabulary starts with", ask_alphabet, show_alphabet),
        LessonStep("Pairs", "Count within words", ask_pairs, show_pairs),
        LessonStep("Ties", "When two pairs are equally frequent", ask_ties, show_ties),
        LessonStep("Merges", "Up to fifteen merges", ask_merges, show_merges),
        LessonStep("Vocabulary", "Every token has an id", ask_vocabulary, show_vocabulary),
    ),
    (LessonSource(parts.NOTEBOOK, find_claims),),
)
