"""Fill the forms on Train from the open run or a training, as after a reload of the page."""

from __future__ import annotations

from collections.abc import Mapping

from ui.corpus import corpus_form
from ui.corpus.filled_corpus import corpus_of_address, corpus_of_plan, corpus_of_run
from ui.run import corpus_summary
from ui.shell import workspace
from ui.storage.base_tokenizer import Extension
from ui.storage.run_store import SAMPLE_RUN_ID, StoredRun
from ui.train import settings_form
from ui.train.settings_form import start_of
from ui.work.jobs import TrainingPlan


def fill_forms_once(stored: StoredRun) -> None:
    """Fill the forms from the open run if this session shows them for the first time.

    Forms that the visitor has changed meanwhile stay as they are.
    """
    if not _are_filled_first():
        return
    asked = corpus_of_address()
    if stored.id == SAMPLE_RUN_ID:
        _set(asked)
        return
    if stored.run.base is not None:
        # Its settings are those of the tokenizer that it extends, which Train cannot make.
        _set(asked or corpus_of_run(stored))
        return
    start_total = stored.run.tokenizer.vocab_size - len(stored.run.merges)
    settings = settings_form.widgets_of(stored.run.config, start_total)
    _set(settings | (asked or corpus_of_run(stored)))


def fill_forms_from_training(plan: TrainingPlan) -> None:
    """Fill the forms from a training that has not ended, as `fill_forms_once` does from a run."""
    if not _are_filled_first():
        return
    asked = corpus_of_address() or corpus_of_plan(plan)
    if isinstance(plan.how, Extension):
        _set(asked)
        return
    training, _ = corpus_summary.divided(plan.corpus, plan.origin.held_out_percent / 100)
    settings = settings_form.widgets_of(plan.how, start_of(plan.how, training).total)
    _set(settings | asked)


def _are_filled_first() -> bool:
    """Return whether the forms are to be filled now, and note that they were shown."""
    if workspace.current().forms_are_filled:
        return False
    workspace.update(forms_are_filled=True)
    return workspace.widgets_hold(corpus_form.FIRST | settings_form.FIRST)


def _set(widgets: Mapping[str, str | float]) -> None:
    for key, value in widgets.items():
        workspace.set_widget(key, value)
