"""Draw the forms of Adapt: the base, the corpus and the number of new tokens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import streamlit as st

from bpe_core.comparison.costs import embedding_rows
from bpe_core.comparison.terms import read_terms
from bpe_core.tokenizer.tokenizer import Tokenizer
from ui.adapt.bases import Base, choose_base, usable
from ui.corpus.corpus_form import ChosenCorpus, choose_corpus, show_corpus
from ui.look.term_lists import lines_left_out
from ui.shell import workspace
from ui.shell.number_field import Limits, whole_number
from ui.shell.workspace import TokenChoices
from ui.storage.base_tokenizer import Extension
from ui.storage.run_store import StoredRun

_FIRST_TOKENS: Final = 1_000
_TERMS: Final = "adapt_terms"
_MOST_CHARACTERS: Final = 100_000
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
    n_tokens = _choose_size(base, stored)
    terms = _choose_terms(stored)
    again = _asked_again(stored)
    is_ready = is_counted and tokenizer is not None and n_tokens is not None and can_start
    is_pressed = st.button("Extend", type="primary", key="extend", disabled=not is_ready)
    if again is not None and not is_ready:
        st.error(
            "Extending again needs a base, a corpus and a number of tokens. Choose them above."
        )
    elif (
        (is_pressed or again is not None)
        and chosen is not None
        and tokenizer is not None
        and n_tokens is not None
    ):
        pinned, left_out = ((), ()) if again is None else (again.pinned, again.left_out)
        start(chosen, Extension(base.name, n_tokens, terms, pinned, left_out), tokenizer)


def _asked_again(stored: StoredRun) -> TokenChoices | None:
    """Return the choices with which Extend again was just pressed, once."""
    choices = workspace.current().token_choices
    if choices is None:
        return None
    workspace.update(token_choices=None)
    return choices if choices.run_id == stored.id else None


def _choose_terms(stored: StoredRun) -> tuple[str, ...]:
    workspace.start_choice(
        _TERMS, "\n".join(cost.term for cost in stored.run.terms if isinstance(cost.term, str))
    )
    text = st.text_area(
        "Domain terms, one per line",
        key=_TERMS,
        height=104,
        max_chars=_MOST_CHARACTERS,
        placeholder="Kubernetes\nkubelet",
        help="Each is made one token before any other is learned. The result says what each cost "
        "in new tokens, how often your text contains it, or why it cannot be a token.",
        persist_state="session",
    )
    listed = read_terms(text or "")
    if words := lines_left_out(listed):
        st.warning(words)
    if listed.terms:
        n = len(listed.terms)
        st.markdown(
            f":gray[:small[{n:,} {'term is' if n == 1 else 'terms are'} tried first. Their merges "
            "count among the tokens to add.]]"
        )
    return listed.terms


def _first_size(stored: StoredRun) -> int:
    """Return the number of tokens that the open run was asked for, or a usual one."""
    run = stored.run
    asked = 0 if run.base is None else run.config.vocab_size - run.base.vocab_size
    return asked if _LIMITS.problem_with(asked) is None else _FIRST_TOKENS


def _choose_size(base: Base, stored: StoredRun) -> int | None:
    st.header("New tokens", anchor=False)
    n_tokens = whole_number(
        "Tokens to add",
        _LIMITS,
        _first_size(stored),
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
