"""Token boundaries: any text in its tokens' colours, and how each token was made."""

import streamlit as st

from bpe_core.corpus.corpus import read_corpus
from bpe_core.errors import BpeError
from bpe_core.tokenizer.gpt2 import gpt2, gpt2_golden_result
from bpe_core.tokenizer.tokenizer import Tokenizer
from ui.components.symbol_rows import symbol_rows
from ui.components.token_origin import TokenOriginData, token_origin
from ui.components.token_view import token_view
from ui.failures.error_boundary import fragment
from ui.look.labels import plain_markdown, token_label
from ui.own_text import own_reading
from ui.own_text.field import own_text, set_own_text, text_field
from ui.own_text.own_reading import OwnReading
from ui.run import corpus_summary
from ui.shell import frame, workspace
from ui.shell.choices import choose_one
from ui.shell.file_upload import check_uploaded, upload_file
from ui.storage.run_store import StoredRun
from ui.token_boundaries import token_story

YOURS = "Your tokenizer"
GPT2 = "GPT-2"
GPT2_TEXT = (
    "GPT-2’s merges were learned from web pages that OpenAI never published, so there are no "
    "lines to show. With your own tokenizer they stand here."
)
FIRST_TEXT = (
    "A tokenizer reads bytes, not words: unbelievably small pieces add up.\n"
    "Point at one and see which merges made it.\n\n"
    "def countdown(n):\n\twhile n > 0:\n\t\tyield n\n\t\tn -= 1\n\n"
    "Привет, naïve café, 日本語, שלום, नमस्ते 🧩<|endoftext|>"
)


def start_again() -> None:
    set_own_text(FIRST_TEXT)


def file_opener() -> None:
    with st.popover("Open a file", width="content"):
        upload = upload_file("A text file, a table or an archive", key="boundaries_file")
    if upload is None or upload.file_id == workspace.current().opened_file:
        return
    # Noted first: a file that can't be read is not tried again on each rerun.
    workspace.update(opened_file=upload.file_id, opened_notes=(), opened_problem="")
    try:
        check_uploaded()
        corpus = read_corpus([upload])
    except BpeError as error:
        workspace.update(opened_problem=str(error))
        return
    text, n_characters = own_reading.joined(corpus)
    notes = corpus_summary.reading_notes(corpus)
    if len(text) < n_characters:
        notes.append(f"The file has {n_characters:,} characters: the first {len(text):,} are here.")
    workspace.update(text=text, opened_notes=tuple(notes))


def tell_of_file() -> None:
    opened = workspace.current()
    if opened.opened_problem:
        st.error(plain_markdown(opened.opened_problem, 600))
    if opened.opened_notes:
        st.warning("\n\n".join(plain_markdown(note, 400) for note in opened.opened_notes))


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
        st.button("Start again", type="tertiary", on_click=start_again)
        file_opener()
    tell_of_file()
    text = own_text(FIRST_TEXT)
    text_field(text, first=FIRST_TEXT, key="boundaries_text")
    if len(text) > own_reading.MOST_CHARACTERS:
        st.warning(
            f"The text has {len(text):,} characters. The first {own_reading.MOST_CHARACTERS:,} "
            "are read."
        )
        text = text[: own_reading.MOST_CHARACTERS]
    with st.container(horizontal=True, vertical_alignment="center"):
        chosen = choose_one("Tokenizer", [YOURS, GPT2], key="tokenizer")
        is_gpt2 = chosen == GPT2
        tokenizer = gpt2() if is_gpt2 else stored.run.tokenizer
        if is_gpt2:
            exact, of = gpt2_golden_result()
            mark, colour = ("✓ ", "green") if exact == of else ("", "orange")
            st.badge(f"{mark}GPT-2 exact: {exact} of {of} texts", color=colour)
        st.space("stretch")
        as_special = bool(tokenizer.special_tokens) and st.toggle(
            "Special tokens as special", value=True, key="special", bind="query-params"
        )
    note = ""
    if tokenizer.special_tokens:
        note = f"Special tokens are read as {'special' if as_special else 'text'}."
    allowed = tuple(tokenizer.special_tokens) if as_special else ()
    reading = own_reading.read_own_text(text, tokenizer, allowed)
    if not reading.is_all:
        st.warning(
            f"The text has {reading.n_tokens:,} tokens. The first {reading.n_shown:,} are shown."
        )
    token_view(
        reading.text,
        reading.packed,
        stamp=reading.stamp,
        chosen=token_story.index_chosen(workspace.current().chosen_token, reading),
        name=GPT2 if is_gpt2 else YOURS,
        special_note=note,
        code=["tokenizer = bpe.gpt2()" if is_gpt2 else 'tokenizer = bpe.load("tokenizer.json")'],
        allowed_special=as_special,
        key="boundaries_view",
    )
    story(stored, reading, tokenizer)


@fragment()
def story(stored: StoredRun, reading: OwnReading, tokenizer: Tokenizer) -> None:
    index = token_story.index_chosen(workspace.current().chosen_token, reading)
    steps_column, origin_column = st.columns(2, gap="large")
    token_id = -1 if index is None else int(reading.found.ids[index])
    with steps_column:
        st.header("Step by step", anchor=False)
        if index is None:
            st.markdown(
                ":gray[Choose a token in the text, and its pre-token is merged here again.]"
            )
        else:
            steps(reading, tokenizer, index)
    with origin_column:
        st.header("In the training text", anchor=False)
        token_origin(
            origin_of(stored, tokenizer, token_id),
            token_id=token_id,
            key="boundaries_origin",
            on_chosen=keep_chosen,
        )


def steps(reading: OwnReading, tokenizer: Tokenizer, index: int) -> None:
    found = token_story.word_steps(reading, tokenizer, index)
    lead = (
        [f"The pre-token {plain_markdown(token_label(found.word.encode()))}."] if found.word else []
    )
    lead.append(found.note)
    st.markdown(f":gray[{' '.join(lead)}]")
    if found.rows:
        symbol_rows(found.rows, key="boundaries_steps", caption="The pre-token after each merge")


def origin_of(stored: StoredRun, tokenizer: Tokenizer, token_id: int) -> TokenOriginData:
    if token_id < 0:
        return TokenOriginData("No token is chosen.", (), (), "")
    if tokenizer != stored.run.tokenizer:
        return TokenOriginData(GPT2_TEXT, (), (), "")
    try:
        return token_story.origin_in_run(stored.id, token_id)
    except BpeError as error:
        return TokenOriginData(str(error), (), (), "")


def keep_chosen() -> None:
    workspace.update(chosen_token=workspace.component_value("boundaries_origin", "chosen"))


shown = frame.page_frame(
    "Token boundaries",
    "Type anything and see where the tokenizer cuts it. "
    "Point at a token to learn what it is and how it was made.",
)
if shown is not None:
    text_and_tokens(shown)
