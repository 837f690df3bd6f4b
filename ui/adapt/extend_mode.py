"""Draw Extend: its form, the training, and what the new tokens gain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import streamlit as st

from bpe_core.adapting import DEFAULT_COVERAGE, KindGain
from bpe_core.checks import times
from bpe_core.comparison import embedding_rows
from bpe_core.trainers import steps_to_draw
from ui.adapt.new_tokens import (
    Choices,
    TokenChoices,
    ask_for_terms,
    draw_new_tokens,
    draw_term_costs,
    join_terms,
)
from ui.adapt.order_form import ask_for_coverage, choose_base, usable
from ui.adapt.result_parts import (
    Gain,
    base_name,
    choose_general,
    domain_gain,
    draw_advice,
    draw_gain_costs,
    draw_gain_curves,
    draw_gain_figures,
    draw_kind_gains,
    general_gain,
    how_sure,
    offer_files,
    own_gain,
    usual_general,
)
from ui.components import verdict
from ui.corpus import begin_training, choose_corpus, show_corpus
from ui.host import fragment
from ui.look import counted, definitions, plain_markdown
from ui.run import rows_of_cuts, show_failure, training_outcome, watch_training
from ui.shell import (
    FieldLimits,
    action_row,
    linked_number,
    show_missing,
    show_unread,
    whole_number,
    workspace,
)
from ui.storage import Extension, StoredRun, extended_title
from ui.tokenizers import shelf
from ui.work import Training

_FIRST_TOKENS: Final = 1_000
_LIMITS: Final = FieldLimits(
    1,
    100_000,
    "Add at least one token.",
    "Each new token adds a row to the model’s embedding, which must be trained.",
)


def _show_extend_form(stored: StoredRun, *, can_start: bool) -> None:
    """Draw the forms for an extension, and begin it if Extend is pressed.

    They are filled from the address, or else from the open run.
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
        n_tokens = _choose_size(base, _first_size(stored))
        asked = () if stored.run.given_base is None else stored.run.terms
        terms = ask_for_terms("adapt_terms", join_terms(asked))
        coverage = ask_for_coverage(tokenizer, _first_coverage(stored), key="adapt_coverage")
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
        extension = Extension(base.name, n_tokens, terms, pinned, left_out, coverage)
        begin_training(chosen, (extension, tokenizer), extended_title(base.name, chosen.title))


def _asked_again(stored: StoredRun) -> TokenChoices | None:
    """Return the choices with which Extend again was just pressed, once."""
    choices = workspace.get(Choices).to_extend
    if choices is None:
        return None
    workspace.update(Choices, to_extend=None)
    return choices if choices.run_id == stored.id else None


def _first_size(stored: StoredRun) -> int:
    """Return the number of tokens that the open run was asked for, or a usual one."""
    base = stored.run.given_base
    asked = 0 if base is None else stored.run.config.vocab_size - base.vocab_size
    return asked if _LIMITS.problem_with(asked) is None else _FIRST_TOKENS


def _first_coverage(stored: StoredRun) -> float:
    """Return the character coverage that the open run was asked for, or the usual."""
    continues = stored.run.continues
    if continues is None or stored.run.given_base is None:
        return DEFAULT_COVERAGE
    return continues.character_coverage


def _choose_size(base: shelf.Base, first: int) -> int | None:
    st.header("New tokens", anchor=False)
    n_tokens = whole_number(
        "Tokens to add",
        _LIMITS,
        first,
        key="adapt_tokens",
        in_address=True,
        help="One run covers every smaller number too: a slider below the result cuts it.",
    )
    if n_tokens is not None:
        rows = embedding_rows(base.encoder)
        st.markdown(
            f":gray[:small[{rows:,} + {n_tokens:,} = {counted(rows + n_tokens, 'row')} in the "
            "model’s embedding. Every token of the base keeps its id.]]"
        )
    return n_tokens


