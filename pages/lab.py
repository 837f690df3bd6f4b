"""Lab: measure encoders and trainers against each other, on this machine."""

import streamlit as st

from bpe_core.errors import BpeError
from bpe_core.lab.measurements import MOST_CHARACTERS, Order
from bpe_core.tokenizer.gpt2 import gpt2
from ui.lab.encoding_section import draw_encoding
from ui.lab.longest_match_section import draw_longest_match
from ui.lab.requests import measurements_of_address, small_measurement
from ui.lab.text import choose_text
from ui.lab.training_section import draw_training
from ui.look.labels import plain_markdown
from ui.shell import frame
from ui.shell.choices import choose_one
from ui.storage.run_store import StoredRun

YOURS = "Your tokenizer"
GPT2 = "GPT-2"


def draw_lab(stored: StoredRun) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="medium", key="lab_choice"):
        chosen = choose_one("Tokenizer", [YOURS, GPT2], key="lab_tokenizer")
        text = choose_text(MOST_CHARACTERS)
    tokenizer = gpt2() if chosen == GPT2 else stored.run.tokenizer
    which = GPT2 if chosen == GPT2 else f"Your tokenizer of {tokenizer.vocab_size:,} tokens"
    st.space("small")
    encoding, training = measurements_of_address("encoding", "training")
    small = None
    if encoding is None and text.is_sample:
        about = f"{which} on the beginning of {text.name}"
        small = small_measurement(text.text, tokenizer, about)
    small_training = None
    if training is None and text.is_sample:
        about = f"Training on the beginning of {text.name}"
        small_training = small_measurement(text.text, None, about)
    order = Order("encoding", text.text, tokenizer)
    draw_encoding(encoding, small, order, f"{which} on {text.about}")
    st.divider()
    if text.text:
        draw_longest_match(text.text, tokenizer)
        st.divider()
    order = Order("training", text.text)
    draw_training(training, small_training, order, f"Training on {text.about}")


shown = frame.page_frame(
    "Lab",
    "Measure every available encoder and trainer on one text, on this machine.",
)
if shown is not None:
    try:
        draw_lab(shown)
    except BpeError as error:
        st.error(plain_markdown(str(error), 600))
