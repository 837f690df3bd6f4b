"""Draw how a pre-tokenizer cuts the beginning of the visitor's text, or a line of theirs.

Once that is measured on a sample, say which of the named cuts would suit the text better.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bpe_core.corpus import Corpus
from bpe_core.pretokenizers import Pretokenizer, get_pretokenizer
from bpe_core.trainers import tokens_by_cut
from bpe_core.types import TrainingConfig
from ui.components import pretoken_strip
from ui.corpus import ChosenCorpus
from ui.host import errors_shown, fragment
from ui.look import size_text, tooltip
from ui.shell import workspace
from ui.storage import divide
from ui.train.custom_fields import EMPTY_REGEX
from ui.train.presets import CUSTOM, CUTS
from ui.work import (
    SECONDS_BETWEEN_LOOKS,
    Progress,
    Task,
    TooMuchWorkError,
    UnknownWorkError,
    WorkKind,
    queue,
)

_LINE = "for i in range(10):\n   print(i)"
"""Shown while there is no corpus."""
_MAX_LINE_LENGTH = 400
_MAX_WORDS = 16
_MAX_SHOWN = 72
_BLANK_LINES = re.compile(r"(?:[^\S\n]*\n)+")


@dataclass(frozen=True, slots=True)
class Beginning:
    """The beginning of a text, and whether it is all of it."""

    text: str
    is_whole: bool


def show_cuts(pretokenizer: str, training: Corpus | None, *, is_custom: bool) -> bool:
    """Draw the cuts; return False if the pre-tokenizer is invalid or fails, and show why."""
    if pretokenizer == EMPTY_REGEX:
        st.error("Write a pattern, or choose the pre-tokenizer “none”.")
        return False
    with errors_shown():
        _draw_cuts(get_pretokenizer(pretokenizer), training, is_custom=is_custom)
        return True
    return False


def _draw_cuts(cutter: Pretokenizer, training: Corpus | None, *, is_custom: bool) -> None:
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


def find_beginning(training: Corpus) -> Beginning | None:
    """Return the beginning of the first document with text, without blank lines before it.

    >>> from bpe_core.corpus import Corpus
    >>> find_beginning(Corpus.from_documents([" ", "\\n \\n  hug hugs"]))
    Beginning(text='  hug hugs', is_whole=True)
    """
    for document in training.beginnings:
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
        f"The pieces that training begins with{where}. No pair is joined across a gap.",
        help=tooltip("Pre-token"),
    )


MAX_BYTES: Final = 64_000_000
"""A larger text would be read whole into memory to be sampled."""
_MAX_SAMPLED: Final = 1_000_000
_MAX_HELD_OUT_SAMPLED: Final = 250_000
_MIN_SAVED: Final = 0.01
"""A smaller share of saved tokens is not worth a sentence."""

Tokens = Mapping[str, int]
"""The tokens of the held-out text by pre-tokenizer."""
CHECK: Final = WorkKind[Progress, Tokens]("cut-check", max_per_visitor=2, is_unasked=True)
"""By text and settings."""


@dataclass(frozen=True, slots=True)
class CutCheck:
    """The check that this session last began."""

    id: str = ""


def show_best_cut(chosen: ChosenCorpus, config: TrainingConfig) -> None:
    """Draw a line on the best cut and a button for it; nothing until it is measured, or is chosen.

    Beginning with another text or other settings cancels the check of the earlier ones.
    """
    if not _can_be_compared(chosen, config):
        return
    others = replace(config, pretokenizer="")
    id = f"{chosen.corpus.sha256} {chosen.held_out_share} {chosen.held_out_by} {others}"
    before = workspace.get(CutCheck).id
    if before != id and _is_live(before):
        queue.forget(CHECK, before)
    workspace.update(CutCheck, id=id)

    def work(task: Task[Progress]) -> Tokens | None:
        return _measure_cuts(chosen, config, task)

    try:
        status = queue.begin(CHECK, id, work)
    except (TooMuchWorkError, UnknownWorkError):
        return
    if status.is_live:
        _wait_for(id)
    elif status.result is not None:
        found = find_better(status.result, config.pretokenizer)
        if found is not None:
            _draw_better(*found)


def _measure_cuts(chosen: ChosenCorpus, config: TrainingConfig, task: Task[Progress]) -> Tokens:
    """Train with each named cut on a sample of the text; raises CancelledError."""
    how = chosen.held_out_share, chosen.held_out_by
    training, held_out = divide(chosen.corpus.read(), *how)
    return tokens_by_cut(
        training.sample(_MAX_SAMPLED),
        held_out.sample(_MAX_HELD_OUT_SAMPLED),
        config,
        CUTS,
        should_stop=lambda: task.is_cancelled,
    )


def find_better(tokens: Tokens, chosen: str) -> tuple[str, float] | None:
    """Return the named cut with the fewest tokens and the share it saves, or None if too small.

    >>> find_better({"gpt2": 1_000, "cl100k": 900, "llama3": 830}, "gpt2")
    ('llama3', 0.17)
    >>> find_better({"gpt2": 1_000, "cl100k": 995}, "gpt2")
    """
    best = min(tokens, key=lambda cut: tokens[cut])
    saved = 1 - tokens[best] / tokens[chosen]
    return (best, round(saved, 4)) if saved >= _MIN_SAVED else None


def _can_be_compared(chosen: ChosenCorpus, config: TrainingConfig) -> bool:
    """Return whether another named cut could take the place of the chosen one."""
    return (
        config.pretokenizer in CUTS
        and config.base == "bytes"
        and config.end_of_word is None
        and chosen.corpus.word_counts is None
        and chosen.corpus.n_bytes <= MAX_BYTES
        and chosen.held_out.n_bytes > 0
    )


@fragment(run_every=SECONDS_BETWEEN_LOOKS)
def _wait_for(id: str) -> None:
    """Redraw the page once the check has ended."""
    if not _is_live(id):
        st.rerun()


def _is_live(id: str) -> bool:
    status = queue.find(CHECK, id)
    return status is not None and status.is_live


def _draw_better(cut: str, saved: float) -> None:
    percent = f"{saved:.0%}" if saved >= 0.095 else f"{saved:.1%}"
    st.markdown(f":small[Divided as for {CUTS[cut]}: {percent} fewer tokens.]", width="content")
    st.button(
        "Use it",
        type="tertiary",
        key="settings_use_cut",
        help="Counted on held-out text, with tokenizers of this size trained on a sample of up to "
        f"{size_text(_MAX_SAMPLED)}.",
        on_click=_use,
        args=(cut,),
    )


def _use(cut: str) -> None:
    if workspace.widget_text("settings_preset") == CUSTOM:
        workspace.set_widget("settings_pretokenizer", cut)
    else:
        workspace.set_widget("settings_preset", CUTS[cut])
