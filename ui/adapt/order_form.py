"""Ask for the tokenizer to adapt and, for Shrink and Replace, for a corpus."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import streamlit as st

from bpe_core.adapting import extendable
from bpe_core.comparison import embedding_rows
from bpe_core.errors import BpeError, FormatError
from bpe_core.formats import build_tokenizer, read_description
from bpe_core.tokenizer import Encoder, NamedEncoder, Tokenizer, adaptable_tokenizer
from ui.adapt.background_work import Order
from ui.adapt.figures import usual_general
from ui.adapt.files_part import stored_files
from ui.corpus import choose_corpus, show_corpus
from ui.host import cached
from ui.look import counted, plain_markdown, plain_text
from ui.shell import address, workspace
from ui.storage import BaseName, StoredRun
from ui.tokenizers import add_button, draw_shelf_problems, shelf

_KEY: Final = "adapt_base"
_PARAMETER: Final = "base"
_MAX_KEY_LENGTH: Final = 64
_MAX_NAME_LENGTH: Final = 60
_INSTEAD: Final = (
    "Adapt another tokenizer, such as GPT-2’s, Llama 3’s or Mistral 7B’s, or train a new one."
)


@dataclass(frozen=True, slots=True)
class Base:
    """A tokenizer to adapt."""

    name: BaseName
    encoder: Encoder
    note: str
    """Its origin; may be user input."""

    def tokenizer(self) -> Tokenizer:
        """Return the tokenizer; raise BpeError if it cannot be adapted.

        If another library encodes with it, its file is read as pre-tokenizer and merges. Added
        tokens that are found in ordinary text, as DeepSeek's are, count as text then.
        """
        own = self.encoder
        name = plain_text(self.name.name, _MAX_NAME_LENGTH)
        if own.model == "BPE" and adaptable_tokenizer(own) is None:
            found = _read_merges(self.name.key)
            if isinstance(found, str):
                raise FormatError(f"{name} cannot be adapted. {found} {_INSTEAD}")
            own = found
        return extendable(NamedEncoder(name, own, self.note))


@cached(spinner="Reading the merges")
def _read_merges(key: str) -> Tokenizer | str:
    """Return the tokenizer in a file, or why it cannot be read as pre-tokenizer and merges."""
    try:
        read = read_description(stored_files(key))
        return read.why_not if read.merges is None else build_tokenizer(read)
    except BpeError as error:
        return str(error)


def choose_base(stored: StoredRun) -> Base:
    """Draw the choice of the base and what it holds; return it."""
    bases = _bases(stored)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.header("Base", anchor=False, width="content")
        st.space("stretch")
        add_button(stored)
    usual = _usual_key(stored, bases)
    asked = address.query_text(_PARAMETER, _MAX_KEY_LENGTH)
    workspace.start_choice(_KEY, asked if asked in bases else usual)
    if workspace.widget_text(_KEY) not in bases:
        workspace.set_widget(_KEY, usual)
    key = st.selectbox(
        "Tokenizer to adapt",
        list(bases),
        format_func=lambda key: plain_text(bases[key].name.name, _MAX_NAME_LENGTH),
        key=_KEY,
        label_visibility="collapsed",
        persist_state="session",
    )
    address.set_query(**{_PARAMETER: key if key != usual else None})
    base = bases[key]
    draw_shelf_problems()
    st.markdown(f":gray[:small[{plain_markdown(_facts(base), 600)}]]")
    return base


def usable(base: Base) -> Tokenizer | None:
    """Return the tokenizer to adapt, or None and show why it cannot be and what to do instead."""
    try:
        return base.tokenizer()
    except BpeError as error:
        st.warning(plain_markdown(str(error), 1_000))
        return None


def _bases(stored: StoredRun) -> dict[str, Base]:
    """Return the tokenizers by key: the open run's, the one it extends, and those of the shelf."""
    found: dict[str, Base] = {}
    for member in shelf.members(stored):
        key, name = member.key, member.name
        if key == shelf.OWN:
            key, name = shelf.run_key(stored.id), f"{stored.title} (the open run)"
        found[key] = Base(BaseName(key, name), member.encoder, member.note)
    base = stored.run.given_base
    if stored.base is not None and base is not None:
        found.setdefault(stored.base.key, Base(stored.base, base, "The base of the open run"))
    return found


def _usual_key(stored: StoredRun, bases: dict[str, Base]) -> str:
    if stored.base is not None:
        return stored.base.key
    return shelf.GPT2 if shelf.GPT2 in bases else next(iter(bases))


def _facts(base: Base) -> str:
    rows = embedding_rows(base.encoder)
    gaps = rows - base.encoder.vocab_size
    more = f", {rows:,} embedding rows" if gaps else ""
    note = f" {base.note.rstrip('.')}." if base.note else ""
    return f"{counted(base.encoder.vocab_size, 'token')}{more}.{note}"


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


def ask_for_coverage(tokenizer: Tokenizer | None, first: float, *, key: str) -> float:
    """Draw the field for the share of the text whose characters are added, which holds `first`.

    Only a base that spells characters in bytes needs it; of others, return `first`.
    """
    if tokenizer is None or not tokenizer.table.byte_ids:
        return first
    return st.number_input(
        "Character coverage",
        min_value=0.0,
        max_value=1.0,
        value=first,
        step=0.0005,
        format="%.4f",
        key=key,
        help="This base spells characters that it lacks in bytes, and merges no bytes. So the most "
        "frequent of them become tokens first, until this share of the text is covered. They count "
        "among the new tokens. With 0, only those of domain terms are added.",
        persist_state="session",
        bind="query-params",
    )
