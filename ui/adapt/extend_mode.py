"""Draw the mode Extend: its form, the training, and the extended tokenizer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import streamlit as st

from bpe_core.comparison.costs import embedding_rows
from bpe_core.errors import BpeError
from bpe_core.tokenizer.tokenizer import Tokenizer
from ui.adapt.bases import Base, choose_base, usable
from ui.adapt.files_part import offer_files
from ui.adapt.new_tokens import Choices, TokenChoices, draw_new_tokens
from ui.adapt.result import lead_with_result, show_result
from ui.adapt.size_part import choose_cut, draw_costs, draw_kinds
from ui.adapt.terms import ask_for_terms, draw_term_costs, join_terms
from ui.corpus.corpus_form import ChosenCorpus, choose_corpus, show_corpus
from ui.host.error_boundary import fragment
from ui.look.labels import plain_markdown
from ui.run.training_card import training_outcome, watch_training
from ui.shell import workspace
from ui.shell.action_row import action_row, show_missing
from ui.shell.following import note_training
from ui.shell.number_field import Limits, whole_number
from ui.shell.visitor import visitor
from ui.storage.base_tokenizer import Extension, title_of_extended
from ui.storage.run_store import StoredRun
from ui.work import jobs
from ui.work.page_state import CancelledWithoutRun, Failed, Live, PageState, Unknown

_FIRST_TOKENS: Final = 1_000
_LIMITS: Final = Limits(
    1,
    100_000,
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
        first = join_terms(stored.run.terms) if live is None else "\n".join(live.terms)
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


def draw_extending(stored: StoredRun, state: PageState) -> None:
    """Draw the forms next to the job or its result, and the open run if it is an extended one."""
    is_live = isinstance(state, Live)
    is_extended = stored.run.base is not None and bool(stored.run.merges)
    if is_extended and not is_live:
        lead_with_result(stored)
    forms, _, result = st.columns([24, 1, 16])
    with result, training_outcome(is_live=is_live):
        _show_outcome(state, stored)
    with forms:
        show_extend_form(stored, _live_extension(state), can_start=not is_live, start=_start)
    if is_extended and not is_live:
        st.divider()
        _draw_run(stored)


def _live_extension(state: PageState) -> Extension | None:
    """Return what the running or queued job was asked for; None without one."""
    plan = jobs.manager().plan(state.job_id) if isinstance(state, Live) else None
    return plan.how if plan is not None and isinstance(plan.how, Extension) else None


def _start(chosen: ChosenCorpus, extension: Extension, base: Tokenizer) -> None:
    try:
        job_id = jobs.manager().submit(
            chosen.corpus,
            (extension, base),
            title=title_of_extended(extension.base, chosen.title),
            held_out_share=chosen.held_out_share,
            held_out_by=chosen.held_out_by,
            origin=chosen.origin,
            visitor=visitor(),
        )
    except BpeError as error:
        st.error(plain_markdown(str(error), 600))
        return
    note_training(job_id)
    st.rerun()


def _show_outcome(state: PageState, stored: StoredRun) -> None:
    if isinstance(state, Live):
        watch_training(state.job_id)
        st.empty()
        return
    st.empty()
    match state:
        case Failed(error=error):
            st.error(f"Extending failed. {plain_markdown(error, 1_000)}")
        case CancelledWithoutRun():
            st.info("It was cancelled before the first new token, so nothing was learned.")
        case Unknown(problem):
            st.warning(plain_markdown(problem, 600))
        case _:
            pass
    if stored.run.base is not None:
        show_result(stored)
    else:
        with st.container(border=True, key="adapt_card"):
            st.header("What you will get", anchor=False)
            st.markdown(
                "How many fewer tokens your text takes, on text that was held out, and what that "
                "costs in rows of the embedding. Then the files for your model."
            )


@fragment()
def _draw_run(stored: StoredRun) -> None:
    cut = choose_cut(stored)
    draw_kinds(stored, cut)
    draw_costs(stored, cut)
    if stored.run.terms:
        st.divider()
        draw_term_costs(stored.run.terms, stored.title, key="adapt_terms")
    st.divider()
    draw_new_tokens(stored, cut.kept)
    st.divider()
    offer_files(stored, cut.kept)
