"""Teach the third lesson: how GPT-2 cuts a text, printable bytes, and two rules for ties."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import Final

import streamlit as st

from bpe_core.corpus import Corpus, load_sample, seen_symbols
from bpe_core.pretokenizers import get_pretokenizer
from bpe_core.tokenizer import gpt2
from bpe_core.trainers import choose_pair, count_words, encode_reference
from bpe_core.types import Merge, TieBreak, TrainingConfig
from bpe_core.unicode import to_printable
from ui.components import Claim, Question, SymbolRow, Tile, Tiles, draw_symbol_rows, pretoken_strip
from ui.host import cached
from ui.lessons import four_documents, parts, showing
from ui.lessons.parts import (
    Learned,
    Lesson,
    LessonSource,
    LessonStep,
    Ran,
    choose_number,
    choose_text,
)
from ui.lessons.walk import Walk, walk
from ui.look import counted, plain_markdown

_PRINTABLE: Final = ("printable", " café")
_NEW: Final = ("new_text", "This is not a token.")
_GPT2: Final = ("gpt2_text", "The quick brown fox")


def ask_printable(example: Learned) -> Question:
    parts.draw_field(*_PRINTABLE)
    text = parts.field_text(*_PRINTABLE)
    n = len(text.encode())
    name = parts.format_token(text.encode())
    return choose_number(
        f"How many bytes does {name} take? It has {counted(len(text), 'character')}.",
        n,
        (len(text), 2 * len(text), n + 1),
        "GPT-2’s symbols are all 256 bytes. Its files write each byte as a printable character: a "
        "space becomes Ġ, and é, which is two bytes in UTF-8, becomes Ã©. This only concerns the "
        "files; the lessons show the bytes themselves.",
    )


def show_printable(example: Learned) -> Ran:
    text = parts.field_text(*_PRINTABLE)
    rows: list[SymbolRow] = []
    for character in text:
        token = character.encode()
        single = tuple(Tile(bytes([byte])) for byte in token)
        written = tuple(Tile(to_printable(bytes([byte])).encode()) for byte in token)
        rows.append(SymbolRow("", (Tiles((Tile(token),)), Tiles(single), Tiles(written))))
    draw_symbol_rows(
        rows,
        key="cuts_printable",
        caption="Characters, their bytes, and how GPT-2’s files write the bytes",
        columns=("Character", "Bytes", "As GPT-2 writes them"),
    )
    return Ran(
        (to_printable,),
        f"to_printable({text!r}.encode())",
        parts.printed(to_printable(text.encode())),
    )


def ask_new_text(example: Learned) -> Question:
    parts.draw_field(*_NEW)
    ids = [id for _, one in _encoded(example) for id in one]
    pieces = get_pretokenizer("gpt2").split(parts.field_text(*_NEW))
    return choose_number(
        "How many tokens is this text with the merges learned so far?",
        len(ids),
        (len(pieces), len(parts.field_text(*_NEW)), len(ids) - 2),
        "A new text is cut in the same way, and the merges are applied to each piece in the order "
        "in which they were learned. Nothing is counted.",
    )


def _encoded(example: Learned) -> list[tuple[str, list[int]]]:
    """Return each piece of the new text and its ids, without pieces that have unknown bytes."""
    pieces = get_pretokenizer("gpt2").split(parts.field_text(*_NEW))
    starts = [(one, example.run.base_symbols(one)) for one in pieces]
    return [(one, example.run.encode(start)) for one, start in starts if start is not None]


def show_new_text(example: Learned) -> Ran:
    learned = example.run
    encoded = _encoded(example)
    draw_symbol_rows(
        [
            SymbolRow("", (Tiles((Tile(one.encode()),)), showing.tiles(ids, learned)))
            for one, ids in encoded
        ],
        key="cuts_new_text",
        caption="Each piece of the text, and its tokens",
        columns=("Piece", "Tokens"),
    )
    pieces = get_pretokenizer("gpt2").split(parts.field_text(*_NEW))
    lacking = [one for one in pieces if learned.base_symbols(one) is None]
    if lacking:
        st.info(showing.lacking_bytes(lacking))
    ids = [id for _, one in encoded for id in one]
    return Ran(
        (encode_reference,),
        "[encode_reference(symbols, merges) for symbols in pieces]",
        parts.printed([one for _, one in encoded]),
        parts.legend(ids, learned.run.vocab),
    )


def ask_gpt2(example: Learned) -> Question:
    parts.draw_field(*_GPT2)
    text = parts.field_text(*_GPT2)
    n = len(gpt2().encode(text))
    return choose_number(
        "GPT-2 has learned 50,000 merges from web pages. How many tokens is this text for it?",
        n,
        (len(text), 2 * n, n + 3),
        "It is the same algorithm: with GPT-2’s merges, the code shown here returns GPT-2’s ids.",
    )


def show_gpt2(example: Learned) -> Ran:
    text = parts.field_text(*_GPT2)
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
    draw_symbol_rows(
        rows, key="cuts_gpt2", caption="GPT-2’s tokens and their ids", columns=("Token", "Id")
    )
    return Ran(
        (encode_reference,),
        "[encode_reference(symbols, gpt2_merges) for symbols in pieces]",
        parts.printed(all_ids),
    )


@cached()
def _gpt2_merges() -> dict[tuple[int, int], Merge]:
    return {merge.pair: merge for merge in gpt2().merges}


FIRST_SENTENCES: Final = "\n".join(load_sample("pretokenization-notebook").documents)
VOCABULARY_SIZE: Final = 50
MIN_ROOM: Final = 19
"""The least number of merges with room in the vocabulary: that of the example's text."""
_END_OF_TEXT: Final = "<|endoftext|>"
_MAX_SHOWN: Final = 60
_MAX_DOCUMENTS: Final = 4
_MAX_MERGES: Final = 19
# Compare uses the name "sentences" in the address.
_NAME: Final = "cut_sentences"


