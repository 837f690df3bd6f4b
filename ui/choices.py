"""A choice of one among a few, kept in the address."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from ui import workspace


def choose_one(
    label: str,
    options: Sequence[str],
    *,
    key: str,
    shows_label: bool = False,
    help: str | None = None,
) -> str:
    """Draws a row of options of which one is always chosen; the first until another is.

    The choice is in the address under `key`. What is no option there is the first, an empty value
    too: of that one Streamlit makes a row in which nothing is chosen, required or not.
    """
    was_empty = workspace.is_widget_empty(key)
    if was_empty:
        workspace.set_widget(key, options[0])
    chosen = st.segmented_control(
        label,
        options=options,
        # The address leaves the default out.
        default=options[0],
        required=True,
        label_visibility="visible" if shows_label else "collapsed",
        key=key,
        bind="query-params",
        help=help,
    )
    # The type says that it can't be; an empty value in the address says otherwise.
    if chosen not in options:
        if not was_empty:
            st.rerun()
        return options[0]
    return chosen
