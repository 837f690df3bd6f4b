"""Compare languages: what the same sentences cost in each, and which scripts got the merges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import streamlit as st

from bpe_core.comparison import LanguageCosts
from bpe_core.corpus import ParallelText, parallel_texts
from bpe_core.errors import BpeError
from bpe_core.runs import steps_to_draw
from ui.compare import charts
from ui.compare.compared import (
    NEEDS_WHOLE,
    cached_language_costs,
    compare_languages_on,
    whole_text_card,
)
from ui.compare.definitions import SCRIPTS
from ui.compare.language_figures import (
    MEASURES,
    PARITY,
    TOKENS,
    cached_script_merges,
    cannot_spell,
    cheapest_first,
    language_csv,
    language_rows,
    parallel_table,
    parity_warning,
    scripts_csv,
    summary_rows,
    tokens_sentence,
)
from ui.components import ChartPicture, figure_table
from ui.host import errors_shown
from ui.look import CONFIG, counted, plain_markdown, plain_text
from ui.run import offer_csv, offer_pictures
from ui.shell import (
    LIMIT,
    address,
    choose_one,
    counted_as_kept,
    frame,
    submitted_files,
    upload_files,
    workspace,
)
from ui.storage import StoredRun, keep_sentences, load_sentences
from ui.tokenizers import Member, add_button

_MAX_DRAWN = 60
_FIRST_REFERENCE = "English"
_REFERENCE_KEY = "reference"
_MERGES = "Merges of scripts"


@dataclass(frozen=True, slots=True)
class OwnSentences:
    """The visitor's own parallel sentences."""

    id: str | None = None
    """Empty for the sample, None before the page is opened."""


Costs = tuple[Sequence[ParallelText], Sequence[LanguageCosts]]


class LanguageChoice(NamedTuple):
    """Which sentences are compared, and against which language; both are a visitor's own words."""

    sentences: str
    """Their id; empty for the sample."""
    reference: str


def chosen_languages() -> LanguageChoice:
    """Return what is chosen, though the part may not be drawn."""
    kept = workspace.get(OwnSentences).id
    sentences = (address.query_text("sentences") or "") if kept is None else kept
    return LanguageChoice(sentences, workspace.widget_text(_REFERENCE_KEY))


def compared_languages(choice: LanguageChoice, members: Sequence[Member]) -> Costs | None:
    """Return the chosen sentences and their costs; None if they cannot be compared."""
    try:
        texts = load_sentences(choice.sentences) if choice.sentences else parallel_texts()
        reference = _list_names(texts)
        name = choice.reference if choice.reference in reference else reference[0]
        return texts, cached_language_costs(texts, [member.encoder for member in members], name)
    except BpeError:
        return None


def languages_part(stored: StoredRun, members: Sequence[Member]) -> None:
    """Draw what each language costs under the tokenizers, or the merges of each script."""
    kept = _kept_sentences()
    texts = _texts(kept)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        reference = st.selectbox(
            "Compared with",
            _list_names(texts),
            format_func=plain_text,
            width=200,
            key=_REFERENCE_KEY,
            bind="query-params",
        )
        besides = [title for title in MEASURES if title != TOKENS]
        beside = choose_one("Second chart", [*besides, _MERGES], key="measure", shows_label=True)
        st.space("stretch")
        with st.popover("Your own sentences", width="content"):
            _own_sentences(kept)
    found = compare_languages_on(texts, [member.encoder for member in members], reference)
    texts, costs = found.texts, found.costs
    if found.pending is not None:
        whole_text_card(found.pending)
    pictures = _costs(texts, costs, members, beside)
    names = [member.name for member in members]
    with st.container(horizontal=True):
        offer_csv(
            lambda: language_csv(texts, costs, names),
            "languages.csv",
            key="compare_languages_csv",
            help="One line per language and tokenizer, with all measures; figures that cannot "
            "be computed are empty."
            if found.pending is None
            else NEEDS_WHOLE,
            disabled=found.pending is not None,
        )
        offer_pictures(pictures, key="compare_languages_pictures")
        st.space("stretch")
        add_button(stored)
    _tables(texts, costs, members, TOKENS if beside == _MERGES else beside)


def _list_names(texts: Sequence[ParallelText]) -> list[str]:
    """Return the names of the languages, the first reference first."""
    return sorted((text.name for text in texts), key=lambda name: name != _FIRST_REFERENCE)


def _costs(
    texts: Sequence[ParallelText],
    costs: Sequence[LanguageCosts],
    members: Sequence[Member],
    beside: str,
) -> list[ChartPicture]:
    """Draw tokens and the chosen measure of each language; return the pictures to download."""
    names = [member.name for member in members]
    order = cheapest_first(costs[0])
    drawn = order[-_MAX_DRAWN:]
    # Their rows are at one height, whichever text is the longer.
    left, right = st.columns(2, gap="medium", vertical_alignment="bottom")
    with left:
        st.markdown(
            plain_markdown(tokens_sentence(costs, names), 1_000),
            help=f"The same {counted(len(texts[0].sentences), 'sentence')} in {len(texts)} "
            "languages; fewer tokens are better.",
        )
        pictures = [_dots(TOKENS, texts, costs, names, drawn)]
    with right:
        if beside == _MERGES:
            _merges(members)
        else:
            lead = MEASURES[beside].lead.format(reference=texts[costs[0].reference].name)
            warning = f":orange[{plain_markdown(parity_warning(texts, costs, names), 600)}]"
            is_ratio = beside == PARITY
            st.markdown(
                warning if is_ratio else plain_markdown(lead, 600),
                help=plain_markdown(lead, 600) if is_ratio else None,
            )
            pictures.append(_dots(beside, texts, costs, names, drawn))
    notes = [f"The {len(drawn)} most expensive of {len(order):,} languages."] * (drawn != order)
    if any(cannot_spell(metrics) for one in costs for metrics in one.metrics):
        notes.append(
            "Hollow: the tokenizer cannot spell all of the sentences, so it needs fewer tokens."
        )
    if notes:
        st.markdown(f":gray[{' '.join(notes)}]")
    return pictures