def read_input() -> Learned:
    parts.text_input(_NAME, FIRST_SENTENCES, label="Change the documents, one per line", lines=5)
    documents = parts.split_documents(parts.own_text(_NAME, FIRST_SENTENCES))
    return Learned(trained(documents, "first-seen"), documents)


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


def ask_cuts(example: Learned) -> Question:
    shown = example.documents[:_MAX_DOCUMENTS]
    st.markdown("\n\n".join(plain_markdown(document, 200) for document in shown))
    parts.note_shortened(len(shown), len(example.documents), "documents")
    return choose_text(
        "GPT-2 cuts a text before it merges. Where does the space between two words go?",
        ("To the word before it", "To the word after it", "It is dropped"),
        1,
        "The space belongs to the word after it, so the text can be restored from its pieces. "
        "Letters, digits and other characters are separated, except in endings such as 's. No "
        "merge crosses a gap.",
    )


def show_cuts(example: Learned) -> Ran:
    pretokenizer = get_pretokenizer("gpt2")
    pieces = [one for text in example.documents for one in pretokenizer.split(text)]
    pretoken_strip(key="cuts_strip", pretokens=pieces[:_MAX_SHOWN])
    parts.note_shortened(_MAX_SHOWN, len(pieces), "pieces")
    return Ran(
        (count_words,),
        "count_words(documents, get_pretokenizer('gpt2').split)",
        parts.printed(count_words(example.documents, pretokenizer.split)),
        f"The pattern: {pretokenizer.pattern}",
    )


def ask_alphabet(example: Learned) -> Question:
    return choose_text(
        f"The special token {_END_OF_TEXT} marks the end of a text. Which id does it get?",
        ("the first", "the last of the symbols", "the last of all"),
        0,
        f"It comes first, with id 0, and no merge makes it. {showing.byte_alphabet(example.run)}",
    )


def show_alphabet(example: Learned) -> Ran:
    learned = example.run
    showing.id_rows(
        range(learned.n_start),
        learned,
        a_row=12,
        key="cuts_alphabet",
        caption="The special token and the symbols, in order of id",
    )
    corpus = Corpus.from_documents(example.documents)
    return Ran(
        (seen_symbols,),
        "seen_symbols(corpus, 'bytes')",
        parts.printed(sorted(seen_symbols(corpus, "bytes"))),
        "The result is a set; it is printed in byte order.",
    )


def ask_ties(example: Learned) -> Question | None:
    learned, other = example.run, trained(example.documents, "smallest-pair")
    if not learned.merges:
        return None
    place, sentence = showing.first_difference(learned, other)
    n_merges = max(len(learned.merges), len(other.merges))
    return choose_text(
        "Of equally frequent pairs, one trainer joins the first in the text, another the lowest "
        "ids. Do both learn the same merges?",
        ("Yes", "No, from the first merge on", "No, but the first are the same"),
        0 if place >= n_merges else 1 if place == 0 else 2,
        f"{sentence} Hugging Face’s trainer joins the lowest ids, and so do Start and, unless you "
        "choose otherwise, Train.",
    )


