"""Teach the second lesson: four short documents, from the text to a vocabulary with ids."""

from __future__ import annotations

import streamlit as st

from bpe_core.corpus.corpus import Corpus
from bpe_core.corpus.samples import load_sample
from bpe_core.counting.words import seen_symbols
from bpe_core.pretokenizers.pretokenizers import get_pretokenizer
from bpe_core.trainers.base_vocabulary import GrowingVocabulary
from bpe_core.trainers.reference import choose_pair, count_pairs, count_words, learn_merges
from bpe_core.types import TrainingConfig
from ui.components.symbol_rows import SymbolRow, Tile, Tiles, symbol_rows
from ui.lessons import parts, printing, sentences, tiles
from ui.lessons.parts import Learned, Lesson, LessonStep, Ran
from ui.lessons.walk import Walk, walk

MARKER = "</w>"
N_MERGES = 15
FIRST_DOCUMENTS = "\n".join(load_sample("notebook").documents)
_MAX_SHOWN = 8
_SOURCE = "The notebook says"
_NAME = "documents"


def read_input() -> Learned:
    parts.text_input(_NAME, FIRST_DOCUMENTS, label="Documents, one per line. Edit them.", lines=4)
    documents = parts.split_documents(parts.own_text(_NAME, FIRST_DOCUMENTS))
    return Learned(trained(documents), trained(parts.split_documents(FIRST_DOCUMENTS)), documents)


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


