"""Compare a visitor's own terms: the tokens of each, which are one token, and the loss."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import streamlit as st

from bpe_core.comparison.terms import TermCuts, read_terms, terms_by_loss
from bpe_core.errors import BpeError
from ui.compare.term_figures import (
    ALONE,
    FORMS,
    LOSS,
    cuts_of,
    one_token_sentence,
    term_rows,
    terms_csv,
    total_sentence,
)
from ui.compare.terms_text import FIRST_TERMS, own_terms, terms_field, terms_opener
from ui.components.term_table import TermRow, term_table
from ui.look.labels import plain_markdown, plain_text
from ui.look.term_lists import lines_left_out
from ui.shell.choices import choose_one
from ui.tokenizers.shelf import Member

_MOST_ROWS = 500


class Terms(NamedTuple):
    """The terms as the report shows them; they may be a visitor's own."""

    rows: Sequence[TermRow]
    sentences: str
    note: str
    """How they were encoded and sorted."""
    n_terms: int
    """How many terms there are; `rows` has the first of them."""


def terms_part(members: Sequence[Member]) -> Terms | None:
    """Draw the visitor's terms under all tokenizers; return them if they are not the sample."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.header("Your terms", anchor=False, width="content")
        st.space("stretch")
        terms_opener()
    text = own_terms()
    st.markdown(":gray[Words or phrases that matter to you, one per line.]")
    terms_field(text)
    listed = read_terms(text)
    if words := lines_left_out(listed):
        st.warning(words)
    if not listed.terms:
        st.info("There are no terms yet. Type some above, one per line.")
        return None
    try:
        cuts = [cuts_of(listed.terms, member.encoder) for member in members]
    except BpeError as error:
        st.error(plain_markdown(str(error), 600))
        return None
    terms = _draw(listed.terms, cuts, members)
    return None if text == FIRST_TERMS else terms


def _draw(
    terms: Sequence[str], cuts: Sequence[Sequence[TermCuts]], members: Sequence[Member]
) -> Terms:
    names = [member.name for member in members]
    with st.container(horizontal=True, vertical_alignment="top", gap="medium"):
        form = choose_one("Encoded", list(FORMS), key="terms_form", shows_label=True)
        name = st.selectbox(
            "Sorted by the loss of",
            names,
            format_func=plain_text,
            width=260,
            key="terms_of",
            bind="query-params",
        )
    chosen = names.index(name) if name in names else 0
    shown = [[cut.alone if form == ALONE else cut.in_text for cut in of_one] for of_one in cuts]
    found = terms_by_loss(terms, shown, chosen)
    sentences = f"{one_token_sentence(names, shown)} {total_sentence(names, shown)}"
    st.markdown(plain_markdown(sentences, 2_000))
    st.markdown(f":gray[{FORMS[form]} {LOSS}]")
    rows = term_rows(found[:_MOST_ROWS], [member.encoder for member in members])
    term_table(names, rows, caption="Your terms", loss_of="Loss", key="compare_terms")
    by_term = dict(zip(terms, zip(*cuts, strict=True), strict=True))
    st.download_button(
        "Download the terms",
        lambda: terms_csv(names, chosen, found, by_term),
        file_name="terms.csv",
        mime="text/csv",
        on_click="ignore",
        key="terms_csv",
    )
    more = f" The table holds the first {_MOST_ROWS} of {len(found):,} terms; the CSV holds all."
    st.markdown(
        ":small[:gray[CSV: one line per term, with the tokens after a space and alone, the cut and "
        f"the ids.{more if len(found) > _MOST_ROWS else ''}]]"
    )
    note = f"{FORMS[form]} {LOSS} Sorted by the loss of {names[chosen]}."
    return Terms(rows, sentences, note, len(found))