def draw_extending(stored: StoredRun, job: Training | None) -> None:
    """Draw the forms next to the job or its result, and the open run if it is an extended one."""
    is_live = job is not None and job.is_live
    is_extended = stored.run.given_base is not None and bool(stored.run.new_ids)
    if is_extended and not is_live:
        _lead_with_result(stored)
    forms, _, result = st.columns([24, 1, 16])
    with result, training_outcome(is_live=is_live):
        _show_outcome(job, stored)
    with forms:
        _show_extend_form(stored, can_start=not is_live)
    if is_extended and not is_live:
        st.divider()
        _draw_run(stored)


def _show_outcome(job: Training | None, stored: StoredRun) -> None:
    if job is not None and job.is_live:
        watch_training(job.id)
        st.empty()
        return
    st.empty()
    show_failure(
        job,
        failed="Extending failed.",
        cancelled="Extending was cancelled before the first new token, so nothing was learned.",
    )
    if stored.run.given_base is not None:
        _show_result(stored)
    else:
        with st.container(border=True, key="adapt_card"):
            st.header("What you will get", anchor=False)
            st.markdown(
                "How many fewer tokens your text takes, on text that was held out, and what that "
                "costs in rows of the embedding. Then the files for your model."
            )


@fragment()
def _draw_run(stored: StoredRun) -> None:
    cut = _choose_cut(stored)
    if cut.kept:
        gains = KindGain.of(stored.run, cut.domain.tokens, cut.kept)
        draw_kind_gains(gains, cut.domain.title)
    _draw_costs(stored, cut)
    if stored.run.terms:
        st.divider()
        n_characters = len(stored.run.new_ids) - len(stored.run.merges)
        draw_term_costs(
            stored.run.terms, stored.title, key="adapt_terms", n_characters=n_characters
        )
    st.divider()
    draw_new_tokens(stored, cut.kept)
    st.divider()
    offer_files(stored, cut.kept)


def _lead_with_result(stored: StoredRun) -> None:
    """Draw the sentence on what the open run gains over its base."""
    base, n = base_name(stored), len(stored.run.new_ids)
    domain, general = domain_gain(stored), general_gain(stored.id, usual_general(stored.title))
    sure = how_sure(stored)
    tokens = counted(n, "new token")
    on = domain.title[0].upper() + domain.title[1:]
    sentence = [
        (f"With {tokens}, {domain.title} takes ", False),
        (f"{domain.fewer[-1]:.1f}% fewer tokens", True),
        (f"{sure.in_brackets} than with {base}", False),
        (f"; general text takes {_general_words(general)}.", False),
    ]
    aside = (
        f"{on}: {_from_to(domain)}. General text, “{general.title}”: {_from_to(general)}. No text "
        f"takes more tokens than with {base}: a new token only joins what the base leaves apart. "
        f"{sure.method}"
    )
    verdict(sentence, aside, key="adapt_verdict", terms=definitions("Held-out text", "Merge"))


def _general_words(gain: Gain) -> str:
    """Return how much shorter a general text gets, in per cent."""
    fewer = gain.fewer[-1]
    if gain.tokens[-1] == gain.tokens[0]:
        return "exactly as many"
    return f"{fewer:.1f}% fewer" if fewer >= 0.05 else "less than 0.1% fewer"


