"""Draw the new tokens of an extended run with the base tokens that each replaces."""

from __future__ import annotations

import csv
import io
from typing import Final

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from bpe_core.tokenizer.tokenizer import Tokenizer
from bpe_core.types import Merge
from ui.adapt.result import base_name
from ui.adapt.token_choices import choose_tokens
from ui.components.term_table import TermCell, TermRow, term_table
from ui.failures.error_boundary import fragment
from ui.look.labels import file_stem, plain_markdown, token_label
from ui.storage.run_store import StoredRun

_MOST_ROWS: Final = 500
_LONGEST_QUERY: Final = 200
_IN_ORDER, _BY_SAVING = "as learned", "by tokens saved"
_SAYS: Final = "Saved: how many fewer tokens the training text took once this one was learned."


@fragment()
def draw_new_tokens(stored: StoredRun, kept: int) -> None:
    """Draw the first `kept` new tokens: a search, the table and a CSV of all."""
    st.header("New tokens", anchor=False)
    base = base_name(stored)
    st.markdown(
        f":gray[Each new token beside the tokens of {plain_markdown(base)} that it replaces. A new "
        "row of the embedding usually starts as the mean of theirs.]"
    )
    merges = stored.run.merges[:kept]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        query = st.text_input(
            "Search the new tokens",
            type="search",
            live=True,
            max_chars=_LONGEST_QUERY,
            placeholder="Part of a token",
            key="adapt_search",
            width=320,
        )
        order = st.segmented_control(
            "Order",
            (_IN_ORDER, _BY_SAVING),
            default=_IN_ORDER,
            required=True,
            key="adapt_order",
            label_visibility="collapsed",
        )
    tokenizer = stored.run.tokenizer
    found = found_merges(merges, tokenizer, query or "")
    if order == _BY_SAVING:
        found = by_saving(stored, found)
    if not found:
        nothing = "No new token holds this text." if query else "No token is added at this cut."
        st.info(nothing)
        return
    term_table(
        ["New", base],
        token_rows(stored, found[:_MOST_ROWS]),
        caption="New tokens and the tokens they replace",
        loss_of="Saved",
        term_of="Token",
        key="adapt_new_tokens",
    )
    choose_tokens(stored, found[:_MOST_ROWS])
    more = len(found) - _MOST_ROWS
    rest = f" The table holds the first {_MOST_ROWS} of {len(found):,}." if more > 0 else ""
    st.download_button(
        "New tokens as CSV",
        lambda: tokens_csv(stored, kept),
        file_name=f"{file_stem(stored.title)}-new-tokens.csv",
        mime="text/csv",
        on_click="ignore",
        key="adapt_tokens_csv",
    )
    st.markdown(f":small[:gray[{_SAYS}{rest} CSV: one line per new token, with ids and bytes.]]")


def found_merges(merges: tuple[Merge, ...], tokenizer: Tokenizer, query: str) -> list[Merge]:
    """Return the merges whose token holds a text; a space may be typed as ␣."""
    wanted = query.replace("␣", " ").encode("utf-8", "surrogatepass").lower()
    vocab = tokenizer.vocab
    return [merge for merge in merges if wanted in vocab[merge.id].lower()]


def by_saving(stored: StoredRun, merges: list[Merge]) -> list[Merge]:
    """Return merges with those that saved most tokens first."""
    saved = _saved(stored)
    return sorted(merges, key=lambda merge: -saved[merge.rank])


def token_rows(stored: StoredRun, merges: list[Merge]) -> list[TermRow]:
    """Return a row for each merge: its token, the tokens it saved, and the base's tokens for it."""
    vocab, parts = stored.run.tokenizer.vocab, stored.run.new_tokens
    saved = _saved(stored)
    rows: list[TermRow] = []
    for merge in merges:
        token = vocab[merge.id]
        old = tuple((vocab[id], id) for id in parts[merge.id])
        cells = (TermCell("1", ((token, merge.id),)), TermCell(f"{len(old)}", old))
        rows.append(TermRow(token_label(token), f"{saved[merge.rank]:,}", cells))
    return rows


def tokens_csv(stored: StoredRun, kept: int) -> str:
    """Return the first new tokens as CSV: ids, labels, bytes in hex, tokens saved and base ids."""
    vocab, parts = stored.run.tokenizer.vocab, stored.run.new_tokens
    saved = _saved(stored)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["id", "token", "bytes in hex", "tokens saved", "base ids", "base tokens"])
    for merge in stored.run.merges[:kept]:
        token, old = vocab[merge.id], parts[merge.id]
        label = token_label(token)
        writer.writerow(
            [
                *(merge.id, f"'{label}" if label.startswith(("=", "+", "-", "@")) else label),
                *(token.hex(), saved[merge.rank], " ".join(map(str, old))),
                # Never first in its field, so no spreadsheet takes a part for a formula.
                "| " + " | ".join(token_label(vocab[id]) for id in old),
            ]
        )
    return text.getvalue()


def _saved(stored: StoredRun) -> NDArray[np.int64]:
    """Return int64[n_merges]: by how many tokens each merge shortened the training text.

    A pair's count is larger if it overlaps itself, as in runs of one letter.
    """
    return -np.diff(stored.run.tokens_after)
