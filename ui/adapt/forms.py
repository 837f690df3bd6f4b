"""Draw the forms of Adapt: the base, the corpus and the number of new tokens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import streamlit as st

from bpe_core.comparison.costs import embedding_rows
from bpe_core.tokenizer.tokenizer import Tokenizer
from ui.adapt.bases import Base, choose_base, usable
from ui.adapt.terms_field import ask_for_terms, terms_of
from ui.adapt.token_choices import Choices, TokenChoices
from ui.corpus.corpus_form import ChosenCorpus, choose_corpus, show_corpus
from ui.shell import workspace
from ui.shell.action_row import action_row, show_missing
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


def show_extend_form(
    stored: StoredRun, live: Extension | None, *, can_start: bool, start: Start
) -> None:
    """Draw the forms for an extension; `start` is called if Extend is pressed.

    They are filled from the one that is `live`, or else from the open run.
    """
    form, row = st.container(), action_row()
    with form:
        base = choose_base(stored)
        tokenizer = usable(base)
        chosen, figures = choose_corpus()
        is_counted = False
        if chosen is not None:
            with figures:
                pretokenizer = None if tokenizer is None else tokenizer.pretokenizer.name
                is_counted = show_corpus(chosen, pretokenizer)
        n_tokens = _choose_size(base, _first_size(stored) if live is None else live.n_tokens)
        first = terms_of(stored.run.terms) if live is None else "\n".join(live.terms)
        terms = ask_for_terms("adapt_terms", first)
    again = _asked_again(stored)
    is_ready = is_counted and tokenizer is not None and n_tokens is not None and can_start
    # Enabled even if the form is not complete: the browser sends what was typed last together with
    # the press.
    with row:
        is_pressed = st.button("Extend", type="primary", key="extend", disabled=not can_start)
        if is_pressed and not is_ready:
            show_missing("Complete the form first.")
    if again is not None and not is_ready:
        st.error(
            "Extending again needs a base, a corpus and a number of tokens. Choose them above."
        )
    elif (
        is_ready
        and (is_pressed or again is not None)
        and chosen is not None
        and tokenizer is not None
        and n_tokens is not None
    ):
        pinned, left_out = ((), ()) if again is None else (again.pinned, again.left_out)
        start(chosen, Extension(base.name, n_tokens, terms, pinned, left_out), tokenizer)


def _asked_again(stored: StoredRun) -> TokenChoices | None:
    """Return the choices with which Extend again was just pressed, once."""
    choices = workspace.get(Choices).to_extend
    if choices is None:
        return None
    workspace.update(Choices, to_extend=None)
    return choices if choices.run_id == stored.id else None


def _first_size(stored: StoredRun) -> int:
    """Return the number of tokens that the open run was asked for, or a usual one."""
    run = stored.run
    asked = 0 if run.base is None else run.config.vocab_size - run.base.vocab_size
    return asked if _LIMITS.problem_with(asked) is None else _FIRST_TOKENS


def _choose_size(base: Base, first: int) -> int | None:
    st.header("New tokens", anchor=False)
    n_tokens = whole_number(
        "Tokens to add",
        _LIMITS,
        first,
        key="adapt_tokens",
        help="One run covers every smaller number too: a slider below the result cuts it.",
    )
    if n_tokens is not None:
        rows = embedding_rows(base.encoder)
        st.markdown(
            f":gray[:small[{rows:,} + {n_tokens:,} = {rows + n_tokens:,} rows in the model’s "
            "embedding. Every token of the base keeps its id.]]"
        )
    return n_tokens
