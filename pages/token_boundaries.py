"""Token boundaries: any text, coloured by token, and how each token was made."""

from functools import partial
from pathlib import Path

import streamlit as st

from bpe_core.tokenizer import gpt2_golden_result
from ui.components import draw_token_view
from ui.corpus import OwnReading, file_opener, own_texts, text_field
from ui.host import errors_shown, fragment
from ui.look import definitions, tooltip
from ui.shell import SWITCH, bound, choose_part, frame, workspace
from ui.storage import StoredRun
from ui.token_boundaries import (
    FIRST_TEXT,
    ChosenToken,
    conversation,
    draw_drift,
    file_messages,
    five_ways,
    index_chosen,
    offer_examples,
    prompt_end,
    read_file,
    story_columns,
)
from ui.tokenizers import (
    Member,
    add_button,
    choose_tokenizer,
    draw_shelf_problems,
    normalized_part,
    shelf,
)

PARTS = ("Text", "Conversation")


@fragment()
def text_and_tokens(stored: StoredRun) -> None:
    st.html(Path(__file__).with_suffix(".css"))
    with st.container(key="boundaries_parts"), errors_shown():
        draw_text_and_tokens(stored)


def draw_text_and_tokens(stored: StoredRun) -> None:
    # In both parts the choice of a tokenizer has the same place, since one that moves loses its
    # place in the address.
    with st.container(horizontal=True, vertical_alignment="center", key="boundaries_part_row"):
        linked = PARTS[1] if workspace.has_query("chat", "chat_id") else None
        is_chat = choose_part(PARTS, linked) == PARTS[1]
        st.space("stretch")
        if not is_chat:
            offer_examples()
            file_opener("A text file, a table or an archive", read_file, key="boundaries_file")
    with st.container():
        text = "" if is_chat else draw_text()
        given = conversation.draw_conversation() if is_chat else None
        options = conversation.answer_choice() if is_chat else {}
    with st.container(horizontal=True, vertical_alignment="center"):
        chosen = choose_tokenizer(stored, key="tokenizer")
        add_button(stored)
        draw_badge(chosen)
        st.space("stretch")
        as_special, note = (True, "") if is_chat else special_choice(text, chosen)
    draw_shelf_problems()
    talk = None
    if isinstance(given, list):
        draw_drift(chosen, given)
        return
    if is_chat:
        if given is not None:
            talk = conversation.render(chosen, given, options)
        if talk is None:
            return
        text = talk.text
    allowed = tuple(chosen.encoder.special_tokens) if as_special else ()
    reading = own_texts.read_own_text(text, chosen.encoder, allowed)
    if talk is not None:
        conversation.draw_shares(talk, reading)
        conversation.draw_learned(talk, reading)
    with st.container(key="boundaries_tokens"):
        draw_tokens(chosen, reading, text, allowed, note=note)
    story_columns(stored, reading, chosen.encoder)
    five_ways(text, chosen.encoder, allowed)


def draw_text() -> str:
    file_messages()
    text = text_field(FIRST_TEXT, key="boundaries_text")
    if len(text) > own_texts.MAX_CHARACTERS:
        st.warning(
            f"The text has {len(text):,} characters. Only the first "
            f"{own_texts.MAX_CHARACTERS:,} are read."
        )
    return text[: own_texts.MAX_CHARACTERS]


def special_choice(text: str, chosen: Member) -> tuple[bool, str]:
    """Draw the switch for special tokens in the text; return its state and a description."""
    if not any(token in text for token in chosen.encoder.special_tokens):
        return False, ""
    switch = partial(
        st.toggle, "Recognise special tokens", value=True, help=tooltip("Special token")
    )
    as_special = bound(switch, key="special", usable=SWITCH)
    return as_special, f"Special tokens are {'recognised' if as_special else 'read as plain text'}."


def draw_tokens(
    chosen: Member, reading: OwnReading, text: str, allowed: tuple[str, ...], *, note: str = ""
) -> None:
    if not reading.is_all:
        st.warning(
            f"The text has {reading.n_tokens:,} tokens. Only the first {reading.n_shown:,} are "
            "shown."
        )
    normalized_part(chosen.name, chosen.encoder, text, key="boundaries_normalized")
    end = prompt_end(text, chosen.encoder, allowed)
    draw_token_view(
        reading.text,
        reading.packed,
        stamp=reading.stamp,
        chosen=index_chosen(workspace.get(ChosenToken).message, reading),
        name=chosen.name,
        special_note=note,
        code=[shelf.loading_line(chosen)],
        allowed_special=bool(allowed),
        unsettled=end.first,
        end_note=end.sentence,
        border_terms=definitions("Pre-token"),
        mark_terms=definitions("Mark"),
        key="boundaries_view",
    )


def draw_badge(chosen: Member) -> None:
    if chosen.key == shelf.GPT2:
        exact, of = gpt2_golden_result()
        mark, colour = ("✓ ", "green") if exact == of else ("", "orange")
        st.badge(f"{mark}GPT-2 exact: {exact} of {of} texts", color=colour)
    elif chosen.encoder.plain is None:
        st.badge(f"encoded by {chosen.encoder.engine}", color="gray")


frame.show_page(
    text_and_tokens,
    "Token boundaries",
    "Where is your text cut? Type it, then point at a piece.",
    help=tooltip("Token"),
)
