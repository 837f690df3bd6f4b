"""Choose the tokenizer to inspect, and the text in which to count the uses of its tokens."""

from __future__ import annotations

from typing import Final

import streamlit as st

from bpe_core.corpus.corpus import Corpus
from bpe_core.corpus.samples import samples
from bpe_core.tokenizer.gpt2 import gpt2
from bpe_core.tokenizer.protocol import Encoder
from ui.look.glossary import explain
from ui.look.labels import plain_markdown
from ui.own_text.field import own_text, text_field
from ui.shell import workspace
from ui.shell.choices import choose_one
from ui.storage.run_store import StoredRun
from ui.tokenizers import shelf
from ui.vocabulary.inspection import sample_corpus
from ui.vocabulary.texts import CountedText, held_out_text, training_text

YOURS: Final = "Your tokenizer"
GPT2: Final = "GPT-2"
TRAINING: Final = "Training text"
HELD_OUT: Final = "Held-out text"
OWN_TEXT: Final = "Your text"
_FIRST_TEXT: Final = "Write or paste a text here to see which tokens it uses."
_SAMPLES: Final = ("python-reference", "python-library", "multilingual")


def choose_tokenizer_and_text(stored: StoredRun) -> tuple[str, Encoder, CountedText]:
    """Draw the choice of tokenizer and text; return the tokenizer's name, and both."""
    known = _tokenizers(stored)
    with st.container(
        horizontal=True, vertical_alignment="center", gap="medium", key="vocabulary_choice"
    ):
        chosen = choose_one(
            "Tokenizer",
            list(known),
            key="vocabulary_of",
            help="Tokenizers added on the Compare page are listed here too.",
        )
        # In one container, so that a line break never separates the label from its field.
        with st.container(horizontal=True, vertical_alignment="center", width="content"):
            counted = _choose_text(stored, is_own=chosen == YOURS)
    return chosen, known[chosen], counted


def _tokenizers(stored: StoredRun) -> dict[str, Encoder]:
    """Return the run's own tokenizer, GPT-2's, and those on Compare's shelf, by name."""
    known: dict[str, Encoder] = {YOURS: stored.run.tokenizer, GPT2: gpt2()}
    others = [one for one in shelf.members(stored) if one.key not in (shelf.OWN, shelf.GPT2)]
    names = shelf.distinct([*known, *(member.name for member in others)])
    known |= {name: one.encoder for name, one in zip(names[2:], others, strict=True)}
    problems = workspace.current().shelf_problems
    if problems:
        st.error("\n\n".join(plain_markdown(problem, 600) for problem in problems))
    return known


def _choose_text(stored: StoredRun, *, is_own: bool) -> CountedText:
    titles = {sample.title: sample.id for sample in samples() if sample.id in _SAMPLES}
    held_out = held_out_text(stored)
    options = [*([TRAINING] if is_own else []), *([HELD_OUT] if held_out else [])]
    st.markdown(
        "Count uses in", width="content", help=explain("Held-out text") if held_out else None
    )
    picked = st.selectbox(
        "Count uses in",
        options=[*options, *titles, OWN_TEXT],
        label_visibility="collapsed",
        # A separate key for each list of options: Streamlit drops a value missing from the list.
        key="uses_on" if is_own else "uses_of_other_on",
        bind="query-params",
        width=260,
    )
    if picked == TRAINING:
        return training_text(stored)
    if picked == HELD_OUT and held_out is not None:
        return held_out
    if picked in titles:
        id = titles[picked]
        return CountedText(f"sample:{id}", f"“{picked}”", corpus=sample_corpus(id))
    text = own_text(_FIRST_TEXT)
    text_field(text, first=_FIRST_TEXT, key="vocabulary_text")
    corpus = Corpus.from_text(text) if text else None
    return CountedText(f"own:{corpus.sha256 if corpus else ''}", "your text", corpus=corpus)
