"""Draw how the chosen token's pre-token was merged, and the training lines that contain it."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from bpe_core.errors import BpeError
from bpe_core.tokenizer.gpt2 import gpt2
from bpe_core.tokenizer.protocol import Encoder
from ui.components.symbol_rows import symbol_rows
from ui.components.token_origin import TokenOriginData, token_origin
from ui.corpus.own_reading import OwnReading
from ui.host.error_boundary import fragment
from ui.look.labels import plain_markdown, token_label
from ui.shell import workspace
from ui.storage.run_store import StoredRun
from ui.token_boundaries import token_story

_ORIGIN_KEY = "boundaries_origin"
_GPT2_ORIGIN = (
    "GPT-2’s merges were learned from web pages that OpenAI never published, so there are no "
    "lines to show. Choose your own tokenizer to see its training lines."
)
_OTHER_ORIGIN = (
    "The text that this tokenizer was trained on is not here. Choose your own tokenizer to see its "
    "training lines."
)


@dataclass(frozen=True, slots=True)
class ChosenToken:
    """The token chosen in the text."""

    message: object = None
    """The browser's last message about it, not validated yet."""


@fragment()
def story_columns(stored: StoredRun, reading: OwnReading, encoder: Encoder) -> None:
    """Draw the steps and the origin of the chosen token side by side."""
    index = token_story.index_chosen(workspace.get(ChosenToken).message, reading)
    steps_column, origin_column = st.columns(2, gap="large")
    token_id = -1 if index is None else int(reading.found.ids[index])
    with steps_column:
        st.header("Step by step", anchor=False)
        if index is None:
            st.markdown(
                ":gray[Choose a token in the text to see its pre-token merged step by step.]"
            )
        else:
            _steps(reading, encoder, index)
    with origin_column:
        st.header("In the training text", anchor=False)
        token_origin(
            _origin(stored, encoder, token_id),
            token_id=token_id,
            key=_ORIGIN_KEY,
            on_chosen=_keep_chosen,
        )


def _steps(reading: OwnReading, encoder: Encoder, index: int) -> None:
    found = token_story.word_steps(reading, encoder, index)
    lead = (
        [f"The pre-token {plain_markdown(token_label(found.word.encode()))}."] if found.word else []
    )
    lead.append(found.note)
    st.markdown(f":gray[{' '.join(lead)}]")
    if found.rows:
        symbol_rows(found.rows, key="boundaries_steps", caption="The pre-token after each merge")


def _origin(stored: StoredRun, encoder: Encoder, token_id: int) -> TokenOriginData:
    if token_id < 0:
        return TokenOriginData("No token is chosen.", (), (), "")
    if encoder != stored.run.tokenizer:
        return TokenOriginData(_GPT2_ORIGIN if encoder == gpt2() else _OTHER_ORIGIN, (), (), "")
    try:
        return token_story.origin_in_run(stored.id, token_id)
    except BpeError as error:
        return TokenOriginData(str(error), (), (), "")


def _keep_chosen() -> None:
    workspace.update(ChosenToken, message=workspace.component_value(_ORIGIN_KEY, "chosen"))