def words(example: Learned) -> Ran:
    st.markdown(
        "The documents are cut into words at white space. A full stop stays with its word, so "
        "`document.` and `document` are distinct words. Words are counted over all documents."
    )
    cut = get_pretokenizer("whitespace").split
    symbol_rows(
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
    theirs = example.theirs
    counts = dict(zip(theirs.words, theirs.counts, strict=True))
    documents = [word for word in counts if word.startswith("document")]
    parts.check_claim(
        "documents_words",
        source="The notebook’s comments say",
        stated="document. occurs 3 times.",
        found=f"document. occurs {counts['document.']} times.",
        how=",  ".join(f"{word} {counts[word]}" for word in documents),
        on_its_own=example.is_changed,
    )
    return Ran(
        (count_words,),
        "count_words(documents, get_pretokenizer('whitespace').split)",
        printing.printed(count_words(example.documents, cut)),
    )


def alphabet(example: Learned) -> Ran:
    learned = example.yours
    st.markdown(
        "The vocabulary starts with every character of the documents, sorted, and the marker. "
        "These symbols are never removed, so any word of these characters can be encoded."
    )
    start = [Tile(learned.run.vocab[id]) for id in range(learned.n_start)]
    symbol_rows(
        [SymbolRow(f"{learned.n_start:,}", (Tiles(tuple(start)),))],
        key="documents_alphabet",
        caption="The symbols that the vocabulary starts with",
    )
    unused = sentences.unused_symbols(learned)
    if unused:
        st.markdown(unused)
    theirs = example.theirs
    this = [printing.format_token(theirs.run.vocab[id]) for id in theirs.base_symbols("this") or ()]
    parts.check_claim(
        "documents_alphabet",
        source="The notebook’s comments say",
        stated="“this” starts as t, h, i, s</w>.",
        found=f"It starts as {', '.join(this)}.",
        how=f"{len(this)} symbols: the marker is a separate symbol until a merge joins it",
        on_its_own=example.is_changed,
    )
    corpus = Corpus.from_documents(example.documents)
    symbols = sorted(symbol.decode() for symbol in seen_symbols(corpus, "characters"))
    return Ran(
        (seen_symbols,),
        "sorted(seen_symbols(corpus, 'characters'))",
        printing.printed(symbols),
        "The function returns bytes; here they are printed as characters.",
    )


def pairs(example: Learned) -> Ran:
    learned = example.yours
    st.markdown(
        "Pairs of neighbours are counted within words, each word as often as it occurs. No pair "
        "crosses from one word into the next; that is why the text is cut."
    )
    tiles.bars_at(learned, 0, key="documents_pairs")
    theirs = example.theirs
    counts = theirs.pair_counts_at(0)
    stated = {("s", MARKER): 7, ("h", "i"): 4}
    found = {pair: theirs.find_pair(*pair) for pair in stated}
    parts.check_claim(
        "documents_pairs",
        source="The notebook’s comments say",
        stated=" and ".join(f"({', '.join(pair)}) {n}" for pair, n in stated.items()) + ".",
        found=" and ".join(f"({', '.join(p)}) {counts[ids]}" for p, ids in found.items() if ids)
        + ".",
        how="\n".join(printing.format_sum(theirs, 0, ids) for ids in found.values() if ids),
        on_its_own=example.is_changed,
    )
    return Ran(
        (count_pairs,),
        "count_pairs(words, counts)",
        printing.printed(count_pairs(learned.starts, learned.counts), learned.run.vocab),
        printing.SPELLED,
    )


def ties(example: Learned) -> Ran:
    learned = example.yours
    if not learned.merges:
        return parts.no_pair()
    first = learned.merges[0]
    st.markdown(
        f"After the first merge, {parts.safe(printing.pair_name(first.pair, learned.run.vocab))}, "
        "all pairs are counted again. If several pairs are equally frequent, a rule decides; the "
        "notebook takes the pair that was seen first."
    )
    tiles.bars_at(learned, 1, key="documents_ties")
    theirs = example.theirs
    vocab = theirs.run.vocab
    i_s = theirs.find_pair("i", "s")
    before, after = (theirs.pair_counts_at(step).get(i_s, 0) if i_s else 0 for step in (0, 1))
    one, two = (printing.format_token(vocab[merge.id]) for merge in theirs.merges[:2])
    parts.check_claim(
        "documents_ties",
        source="The notebook’s comments say",
        stated="is and th are learned first.",
        found=f"{one} is first, then {two}. is alone never becomes a token.",
        how=f"(i, s) occurs {before} times before the first merge and {after} times after it: "
        "each of these s has joined the marker",
        on_its_own=example.is_changed,
    )
    counts = learned.pair_counts_at(1)
    if not counts:
        return parts.no_pair()
    return Ran(
        (choose_pair,),
        "choose_pair(pair_counts, 'first-seen'), choose_pair(pair_counts, 'smallest-pair')",
        printing.printed(
            (choose_pair(counts, "first-seen"), choose_pair(counts, "smallest-pair")),
            learned.run.vocab,
        ),
        printing.SPELLED,
    )


def merges(example: Learned) -> Ran:
    learned = example.yours
    st.markdown(
        f"{sentences.rounds(learned, N_MERGES)} Move the slider to see each of them. The ring "
        "marks the next pair."
    )
    step = parts.merges_slider(len(learned.merges), key="documents_step", start=5)
    tiles.word_rows(learned, step, key="documents_merges", ring=learned.pair_joined_at(step))
    theirs = example.theirs
    made = [printing.format_token(theirs.run.vocab[merge.id]) for merge in theirs.merges]
    parts.check_claim(
        "documents_merges",
        source="The notebook’s run prints",
        stated="s</w>, is</w>, th, the, the</w>, do, doc, … document, ir, .</w>, d</w>.",
        found=f"{', '.join(made[:7])}, … {', '.join(made[-4:])}.",
        how="counts: " + ", ".join(f"{merge.count}" for merge in theirs.merges),
        agrees=made == NOTEBOOK_MERGES,
        on_its_own=example.is_changed,
    )
    return Ran(
        (learn_merges,),
        "merges, splits, why = learn_merges(words, counts, vocabulary, config)",
        printing.printed(list(learned.merges), learned.run.vocab),
        printing.SPELLED,
    )


NOTEBOOK_MERGES = [
    "s</w>",
    "is</w>",
    "th",
    "the",
    "the</w>",
    "do",
    "doc",
    "docu",
    "docum",
    "docume",
    "documen",
    "document",
    "ir",
    ".</w>",
    "d</w>",
]
"""What the notebook's run prints, in order."""


def vocabulary(example: Learned) -> Ran:
    learned = example.yours
    vocab = learned.run.vocab
    st.markdown(
        f"{sentences.list_size(learned)} A token’s id is its position in this list. A model only "
        "ever sees ids."
    )
    tiles.id_rows(
        list(vocab),
        learned,
        a_row=10,
        key="documents_vocabulary",
        caption="The tokens in order of id",
    )
    theirs = example.theirs
    last = theirs.words_at(len(theirs.merges))
    splits = {
        word: " + ".join(printing.format_token(theirs.run.vocab[id]) for id in split)
        for word, split in zip(theirs.words, last, strict=True)
    }
    parts.check_claim(
        "documents_vocabulary",
        source="The notebook’s comments say",
        stated="The words end as This + </w> and doc + ument + .</w>.",
        found=f"They end as {splits['This']} and {splits['document.']}.",
        how=f"{theirs.n_start} symbols + {len(theirs.merges)} merges = {len(theirs.run.vocab)}",
        on_its_own=example.is_changed,
    )
    learned_ids = {merge.id: printing.format_token(vocab[merge.id]) for merge in learned.merges}
    return Ran(
        (GrowingVocabulary.join,),
        "{merge.id: vocabulary.tokens[merge.id] for merge in merges}",
        printing.printed(learned_ids),
    )


LESSON = Lesson(
    "Four documents",
    "Four sentences, cut at white space: from the text to a vocabulary with ids.",
    read_input,
    (
        LessonStep("Words", "Cut at white space", words),
        LessonStep("Alphabet", "What the vocabulary starts with", alphabet),
        LessonStep("Pairs", "Count within words", pairs),
        LessonStep("Ties", "When two pairs are equally frequent", ties),
        LessonStep("Merges", "Up to fifteen merges", merges),
        LessonStep("Vocabulary", "Every token has an id", vocabulary),
    ),
)
