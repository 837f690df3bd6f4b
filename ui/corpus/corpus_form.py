"""Draw the first part of Train, the choice of a corpus and its figures, and bring it back.

It is filled from the address or from the open run, as after a reload of the page.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bpe_core.corpus import (
    Corpus,
    load_sample,
    parse_word_counts,
    samples,
)
from bpe_core.errors import BpeError
from bpe_core.tokenizer import Tokenizer
from bpe_core.types import TrainingConfig
from ui.components import corpus_strip
from ui.corpus import corpus_choice
from ui.corpus.corpus_choice import (
    HELD_OUT_PERCENT,
    KEYS,
    TEXTS,
    choice_to_address,
    choose_held_out,
    chosen_origin,
    held_out_by,
    held_out_widgets,
)
from ui.corpus.own_texts import (
    MAX_BYTES_PASTED,
    PASTED,
    OpenedText,
    area_to_address,
    large_text_area,
    open_text,
    read_address_text,
)
from ui.corpus.uploads import (
    USUAL,
    CorpusForm,
    ReadCorpus,
    ReadUploads,
    describe_counts,
    joined,
    read_uploads,
    text_sentence,
)
from ui.host import errors_shown
from ui.look import (
    counted,
    definitions,
    escape_markdown,
    order_note,
    plain_markdown,
    plain_text,
    size_text,
    tooltip,
)
from ui.run import corpus_summary, show_composition
from ui.shell import (
    draw_given_mark,
    heading_row,
    new_own_id,
    note_training,
    note_unread,
    show_unread,
    take_given,
    workspace,
)
from ui.storage import (
    CorpusOrigin,
    Extension,
    RunCorpus,
    Source,
    StoredRun,
    load_text,
    load_uploaded,
    text_title,
    upload_held_out,
)
from ui.work import jobs, show_reading_notes

Figure = tuple[str, str, Sequence[tuple[str, str]]]
ORIGINS: dict[str, Source] = {
    "Sample": "sample",
    "Upload": "upload",
    "Paste": "paste",
    "Weighted words": "words",
}
"""The choices of where the corpus comes from, and what is stored for each."""
_SOURCES = tuple(ORIGINS)
_NEEDS_TEXT = (
    "A file of counts can be trained on, but this page needs the text of the corpus. Choose text."
)
_HUG_WORDS = "hug 10\npug 5\npun 12\nbun 4\nhugs 5"
FIRST: dict[str, str | int] = {
    "corpus_source": _SOURCES[0],
    "corpus_sample": samples()[0].id,
    "corpus_held_out": HELD_OUT_PERCENT,
    "corpus_held_by": USUAL,
}
"""The first values of the widgets that a new visitor sees."""


@dataclass(frozen=True, slots=True)
class ChosenCorpus:
    """The chosen corpus, and its division into training text and held-out text."""

    corpus: Corpus
    title: str
    origin: CorpusOrigin
    held_out_share: float
    held_out_by: str | None
    """As `divide` takes it."""
    training: Corpus
    held_out: Corpus
    consists_of: DeltaGenerator
    """The place for what it consists of, which is folded."""


def begin_training(
    chosen: ChosenCorpus, how: TrainingConfig | tuple[Extension, Tokenizer], title: str
) -> None:
    """Train on a corpus and follow the training, or draw why it cannot begin."""
    with errors_shown():
        job_id = jobs.submit(
            chosen.corpus,
            how,
            title=title,
            held_out_share=chosen.held_out_share,
            origin=chosen.origin,
            id=new_own_id(),
        )
        note_training(job_id)
        st.rerun()


def choose_corpus(*, takes_counts: bool = False) -> tuple[ChosenCorpus | None, DeltaGenerator]:
    """Draw the choice of a corpus; return the corpus and a container for problems with it.

    The corpus is None if none is chosen yet or it cannot be read, and for a file of counts unless
    the page `takes_counts`.
    """
    st.html(Path(__file__).with_suffix(".css"))
    with heading_row("corpus_heading"):
        st.header("Text", anchor=False, width="content")
        source = st.segmented_control(
            "Where the text comes from",
            _SOURCES,
            default=_SOURCES[0],
            required=True,
            key="corpus_source",
            label_visibility="collapsed",
            persist_state="session",
        )
    chosen = None
    form = st.container()
    # The line is there even without a text, so that the form below does not move. Made before the
    # text is read, it shows that, and no longer what it said of the text before.
    row = heading_row("corpus_line")
    line = row.empty()
    with errors_shown():
        with form:
            found = _read(source, line)
        if found is None:
            line.markdown(":gray[:small[No text yet.]]", width="content")
        elif found.corpus.is_counted and not takes_counts:
            st.error(plain_markdown(_NEEDS_TEXT, 600))
        else:
            chosen = _divide(found, ORIGINS[source], row, line)
    choice_to_address(ORIGINS[source])
    draw_given_mark()
    by, share = workspace.widget_text("corpus_held_by"), workspace.widget_number("corpus_held_out")
    show_unread(corpus_choice.HELD_FILE, held_out_by())
    show_unread(KEYS, (source, workspace.widget_text("corpus_sample"), by, share))
    missing = workspace.get(CorpusForm).missing_corpus
    if chosen is None and missing:
        st.info(plain_markdown(missing, 600))
    return chosen, st.container()


def show_corpus(chosen: ChosenCorpus, pretokenizer: str | None) -> bool:
    """Draw what the corpus consists of; return False if the pre-tokenizer fails on it.

    Pre-tokens are left out if there is no valid pre-tokenizer.
    """
    training, held_out = chosen.training, chosen.held_out
    pretokens = _pretokens(training, pretokenizer)
    characters = [_figure(training.n_characters, "character")]
    with chosen.consists_of:
        corpus_strip(
            key="corpus_strip",
            figures=[*_sizes(training), *(pretokens or characters)],
        )
        if training.summary is not None:
            st.markdown(f":gray[:small[{describe_counts(training.summary)}]]")
        show_composition(
            corpus_summary.composition(training),
            corpus_summary.composition(held_out) if held_out.n_bytes else None,
            key="corpus_composition",
        )
    return pretokens is not None


def _read(source: str, line: DeltaGenerator) -> ReadCorpus | None:
    """Read a corpus from a source, and return it with its title; `line` may show how far it is."""
    if source == "Upload":
        percent = workspace.widget_number("corpus_held_out")
        share = (HELD_OUT_PERCENT if percent is None else percent) / 100
        return read_uploads(share, held_out_by(), line)
    if source == "Paste":
        text = large_text_area(
            "Text to train on",
            key="corpus_pasted",
            height=180,
            placeholder="Paste a text. A few paragraphs are enough to see merges.",
        )
        area_to_address(TEXTS["paste"], text, first="", longest=MAX_BYTES_PASTED)
        if note := order_note(text or ""):
            st.markdown(f":gray[:small[{note}]]")
        return ReadCorpus(Corpus.from_text(text, "pasted text"), "Pasted text") if text else None
    if source == "Weighted words":
        text = large_text_area(
            "One word and its count per line; each word is one pre-token",
            _HUG_WORDS,
            key="corpus_words",
            height=150,
        )
        area_to_address(TEXTS["words"], text, first=_HUG_WORDS, longest=MAX_BYTES_PASTED)
        counts = parse_word_counts(text)
        return ReadCorpus(Corpus.from_word_counts(counts), joined(list(counts), "words"))
    found = {sample.id: sample for sample in samples()}
    sample_id = st.selectbox(
        "Sample",
        list(found),
        format_func=lambda sample_id: found[sample_id].title,
        key="corpus_sample",
        label_visibility="collapsed",
        persist_state="session",
    )
    with st.spinner("Reading the sample"):
        sample = found[sample_id]
        return ReadCorpus(load_sample(sample_id), sample.title, about=sample.description)


def _divide(
    found: ReadCorpus, source: Source, row: DeltaGenerator, line: DeltaGenerator
) -> ChosenCorpus | None:
    """Divide a corpus as its visitor chooses; return None while there is no held-out text.

    Its size is written into the line at the row's start; all else is folded into the row.
    """
    corpus, title = found.corpus, found.title
    if corpus.is_counted:
        corpus = corpus.read()
        st.markdown(f":gray[:small[{text_sentence(corpus)}]]", help=tooltip("Held-out text"))
        consists_of = _fold_parts(row)
        words = counted(len(corpus.word_counts or ()), "distinct word")
        line.markdown(
            f":gray[:small[{words} · {counted(corpus.n_bytes, 'byte')}]]", width="content"
        )
        training, held_out = corpus.split(0.0)
        origin = chosen_origin(source, HELD_OUT_PERCENT)
        return ChosenCorpus(corpus, title, origin, 0.0, None, training, held_out, consists_of)
    with _fold_parts(row):
        if found.about:
            st.markdown(found.about)
        consists_of, sentence = st.container(), st.empty()
        percent, by = choose_held_out(corpus, found.columns)
    show_reading_notes(corpus.file_notes)
    if (upload_id := upload_held_out(by)) == "":
        line.markdown(f":gray[:small[{_NO_FILES}]]", width="content")
        return None
    share = percent / 100 if upload_id is None else 0.0
    with st.spinner("Holding text back"):
        training, held_out = corpus_summary.divided(corpus, share, by)
    origin = chosen_origin(source, percent, by)
    chosen = ChosenCorpus(corpus, title, origin, share, by, training, held_out, consists_of)
    line.markdown(f":gray[:small[{_sizes_in_line(chosen)}]]", width="content")
    sentence.markdown(f":gray[:small[{_held_out_sentence(chosen)}]]", help=tooltip("Held-out text"))
    return chosen


def _fold_parts(row: DeltaGenerator) -> DeltaGenerator:
    return row.popover("What it consists of", type="tertiary", key="corpus_parts")


def _sizes_in_line(chosen: ChosenCorpus) -> str:
    """Return the size of a corpus, and how much of it is held out."""
    n = chosen.corpus.n_sources
    size = f"{counted(n, 'document')} · {counted(chosen.corpus.n_bytes, 'byte')}"
    if chosen.corpus.word_counts is not None:
        size = counted(len(chosen.corpus.word_counts), "weighted word")
    if chosen.held_out.how is not None and chosen.held_out.how.by == "file":
        return f"{size} · your own files set aside"
    if not chosen.held_out.n_bytes:
        return f"{size} · nothing set aside"
    # Whole documents are held out, so it is not quite the share that was asked for.
    percent = 100 * chosen.held_out.n_bytes / chosen.corpus.n_bytes
    return f"{size} · {'under 1' if percent < 0.5 else round(percent)}% set aside"


def _sizes(training: Corpus) -> list[Figure]:
    if training.word_counts is None:
        first = _figure(training.n_sources, "document")
    else:
        name = "distinct word" if training.is_counted else "weighted word"
        first = _figure(len(training.word_counts), name)
    return [first, _figure(training.n_bytes, "byte")]


def _figure(n: int, noun: str, terms: Sequence[tuple[str, str]] = ()) -> Figure:
    number, _, words = counted(n, noun).partition(" ")
    return number, words, terms


def _pretokens(training: Corpus, pretokenizer: str | None) -> list[Figure] | None:
    """Return the counts of pre-tokens; empty if they are not counted, None if counting fails."""
    at_hand = corpus_summary.text_to_count(training)
    if pretokenizer is None or at_hand is None:
        return []
    with st.spinner("Counting pre-tokens"):
        found = corpus_summary.pretoken_figures(at_hand, pretokenizer)
    if isinstance(found, str):
        st.error(plain_markdown(found, 1_000))
        return None
    if training.is_counted:
        return [_figure(found.total, "occurrence", definitions("Pre-token"))]
    return [
        _figure(found.total, "pre-token", definitions("Pre-token")),
        (f"{found.distinct:,}", "distinct", ()),
    ]


def _held_out_sentence(chosen: ChosenCorpus) -> str:
    held_out, how = chosen.held_out, chosen.held_out.how
    if how is not None and how.by == "file":
        n_copies = chosen.corpus.n_sources - chosen.training.n_sources
        copies = (
            f" {counted(n_copies, 'document')} of the corpus {'is' if n_copies == 1 else 'are'} "
            "also in them, and left out of the training text."
        )
        n = counted(how.n_units, "document")
        sentence = f"Your own files, {counted(held_out.n_bytes, 'byte')} in {n}, are held out."
        return f"{sentence}{copies if n_copies else ''} {_NEVER_SEEN}"
    if chosen.held_out_share == 0:
        return "Nothing is held out, so all figures describe text that training has seen."
    if not held_out.n_bytes:
        return "Too little text to hold any back."
    if held_out.word_counts is not None:
        source = f" of {counted(len(held_out.word_counts), 'word')}"
    elif how is not None and chosen.corpus.n_sources > 1:
        n, noun = how.n_units, how.noun(how.n_units)
        source = f" from {n:,} {escape_markdown(noun)}"
        if noun == "documents" and held_out.n_sources > n:
            source = f" from {held_out.n_sources:,} documents ({n:,} without near copies)"
    else:
        source = ""
    are = "is" if held_out.n_bytes == 1 else "are"
    sentence = f"{counted(held_out.n_bytes, 'more byte')}{source} {are} held out. {_NEVER_SEEN}"
    return sentence if how is None else f"{sentence} {how.flattery}".rstrip()


_NEVER_SEEN = "Training never sees held-out text."
_NO_FILES = "Nothing is held out yet: choose your files, or hold out documents."


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
    asked = workspace.query_text(corpus_choice.SOURCE)
    source = next((source for source in get_args(Source) if source == asked), None)
    held_out = workspace.query_int(corpus_choice.HELD_OUT, HELD_OUT_PERCENT, 50)
    held_by = workspace.query_text(corpus_choice.HELD_BY)
    if not held_by:
        names_files = workspace.has_query(corpus_choice.HELD_FILE)
        held_by = corpus_choice.OWN_FILES if names_files else USUAL
    widgets: dict[str, str | float] = {"corpus_held_out": held_out, "corpus_held_by": held_by}
    if source == "upload":
        upload_id = workspace.query_text(corpus_choice.UPLOAD)
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
    if problem := _unread(asked, source):
        note_unread(KEYS, problem)
    sample = workspace.query_text(corpus_choice.SAMPLE) or ""
    if sample in [each.id for each in samples()]:
        return {"corpus_sample": sample} | widgets
    if source == "sample":
        return {"corpus_source": _choice(source)} | widgets
    is_usual = held_out == HELD_OUT_PERCENT and held_by == USUAL
    return {} if is_usual else widgets


def _unread(asked: str | None, source: Source | None) -> str:
    """Return a sentence on what the address names and the form does not have; empty if nothing."""
    sample = workspace.query_text(corpus_choice.SAMPLE)
    share = workspace.query_text(corpus_choice.HELD_OUT)
    unknown = {
        "source of text": asked if source is None else None,
        "sample": sample if sample not in [each.id for each in samples()] else None,
        "share of 0 to 50 percent": share
        if share not in [str(each) for each in range(51)]
        else None,
    }
    found = [f"no {what} “{plain_text(name, 60)}”" for what, name in unknown.items() if name]
    return f"There is {' and '.join(found)}, which this address names." if found else ""


def fill_from_browser(source: str, kept_id: str) -> dict[str, str | float]:
    """Bring back the corpus that the browser names, as if the address named it."""
    name = corpus_choice.KEPT_UNDER[source]
    workspace.set_query(**{corpus_choice.SOURCE: source, name: kept_id})
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
