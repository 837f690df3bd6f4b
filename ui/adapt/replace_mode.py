"""Draw Replace: exchange the tokens that a corpus uses least for new ones, at the same size."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Final

import streamlit as st

from bpe_core.adapting.adapted import Adapted
from ui.adapt import background_work as work
from ui.adapt.background_work import Swapped
from ui.adapt.files_part import Offered, offer_adapted
from ui.adapt.order_form import Asked, ask_for_order
from ui.adapt.removal_form import ask_what_may_go
from ui.adapt.term_costs import draw_term_costs
from ui.adapt.terms_field import ask_for_terms
from ui.components.figures import verdict
from ui.components.term_table import TermCell, TermRow, term_table
from ui.look.labels import plain_text, token_label
from ui.shell.number_field import Limits, whole_number
from ui.shell.visitor import visitor
from ui.storage.run_store import StoredRun
from ui.work.work_part import begin_button, show_work

_FIRST_TOKENS: Final = 1_000
_LIMITS: Final = Limits(
    *(1, 50_000),
    "Replace at least one token.",
    "Each replaced token is a row of the embedding to train again.",
)
_MOST_ROWS: Final = 500


def draw_replacing(stored: StoredRun) -> None:
    """Draw the forms, the work in progress, and its result."""
    room = st.container()
    forms, _, side = st.columns([24, 1, 16])
    with forms:
        asked = ask_for_order(stored)
        st.header("Tokens to replace", anchor=False)
        n_tokens = whole_number(
            "Tokens to replace",
            _LIMITS,
            _FIRST_TOKENS,
            key="replace_tokens",
            help="As many are removed as are added: the vocabulary keeps its size.",
        )
        may_go = None if asked.tokenizer is None else ask_what_may_go(asked.tokenizer)
        terms = ask_for_terms("replace_terms", "")
        order = asked.order
        status = begin = None
        if order is not None and n_tokens is not None and may_go is not None:
            order = replace(order, removable=replace(may_go, terms=terms))
            status = work.replacing(order, n_tokens)
            if status is None:
                begin = partial(work.begin_replacing, order, n_tokens, visitor())
        begin_button("Replace", begin, key="replace")
    with side:
        show_work(
            *(work.replacings(), status, _explain),
            unit="Steps",
            what="replacement",
            key="replacing",
        )
    if status is not None and status.result is not None:
        with room:
            _lead(asked, status.result)
        st.divider()
        _draw(asked, status.result)


def _explain() -> None:
    with st.container(border=True, key="replace_card"):
        st.header("What you will get", anchor=False)
        st.markdown(
            "The same number of tokens, but better ones for your text: those it uses least go, and "
            "new ones come after those that stay, so ids change. A removed token that is learned "
            "again keeps its row of the embedding."
        )


def _lead(asked: Asked, found: Swapped) -> None:
    name = plain_text(asked.base.name.name)
    gone = len(gone_for_good(found.adapted))
    again = found.n_tokens - gone
    back = f" {again:,} of the {found.n_tokens:,} removed were learned again." if again else ""
    size = found.adapted.tokenizer.vocab_size
    fewer = 100 * (1 - found.after / found.before) if found.before else 0.0
    verdict(
        [
            (f"With {gone:,} token{'s' * (gone != 1)} replaced, {found.where} takes ", False),
            (f"{abs(fewer):.1f}% {'fewer' if fewer >= 0 else 'more'} tokens", True),
            (f" than with {name}, with the same vocabulary size, {size:,}.", False),
        ],
        f"{found.before:,} → {found.after:,} tokens.{back} Text unlike yours can take more, "
        "because tokens that your text hardly uses are gone.",
        key="replace_verdict",
    )


def gone_for_good(adapted: Adapted) -> list[int]:
    """Return the base's ids of the removed tokens that were not learned again, in that order."""
    kept = set(adapted.old_ids.tolist())
    return [id for id in adapted.removed if id not in kept]


def _draw(asked: Asked, found: Swapped) -> None:
    adapted = found.adapted
    old, new = adapted.base.vocab, adapted.tokenizer.vocab
    name = plain_text(asked.base.name.name)
    gone, made = st.columns(2, gap="large")
    with gone:
        st.subheader("Gone", anchor=False)
        term_table(
            [name],
            [
                TermRow(token_label(old[id]), f"{id}", (TermCell("1", ((old[id], id),)),))
                for id in gone_for_good(adapted)[:_MOST_ROWS]
            ],
            caption="Removed tokens",
            loss_of="Id",
            term_of="Token",
            key="replace_gone",
        )
    with made:
        st.subheader("New", anchor=False)
        rows: list[TermRow] = []
        for id, parts in list(adapted.parts.items())[:_MOST_ROWS]:
            cell = TermCell(f"{len(parts)}", tuple((old[part], part) for part in parts))
            rows.append(TermRow(token_label(new[id]), f"{id}", (cell,)))
        term_table(
            [f"In {name}"],
            rows,
            caption="New tokens and the tokens that spell them",
            loss_of="Id",
            term_of="Token",
            key="replace_new",
        )
    if adapted.terms:
        st.divider()
        draw_term_costs(adapted.terms, f"{name} replaced", key="replace_terms")
    st.divider()
    st.header("Files for your model", anchor=False)
    title = f"{name} {found.n_tokens} replaced"
    id = f"{adapted.base.fingerprint} {adapted.tokenizer.fingerprint}"
    offered = Offered(id, adapted.base, lambda: adapted)
    offer_adapted(offered, asked.base.name, name, title, key="replace_files")
