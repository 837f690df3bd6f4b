"""One vocabulary cut in five ways, and the tokens at the end of a text that may still change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, groupby, pairwise
from typing import Final

import numpy as np
import streamlit as st

from bpe_core.comparison import renyi
from bpe_core.errors import BpeError
from bpe_core.tokenizer import (
    DROPOUT,
    MAX_PROMPT,
    READERS,
    Encoder,
    Reader,
    encode_by,
    unstable_end,
)
from ui.components import SymbolRow, Tile, Tiles, draw_symbol_rows
from ui.host import cached, fragment
from ui.look import counted, plain_markdown, token_label
from ui.shell import FieldLimits, bound, is_share, whole_number

_MAX_BYTES: Final = 100
"""The most bytes that the rows show, unless a word is longer."""
_MAX_LABELS: Final = 6
_NAMES: Final[Mapping[Reader, str]] = {
    "merges": "Merges",
    "left-to-right": "Longest from the left",
    "longest-first": "Longest first",
    "fewest-tokens": "Fewest tokens",
    "dropout": "Dropout",
}
_SEEDS: Final = FieldLimits(
    0, 1_000_000, "Seeds are counted from 0.", "There are enough below that."
)


@dataclass(frozen=True, slots=True)
class PromptEnd:
    """What text added to a prompt may change."""

    first: int | None
    """The first segment that it may change; None if there is none, or if that is not known."""
    sentence: str
    """What is so, or empty if it is not known."""


@cached()
def prompt_end(text: str, encoder: Encoder, allowed_special: tuple[str, ...]) -> PromptEnd:
    """Return which tokens at the end of a text may change when text is added."""
    if not text or len(text) > MAX_PROMPT:
        return PromptEnd(None, "")
    try:
        end = unstable_end(encoder, text, allowed_special)
        ids = encoder.encode(text, allowed_special)[end.n_stable :]
        (columns,) = encoder.place_tokens([text], allowed_special)
    except BpeError:  # another library encodes, or the alphabet lacks a symbol
        return PromptEnd(None, "")
    if not ids:
        said = "no added text was found that changes its tokens"
        return PromptEnd(None, f"In a prompt, {said}.")
    which = "token is" if len(ids) == 1 else f"{len(ids):,} tokens are"
    return PromptEnd(
        int(np.flatnonzero(columns.ids >= 0)[end.n_stable]),
        f"In a prompt, the last {which} not settled (dashed). With "
        f"“{token_label(end.added.encode())}” added, “{_list(ids, encoder)}” would be "
        f"“{_list(end.ids, encoder)}”.",
    )


def _list(ids: Sequence[int], encoder: Encoder) -> str:
    labels = [token_label(encoder.vocab[id]) for id in ids[:_MAX_LABELS]]
    return " + ".join([*labels, "…"] if len(ids) > _MAX_LABELS else labels)


@fragment()
def five_ways(text: str, encoder: Encoder, allowed_special: tuple[str, ...]) -> None:
    """Draw the text as each reader of the tokenizer's vocabulary cuts it, with counts."""
    if not text or encoder.merged_by is None:
        return
    st.header("One vocabulary, five ways to cut", anchor=False)
    st.markdown(
        ":gray[Other rules for the same tokens. Rings mark what the merges cut otherwise.]",
        help="At the end of each row: the tokens of the text, and their Rényi efficiency, which "
        "says how evenly the vocabulary is used, from 0 to 1.",
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        slider = partial(
            st.slider,
            "Dropout",
            0.0,
            1.0,
            DROPOUT,
            0.05,
            help="How likely it is that a merge is passed over, each time it could be next. Models "
            "are trained so to see many cuts of one word.",
            width=230,
        )
        dropout = bound(
            slider,
            key="dropout",
            usable=is_share,
            expected="a number from 0 to 1",
        )
        with st.container(width=230):
            seed = whole_number(
                "Seed",
                _SEEDS,
                0,
                key="dropout_seed",
                help="Another seed makes another cut by dropout.",
                in_address=True,
            )
    if seed is None:
        return
    try:
        rows = read_rows(text[:MAX_PROMPT], encoder, allowed_special, dropout, seed)
    except BpeError as error:
        st.markdown(f":gray[{plain_markdown(str(error), 400)}]")
        return
    draw_symbol_rows(rows, key="boundaries_readers", caption="The text as each reader cuts it")
    if len(text) > MAX_PROMPT:
        st.markdown(f":gray[Counted in the first {MAX_PROMPT:,} characters.]")


@cached()
def read_rows(
    text: str, encoder: Encoder, allowed_special: tuple[str, ...], dropout: float, seed: int
) -> tuple[SymbolRow, ...]:
    """Return the beginning of a text as each reader cuts it, and how many tokens each makes of all.

    Raises what `encode_by` raises.
    """
    cuts = [
        encode_by(encoder, text, each, dropout=dropout, seed=seed, allowed_special=allowed_special)
        for each in READERS
    ]
    if not cuts[0]:
        return ()
    ends = [[0, *accumulate(len(encoder.vocab[id]) for id in ids)] for ids in cuts]
    common = set[int].intersection(*map(set, ends)) - {0}
    shown = max((end for end in common if end <= _MAX_BYTES), default=min(common))
    own = encoder.merged_by
    parts = {} if own is None else own.table.parts
    merged = set(pairwise(ends[0]))
    rows: list[SymbolRow] = []
    for reader, ids, places in zip(READERS, cuts, ends, strict=True):
        n = places.index(shown)
        tiles = [Tile(encoder.vocab[id], id if id in parts else None) for id in ids[:n]]
        rings = _rings([span not in merged for span in pairwise(places[: n + 1])])
        efficiency = renyi(ids, vocab_size=encoder.vocab_size)
        note = f"{counted(len(ids), 'token')}, {efficiency:.3f}"
        rows.append(SymbolRow(_NAMES[reader], (Tiles((*tiles,), rings, "differs"),), note))
    return tuple(rows)


def _rings(differs: Sequence[bool]) -> tuple[tuple[int, int], ...]:
    """Return the half-open ranges of what differs.

    >>> _rings([False, True, True, False, True])
    ((1, 3), (4, 5))
    """
    ends = [0, *accumulate(len([*group]) for _, group in groupby(differs))]
    return tuple((start, end) for start, end in pairwise(ends) if differs[start])
