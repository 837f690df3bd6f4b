"""The third lesson: GPT-2's way to cut a text, bytes that print, and both tie rules."""

from __future__ import annotations

from itertools import zip_longest

import streamlit as st

from bpe_core.byte_alphabet import to_printable
from bpe_core.corpora.samples import load_sample
from bpe_core.corpus import Corpus
from bpe_core.counting import seen_symbols
from bpe_core.gpt2 import gpt2
from bpe_core.lessons.walk import Walk, walk
from bpe_core.pretokenizers import get_pretokenizer
from bpe_core.reference import (
    choose_pair,
    count_words,
    encode_reference,
    learn_merges,
)
from bpe_core.types import Merge, TieBreak, TrainingConfig
from ui.components.pretoken_strip import pretoken_strip
from ui.components.symbol_rows import SymbolRow, Tile, Tiles, symbol_rows
from ui.lessons import parts, printing, tiles
from ui.lessons.parts import Learned, Lesson, Ran, Step

FIRST_SENTENCES = "\n".join(load_sample("pretokenization-notebook").documents)
VOCABULARY_SIZE = 50
_FOUR_DOCUMENTS = load_sample("notebook").documents
_END_OF_TEXT = "<|endoftext|>"
_SOURCE = "The notebook says"
# Compare has sentences of its own in the address.
_NAME = "cut_sentences"


def read_input() -> Learned:
    parts.text_input(_NAME, FIRST_SENTENCES, label="Documents, a line each. Change them.", lines=5)
    documents = parts.lines_of(parts.own_text(_NAME, FIRST_SENTENCES))
    return Learned(
        trained(documents, "first-seen"),
        trained(parts.lines_of(FIRST_SENTENCES), "first-seen"),
        documents,
    )


def trained(documents: tuple[str, ...], tie_break: TieBreak) -> Walk:
    words = count_words(documents, get_pretokenizer("gpt2").split)
    symbols = {bytes([byte]) for document in documents for byte in document.encode()}
    config = TrainingConfig(
        max(VOCABULARY_SIZE, len(symbols) + 1),
        alphabet="seen",
        special_tokens=(_END_OF_TEXT,),
        tie_break=tie_break,
    )
    return walk(words, config, symbols)


