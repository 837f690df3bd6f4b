"""Draw the forms of Adapt: the base, the corpus and the number of new tokens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import streamlit as st

from bpe_core.comparison.costs import embedding_rows
from bpe_core.tokenizer.tokenizer import Tokenizer
from ui.adapt.bases import Base, choose_base, usable
from ui.corpus.corpus_form import ChosenCorpus, choose_corpus, show_corpus
from ui.shell.number_field import Limits, whole_number
from ui.storage.base_tokenizer import Extension
from ui.storage.run_store import StoredRun

_FIRST_TOKENS: Final = 1_000
_LIMITS: Final = Limits(
    *(1, 100_000),
    "Each new token is one merge.",
    "Each new token adds a row to the model’s embedding, which must be trained.",
)

Start = Callable[[ChosenCorpus, Extension, Tokenizer], None]


def show_extend_form(stored: StoredRun, *, can_start: bool, start: Start) -> None:
    """Draw the forms for an extension; `start` is called if Extend is pressed."""
    base = choose_base(stored)
    tokenizer = usable(base)
    chosen, figures = choose_corpus()
    is_counted = False
    if chosen is not None:
        with figures:
            pretokenizer = None if tokenizer is None else tokenizer.pretokenizer.name
            is_counted = show_corpus(chosen, pretokenizer)
    n_tokens = _choose_size(base)
    is_ready = is_counted and tokenizer is not None and n_tokens is not None and can_start
    is_pressed = st.button("Extend", type="primary", key="extend", disabled=not is_ready)
    if is_pressed and chosen is not None and tokenizer is not None and n_tokens is not None:
        start(chosen, Extension(base.name, n_tokens), tokenizer)


def _choose_size(base: Base) -> int | None:
    st.header("New tokens", anchor=False)
    n_tokens = whole_number(
        "Tokens to add",
        _LIMITS,
        _FIRST_TOKENS,
        key="adapt_tokens",
        help="One run holds every smaller number too: a slider below the result cuts it.",
    )
    if n_tokens is not None:
        rows = embedding_rows(base.encoder)
        st.markdown(
            f":gray[:small[{rows:,} + {n_tokens:,} = {rows + n_tokens:,} rows in the model’s "
            "embedding. Every token of the base keeps its id.]]"
        )
    return n_tokens
