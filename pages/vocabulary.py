"""Vocabulary: search, audit and prune the tokens of a tokenizer."""

import streamlit as st

from ui.components.figures import verdict
from ui.host.error_boundary import fragment
from ui.look.glossary import definitions, tooltip
from ui.shell import frame
from ui.storage.run_store import StoredRun
from ui.vocabulary import background_work
from ui.vocabulary.audit_section import draw_audit, leading_sentence
from ui.vocabulary.background_work import Uses
from ui.vocabulary.inspection import (
    CountedText,
    Inspection,
    choose_tokenizer_and_text,
    inspect_vocabulary,
)
from ui.vocabulary.pruning_card import show_pruning
from ui.vocabulary.search import read_search
from ui.vocabulary.token_section import draw_tokens
from ui.work.task import Progress, Status
from ui.work.work_part import show_work


def draw_vocabulary(stored: StoredRun) -> None:
    name, encoder, text = choose_tokenizer_and_text(stored)
    counting = background_work.count(encoder, text)
    inspection = inspect_vocabulary(name, encoder, text, counting.result)
    sentence, aside = leading_sentence(inspection)
    terms = definitions("Special token") if inspection.special_ids else ()
    verdict(sentence, aside, key="vocabulary_verdict", terms=terms)
    draw_counting(counting, text)
    st.space("small")
    draw_browser(inspection)
    show_pruning(inspection, stored)


def draw_counting(counting: Status[Progress, Uses], text: CountedText) -> None:
    unit = "Words" if text.corpus is not None and text.corpus.word_counts else "Characters"
    counts = background_work.counts()
    show_work(counts, counting, unit=f"{unit} counted", what="counting of uses", key="counting")


@fragment()
def draw_browser(inspection: Inspection) -> None:
    record = read_search()
    search = None if inspection.tokenizer is None else background_work.search(inspection.tokenizer)
    draw_audit(inspection, record, search)
    st.divider()
    draw_tokens(inspection, record, None if search is None else search.result)


frame.show_page(
    draw_vocabulary,
    "Vocabulary",
    "Every token: what it is merged from, what is built on it, and whether a text uses it.",
    help=tooltip("Token", "Merge"),
)
