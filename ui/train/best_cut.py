"""Say which of the named cuts would suit the text better, once that is measured on a sample."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import streamlit as st

from bpe_core.corpus.corpus_files import FiledCorpus
from bpe_core.runs.sample_check import tokens_by_cut
from bpe_core.types import TrainingConfig
from ui.corpus.corpus_form import ChosenCorpus
from ui.host.error_boundary import fragment
from ui.look.labels import size_text
from ui.run.corpus_summary import divided
from ui.shell import workspace
from ui.storage.held_out_text import divide
from ui.train.presets import CUSTOM, CUTS
from ui.work.background import Background, TooMuchWorkError, UnknownWorkError
from ui.work.task import Progress, Task
from ui.work.work_part import SECONDS_BETWEEN_LOOKS

MAX_BYTES: Final = 64_000_000
"""A larger text would be read whole into memory to be sampled."""
_MAX_SAMPLED: Final = 1_000_000
_MAX_HELD_OUT_SAMPLED: Final = 250_000
_MIN_SAVED: Final = 0.01
"""A smaller share of saved tokens is not worth a sentence."""

Tokens = Mapping[str, int]
"""The tokens of the held-out text by pre-tokenizer."""


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
        checks().forget(before)
    workspace.update(CutCheck, id=id)

    def work(task: Task[Progress]) -> Tokens | None:
        return _measure_cuts(chosen, config, task)

    try:
        status = checks().begin(id, work)
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
    corpus, how = chosen.corpus, (chosen.held_out_share, chosen.held_out_by)
    if isinstance(corpus, FiledCorpus):
        training, held_out = divide(corpus.read(), *how)
    else:
        training, held_out = divided(corpus, *how)
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
    status = checks().find(id)
    return status is not None and status.is_live


def _draw_better(cut: str, saved: float) -> None:
    percent = f"{saved:.0%}" if saved >= 0.095 else f"{saved:.1%}"
    st.markdown(f":small[{CUTS[cut]}’s cut: {percent} fewer tokens.]", width="content")
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


@st.cache_resource(show_spinner=False)
def checks() -> Background[Progress, Tokens]:
    """Return the server's checks of cuts, by text and settings."""
    return Background("cut-check", max_waiting=16, max_cached=64, max_per_visitor=2)
