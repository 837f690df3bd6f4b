"""Draw the choice of the column that holds a table's text, with a few of its rows."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from bpe_core.corpus.columns import percent
from ui.look.labels import plain_markdown, plain_text
from ui.run.corpus_summary import MAX_TABLES_DESCRIBED, AlikeTables

_MAX_NAME_LENGTH = 60
_MAX_SAMPLE_LENGTH = 140
_MAX_FIELDS = 6


def column_fields(tables: Sequence[AlikeTables]) -> dict[str, str]:
    """Draw a field for each set of columns; return the chosen column by the name of the table.

    Tables are left out if it is the column that is taken anyway.
    """
    chosen: dict[str, str] = {}
    for place, alike in enumerate(tables[:_MAX_FIELDS]):
        chosen |= _column_field(alike, f"corpus_column_{place}" if place else "corpus_column")
    if len(tables) > _MAX_FIELDS or sum(len(alike.names) for alike in tables) == (
        MAX_TABLES_DESCRIBED
    ):
        st.markdown(":gray[:small[The column taken from each other table is listed below.]]")
    return chosen


def _column_field(alike: AlikeTables, key: str) -> dict[str, str]:
    first = alike.columns[0]
    found = {column.name: column for column in first.readable}
    taken = first.chosen.name if first.chosen is not None else None
    name = taken
    if len(found) > 1 or taken is None:
        by_share = sorted((column.name for column in first.texts), key=lambda n: -found[n].share)
        choices = [*by_share, *(column.name for column in first.others)]
        name = st.selectbox(
            "Column with the text",
            choices,
            index=None if taken is None else choices.index(taken),
            placeholder="Choose the column to read",
            format_func=lambda name: (
                f"{plain_text(name, _MAX_NAME_LENGTH)}, {percent(found[name].share)} of the "
                "characters"
            ),
            key=key,
            help=_HELP,
            persist_state="session",
        )
    source = plain_markdown(alike.names[0])
    if (n := len(alike.names)) > 1:
        source += f", the first of {n:,} tables with these columns"
    sampled = "; shares are of a sample of its rows" if first.is_sample else ""
    if name is None:
        st.markdown(f":gray[:small[{source} has no column that is clearly text.]]")
        return {}
    start = "Rows of" if len(found) > 1 else "From"
    rows = [f"- {plain_markdown(text, _MAX_SAMPLE_LENGTH)}" for text in found[name].samples]
    st.markdown("\n".join([f":gray[:small[{start} {source}{sampled}:]]", *rows]))
    return {
        table: name
        for table, columns in zip(alike.names, alike.columns, strict=True)
        if columns.chosen is None or columns.chosen.name != name
    }


_HELP = (
    "At first the column named text, content, body or the like, if it holds real text; otherwise "
    "the one with the most characters. Columns of numbers, or of text without letters, come last. "
    "Tables with other columns have their own choice."
)
