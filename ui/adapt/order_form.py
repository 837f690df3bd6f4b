"""Ask for what Shrink and Replace need: a base and a corpus."""

from __future__ import annotations

from dataclasses import dataclass

from bpe_core.tokenizer.tokenizer import Tokenizer
from ui.adapt.background_work import Order
from ui.adapt.bases import Base, choose_base, usable
from ui.adapt.figures import usual_general
from ui.corpus.corpus_form import choose_corpus, show_corpus
from ui.storage.run_store import StoredRun


@dataclass(frozen=True, slots=True)
class Asked:
    """The forms as they are filled."""

    base: Base
    tokenizer: Tokenizer | None
    """None if the base cannot be adapted."""
    order: Order | None
    """None while a form is empty or invalid."""


def ask_for_order(stored: StoredRun) -> Asked:
    """Draw the forms."""
    base = choose_base(stored)
    tokenizer = usable(base)
    chosen, figures = choose_corpus()
    if chosen is None or tokenizer is None:
        return Asked(base, tokenizer, None)
    with figures:
        is_counted = show_corpus(chosen, tokenizer.pretokenizer.name)
    order = None
    if is_counted:
        general_id = usual_general(chosen.title)
        order = Order(
            tokenizer,
            chosen.corpus,
            chosen.held_out_share,
            held_out_by=chosen.held_out_by,
            general_id=general_id,
        )
    return Asked(base, tokenizer, order)
