"""Teach the third lesson's steps on a text to encode: printable bytes, a new text, and GPT-2."""

from __future__ import annotations

from typing import Final

import streamlit as st

from bpe_core.pretokenizers import get_pretokenizer
from bpe_core.tokenizer import gpt2
from bpe_core.trainers import encode_reference
from bpe_core.types import Merge
from bpe_core.unicode import to_printable
from ui.components import Question, SymbolRow, Tile, Tiles, draw_symbol_rows
from ui.host import cached
from ui.lessons import parts, printing, sentences, tiles
from ui.lessons.parts import Learned, Ran, choose_number
from ui.look import counted

_PRINTABLE: Final = ("printable", " café")
_NEW: Final = ("new_text", "This is not a token.")
_GPT2: Final = ("gpt2_text", "The quick brown fox")


def ask_printable(example: Learned) -> Question:
    parts.draw_field(*_PRINTABLE)
    text = parts.field_text(*_PRINTABLE)
    n = len(text.encode())
    return choose_number(
        f"How many bytes do these {counted(len(text), 'character')} take?",
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
        printing.printed(to_printable(text.encode())),
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
            SymbolRow("", (Tiles((Tile(one.encode()),)), tiles.tiles(ids, learned)))
            for one, ids in encoded
        ],
        key="cuts_new_text",
        caption="Each piece of the text, and its tokens",
        columns=("Piece", "Tokens"),
    )
    pieces = get_pretokenizer("gpt2").split(parts.field_text(*_NEW))
    lacking = [one for one in pieces if learned.base_symbols(one) is None]
    if lacking:
        st.info(sentences.lacking_bytes(lacking))
    ids = [id for _, one in encoded for id in one]
    return Ran(
        (encode_reference,),
        "[encode_reference(symbols, merges) for symbols in pieces]",
        printing.printed([one for _, one in encoded]),
        printing.legend(ids, learned.run.vocab),
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
        printing.printed(all_ids),
    )


@cached()
def _gpt2_merges() -> dict[tuple[int, int], Merge]:
    return {merge.pair: merge for merge in gpt2().merges}
