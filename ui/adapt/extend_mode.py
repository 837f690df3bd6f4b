"""Draw Extend: the forms, the running job, and the extended run that is open."""

from __future__ import annotations

import streamlit as st

from bpe_core.errors import BpeError
from bpe_core.tokenizer.tokenizer import Tokenizer
from ui.adapt.by_kind import draw_kinds
from ui.adapt.files_part import offer_files
from ui.adapt.forms import show_extend_form
from ui.adapt.new_tokens import draw_new_tokens
from ui.adapt.result import lead_with_result, show_result
from ui.adapt.size_part import choose_cut, draw_costs
from ui.adapt.term_costs import draw_term_costs
from ui.corpus.corpus_form import ChosenCorpus
from ui.host.error_boundary import fragment
from ui.look.labels import plain_markdown
from ui.run.training_card import training_outcome, watch_training
from ui.shell.following import note_training
from ui.shell.visitor import visitor
from ui.storage.base_tokenizer import Extension, title_of_extended
from ui.storage.run_store import StoredRun
from ui.work import jobs
from ui.work.page_state import CancelledWithoutRun, Failed, Live, PageState, Unknown


def draw_extending(stored: StoredRun, state: PageState) -> None:
    """Draw the forms beside the job or its result, and the open run if it is an extended one."""
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
