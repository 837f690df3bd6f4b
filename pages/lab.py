"""Lab: measure encoders and trainers against each other, on this machine."""

import streamlit as st

from bpe_core.lab import LabOrder
from bpe_core.tokenizer import Tokenizer
from ui.lab import (
    MeasuredText,
    MeasurementStatus,
    choose_text,
    draw_encoding,
    draw_longest_match,
    draw_training,
    read_measurements,
    small_measurement,
)
from ui.look import counted, plain_markdown
from ui.shell import frame
from ui.storage import StoredRun
from ui.tokenizers import Member, add_button, choose_tokenizer, draw_shelf_problems, shelf


def draw_lab(stored: StoredRun) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="medium", key="lab_choice"):
        chosen = choose_tokenizer(stored, key="lab_tokenizer")
        add_button(stored)
        text = choose_text(LabOrder.MAX_CHARACTERS)
    draw_shelf_problems()
    st.space("small")
    encoding, training = read_measurements("encoding", "training")
    own = chosen.encoder.merged_by
    # A normalizer is part of the pre-tokenizer, which every encoder here begins with.
    tokenizer = own if own is not None and own.pretokenizer.normalizer else chosen.encoder.plain
    if tokenizer is not None and tokenizer.table.removals:
        tokenizer = None
    if tokenizer is None:
        if own is None:
            why = f"is encoded by {chosen.encoder.engine}, so its merges are not known here"
        elif own.table.removals:
            why = "takes tokens out again while it encodes"
        else:
            why = "writes spaces as ▁ before it merges"
        st.info(
            f"{plain_markdown(chosen.name)} {why}, and other encoders cannot run it. Choose "
            "another tokenizer."
        )
    else:
        draw_encoders(chosen, tokenizer, text, encoding)
    small = None
    if training is None and text.is_sample:
        about = f"Training on the beginning of {text.name}"
        small = small_measurement(text.text, None, about)
    order = LabOrder("training", text.text)
    draw_training(training, small, order, f"Training on {text.about}")


def draw_encoders(
    chosen: Member, tokenizer: Tokenizer, text: MeasuredText, encoding: MeasurementStatus | None
) -> None:
    is_own = chosen.key == shelf.OWN
    size = f" of {counted(tokenizer.vocab_size, 'token')}" if is_own else ""
    which = f"{chosen.name}{size}"
    small = None
    if encoding is None and text.is_sample:
        about = f"{which} on the beginning of {text.name}"
        small = small_measurement(text.text, tokenizer, about)
    order = LabOrder("encoding", text.text, tokenizer)
    draw_encoding(encoding, small, order, f"{which} on {text.about}")
    st.divider()
    if text.text:
        draw_longest_match(text.text, tokenizer)
        st.divider()


frame.show_page(
    draw_lab,
    "Lab",
    "How fast is each encoder and trainer on this machine, and do they agree?",
)
