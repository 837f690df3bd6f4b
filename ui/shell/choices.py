"""Draw a choice between a few options, and keep it in the address."""

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
    """Draw a row of options of which one is always chosen, at first the first.

    Once made, the choice is in the address under `key`. Any other value there, such as an empty
    one, counts as the first option.
    """
    # Not the widget's default: "Next" and "Back" on Lessons set its value too, and Streamlit warns
    # about a widget that has both.
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
    # The type rules this out, but it happens after the browser's Back, and when an option is no
    # longer offered.
    if chosen is None or chosen not in options:
        workspace.forget_widgets(key)
        st.rerun()
    return chosen


def choose_part(parts: Sequence[str], linked: str | None) -> str:
    """Draw the choice between a page's parts, kept in the address; return the chosen one.

    At first it is `linked`, if the address names no part but has something that is in that one.
    """
    workspace.start_choice("part", linked or parts[0])
    return choose_one("Part of the page", parts, key="part")
