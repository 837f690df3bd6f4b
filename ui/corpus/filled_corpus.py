"""Bring back the corpus of the open run or of a training, as after a reload of the page."""

from __future__ import annotations

from bpe_core.corpus.corpus import Corpus
from bpe_core.corpus.filed_corpus import FiledCorpus
from bpe_core.corpus.samples import load_sample
from bpe_core.errors import BpeError
from ui.corpus.corpus_form import FIRST, ORIGINS
from ui.look.labels import size_text
from ui.shell import workspace
from ui.shell.workspace import PastedText
from ui.storage.base_tokenizer import Extension, title_of_text
from ui.storage.run_corpus import CorpusOrigin, RunCorpus
from ui.storage.run_store import StoredRun, run_corpus
from ui.work.jobs import TrainingPlan

_MOST_TYPED = 100_000
"""A longer text is shown as a large paste: a text area would slow the browser down."""
_AGAIN = {
    "upload": "Upload it again to train on it.",
    "paste": "Paste it again to train on it.",
    "words": "Paste the words again to train on them.",
    "sample": "Choose a corpus to train on.",
}


def fill_corpus_once(stored: StoredRun, plan: TrainingPlan | None) -> None:
    """Fill the corpus form from a training that has not ended, else from the open run.

    Only if this session shows no other corpus yet.
    """
    if workspace.current().forms_are_filled or not workspace.widgets_hold(FIRST):
        return
    if plan is not None:
        widgets = corpus_of_plan(plan)
    elif stored.run.base is not None:
        widgets = corpus_of_run(stored)
    else:
        return
    workspace.update(forms_are_filled=True)
    for key, value in widgets.items():
        workspace.set_widget(key, value)


def corpus_of_plan(plan: TrainingPlan) -> dict[str, str | float]:
    """Bring back the corpus of a training that has not ended, and return its widgets' values."""
    base = plan.how.base if isinstance(plan.how, Extension) else None
    widgets = _widgets_of(plan.origin, plan.corpus, title_of_text(base, plan.title))
    return widgets | {"corpus_held_out": plan.origin.held_out_percent}


def corpus_of_run(stored: StoredRun) -> dict[str, str | float]:
    """Bring back a run's corpus, and return the values of its widgets.

    If it is not kept, no other corpus takes its place: the form says which one it was.
    """
    title = title_of_text(stored.base, stored.title)
    try:
        kept = run_corpus(stored.id)
    except BpeError:
        kept = None
    if kept is None:
        return _without_corpus(
            "upload",
            f"The open run was trained on “{title}”, {size_text(stored.run.corpus_bytes)}, "
            "which is not kept with it. Choose a corpus to train on.",
        )
    origin = kept.origin
    corpus = kept.corpus if origin.source != "sample" else _sample(kept)
    if corpus is None:
        widgets = _without_corpus(
            origin.source if origin.source != "sample" else "upload",
            f"The open run was trained on “{title}”, {size_text(kept.n_bytes)}, which is "
            f"not kept with it. {_AGAIN[origin.source]}",
        )
    else:
        widgets = _widgets_of(origin, corpus, title)
    return widgets | {"corpus_held_out": origin.held_out_percent}


def _sample(kept: RunCorpus) -> Corpus | None:
    """Return the sample that a run was trained on; None if it has changed since."""
    try:
        corpus = load_sample(kept.origin.sample_id)
    except BpeError:
        return None
    return corpus if corpus.sha256 == kept.sha256 else None


def _widgets_of(
    origin: CorpusOrigin, corpus: Corpus | FiledCorpus, title: str
) -> dict[str, str | float]:
    source = _choice(origin.source)
    if origin.source == "sample":
        return {"corpus_source": source, "corpus_sample": origin.sample_id}
    if origin.source == "upload" or isinstance(corpus, FiledCorpus):
        workspace.update(corpus=corpus, corpus_title=title)
        return {"corpus_source": source}
    key, text = "corpus_pasted", "".join(corpus.documents)
    if origin.source == "words":
        key = "corpus_words"
        text = "\n".join(f"{word} {count}" for word, count in (corpus.word_counts or {}).items())
    if len(text) <= _MOST_TYPED:
        return {"corpus_source": source, key: text}
    pasted = PastedText(text, len(text.encode()), before="")
    workspace.update(pasted={**workspace.current().pasted, key: pasted})
    return {"corpus_source": source}


def _without_corpus(source: str, problem: str) -> dict[str, str | float]:
    workspace.update(missing_corpus=problem)
    # Empty, because the field would otherwise hold words of its own.
    words = {"corpus_words": ""} if source == "words" else {}
    return {"corpus_source": _choice(source), **words}


def _choice(source: str) -> str:
    return next(choice for choice, stored in ORIGINS.items() if stored == source)
