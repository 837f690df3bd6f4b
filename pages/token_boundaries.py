"""Token boundaries: any text, coloured by token, and how each token was made."""

import streamlit as st

from bpe_core.errors import BpeError
from bpe_core.tokenizer.gpt2 import gpt2_golden_result
from ui.components.token_view import token_view
from ui.corpus import own_reading
from ui.corpus.own_text_field import own_text, text_field
from ui.host.error_boundary import fragment
from ui.look.glossary import definitions, tooltip
from ui.look.labels import plain_markdown
from ui.shell import frame, workspace
from ui.storage.run_store import StoredRun
from ui.token_boundaries.example_texts import FIRST_TEXT, offer_examples
from ui.token_boundaries.opened_file import file_messages, file_opener
from ui.token_boundaries.story_columns import ChosenToken, story_columns
from ui.token_boundaries.token_story import index_chosen
from ui.tokenizers import shelf
from ui.tokenizers.additions import add_button
from ui.tokenizers.choice import choose_tokenizer, draw_shelf_problems
from ui.tokenizers.normalized_part import normalized_part
from ui.tokenizers.shelf import Member


@fragment()
def text_and_tokens(stored: StoredRun) -> None:
    try:
        draw_text_and_tokens(stored)
    except BpeError as error:
        st.error(plain_markdown(str(error), 600))


def draw_text_and_tokens(stored: StoredRun) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown("Your text", width="content")
        st.space("stretch")
        offer_examples()
        file_opener()
    file_messages()
    text = own_text(FIRST_TEXT)
    text_field(text, first=FIRST_TEXT, key="boundaries_text")
    if len(text) > own_reading.MAX_CHARACTERS:
        st.warning(
            f"The text has {len(text):,} characters. Only the first "
            f"{own_reading.MAX_CHARACTERS:,} are read."
        )
        text = text[: own_reading.MAX_CHARACTERS]
    with st.container(horizontal=True, vertical_alignment="center"):
        chosen = choose_tokenizer(stored, key="tokenizer")
        encoder = chosen.encoder
        add_button(stored)
        draw_badge(chosen)
        st.space("stretch")
        spelled = any(token in text for token in encoder.special_tokens)
        as_special = spelled and st.toggle(
            "Recognise special tokens",
            value=True,
            key="special",
            help=tooltip("Special token"),
            bind="query-params",
        )
    draw_shelf_problems()
    note = ""
    if spelled:
        note = f"Special tokens are {'recognised' if as_special else 'read as plain text'}."
    allowed = tuple(encoder.special_tokens) if as_special else ()
    reading = own_reading.read_own_text(text, encoder, allowed)
    if not reading.is_all:
        st.warning(
            f"The text has {reading.n_tokens:,} tokens. Only the first {reading.n_shown:,} are "
            "shown."
        )
    normalized_part(chosen.name, encoder, text, key="boundaries_normalized")
    token_view(
        reading.text,
        reading.packed,
        stamp=reading.stamp,
        chosen=index_chosen(workspace.get(ChosenToken).message, reading),
        name=chosen.name,
        special_note=note,
        code=[shelf.loading_line(chosen)],
        allowed_special=as_special,
        border_terms=definitions("Pre-token"),
        mark_terms=definitions("Mark"),
        key="boundaries_view",
    )
    story_columns(stored, reading, encoder)


def draw_badge(chosen: Member) -> None:
    if chosen.key == shelf.GPT2:
        exact, of = gpt2_golden_result()
        mark, colour = ("✓ ", "green") if exact == of else ("", "orange")
        st.badge(f"{mark}GPT-2 exact: {exact} of {of} texts", color=colour)
    elif chosen.merges_tokenizer is None:
        st.badge(f"encoded by {chosen.encoder.engine}", color="gray")


shown = frame.page_frame(
    "Token boundaries",
    "Type any text to see where the tokenizer splits it. "
    "Point at a token to see what it is and how it was made.",
    help=tooltip("Token"),
)
if shown is not None:
    text_and_tokens(shown)
