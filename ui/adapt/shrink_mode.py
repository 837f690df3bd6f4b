"""Draw Shrink: remove the tokens that a corpus uses least, and choose how many."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Final

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from bpe_core.adapting import Removals
from bpe_core.trainers import steps_to_draw
from ui.adapt import in_background as work
from ui.adapt.adapting_process import Removable, judged, max_removed
from ui.adapt.in_background import ShrinkResult
from ui.adapt.order_form import Asked, ask_for_order, ask_what_may_go, draw_by_script
from ui.adapt.result_parts import FURTHER, Curve, Offered, offer_adapted, tokens_over_removals
from ui.components import TermCell, TermRow, draw_term_table, verdict
from ui.host import fragment
from ui.look import CONFIG, counted, plain_text, token_label
from ui.run import draw_figure
from ui.shell import frame, work_form
from ui.storage import StoredRun

_MAX_ROWS: Final = 500
_FIRST_SHARE: Final = 0.4
_NOTHING: Final = (
    "This tokenizer has nothing to remove: it holds only its alphabet and special tokens, which "
    "stay."
)
_NOTHING_CHOSEN: Final = (
    "Nothing can be removed: every token of these scripts is kept, or a token that stays is "
    "merged from it."
)


def draw_shrinking(stored: StoredRun) -> None:
    """Draw the forms, the work in progress, and its result."""
    room = st.container()
    places = work_form()
    with places.form:
        asked = ask_for_order(stored)
        may_go = None if asked.tokenizer is None else ask_what_may_go(asked.tokenizer)
        status = begin = None
        if asked.order is not None and may_go is not None:
            order = replace(asked.order, removable=may_go)
            status = work.shrinking(order)
            if status is None:
                begin = partial(work.begin_shrinking, order)
    places.end(
        "Shrink",
        begin,
        status,
        _explain,
        unit="Tokens removed",
        what="shrinking",
        keys=("shrink", "shrinking"),
    )
    if status is None or status.result is None or may_go is None:
        return
    with room:
        if not status.result.removals.order:
            st.info(_NOTHING_CHOSEN if may_go.is_limited else _NOTHING)
            return
        _lead(status.result, plain_text(asked.base.name.name), may_go)
    st.divider()
    _draw(asked, status.id, status.result.removals)


def _explain() -> None:
    with st.container(border=True, key="shrink_card"):
        st.header("What you will get", anchor=False)
        st.markdown(
            "How small the vocabulary can be before your text takes more tokens. Of the tokens "
            "that no other is merged from, the one your text uses least, or the one learned last, "
            "is removed, again and again. One pass gives every size."
        )


def _lead(shrunk: ShrinkResult, base: str, may_go: Removable) -> None:
    found, sure = shrunk.removals, shrunk.how_sure
    where, tokens = judged(found.held_out_tokens_after, found.tokens_after)
    free = max_removed(tokens)
    share = 100 * free / found.base.vocab_size
    stay = "those that must stay" if may_go.is_limited else "the alphabet and special tokens"
    verdict(
        [
            ("Without ", False),
            (f"{free:,} of {base}’s {counted(found.base.vocab_size, 'token')}", True),
            (f" ({share:.0f}%), {where} takes at most 1% more tokens{sure.in_brackets}.", False),
        ],
        f"Down to {counted(found.base.vocab_size - len(found.order), 'token')}, {stay}, {where} "
        f"goes from {int(tokens[0]):,} to {counted(int(tokens[-1]), 'token')}. Text unlike yours "
        f"can take far more. {sure.method}",
        key="shrink_verdict",
    )


def further_cost(tokens: NDArray[np.int64], gone: int) -> tuple[int, float]:
    """Return a number of further tokens, and how many more tokens a text takes without these.

    These are at most 100 after the first `gone` removals, or the last ones if there are no others.
    The tokens are in per cent of those with the base.

    >>> further_cost(np.array([100, 100, 102, 105]), 1), further_cost(np.array([50, 51]), 1)
    ((2, 5.0), (1, 2.0))
    """
    last = len(tokens) - 1
    start = max(gone - FURTHER, 0) if gone == last else gone
    stop = min(start + FURTHER, last)
    return stop - start, 100 * int(tokens[stop] - tokens[start]) / int(tokens[0])


@fragment()
def _draw(asked: Asked, work_id: str, found: Removals) -> None:
    where, tokens = judged(found.held_out_tokens_after, found.tokens_after)
    size, n = found.base.vocab_size, len(found.order)
    controls, picture = st.columns([2, 3], gap="large", vertical_alignment="center")
    with controls:
        st.header("How small may it be?", anchor=False)
        gone = st.slider(
            "Tokens removed",
            0,
            n,
            int(n * _FIRST_SHARE),
            key=f"tokens_removed_{found.base.fingerprint[:12]}_{n}",
            format="localized",
        )
        more = 100 * (tokens[gone] / tokens[0] - 1)
        with st.container(horizontal=True, horizontal_alignment="distribute"):
            draw_figure(
                "Vocabulary", f"{size - gone:,}", f"{gone / size:.0%} fewer rows", width=124
            )
            name = where[0].upper() + where[1:]
            draw_figure(name, f"{more:+.1f}%", counted(int(tokens[gone]), "token"), width=124)
            further, cost = further_cost(tokens, gone)
            when = "Next" if gone < n else "Last"
            name = f"{when} {counted(further, 'token')}"
            draw_figure(name, f"{cost:+.2f}%", f"on {where}", width=124)
    with picture:
        steps = steps_to_draw(n)
        st.plotly_chart(
            tokens_over_removals(
                steps,
                Curve(where, 100 * (tokens[steps] / tokens[0] - 1)),
                marked=(gone, float(more)),
                theme=frame.theme_type(),
            ),
            key="shrink_curve",
            theme=None,
            config=CONFIG,
            alt=f"More tokens of {where}, in per cent, over the tokens removed.",
        )
    _draw_gone(found, gone)
    st.divider()
    st.header("Files for your model", anchor=False)
    name = plain_text(asked.base.name.name)
    title = f"{name} {counted(size - gone, 'token')}"
    id = f"{work_id} {gone}"
    offered = Offered(id, found.base, lambda: found.at(size - gone))
    offer_adapted(offered, asked.base.name, name, title, key="shrink_files")


def _draw_gone(found: Removals, gone: int) -> None:
    if not gone:
        return
    st.subheader("Removed tokens", anchor=False)
    vocab = found.base.vocab
    removed = found.order[:gone]
    draw_by_script(found.base, removed, caption="Removed tokens, by script")
    shown = list(zip(removed, found.uses[:gone].tolist(), strict=True))[-_MAX_ROWS:][::-1]
    st.markdown(":gray[Last removed first. Uses: in the training text, when it was removed.]")
    draw_term_table(
        ["Base"],
        [
            TermRow(
                token_label(vocab[id]), f"{uses:,}", (TermCell(f"id {id}", ((vocab[id], id),)),)
            )
            for id, uses in shown
        ],
        caption="Removed tokens",
        loss_of="Uses",
        term_of="Token",
        key="shrink_tokens",
    )
