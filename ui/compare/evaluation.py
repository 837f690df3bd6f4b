"""Choose the text that the verdict is on: the run's held-out text, or the visitor's own.

Own files are kept on the server under an id in the address, as a corpus of documents; text that is
typed or pasted is the field that pages share.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bpe_core.corpus import MAX_BYTES_IN_MEMORY, Corpus
from ui.compare.verdict_words import HELD_OUT, OWN
from ui.corpus import ask_for_files, leave_text_address, text_field
from ui.look import counted, plain_markdown, size_text
from ui.shell import LIMIT, choose_one
from ui.storage import StoredRun

FIRST_TEXT: Final = "Write or paste your own text here, and see where the tokenizers differ."
MAX_BYTES: Final = MAX_BYTES_IN_MEMORY
_CHOICES: Final = ("Held-out text", "Your own text")


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The text that tokenizers are compared on; it may be empty."""

    corpus: Corpus
    where: str
    """What sentences call it, such as "held-out text"."""
    typed: str = ""
    """The text of the field, if it is that text."""
    is_placeholder: bool = False
    """True if it is the example in the field."""


def choose_evaluation(stored: StoredRun, room: DeltaGenerator) -> Evaluation:
    """Draw the choice of the text to compare on, in `room`, and return the text."""
    if stored.held_out.n_bytes:
        with room:
            if choose_one("Compared on", _CHOICES, key="on") == _CHOICES[0]:
                leave_text_address()
                return Evaluation(stored.held_out, HELD_OUT)
    else:
        st.info("This run has no held-out text, so the figures are for your own text.")
    with st.container(horizontal=True, vertical_alignment="center"):
        with st.popover("Open files", width="content"):
            files = ask_for_files(
                "own",
                "Any kind of text, a table or an archive; each file or row is a document",
                MAX_BYTES,
                key="evaluation_files",
                hint=f"Up to {MAX_BYTES // 1_000_000} MB of text. {LIMIT}",
            )
        if files is not None:
            title, corpus = files
            size = f"{counted(corpus.n_sources, 'document')}, {size_text(corpus.n_bytes)}"
            st.markdown(f"**{plain_markdown(title, 120)}** :gray[{size}]", width="content")
        st.markdown(
            ":small[:gray[Take text that training has not seen: on other text, the figures flatter "
            "your tokenizer.]]",
            width="content",
        )
    if files is not None:
        return Evaluation(files[1], OWN)
    typed = text_field(FIRST_TEXT, key="compare_text")
    if typed == FIRST_TEXT:
        return Evaluation(Corpus.from_text(typed), "the example text", typed, is_placeholder=True)
    corpus = Corpus.from_text(typed) if typed else Corpus((), ())
    return Evaluation(corpus, OWN, typed)
