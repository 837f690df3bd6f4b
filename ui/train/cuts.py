"""Draw how a pre-tokenizer cuts the beginning of the visitor's text, or a line of theirs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bpe_core.corpus.corpus_files import TextFigures
from bpe_core.pretokenizers.pretokenizers import Pretokenizer, get_pretokenizer
from ui.components.strips import pretoken_strip
from ui.host.error_boundary import errors_shown
from ui.look.glossary import tooltip
from ui.run.corpus_summary import CorpusPart
from ui.train.custom_fields import EMPTY_REGEX

_LINE = "for i in range(10):\n   print(i)"
"""Shown while there is no corpus."""
_MAX_LINE_LENGTH = 400
_MAX_WORDS = 16
_MAX_SHOWN = 72
_MAX_DOCUMENTS_SEARCHED = 100
_BLANK_LINES = re.compile(r"(?:[^\S\n]*\n)+")


@dataclass(frozen=True, slots=True)
class Beginning:
    """The beginning of a text, and whether it is all of it."""

    text: str
    is_whole: bool


def show_cuts(pretokenizer: str, training: CorpusPart | None, *, is_custom: bool) -> bool:
    """Draw the cuts; return False if the pre-tokenizer is invalid or fails, and show why."""
    if pretokenizer == EMPTY_REGEX:
        st.error("Write a pattern, or choose the pre-tokenizer “none”.")
        return False
    with errors_shown():
        _draw_cuts(get_pretokenizer(pretokenizer), training, is_custom=is_custom)
        return True
    return False


def _draw_cuts(cutter: Pretokenizer, training: CorpusPart | None, *, is_custom: bool) -> None:
    heading = st.empty()
    if training is not None and training.word_counts is not None:
        _draw_heading(heading, "")
        # A word of a file of counts may be as long as a book.
        words = [word[:_MAX_SHOWN] for word in islice(training.word_counts, _MAX_WORDS)]
        pretoken_strip(key="cuts", pretokens=words)
        st.markdown(":gray[:small[Weighted words are already pre-tokens, so they are not cut.]]")
        return
    own_line = _own_line() if is_custom else ""
    found = find_beginning(training) if training is not None else None
    if own_line:
        _draw_heading(heading, ", in your line")
        found = Beginning(own_line, is_whole=True)
    elif found is not None:
        _draw_heading(heading, ", at the beginning of this text")
    else:
        _draw_heading(heading, ", in a line of code")
        found = Beginning(_LINE, is_whole=True)
    pretokens, is_cut_short = shown_pretokens(cutter, found, whole_line=bool(own_line))
    pretoken_strip(key="cuts", pretokens=pretokens)
    if is_cut_short:
        st.markdown(":gray[:small[Only the beginning of this pre-token is shown.]]")
    if cutter.drops_text:
        st.markdown(":gray[:small[White space is left out, so no token contains it.]]")


def find_beginning(training: CorpusPart) -> Beginning | None:
    """Return the beginning of the first document with text, without blank lines before it.

    >>> from bpe_core.corpus.corpus import Corpus
    >>> find_beginning(Corpus.from_documents([" ", "\\n \\n  hug hugs"]))
    Beginning(text='  hug hugs', is_whole=True)
    """
    is_filed = isinstance(training, TextFigures)
    documents = training.beginnings if is_filed else training.documents
    for document in documents[:_MAX_DOCUMENTS_SEARCHED]:
        blank = _BLANK_LINES.match(document)
        start = blank.end() if blank else 0
        text = document[start : start + _MAX_LINE_LENGTH]
        if text.strip():
            return Beginning(text, is_whole=start + len(text) == len(document))
    return None


def shown_pretokens(
    cutter: Pretokenizer, beginning: Beginning, *, whole_line: bool = False
) -> tuple[Sequence[str], bool]:
    """Return the first pre-tokens of a text, and whether the only one is cut short.

    Raises what the pre-tokenizer raises.

    >>> shown_pretokens(get_pretokenizer("gpt2"), Beginning("hug hugs pu", is_whole=False))
    (['hug', ' hugs'], False)
    """
    pretokens = list(cutter.split(cutter.written(beginning.text)))
    if whole_line:
        return pretokens, False
    is_cut_short = False
    if not beginning.is_whole and pretokens:
        # The text goes on, so the last pre-token may do so too.
        is_cut_short = len(pretokens) == 1
        pretokens = pretokens if is_cut_short else pretokens[:-1]
    shown: list[str] = []
    room = _MAX_SHOWN
    for pretoken in pretokens:
        if len(pretoken) > room:
            break
        shown.append(pretoken)
        room -= len(pretoken)
    if pretokens and not shown:
        return [pretokens[0][:_MAX_SHOWN]], True
    return shown, is_cut_short


def _own_line() -> str:
    return (
        st.text_area(
            "A line to try the cuts on",
            key="settings_line",
            height=80,
            max_chars=_MAX_LINE_LENGTH,
            placeholder="If empty, the beginning of your text is cut.",
            persist_state="session",
        )
        or ""
    )


def _draw_heading(place: DeltaGenerator, where: str) -> None:
    place.markdown(
        f"Cuts made before training{where}. No merge crosses a gap.", help=tooltip("Pre-token")
    )
