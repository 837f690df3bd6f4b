"""Draw the tokens as a table or a trie, beside the card of the open token."""

from __future__ import annotations

from functools import partial

import streamlit as st

from bpe_core.vocabulary.reachability import Reachability
from ui.components.vocabulary import prefix_walk, token_card, token_table
from ui.shell.choices import choose_one
from ui.vocabulary.address import (
    go_to_prefix,
    go_to_text,
    open_token,
    prefix_of_address,
    search_for,
    token_of_address,
)
from ui.vocabulary.card_data import card_data
from ui.vocabulary.inspection import Inspection
from ui.vocabulary.search import Record
from ui.vocabulary.table_data import prefix_data, table_data

TABLE = "Table"
TRIE = "Trie"


def draw_tokens(inspection: Inspection, record: Record, reachability: Reachability | None) -> None:
    """Draw the tokens that match the record, or their trie, and the open token."""
    st.header("Tokens", anchor=False)
    opened = token_of_address(inspection.encoder, inspection.first_token)
    left, right = st.columns([3, 2], gap="large")
    with left:
        if choose_one("View", [TABLE, TRIE], key="seen_as") == TABLE:
            token_table(
                table_data(inspection, record, reachability, opened),
                key="token_table",
                on_record=partial(search_for, "token_table"),
                on_opened=partial(open_token, "token_table"),
            )
        else:
            st.markdown(":gray[Each branch, with its number of tokens. A filled tile is a token.]")
            prefix_walk(
                prefix_data(inspection, prefix_of_address()),
                key="prefixes",
                on_typed=partial(go_to_text, "prefixes"),
                on_moved=partial(go_to_prefix, "prefixes"),
                on_opened=partial(open_token, "prefixes"),
            )
    with right:
        token_card(
            card_data(inspection, opened, reachability),
            key="token_card",
            on_opened=partial(open_token, "token_card"),
        )
