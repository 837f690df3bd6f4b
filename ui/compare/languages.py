"""Compare languages: what the same sentences cost in each, and which scripts got the merges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from bpe_core.comparison.languages import LanguageCosts
from bpe_core.corpus.samples import ParallelText, parallel_texts
from bpe_core.errors import BpeError
from bpe_core.runs.pair_statistics import steps_to_draw
from ui.compare import charts
from ui.compare.language_figures import (
    MEASURES,
    cached_language_costs,
    cached_script_merges,
    cannot_spell,
    cheapest_first,
    language_csv,
    language_rows,
    language_sentence,
    parallel_table,
    summary_rows,
)
from ui.components.chart_pictures import ChartPicture, chart_pictures
from ui.components.figures import figure_table
from ui.look.chart_style import CONFIG
from ui.look.labels import plain_markdown, plain_text
from ui.shell import address, frame, workspace
from ui.shell.choices import choose_one
from ui.shell.file_upload import LIMIT, counted_as_kept, upload_files
from ui.storage.upload_store import keep_sentences, load_sentences
from ui.tokenizers.shelf import Member
from ui.tokenizers.submitted_files import submitted_files

_MAX_DRAWN = 60
_MAX_IN_A_ROW = 4
_FIRST_REFERENCE = "English"


@dataclass(frozen=True, slots=True)
class OwnSentences:
    """The visitor's own parallel sentences."""

    id: str | None = None
    """Empty for the sample, None before the page is opened."""


Costs = tuple[Sequence[ParallelText], Sequence[LanguageCosts]]


def languages_part(members: Sequence[Member]) -> Costs | None:
    """Draw what each language costs under the tokenizers, and the merges of each script.

    Returns the sentences and their costs; None if they cannot be compared.
    """
    kept = _kept_sentences()
    with st.container(horizontal=True, vertical_alignment="center"):
        st.header("Languages", anchor=False, width="content")
        st.space("stretch")
        with st.popover("Your own sentences", width="content"):
            _own_sentences(kept)
    texts = _texts(kept)
    with st.container(horizontal=True, vertical_alignment="top", gap="medium"):
        names = [text.name for text in texts]
        reference = st.selectbox(
            "Compared with",
            names,
            index=names.index(_FIRST_REFERENCE) if _FIRST_REFERENCE in names else 0,
            format_func=plain_text,
            width=220,
            key="reference",
            bind="query-params",
        )
        measure = choose_one("Measure", list(MEASURES), key="measure", shows_label=True)
    costs = None
    try:
        costs = cached_language_costs(texts, [member.encoder for member in members], reference)
    except BpeError as error:
        st.error(plain_markdown(str(error), 600))
    else:
        _costs(texts, costs, members, measure)
    _merges(members)
    return None if costs is None else (texts, costs)


def _costs(
    texts: Sequence[ParallelText],
    costs: Sequence[LanguageCosts],
    members: Sequence[Member],
    title: str,
) -> None:
    measure = MEASURES[title]
    names = [member.name for member in members]
    order = cheapest_first(costs[0])
    drawn = order[-_MAX_DRAWN:]
    reference = texts[costs[0].reference].name
    st.markdown(plain_markdown(language_sentence(texts, costs, names), 1_000))
    picture, table = st.columns([3, 2], gap="large")
    with picture:
        lead = measure.lead.format(reference=plain_markdown(reference))
        st.markdown(f":gray[{lead}]")
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
        st.plotly_chart(figure, theme=None, config=CONFIG, key="compare_languages")
        picture = ChartPicture(
            "compare_languages",
            "PNG",
            f"{title} of every language",
            measure.lead.format(reference=reference),
            "languages.png",
        )
        chart_pictures([picture], key="compare_languages_picture")
        notes = [f"The {len(drawn)} most expensive of {len(order):,} languages."] * (drawn != order)
        if any(cannot_spell(metrics) for one in costs for metrics in one.metrics):
            notes.append(
                "Hollow: the tokenizer cannot spell all of the sentences, so it needs fewer tokens."
            )
        if notes:
            st.markdown(f":gray[{' '.join(notes)}]")
    with table:
        n = len(texts[0].sentences)
        st.markdown(
            f":gray[Across {len(texts)} languages, with the same {n:,} "
            f"{'sentence' if n == 1 else 'sentences'} in each. The dot marks the fewest tokens.]"
        )
        figure_table(names, summary_rows(costs), caption="Fairness", key="compare_fairness")
        st.download_button(
            "Download the figures",
            lambda: language_csv(texts, costs, names),
            file_name="languages.csv",
            mime="text/csv",
            on_click="ignore",
        )
        st.markdown(
            ":small[:gray[CSV: one line per language and tokenizer. Figures that cannot be "
            "computed are empty.]]"
        )
        with st.expander(f"{title} of every language"):
            figure_table(
                names,
                language_rows(texts, costs, measure),
                caption=f"{title} of every language",
                key="compare_language_rows",
            )


def _merges(members: Sequence[Member]) -> None:
    known = {m.name: merges for m in members if (merges := m.merges_tokenizer) is not None}
    st.subheader("Where the merges went", anchor=False)
    # The names are distinct, and the run's own tokenizer is always among them.
    name = next(iter(known))
    if len(known) > _MAX_IN_A_ROW:
        name = st.selectbox(
            "Tokenizer",
            list(known),
            format_func=plain_text,
            label_visibility="collapsed",
            width=320,
            key="compare_merges_of_many",
        )
    elif len(known) > 1:
        name = st.segmented_control(
            "Tokenizer",
            list(known),
            default=name,
            required=True,
            format_func=plain_markdown,
            label_visibility="collapsed",
            key="compare_merges_of",
        )
    tokenizer = known[name]
    spent = cached_script_merges(tokenizer)
    if not tokenizer.n_merges:
        st.markdown(":gray[This tokenizer has no merges.]")
        return
    st.markdown(
        ":gray[How many of the merges so far made a token of each script. Scripts with three bytes "
        "per letter spend their first merges on parts of characters.]"
    )
    steps = steps_to_draw(tokenizer.n_merges)
    figure = charts.script_curves(
        steps, list(zip(spent.names, spent.after[:, steps], strict=True)), theme=frame.theme_type()
    )
    st.plotly_chart(figure, theme=None, config=CONFIG, key="compare_scripts")
    picture = ChartPicture(
        "compare_scripts", "PNG", "Merges of each script", name, "merges-of-scripts.png"
    )
    chart_pictures([picture], key="compare_scripts_picture")


def _own_sentences(kept: str) -> None:
    st.markdown(
        "A table with one column per language, named in the first row; or one text file per "
        "language, with one sentence per line. The n-th sentences must mean the same."
    )
    uploads = upload_files("CSV or TSV, or text files", key="parallel_upload")
    st.markdown(f":gray[:small[{LIMIT}]]")
    is_pressed = st.button("Compare these", key="own_sentences", disabled=not uploads)
    if is_pressed and (files := submitted_files(uploads)):
        try:
            with counted_as_kept(sum(len(data) for _, data in files)):
                added = keep_sentences(files)
        except BpeError as error:
            st.error(plain_markdown(str(error), 600))
        else:
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
