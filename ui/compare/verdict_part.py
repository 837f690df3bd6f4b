"""Draw the verdict on top of the page, and the same figure by parts under it."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from bpe_core.comparison.comparison import Comparison
from bpe_core.comparison.parts import Division, Gain
from ui.compare import readings
from ui.compare.compared import NEEDS_WHOLE, ComparedText, whole_text_card
from ui.compare.definitions import INTERVAL
from ui.compare.gain_words import HELD_OUT, OWN, Sentence, method_words, no_verdict
from ui.compare.part_chart import part_dots
from ui.compare.part_figures import TITLES, parts_csv, shown_parts
from ui.compare.verdict import (
    is_fair,
    others_aside,
    uncovered_aside,
    verdict_aside,
    verdict_sentence,
)
from ui.components.chart_pictures import ChartPicture, chart_pictures
from ui.components.figures import verdict
from ui.look.chart_style import CONFIG
from ui.look.glossary import definitions
from ui.look.labels import plain_markdown
from ui.shell import frame
from ui.shell.choices import choose_one
from ui.tokenizers.shelf import Member


def verdict_part(
    compared: ComparedText, members: Sequence[Member], where: str, *, is_placeholder: bool
) -> None:
    """Draw the verdict, and the parts if there is one.

    While only a sample is compared, say so, and show the progress of the whole text.
    """
    if not compared.is_whole:
        whole_text_card(compared)
    corpus, comparison = compared.corpus, compared.comparison
    if comparison is None:
        return
    gain = readings.gain_on(corpus, [member.encoder for member in members], comparison)
    names = [member.name for member in members]
    sentence, aside = verdict_words(comparison, gain, names, where, is_placeholder=is_placeholder)
    terms = definitions("Token", *(["Held-out text"] if where.endswith(HELD_OUT) else []))
    verdict(sentence, aside, key="compare_verdict", terms=terms)
    if has_verdict(comparison, gain, is_placeholder=is_placeholder):
        st.space("small")
        _parts(compared, comparison, gain, members, where)
    st.space("small")


def has_verdict(comparison: Comparison, gain: Gain, *, is_placeholder: bool) -> bool:
    """Return True if the first two can be compared: on enough text, and on the same."""
    return gain.has_enough_text and not is_placeholder and is_fair(comparison)


def verdict_words(
    comparison: Comparison,
    gain: Gain,
    names: Sequence[str],
    where: str,
    *,
    is_placeholder: bool = False,
) -> tuple[Sentence, str]:
    """Return a sentence on the run's tokenizer against the next one, and an aside on all."""
    missing = no_verdict(gain, where, is_placeholder=is_placeholder)
    if missing is not None:
        sentence, remedy = missing
        return sentence, f"{remedy} {uncovered_aside(comparison, other=names[1])}".rstrip()
    aside = [
        verdict_aside(comparison, gain, other=names[1]),
        others_aside(comparison, names, 1),
    ]
    n = comparison.n_documents
    documents = f", {n:,} {'document' if n == 1 else 'documents'}" if where.endswith(OWN) else ""
    return (
        verdict_sentence(comparison, gain, f"On {where}{documents}", other=names[1]),
        " ".join(sentence for sentence in aside if sentence),
    )


def _parts(
    compared: ComparedText,
    comparison: Comparison,
    gain: Gain,
    members: Sequence[Member],
    where: str,
) -> None:
    names = [member.name for member in members]
    fingerprints = [member.encoder.fingerprint for member in members[:2]]
    st.header(
        f"{plain_markdown(names[0])} against {plain_markdown(names[1])}, by part",
        anchor=False,
        help=INTERVAL.meaning,
    )
    divisions: dict[str, Division] = {TITLES[division]: division for division, _ in gain.divisions}
    if not divisions:
        return
    titles = list(divisions)
    title = choose_one("Parts", titles, key="by") if len(titles) > 1 else titles[0]
    parts = shown_parts(gain, divisions[title])
    st.plotly_chart(
        part_dots(parts, theme=frame.theme_type()), theme=None, config=CONFIG, key="compare_parts"
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        if comparison.blocks is not None:
            st.markdown(f":small[:gray[{method_words(comparison.blocks, where)}]]")
        st.download_button(
            "Download the parts",
            lambda: parts_csv(gain, names, compared.corpus.sha256, fingerprints),
            file_name="difference-by-part.csv",
            mime="text/csv",
            on_click="ignore",
            disabled=not compared.is_whole,
            help=None if compared.is_whole else NEEDS_WHOLE,
        )
        picture = ChartPicture(
            "compare_parts",
            "PNG",
            f"{names[0]} against {names[1]}, {title[0].lower()}{title[1:]}",
            f"Fewer tokens on {where}, with 95% intervals",
            "difference-by-part.png",
        )
        chart_pictures([picture], key="compare_parts_picture")
