"""What is told of a token that was chosen in a text: how its word was merged, and its origin."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import streamlit as st

from bpe_core.tokenizer.tokenizer import Tokenizer
from bpe_core.types import Explanation, Pair
from bpe_core.vocabulary.provenance import MOST_SEARCHED, source_lines, token_origin
from ui.components.symbol_rows import SymbolRow, Tile, Tiles
from ui.components.token_origin import OriginLine, OriginWord, TokenOriginData
from ui.look.labels import token_for_browser
from ui.own_text.own_reading import OwnReading
from ui.storage.run_store import load_run, training_text
from ui.storage.training_text import MOST_KEPT

MOST_EXPLAINED = 64
"""Bytes of the longest pre-token whose steps are shown, a row each."""


@dataclass(frozen=True, slots=True)
class WordSteps:
    """The pre-token that a token stands in, and how it was merged."""

    word: str
    rows: tuple[SymbolRow, ...]
    note: str
    """How to read the rows, or why there are none, or none but the first."""


def index_chosen(message: object, reading: OwnReading) -> int | None:
    """The segment that a browser says was chosen; the telling one where it says none of these.

    What it says is a stamp and a number, and may be anything, or be of another text.
    """
    if isinstance(message, dict):
        stamp, index = message.get("stamp"), message.get("index")  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        if (
            stamp == reading.stamp
            and isinstance(index, int)
            and 0 <= index < len(reading.found.ids)
        ):
            return index
    return reading.first_chosen


def word_steps(reading: OwnReading, tokenizer: Tokenizer, index: int) -> WordSteps:
    """How the pre-token was merged that a segment of a text stands in."""
    token_id = int(reading.found.ids[index])
    if token_id < 0:
        return WordSteps("", (), "It is in no token, so nothing was merged.")
    if token_id in tokenizer.special_tokens.values():
        return WordSteps("", (), "A special token is read whole. Nothing was merged.")
    word, is_cut = _word_around(reading, tokenizer, index)
    if is_cut:
        return WordSteps(word, (), "The text that is shown ends within this pre-token.")
    n_bytes = len(word.encode())
    if n_bytes > MOST_EXPLAINED:
        note = (
            f"This pre-token has {n_bytes:,} bytes. Steps are shown of those with up to "
            f"{MOST_EXPLAINED}; the tree of the token shows how it was made."
        )
        return WordSteps(word, (), note)
    explained = tokenizer.explain_word(word)
    rows = [row for each in explained for row in _rows(each, tokenizer)]
    note = "No merge joins anything in it."
    if any(each.steps for each in explained):
        note = "Each step joins the ringed pair: of those there, the one learned first."
    return WordSteps(word, tuple(rows), note)


@st.cache_resource(max_entries=256, show_spinner=False)
def origin_in_run(run_id: str, token_id: int) -> TokenOriginData:
    """The training words and lines that a token of a run was made in.

    Raises what `load_run` raises, and FormatError where the text kept with the run is damaged.
    """
    run = load_run(run_id).run
    tokenizer = run.tokenizer
    if token_id in tokenizer.special_tokens.values():
        return TokenOriginData("A special token is given, not learned from text.", (), (), "")
    origin = token_origin(run, token_id)
    if not origin.n_made:
        return TokenOriginData("It is nowhere in the training text.", (), (), "")
    made_by = next((merge for merge in run.merges if merge.id == token_id), None)
    made = (
        "It is in the alphabet."
        if made_by is None
        else f"Merge {made_by.rank + 1:,} of {len(run.merges):,} made it, of a pair that then "
        f"stood {_times(made_by.count or 0)}."
    )
    words = "word" if origin.n_words == 1 else "different words"
    sentence = (
        f"{made} It stood {_times(origin.n_made)} in the training text, in {origin.n_words:,} "
        f"{words}; {_of_them(origin.n_kept, origin.n_made)} after the last merge."
    )
    lines, note = _lines(run_id, token_id)
    return TokenOriginData(
        sentence,
        tuple(
            OriginWord(_pieces_of_bytes(each.word, each.spans), each.count, each.n_kept > 0)
            for each in origin.words
        ),
        lines,
        note,
    )


def _lines(run_id: str, token_id: int) -> tuple[tuple[OriginLine, ...], str]:
    run = load_run(run_id).run
    kept = training_text(run_id)
    if kept is None:
        return (), "The training text was not kept with this run, so its lines can't be shown."
    if not kept.corpus.documents:
        return (), "It was trained on weighted words, which stand in no lines."
    found = source_lines(run, kept.corpus, token_id)
    lines = tuple(
        OriginLine(
            place=f"{each.document}, line {each.line:,}",
            pieces=tuple(_pieces(each.text, each.spans)),
            cut_before=each.cut_before,
            cut_after=each.cut_after,
        )
        for each in found.lines
    )
    if lines and kept.is_whole:
        return lines, ""
    if not kept.is_whole:
        part = f"Of the training text, the first {MOST_KEPT:,} characters are kept with the run"
        return lines, f"{part}." if lines else f"{part}; no line of them holds it."
    if found.is_all:
        return (), "No line of the training text holds it."
    return (), f"None of the first {min(found.n_searched, MOST_SEARCHED):,} characters holds it."


def _word_around(reading: OwnReading, tokenizer: Tokenizer, index: int) -> tuple[str, bool]:
    """The pre-token that a segment stands in, and whether the shown text ends within it."""
    found = reading.found
    starts = np.flatnonzero(found.starts_pretoken)
    # A marker that stands alone begins nothing, so it comes after the start of its word.
    k = int(np.searchsorted(starts, index, "right")) - 1
    first = int(starts[k]) if k >= 0 else 0
    is_last = k + 1 >= len(starts)
    stop = len(found.ids) if is_last else int(starts[k + 1])
    begin = int(found.byte_ends[first - 1]) if first else 0
    piece = reading.text.encode()[begin : int(found.byte_ends[stop - 1])].decode()
    if tokenizer.drops_text:
        spans = tokenizer.pretokenizer.spans(piece)
        piece = piece[spans[0][0] : spans[0][1]] if spans else piece
    return piece, is_last and not reading.is_all


def _rows(explained: Explanation, tokenizer: Tokenizer) -> Iterator[SymbolRow]:
    rounds = [explained.symbols, *(step.symbols for step in explained.steps)]
    joined = [step.merge for step in explained.steps]
    for n, symbols in enumerate(rounds):
        rings = _places(symbols, joined[n].pair) if n < len(joined) else ()
        tiles = tuple(
            Tile(tokenizer.vocab[id], None if tokenizer.parts(id) is None else id) for id in symbols
        )
        yield SymbolRow(
            label=f"{n}" if n else "start",
            cells=(Tiles(tiles, rings),),
            note=f"merge {joined[n - 1].rank + 1:,}" if n else "",
        )


def _places(symbols: Sequence[int], pair: Pair) -> tuple[tuple[int, int], ...]:
    """Where a pair is joined, from left to right: half-open stretches of symbols."""
    places: list[tuple[int, int]] = []
    at = 0
    while at + 1 < len(symbols):
        if (symbols[at], symbols[at + 1]) == pair:
            places.append((at, at + 2))
            at += 1
        at += 1
    return tuple(places)


def _pieces(text: str, spans: Sequence[tuple[int, int]]) -> Iterator[tuple[str, bool]]:
    """A text in pieces, each with whether it is in a span; spans may overlap."""
    at = 0
    for start, end in spans:
        if start > at:
            yield text[at:start], False
        if end > max(at, start):
            yield text[max(at, start) : end], True
        at = max(at, end)
    if at < len(text):
        yield text[at:], False


def _pieces_of_bytes(
    word: bytes, spans: Sequence[tuple[int, int]]
) -> tuple[tuple[str | list[int], bool], ...]:
    # In Latin-1 each byte is a character.
    pieces = _pieces(word.decode("latin-1"), spans)
    return tuple((token_for_browser(part.encode("latin-1")), inside) for part, inside in pieces)


def _times(n: int) -> str:
    return "once" if n == 1 else "twice" if n == 2 else f"{n:,} times"


def _of_them(n_kept: int, n_made: int) -> str:
    if n_kept == 0:
        return "none of them is still a token of its own"
    if n_kept == n_made:
        return "all of them are still tokens" if n_made > 1 else "it is still a token"
    still = "is still a token of its own" if n_kept == 1 else "are still tokens of their own"
    return f"{n_kept:,} of them {still}"