def show_ties(example: Learned) -> Ran:
    learned, other = example.run, trained(example.documents, "smallest-pair")
    if not learned.merges:
        return parts.no_pair()
    place, _ = showing.first_difference(learned, other)
    draw_symbol_rows(
        [
            SymbolRow(f"{number}", (_merged_parts(one, learned), _merged_parts(two, other)))
            for number, (one, two) in enumerate(
                zip_longest(learned.merges[:_MAX_MERGES], other.merges[:_MAX_MERGES]), 1
            )
        ],
        key="cuts_ties",
        caption="The merges with each rule for ties",
        columns=("First seen", "Lowest ids"),
    )
    parts.note_shortened(_MAX_MERGES, max(len(learned.merges), len(other.merges)), "merges")
    step = min(place, len(learned.merges) - 1)
    counts = learned.pair_counts_at(step)
    chosen = (
        [choose_pair(counts, rule) for rule in ("first-seen", "smallest-pair")] if counts else []
    )
    return Ran(
        (choose_pair,),
        "[choose_pair(pair_counts, rule) for rule in ('first-seen', 'smallest-pair')]",
        parts.printed(chosen, learned.run.vocab),
        f"The counts before merge {step + 1}. {parts.SPELLED}",
    )


def _merged_parts(merge: Merge | None, learned: Walk) -> Tiles:
    if merge is None:
        return Tiles(())
    return Tiles((showing.tile(merge.left, learned), showing.tile(merge.right, learned)))


def ask_merges(example: Learned) -> Question:
    return choose_text(
        "Can a token hold the end of one word and the start of the next?",
        ("Yes, if it is frequent", "No"),
        1,
        "No merge crosses a gap. A token may begin with a space, but only a token of white space "
        f"alone contains one after its start. {showing.room(example.run)}",
    )


def show_merges(example: Learned) -> Ran:
    return showing.show_merges(example.run, key="cuts", start=8)


def find_claims() -> tuple[Claim, ...]:
    """Check what the notebook states, also of the four documents."""
    learned = trained(parts.split_documents(FIRST_SENTENCES), "first-seen")
    elsewhere = trained(parts.split_documents(four_documents.FIRST_DOCUMENTS), "first-seen")
    winner, there = learned.merges[0], elsewhere.merges[0]
    found = [
        to_printable(learned.run.vocab[id])
        for one in get_pretokenizer("gpt2").split("This is not a token")
        for id in learned.encode(learned.base_symbols(one) or ())
    ]
    return (
        Claim(
            "The first merge is (Ġ, t).",
            f"True here, where {_printable_pair(learned, winner)} occurs {winner.count} times. On "
            f"the four documents it would be {_printable_pair(elsewhere, there)}.",
            f"{parts.format_sum(elsewhere, there.pair)}\n"
            "A result written down before counting is right only by luck.",
        ),
        Claim(
            "Its last cell prints nothing: its call comes after the function’s return.",
            " + ".join(found),
            f"“This is not a token” with the {len(learned.merges)} merges of its own sentences",
        ),
    )


def _printable_pair(learned: Walk, merge: Merge) -> str:
    left, right = (to_printable(learned.run.vocab[id]) for id in merge.pair)
    return f"({left}, {right})"


def find_claims_on_gpt2() -> tuple[Claim, ...]:
    """Check the ids that the teaching module prints for GPT-2."""
    tokenizer = gpt2()
    quick = tokenizer.encode("The quick brown fox")
    return (
        Claim(
            "The quick brown fox is [464, 2069, 7586, 21831].",
            f"It is {quick}.",
            f"id 2069 is {parts.quoted(tokenizer.vocab[2069])}, "
            f"id {quick[1]} is {parts.quoted(tokenizer.vocab[quick[1]])}",
        ),
    )


LESSON = Lesson(
    "GPT-2’s cuts",
    "Four sentences cut as in GPT-2: spaces, bytes, ties, and GPT-2 itself.",
    read_input,
    (
        LessonStep("Cuts", "Where the text is cut", ask_cuts, show_cuts),
        LessonStep(
            "Bytes",
            "Bytes written as printable characters",
            ask_printable,
            show_printable,
        ),
        LessonStep("Alphabet", "What the vocabulary starts with", ask_alphabet, show_alphabet),
        LessonStep("Ties", "Two rules for ties", ask_ties, show_ties),
        LessonStep("Merges", "Merge by merge", ask_merges, show_merges),
        LessonStep("New text", "Encode a new text", ask_new_text, show_new_text),
        LessonStep("GPT-2", "The same with 50,000 merges", ask_gpt2, show_gpt2),
    ),
    (
        LessonSource(parts.COURSE_NOTEBOOK, find_claims),
        LessonSource(parts.MODULE, find_claims_on_gpt2),
    ),
)
