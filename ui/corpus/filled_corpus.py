"""Bring back the corpus of the address or of the open run, as after a reload of the page."""

from __future__ import annotations

from collections.abc import Callable
from typing import get_args

import streamlit as st

from bpe_core.corpus import Corpus, load_sample, parse_word_counts, samples
from bpe_core.errors import BpeError
from ui.corpus import corpus_choice
from ui.corpus.address_text import read_address_text
from ui.corpus.corpus_choice import HELD_OUT_PERCENT, held_out_widgets
from ui.corpus.corpus_form import FIRST, ORIGINS
from ui.corpus.own_text_field import PASTED, OpenedText, open_text
from ui.corpus.uploads import USUAL, CorpusForm, ReadUploads
from ui.look import size_text
from ui.shell import address, take_given, workspace
from ui.storage import (
    CorpusOrigin,
    RunCorpus,
    Source,
    StoredRun,
    load_text,
    load_uploaded,
    text_title,
)

_MAX_TYPED = 100_000
"""A longer text is shown as a large paste: a text area would slow the browser down."""
_AGAIN = {
    "upload": "Upload it again to train on it.",
    "paste": "Paste it again to train on it.",
    "words": "Paste the words again to train on them.",
    "sample": "Choose a corpus to train on.",
}


def fill_corpus_once(stored: StoredRun) -> None:
    """Fill the corpus form from the address, the open run or the browser.

    Only if this session shows no other corpus yet.
    """
    given = take_given()
    if workspace.get(CorpusForm).is_filled and given is None:
        return
    if not workspace.widgets_hold(FIRST):
        return
    widgets = fill_from_address()
    if stored.run.given_base is not None:
        widgets = corpus_or(widgets, lambda: fill_from_run(stored))
    elif given is not None:
        widgets = corpus_or(widgets, lambda: fill_from_browser(*given))
    if not widgets:
        return
    workspace.update(CorpusForm, is_filled=True)
    workspace.set_widgets(widgets)


def open_to_hold_out(stored: StoredRun, by: str) -> None:
    """Open the page that a run was made on, filled to make it again with another held-out text."""
    if workspace.get(CorpusForm).is_filled:
        workspace.set_widgets(fill_from_run(stored) | held_out_widgets(HELD_OUT_PERCENT, by))
    page = "train" if stored.run.given_base is None else "adapt"
    query = {"run": stored.id, corpus_choice.HELD_BY: by}
    st.switch_page(f"pages/{page}.py", query_params=query)


def corpus_or(
    widgets: dict[str, str | float], otherwise: Callable[[], dict[str, str | float]]
) -> dict[str, str | float]:
    """Return the values of widgets, those of another corpus too if they name none."""
    names_corpus = widgets.keys() & {"corpus_source", "corpus_sample"}
    return widgets if names_corpus else otherwise() | widgets


def fill_from_address() -> dict[str, str | float]:
    """Bring back the corpus that the address names, and return the values of its widgets.

    Those of no corpus if it names only what to hold out, and nothing if it names neither. If the
    corpus is no longer kept, the form says so.
    """
    asked = address.query_text(corpus_choice.SOURCE)
    source = next((source for source in get_args(Source) if source == asked), None)
    held_out = address.query_int(corpus_choice.HELD_OUT, HELD_OUT_PERCENT, 50)
    held_by = address.query_text(corpus_choice.HELD_BY) or USUAL
    widgets: dict[str, str | float] = {"corpus_held_out": held_out, "corpus_held_by": held_by}
    if source == "upload":
        upload_id = address.query_text(corpus_choice.UPLOAD)
        if upload_id is None:
            return {}
        try:
            corpus, title = load_uploaded(upload_id)
        except BpeError as error:
            return _without_corpus(source, str(error)) | widgets
        workspace.update(ReadUploads, corpus=corpus, title=title, id=upload_id)
        return {"corpus_source": _choice(source)} | widgets
    if source in corpus_choice.TEXTS:
        text = read_address_text(corpus_choice.TEXTS[source])
        if text is None:
            # The field for words begins with some.
            return {"corpus_source": _choice(source)} | widgets if source == "words" else {}
        return _typed(source, text) | widgets
    sample = address.query_text(corpus_choice.SAMPLE) or ""
    if sample in [each.id for each in samples()]:
        return {"corpus_sample": sample} | widgets
    if source == "sample":
        return {"corpus_source": _choice(source)} | widgets
    is_usual = held_out == HELD_OUT_PERCENT and held_by == USUAL
    return {} if is_usual else widgets


