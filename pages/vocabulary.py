"""Vocabulary: search, audit and prune the tokens of a tokenizer."""

import streamlit as st

from ui.components import verdict
from ui.host import fragment
from ui.look import definitions, tooltip
from ui.shell import frame
from ui.storage import StoredRun
from ui.vocabulary import (
    CountedText,
    Inspection,
    Uses,
    choose_tokenizer_and_text,
    draw_audit,
    draw_learned,
    draw_rows,
    draw_tokens,
    inspect_vocabulary,
    inspecting,
    leading_sentence,
    read_search,
    show_pruning,
)
from ui.work import Progress, Status, show_work


def draw_vocabulary(stored: StoredRun) -> None:
    name, encoder, text = choose_tokenizer_and_text(stored)
    counting = inspecting.count(encoder, text)
    inspection = inspect_vocabulary(name, encoder, text, counting.result)
    draw_learned(inspection)
    st.space("small")
    sentence, aside = leading_sentence(inspection)
    terms = definitions("Special token") if inspection.special_ids else ()
    verdict(sentence, "", key="vocabulary_verdict", terms=terms)
    draw_counting(counting, text)
    st.space("small")
    browser = st.container()
    # The file that is opened below the table adds a finding by which the table is filtered.
    inspection = draw_rows(inspection)
    with browser:
        draw_browser(inspection, aside)
    show_pruning(inspection, stored)


def draw_counting(counting: Status[Progress, Uses], text: CountedText) -> None:
    unit = "Words" if text.corpus is not None and text.corpus.word_counts else "Characters"
    show_work(counting, unit=f"{unit} counted", what="counting of uses", key="counting")


@fragment()
def draw_browser(inspection: Inspection, lengths: str) -> None:
    record = read_search()
    search = None if inspection.tokenizer is None else inspecting.search(inspection.tokenizer)
    draw_audit(inspection, record, search, lengths)
    st.divider()
    draw_tokens(inspection, record, None if search is None else search.result)


frame.show_page(
    draw_vocabulary,
    "Vocabulary",
    "What did it learn, and does a text use it?",
    help=tooltip("Token", "Merge"),
)