def cuts(example: Learned) -> Ran:
    st.markdown(
        "GPT-2 cuts before each space: the space belongs to the word behind it, so nothing is "
        "lost and a text can be put together again. Punctuation and digits stand apart. "
        "The gaps are what no merge crosses."
    )
    pretokenizer = get_pretokenizer("gpt2")
    pretoken_strip(
        key="cuts_strip",
        pretokens=[one for text in example.documents for one in pretokenizer.split(text)][:60],
    )
    counts = _printable(example.theirs)
    parts.said_and_found(
        "cuts_counts",
        source=_SOURCE,
        said="This occurs 3 times, Ġis 2 times.",
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


def printable(example: Learned) -> Ran:
    st.markdown(
        "GPT-2’s symbols are bytes, all 256 of them. Its files write each byte as a character that "
        "prints: a space becomes `Ġ`, and `é`, two bytes in UTF-8, becomes `Ã©`. This is only "
        "a way to write them down; here they stand as what they are."
    )
    text = parts.one_text("printable", " café")
    rows: list[SymbolRow] = []
    for character in text:
        token = character.encode()
        single = tuple(Tile(bytes([byte])) for byte in token)
        written = tuple(Tile(to_printable(bytes([byte])).encode()) for byte in token)
        rows.append(SymbolRow("", (Tiles((Tile(token),)), Tiles(single), Tiles(written))))
    symbol_rows(
        rows,
        key="cuts_printable",
        caption="Characters, their bytes, and how GPT-2’s files write these",
        columns=("Character", "Bytes", "As GPT-2 writes them"),
    )
    return Ran(
        (to_printable,),
        f"to_printable({text!r}.encode())",
        printing.printed(to_printable(text.encode())),
    )


def alphabet(example: Learned) -> Ran:
    learned = example.yours
    n_symbols = len(learned.run.base_ids)
    st.markdown(
        f"The special token `{_END_OF_TEXT}` comes first and has id 0: it marks where a text ends, "
        f"and no merge ever makes it. Then come the {n_symbols} bytes that occur in the text, in "
        "the order of the characters that stand for them: the space last."
    )
    ids = list(range(learned.n_start))
    symbol_rows(
        [
            SymbolRow(f"{start} to {start + len(row) - 1}", (tiles.tiles(row, learned),))
            for start in range(0, len(ids), 12)
            if (row := ids[start : start + 12])
        ],
        key="cuts_alphabet",
        caption="The special token and the symbols, in the order of their ids",
    )
    theirs = example.theirs
    found = "".join(to_printable(symbol) for symbol in theirs.run.base_ids)
    parts.said_and_found(
        "cuts_alphabet",
        source=_SOURCE,
        said="The alphabet begins with , . C F H and ends with Ġ.",
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
        "A set; printed in the order of the bytes.",
    )


def ties(example: Learned) -> Ran:
    learned = example.yours
    other = trained(example.documents, "smallest-pair")
    if not learned.merges:
        return parts.no_pair()
    first = learned.run.vocab, other.run.vocab
    same = [
        (first[0][a.left], first[0][a.right]) == (first[1][b.left], first[1][b.right])
        for a, b in zip(learned.merges, other.merges, strict=False)
    ]
    part = same.index(False) if False in same else len(same)
    where = f"They part at merge {part + 1}." if part < len(same) else "Here both learn the same."
    st.markdown(
        "The notebook takes the first pair seen among equals; Hugging Face’s trainer takes the one "
        f"with the smallest ids. {where}"
    )
    symbol_rows(
        [
            SymbolRow(f"{place + 1}", (_made(one, learned), _made(two, other)))
            for place, (one, two) in enumerate(zip_longest(learned.merges[:19], other.merges[:19]))
        ],
        key="cuts_ties",
        caption="The merges under both rules for ties",
        columns=("First seen", "Smallest ids"),
    )
    theirs = example.theirs
    elsewhere = trained(_FOUR_DOCUMENTS, "first-seen")
    winner, count = theirs.merges[0], theirs.merges[0].count
    there = elsewhere.merges[0]
    parts.said_and_found(
        "cuts_first",
        source="The notebook writes into its code",
        said="The first merge is (Ġ, t).",
        found=f"Right here, where {_printable_pair(theirs, winner)} occurs {count} times. On the "
        f"four documents it would be {_printable_pair(elsewhere, there)}.",
        how=f"{printing.sum_of(elsewhere, 0, there.pair)}\n"
        "What is written down before counting is right by luck.",
        on_its_own=example.is_changed,
    )
    counts = learned.pair_counts_at(min(part, len(learned.merges) - 1))
    chosen = (
        [choose_pair(counts, rule) for rule in ("first-seen", "smallest-pair")] if counts else []
    )
    return Ran(
        (choose_pair,),
        "[choose_pair(pair_counts, rule) for rule in ('first-seen', 'smallest-pair')]",
        printing.printed(chosen, learned.run.vocab),
        f"The counts before merge {min(part, len(learned.merges) - 1) + 1}. {printing.SPELLED}",
    )


def _made(merge: Merge | None, learned: Walk) -> Tiles:
    if merge is None:
        return Tiles(())
    return Tiles((tiles.tile(merge.left, learned), tiles.tile(merge.right, learned)))


def _printable_pair(learned: Walk, merge: Merge) -> str:
    left, right = (to_printable(learned.run.vocab[id]) for id in merge.pair)
    return f"({left}, {right})"


def merges(example: Learned) -> Ran:
    learned = example.yours
    n = len(learned.merges)
    st.markdown(
        f"The vocabulary may have {learned.config.vocab_size} tokens: {learned.n_start} to start "
        f"with leave room for {n} merges. A token may begin with a space; none has one inside."
    )
    step = parts.merges_slider(n, key="cuts_step", start=8)
    tiles.word_rows(learned, step, key="cuts_merges", ring=learned.next_pair_at(step))
    return Ran(
        (learn_merges,),
        "merges, splits, why = learn_merges(words, counts, vocabulary, config)",
        printing.printed(list(learned.merges), learned.run.vocab),
        printing.SPELLED,
    )


def new_text(example: Learned) -> Ran:
    learned = example.yours
    st.markdown(
        "A new text is cut the same way, and the merges are applied to each piece, the earliest "
        "first. Nothing is counted any more."
    )
    text = parts.one_text("new_text", "This is not a token.")
    pretokens = get_pretokenizer("gpt2").split(text)
    starts = [(one, learned.start_of(one)) for one in pretokens]
    encoded = [(one, learned.encode(start)) for one, start in starts if start is not None]
    symbol_rows(
        [
            SymbolRow("", (Tiles((Tile(one.encode()),)), tiles.tiles(ids, learned)))
            for one, ids in encoded
        ],
        key="cuts_new_text",
        caption="Each piece of the text, and its tokens",
        columns=("Piece", "Tokens"),
    )
    lacking = [one for one, start in starts if start is None]
    if lacking:
        st.info(
            f"{parts.safe(', '.join(lacking))} has a byte that these documents don’t: with all 256 "
            "in the alphabet, as in GPT-2, this can’t happen."
        )
    theirs = example.theirs
    found = [
        to_printable(theirs.run.vocab[id])
        for one in get_pretokenizer("gpt2").split("This is not a token")
        for id in theirs.encode(theirs.start_of(one) or ())
    ]
    parts.said_and_found(
        "cuts_new_text",
        source="The notebook’s last cell",
        said="prints nothing: its call stands behind the function’s return.",
        found=" · ".join(found),
        how="“This is not a token”, by the 19 merges of its own sentences",
        on_its_own=example.is_changed,
    )
    ids = [id for _, one in encoded for id in one]
    return Ran(
        (encode_reference,),
        "[encode_reference(symbols, merges) for symbols in pieces]",
        printing.printed([one for _, one in encoded]),
        printing.legend(ids, learned.run.vocab),
    )


def of_gpt2(example: Learned) -> Ran:
    st.markdown(
        "GPT-2 is this, with 50,000 merges that were learned from web pages. The code beside "
        "it, given GPT-2’s merges, gives GPT-2’s ids."
    )
    text = parts.one_text("gpt2_text", "The quick brown fox")
    tokenizer = gpt2()
    by_pair = _gpt2_merges()
    rows: list[SymbolRow] = []
    all_ids: list[list[int]] = []
    for pretoken in tokenizer.pretokenizer.split(text):
        symbols = [tokenizer.base_ids[bytes([byte])] for byte in pretoken.encode()]
        ids = encode_reference(symbols, by_pair)
        all_ids.append(ids)
        rows.append(
            SymbolRow(
                "",
                (
                    Tiles(tuple(Tile(tokenizer.vocab[id], id) for id in ids)),
                    Tiles(tuple(Tile(str(id).encode()) for id in ids)),
                ),
            )
        )
    symbol_rows(
        rows, key="cuts_gpt2", caption="GPT-2’s tokens and their ids", columns=("Token", "Id")
    )
    quick = tokenizer.encode("The quick brown fox")
    parts.said_and_found(
        "cuts_gpt2",
        source="A teaching module says",
        said="The quick brown fox is [464, 2069, 7586, 21831].",
        found=f"It is {quick}.",
        how=f"id 2069 is {printing.quoted(tokenizer.vocab[2069])}, "
        f"id {quick[1]} is {printing.quoted(tokenizer.vocab[quick[1]])}",
    )
    return Ran(
        (encode_reference,),
        "[encode_reference(symbols, gpt2_merges) for symbols in pieces]",
        printing.printed(all_ids),
    )


@st.cache_resource(show_spinner=False)
def _gpt2_merges() -> dict[tuple[int, int], Merge]:
    return {merge.pair: merge for merge in gpt2().merges}


LESSON = Lesson(
    "GPT-2’s cuts",
    "Four sentences, cut as GPT-2 cuts them: spaces, bytes, ties, and GPT-2 itself.",
    read_input,
    (
        Step("Cuts", "Where the text is cut", cuts),
        Step("Bytes", "Bytes, written so that they print", printable),
        Step("Alphabet", "What the vocabulary starts with", alphabet),
        Step("Ties", "Two rules for ties", ties),
        Step("Merges", "Up to a vocabulary of fifty", merges),
        Step("New text", "A text that was never seen", new_text),
        Step("GPT-2", "The same with 50,000 merges", of_gpt2),
    ),
)
