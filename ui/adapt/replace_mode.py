"""Draw Replace: exchange the tokens that a corpus uses least for new ones, at the same size."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from typing import Final

import streamlit as st

from bpe_core.errors import BpeError
from ui.adapt import background_work as work
from ui.adapt.background_work import Order
from ui.adapt.new_tokens import Choices, TokenChoices
from ui.adapt.order_form import ask_for_order
from ui.adapt.removal_form import ask_what_may_go
from ui.adapt.replace_result import draw_replaced, lead_with_replaced
from ui.adapt.terms import ask_for_terms
from ui.corpus.address_text import leave_address, text_of_address, text_to_address
from ui.look.labels import plain_markdown
from ui.shell import workspace
from ui.shell.action_row import action_row
from ui.shell.number_field import Limits, whole_number
from ui.shell.visitor import visitor
from ui.storage.run_store import StoredRun
from ui.work.work_part import begin_button, show_work

_CHOICES: Final = "replace_choices"
_FIRST_TOKENS: Final = 1_000
_LIMITS: Final = Limits(
    1,
    50_000,
    "Replace at least one token.",
    "Each replaced token is a row of the embedding to train again.",
)


def draw_replacing(stored: StoredRun) -> None:
    """Draw the forms, the work in progress, and its result."""
    room = st.container()
    forms, _, side = st.columns([24, 1, 16])
    order = n_tokens = status = begin = None
    with forms:
        form, row = st.container(), action_row()
    with form:
        asked = ask_for_order(stored)
        st.header("Tokens to replace", anchor=False)
        n_tokens = whole_number(
            "Tokens to replace",
            _LIMITS,
            _FIRST_TOKENS,
            key="replace_tokens",
            help="As many are removed as are added: the vocabulary keeps its size. The result "
            "shows smaller numbers too.",
            in_address=True,
        )
        terms = ask_for_terms("replace_terms", "")
        may_go = None if asked.tokenizer is None else ask_what_may_go(asked.tokenizer)
        order = asked.order
        if order is not None and n_tokens is not None and may_go is not None:
            chosen = _choices_for(order)
            may_go = replace(
                may_go, terms=terms, made_again=chosen.pinned, left_out=chosen.left_out
            )
            order = replace(order, removable=may_go)
            status = work.replacing(order, n_tokens)
            if status is None:
                begin = partial(work.begin_replacing, order, n_tokens, visitor())
    with row:
        begin_button("Replace", begin, status, key="replace")
    # What runs is shown where it was begun; a long form would leave the side out of sight.
    with side if status is None else forms:
        show_work(
            work.replacings(),
            status,
            _explain,
            unit="Steps",
            what="replacement",
            key="replacing",
        )
    if order is None or n_tokens is None or status is None or status.result is None:
        return
    asked = replace(asked, order=order)
    with room:
        lead_with_replaced(asked, status.result)
    st.divider()
    draw_replaced(asked, status.id, status.result, partial(_replace_again, order, n_tokens))


def _explain() -> None:
    with st.container(border=True, key="replace_card"):
        st.header("What you will get", anchor=False)
        st.markdown(
            "The same number of tokens, but better ones for your text: those it uses least are "
            "removed, and new ones follow those that stay, so ids change. A removed token that is "
            "learned again keeps its row of the embedding."
        )


def _choices_for(order: Order) -> TokenChoices:
    """Draw what was chosen among new tokens of this base, and a button that forgets it."""
    id = order.tokenizer.fingerprint
    chosen = workspace.get(Choices).to_replace or _choices_of_address()
    if chosen is None or chosen.run_id != id or not (chosen.pinned or chosen.left_out):
        return TokenChoices(id, (), ())
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(
            f":gray[:small[New tokens left out: {len(chosen.left_out):,}. Pinned: "
            f"{len(chosen.pinned):,}.]]",
            width="content",
        )
        if st.button("Forget these choices", type="tertiary", key="replace_forget"):
            workspace.update(Choices, to_replace=None)
            leave_address(_CHOICES)
            st.rerun()
    workspace.update(Choices, to_replace=chosen)
    packed = json.dumps([chosen.run_id, chosen.pinned, chosen.left_out])
    text_to_address(_CHOICES, packed, longest=len(packed))
    return chosen


def _choices_of_address() -> TokenChoices | None:
    """Return the choices before a reload; None if the address holds none, or anything else."""
    packed = text_of_address(_CHOICES)
    try:
        run_id, pinned, left_out = json.loads(packed or "")
        tokens = tuple(
            tuple(bytes.fromhex(token).hex() for token in each) for each in (pinned, left_out)
        )
    except (ValueError, TypeError, RecursionError):
        return None
    return TokenChoices(str(run_id), *tokens)


def _replace_again(order: Order, n_tokens: int, chosen: TokenChoices) -> None:
    """Begin to replace with other choices among the new tokens."""
    again = replace(order.removable, made_again=chosen.pinned, left_out=chosen.left_out)
    order = replace(order, removable=again)
    try:
        if work.replacing(order, n_tokens) is None:
            work.begin_replacing(order, n_tokens, visitor())
    except BpeError as error:
        st.error(plain_markdown(str(error), 600))
        return
    workspace.update(Choices, to_replace=replace(chosen, run_id=order.tokenizer.fingerprint))
    st.rerun()