def fill_from_browser(source: str, kept_id: str) -> dict[str, str | float]:
    """Bring back the corpus that the browser names, as if the address named it."""
    name = corpus_choice.KEPT_UNDER[source]
    address.set_query(**{corpus_choice.SOURCE: source, name: kept_id})
    return fill_from_address()


def fill_from_run(stored: StoredRun) -> dict[str, str | float]:
    """Bring back a run's corpus, and return the values of its widgets.

    If it is not kept, no other corpus takes its place: the form says which one it was.
    """
    title = text_title(stored.base, stored.title)
    kept = stored.came_from
    if kept is None:
        return _without_corpus(
            "upload",
            f"The open run was trained on “{title}”, {size_text(stored.run.corpus_bytes)}, "
            "which is not kept with it. Choose a corpus to train on.",
        )
    origin = kept.origin
    corpus = _sample(kept) if origin.source == "sample" else kept.corpus or _uploaded(kept)
    if corpus is None:
        widgets = _without_corpus(
            origin.source if origin.source != "sample" else "upload",
            f"The open run was trained on “{title}”, {size_text(kept.n_bytes)}, which is "
            f"not kept with it. {_AGAIN[origin.source]}",
        )
    else:
        widgets = _widget_values(origin, corpus, title)
    return widgets | _held_out(origin)


def _held_out(origin: CorpusOrigin) -> dict[str, str | float]:
    return held_out_widgets(origin.held_out_percent, origin.held_out_by)


def _sample(kept: RunCorpus) -> Corpus | None:
    """Return the sample that a run was trained on; None if it has changed since."""
    try:
        corpus = load_sample(kept.origin.sample_id)
    except BpeError:
        return None
    return corpus if corpus.sha256 == kept.sha256 else None


def _uploaded(kept: RunCorpus) -> Corpus | None:
    """Return the corpus from where its upload is kept; None if it no longer is."""
    upload_id = kept.origin.upload_id
    if not upload_id:
        return None
    try:
        if kept.origin.source == "paste":
            return Corpus.from_text(load_text(upload_id), name="pasted text")
        if kept.origin.source == "words":
            return Corpus.from_word_counts(parse_word_counts(load_text(upload_id)))
        corpus = load_uploaded(upload_id)[0]
    except BpeError:
        return None
    workspace.update(ReadUploads, id=upload_id)
    return corpus if corpus.sha256 == kept.sha256 else None


def _widget_values(origin: CorpusOrigin, corpus: Corpus, title: str) -> dict[str, str | float]:
    source = _choice(origin.source)
    if origin.source == "sample":
        return {"corpus_source": source, "corpus_sample": origin.sample_id}
    if origin.source == "upload" or corpus.folder is not None:
        workspace.update(ReadUploads, corpus=corpus, title=title)
        return {"corpus_source": source}
    words = corpus.word_counts or {}
    text = "\n".join(f"{word} {count}" for word, count in words.items())
    return _typed(origin.source, text if origin.source == "words" else "".join(corpus.documents))


def _typed(source: str, text: str) -> dict[str, str | float]:
    key = "corpus_words" if source == "words" else "corpus_pasted"
    choice = _choice(source)
    if len(text) <= _MAX_TYPED:
        return {"corpus_source": choice, key: text}
    opened = OpenedText(PASTED, len(text.encode()), before="")
    open_text(text, opened=opened, n_characters=len(text), name=key)
    return {"corpus_source": choice}


def _without_corpus(source: str, problem: str) -> dict[str, str | float]:
    workspace.update(CorpusForm, missing_corpus=problem)
    # Empty, because the field would otherwise hold words of its own.
    words = {"corpus_words": ""} if source == "words" else {}
    return {"corpus_source": _choice(source), **words}


def _choice(source: str) -> str:
    return next(choice for choice, stored in ORIGINS.items() if stored == source)
