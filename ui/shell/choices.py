"""A choice of one among a few, kept in the address."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from ui.shell import workspace


def choose_one(
    label: str,
    options: Sequence[str],
    *,
    key: str,
    shows_label: bool = False,
    help: str | None = None,
) -> str:
    """Draws a row of options of which one is always chosen; the first until another is.

    The choice is in the address under `key` once one was made. What is no option there is the
    first, an empty value too.
    """
    # Not as the widget's default: "Next" and "Back" of the lessons set its value too, and Streamlit
    # warns of a widget that has both. None is what the address's past says by leaving it out.
    workspace.start_choice(key, options[0])
    chosen = st.segmented_control(
        label,
        options=options,
        required=True,
        label_visibility="visible" if shows_label else "collapsed",
        key=key,
        bind="query-params",
        help=help,
    )
    # The type says that it can't be; going back in the browser, and an option that is no longer
    # there, say otherwise.
    if chosen is None or chosen not in options:
        workspace.forget_widgets(key)
        st.rerun()
    return chosen