def _show_result(stored: StoredRun) -> None:
    """Draw the card of an extended run."""
    run, base = stored.run, base_name(stored)
    with st.container(border=True, key="adapt_card"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.header("Extended", anchor=False, width="content")
            st.space("stretch")
            if run.stop_reason == "cancelled":
                st.badge("stopped early", color="orange")
            else:
                st.badge("✓ finished", color="green")
        st.markdown(f"{plain_markdown(stored.title)}: {_sentence(stored)}")
        domain = domain_gain(stored)
        figures = st.grid(2, min_column_width=130)
        with figures.cell(), st.container(gap="xxsmall"):
            name = domain.title[0].upper() + domain.title[1:]
            st.metric(name, f"{int(domain.tokens[-1]):,}")
            st.markdown(
                f":gray[:small[tokens; {int(domain.tokens[0]):,} with {plain_markdown(base)}]]"
            )
        with figures.cell(), st.container(gap="xxsmall"):
            st.metric("Bytes per token", f"{domain.n_bytes / int(domain.tokens[-1]):.2f}")
            st.markdown(
                f":gray[:small[{domain.n_bytes / int(domain.tokens[0]):.2f} with "
                f"{plain_markdown(base)}]]"
            )
        if stored.not_kept:
            st.warning(f"{stored.not_kept} Download the tokenizer now: it will be lost.")
        if run.merges:
            st.page_link("pages/merge_loop.py", label="Watch the new merges, one by one →")
        if run.new_ids:
            st.page_link("pages/compare.py", label="Compare it with its base →")


def _sentence(stored: StoredRun) -> str:
    run = stored.run
    n = len(run.merges)
    why = {
        "vocab-size": "",
        "no-pairs": " It stopped because no pair was left that may merge.",
        "min-frequency": " It stopped because no pair is frequent enough.",
        "cancelled": " It was cancelled.",
    }[run.stop_reason]
    last = f" The last pair occurred {times(run.merges[-1].count or 0)}." if n else ""
    added = len(run.new_ids) - n
    characters = f"{counted(added, 'new character')} and " if added else ""
    return f"{characters}{counted(n, 'merge')} after those of the base.{why}{last}"


def _from_to(gain: Gain) -> str:
    before, after = int(gain.tokens[0]), int(gain.tokens[-1])
    tokens = counted(after, "token")
    return tokens if before == after else f"{before:,} → {tokens}"


@dataclass(frozen=True, slots=True)
class Cut:
    """A run cut at a number of new tokens, with its figures."""

    kept: int
    domain: Gain
    general: Gain


def _choose_cut(stored: StoredRun) -> Cut:
    """Draw the slider, its figures and the curves; return the cut."""
    n = len(stored.run.new_ids)
    key = f"tokens_kept_{stored.id}"
    kept = workspace.start_widget(key, linked_number("merges", n, n, what="a number of tokens"))
    workspace.set_query(merges=kept if kept != n else None)
    show_unread("merges", kept)
    controls, picture = st.columns([2, 3], gap="large", vertical_alignment="center")
    with controls:
        st.header("How many tokens are worth adding?", anchor=False)
        st.markdown(
            ":small[:gray[Cut this run after any token, without extending again. The downloads "
            "below follow the slider.]]"
        )
        st.markdown(
            f":small[Tokens added **{kept:,}** :gray[of {n:,}, "
            f"{stored.run.tokenizer.vocab_size - (n - kept):,} in all]]"
        )
        st.slider("Tokens added", 0, n, key=key, format="localized", label_visibility="collapsed")
        general = choose_general(
            usual_general(stored.title),
            lambda sample_id: general_gain(stored.id, sample_id),
            lambda corpus: own_gain(stored.id, corpus.sha256, corpus),
            key="adapt",
        )
        cut = Cut(kept, domain_gain(stored), general)
        draw_gain_figures(cut.domain, cut.general, kept)
        draw_advice(stored)
    with picture:
        draw_gain_curves(
            cut.domain,
            cut.general,
            kept,
            base=base_name(stored),
            title=stored.title,
            entries=steps_to_draw(n),
        )
    return cut


def _draw_costs(stored: StoredRun, cut: Cut) -> None:
    """Draw what the cut costs and saves, next to the base and the whole run."""
    n = len(stored.run.new_ids)
    steps = (0, cut.kept, n)
    draw_gain_costs(
        [base_name(stored), f"With {cut.kept:,} more", f"With all {n:,}"],
        cut.domain,
        cut.general,
        steps,
        rows_of_cuts(stored.run)[list(steps)].tolist(),
    )
