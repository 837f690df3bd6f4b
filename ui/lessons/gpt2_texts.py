"""Teach the third lesson's steps on a text to encode: printable bytes, a new text, and GPT-2."""

from __future__ import annotations

import streamlit as st

from bpe_core.pretokenizers.pretokenizers import get_pretokenizer
from bpe_core.tokenizer.gpt2 import gpt2
from bpe_core.trainers.reference import encode_reference
from bpe_core.types import Merge
from bpe_core.unicode.byte_alphabet import to_printable
from ui.components.symbol_rows import SymbolRow, Tile, Tiles, symbol_rows
from ui.lessons import parts, printing, sentences, tiles
from ui.lessons.parts import Learned, Ran


def printable(example: Learned) -> Ran:
    st.markdown(
        "GPT-2’s symbols are all 256 bytes. Its files write each byte as a printable character: a "
        "space becomes `Ġ`, and `é`, which is two bytes in UTF-8, becomes `Ã©`. This only concerns "
        "the files; the lessons show the bytes themselves."
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
        caption="Characters, their bytes, and how GPT-2’s files write the bytes",
        columns=("Character", "Bytes", "As GPT-2 writes them"),
    )
    return Ran(
        (to_printable,),
        f"to_printable({text!r}.encode())",
        printing.printed(to_printable(text.encode())),
    )


def new_text(example: Learned) -> Ran:
    learned = example.yours
    st.markdown(
        "A new text is cut in the same way, and the merges are applied to each piece in the order "
        "in which they were learned. Nothing is counted."
    )
    text = parts.one_text("new_text", "This is not a token.")
    pretokens = get_pretokenizer("gpt2").split(text)
    starts = [(one, learned.base_symbols(one)) for one in pretokens]
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
        st.info(sentences.lacking_bytes(lacking))
    theirs = example.theirs
    found = [
        to_printable(theirs.run.vocab[id])
        for one in get_pretokenizer("gpt2").split("This is not a token")
        for id in theirs.encode(theirs.base_symbols(one) or ())
    ]
    parts.check_claim(
        "cuts_new_text",
        source="The notebook’s last cell",
        stated="prints nothing: its call comes after the function’s return.",
        found=" + ".join(found),
        how=f"“This is not a token” with the {len(theirs.merges)} merges of its own sentences",
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
        "GPT-2 is the same, with 50,000 merges learned from web pages. With GPT-2’s merges, the "
        "code shown here returns GPT-2’s ids."
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
    parts.check_claim(
        "cuts_gpt2",
        source="A teaching module says",
        stated="The quick brown fox is [464, 2069, 7586, 21831].",
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