def _tables(
    texts: Sequence[ParallelText],
    costs: Sequence[LanguageCosts],
    members: Sequence[Member],
    title: str,
) -> None:
    names = [member.name for member in members]
    with st.expander("In tables"):
        figure_table(names, summary_rows(costs), caption="Fairness", key="compare_fairness")
        st.subheader(f"{title} of every language", anchor=False)
        figure_table(
            names,
            language_rows(texts, costs, MEASURES[title]),
            caption=f"{title} of every language",
            key="compare_language_rows",
        )


def _dots(
    title: str,
    texts: Sequence[ParallelText],
    costs: Sequence[LanguageCosts],
    names: Sequence[str],
    drawn: Sequence[int],
) -> ChartPicture:
    """Draw a measure of each language, and return the picture to download."""
    measure = MEASURES[title]
    figure = charts.language_dots(
        [texts[place].name for place in drawn],
        [
            (
                name,
                [measure.figure(one, place) for place in drawn],
                [cannot_spell(one.metrics[place]) for place in drawn],
            )
            for name, one in zip(names, costs, strict=True)
        ],
        unit=title.lower(),
        shape=measure.shape,
        is_ratio=measure.is_ratio,
        theme=frame.theme_type(),
    )
    key = f"compare_languages_{'tokens' if title == TOKENS else 'beside'}"
    st.plotly_chart(figure, theme=None, config=CONFIG, key=key)
    lead = measure.lead.format(reference=texts[costs[0].reference].name)
    name = f"{title.lower().replace(' ', '-')}-of-languages.png"
    return ChartPicture(key, f"PNG: {title.lower()}", f"{title} of every language", lead, name)


def _merges(members: Sequence[Member]) -> None:
    """Draw the merges of each script, as a chart, a picture and a table to download."""
    # The names are distinct, and the run's own tokenizer is always among them.
    known = {m.name: merges for m in members if (merges := m.merges_tokenizer) is not None}
    name = st.selectbox(
        "Where the merges went",
        list(known),
        format_func=plain_text,
        width=320,
        key="compare_merges_of",
        help=SCRIPTS.meaning,
    )
    tokenizer = known[name]
    if not tokenizer.n_merges:
        st.markdown(":gray[This tokenizer has no merges.]")
        return
    spent, steps = cached_script_merges(tokenizer), steps_to_draw(tokenizer.n_merges)
    figure = charts.script_curves(
        steps, list(zip(spent.names, spent.after[:, steps], strict=True)), theme=frame.theme_type()
    )
    st.plotly_chart(figure, theme=None, config=CONFIG, key="compare_scripts")
    with st.container(horizontal=True):
        offer_csv(
            lambda: scripts_csv(spent),
            "merges-of-scripts.csv",
            key="compare_scripts_csv",
            label="CSV: merges",
            help="One line per script, with its merges after each quarter of training.",
        )
        picture = ChartPicture(
            "compare_scripts", "PNG: merges", "Merges of each script", name, "merges-of-scripts.png"
        )
        offer_pictures([picture], key="compare_scripts_picture")


def _own_sentences(kept: str) -> None:
    st.markdown(
        "A table with one column per language, named in the first row; or one text file per "
        "language, with one sentence per line. The n-th sentences must mean the same."
    )
    uploads = upload_files("CSV or TSV, or text files", key="parallel_upload")
    st.markdown(f":gray[:small[{LIMIT}]]")
    is_pressed = st.button("Compare these", key="own_sentences", disabled=not uploads)
    if is_pressed and (files := submitted_files(uploads)):
        with errors_shown():
            with counted_as_kept(sum(len(data) for _, data in files)):
                added = keep_sentences(files)
            workspace.update(OwnSentences, id=added)
            st.rerun()
    with st.container(horizontal=True):
        st.download_button(
            "The sample as a table",
            lambda: parallel_table(parallel_texts()),
            file_name="sentences.csv",
            mime="text/csv",
            on_click="ignore",
        )
        if kept and st.button("Back to the sample"):
            workspace.update(OwnSentences, id="")
            st.rerun()


def _kept_sentences() -> str:
    """Return the id of the visitor's sentences; at first, the one in the address."""
    kept = workspace.get(OwnSentences).id
    if kept is None:
        kept = address.query_text("sentences") or ""
        workspace.update(OwnSentences, id=kept)
    address.set_query(sentences=kept or None)
    return kept


def _texts(kept: str) -> Sequence[ParallelText]:
    """Return the sentences stored under an id, or the sample if there are none."""
    if kept:
        try:
            return load_sentences(kept)
        except BpeError as error:
            st.error(f"{plain_markdown(str(error), 600)} The sample is used instead.")
    return parallel_texts()
