"""Compare: one text through several tokenizers, where they cut it otherwise, and their figures."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bpe_core.comparison import Comparison
from bpe_core.corpus import Corpus
from bpe_core.errors import BpeError
from bpe_core.gpt2 import gpt2_golden_result
from ui import frame, readings
from ui.chart_style import CONFIG
from ui.choices import choose_one
from ui.compare import charts
from ui.compare.definitions import FIGURES, LANGUAGES, Definition
from ui.compare.golden import golden_part
from ui.compare.languages import Costs, languages_part
from ui.compare.report import Compared, Report, report_html
from ui.compare.shelf import GPT2, Member
from ui.compare.shelf_form import choose_tokenizers, facts_of
from ui.compare.verdict import (
    Sentence,
    figure_rows,
    others_aside,
    shared_sentence,
    size_of,
    verdict_aside,
    verdict_sentence,
)
from ui.components.figures import figure_table, verdict
from ui.components.token_view import Reading, token_compare, word_trees
from ui.labels import plain_markdown
from ui.own_text import own_text, text_field
from ui.run_store import StoredRun

HELD_OUT = "Held-out text"
OWN_TEXT = "Your text"
FIRST_WORD = " tokenization"
FIRST_TEXT = "Write or paste a passage of your own here, and see where the readings part."


class Passage(NamedTuple):
    """The text that is looked at closely, and where it is from."""

    text: str
    source: str


def verdict_of(comparison: Comparison, members: Sequence[Member], where: str) -> None:
    verdict(*verdict_words(comparison, members, where), key="compare_verdict")
    st.space("small")


def verdict_words(
    comparison: Comparison, members: Sequence[Member], where: str
) -> tuple[Sentence, str]:
    names = [member.name for member in members]
    aside = [verdict_aside(comparison, other=names[1]), others_aside(comparison, names, 1)]
    return (
        verdict_sentence(comparison, f"On {where}", other=names[1]),
        " ".join(sentence for sentence in aside if sentence),
    )


def figures(comparison: Comparison, members: Sequence[Member], where: str) -> DeltaGenerator:
    """Draws the figures and leaves room for the report."""
    names = [member.name for member in members]
    left, right = st.columns([3, 2] if len(members) > 2 else 2, gap="large")
    with left:
        st.header(f"On all {where}", anchor=False)
        st.markdown(f":gray[{size_of(comparison)}. The dot marks the best figure.]")
        figure_table(
            names,
            figure_rows(comparison),
            caption="Figures of the tokenizers",
            key="compare_figures",
        )
        st.markdown(f":gray[{shared_sentence(comparison)}]")
    with right:
        st.header("Where the tokens go", anchor=False)
        st.markdown(":gray[Tokens of the same text by kind.]")
        kinds = [tuple(row.kinds) for row in comparison.rows]
        figure = charts.kind_bars(
            ["words and numbers", "punctuation", "white space"],
            list(zip(names, kinds, strict=True)),
            theme=frame.theme_type(),
        )
        st.plotly_chart(figure, theme=None, config=CONFIG, key="compare_kinds")
        report_room = st.container()
    with st.expander("What the figures mean"):
        definitions((*FIGURES, *LANGUAGES))
    return report_room


def definitions(listed: Sequence[Definition]) -> None:
    for name, meaning, source in listed:
        st.markdown(f"**{name}.** {meaning}{f' :gray[{source}.]' if source else ''}")


def report_button(
    room: DeltaGenerator,
    stored: StoredRun,
    corpus: Corpus,
    where: str,
    members: Sequence[Member],
    passage: Passage,
    languages: Costs | None,
) -> None:
    def made_now() -> bytes:
        comparison = readings.compare_on(corpus, [member.encoder for member in members])
        sentence, aside = verdict_words(comparison, members, where)
        return report_html(
            Report(
                title=stored.title,
                made_on=f"{datetime.now(UTC):%-d %B %Y}",
                where=where,
                text_sha256=corpus.sha256,
                sentence=sentence,
                aside=aside,
                compared=[
                    Compared(member.name, facts_of(member), member.note, member.encoder)
                    for member in members
                ],
                comparison=comparison,
                passage=passage.text,
                passage_name=passage.source,
                golden=gpt2_golden_result(),
                languages=languages,
            )
        )

    room.download_button(
        "Download the report",
        made_now,
        file_name="tokenizers-compared.html",
        mime="text/html",
        on_click="ignore",
        key="compare_report",
    )


def passage(members: Sequence[Member], stored: StoredRun, typed: str) -> Passage:
    name, text, is_whole = readings.excerpt(stored.held_out)
    part = "" if is_whole else ", an excerpt"
    source = f"held-out document “{name}”{part}" if text else ""
    if not text or choose_one("Passage", [HELD_OUT, OWN_TEXT], key="passage") == OWN_TEXT:
        text_field(typed, first=FIRST_TEXT, key="compare_text")
        text, source = typed[: readings.MOST_CHARACTERS], "your text"
    else:
        frame.set_query(text=None)
    if not text:
        st.info("There is no text yet. Type some above.")
        return Passage("", source)
    read = readings.read_by_all(text, [member.encoder for member in members])
    token_compare(
        text,
        drawn_readings(members, read),
        read.spans,
        source=source,
        key="compare_passage",
    )
    word_part(members, read.longest or FIRST_WORD)
    if any(member.key == GPT2 for member in members):
        golden_part()
    return Passage(text, source)


def word_part(members: Sequence[Member], suggested: str) -> None:
    st.subheader("One word, and how each builds it", anchor=False)
    typed = st.text_input(
        "A word; a space before it counts",
        placeholder=suggested,
        max_chars=readings.LONGEST_WORD,
        width=320,
        key="word",
        bind="query-params",
    )
    word = typed or suggested
    read = readings.read_by_all(word, [member.encoder for member in members])
    word_trees(
        word,
        drawn_readings(members, read),
        key="compare_word",
    )


def drawn_readings(members: Sequence[Member], read: readings.Readings) -> list[Reading]:
    return [
        reading_of(member, packed, n_tokens)
        for member, packed, n_tokens in zip(members, read.packed, read.n_tokens, strict=True)
    ]


def reading_of(member: Member, packed: readings.PackedTokens, n_tokens: int) -> Reading:
    if member.key != GPT2:
        return Reading(member.name, packed, n_tokens)
    exact, of = gpt2_golden_result()
    badge = f"{'✓ ' if exact == of else ''}exact: {exact} of {of}"
    return Reading(member.name, packed, n_tokens, badge, is_exact=exact == of)


def compare(stored: StoredRun) -> None:
    verdict_room = st.container()
    members = choose_tokenizers(stored)
    typed = own_text(FIRST_TEXT)
    if len(members) < 2:
        st.info("There is nothing to compare with yet. Add a tokenizer above.")
        return
    corpus, where = stored.held_out, "held-out text"
    if not corpus.n_bytes:
        corpus, where = Corpus.from_text(typed) if typed else corpus, "your text"
    comparison = None
    with verdict_room:
        if not stored.held_out.n_bytes:
            st.info(
                "This run held no text back, so there is none that training did not see. "
                "The figures are of your text."
            )
        if corpus.n_bytes:
            comparison = readings.compare_on(corpus, [member.encoder for member in members])
            verdict_of(comparison, members, where)
    st.space("small")
    read = passage(members, stored, typed)
    report_room = None
    if comparison is not None:
        st.divider()
        report_room = figures(comparison, members, where)
    st.divider()
    languages = languages_part(members)
    if report_room is not None:
        report_button(report_room, stored, corpus, where, members, read, languages)


shown = frame.page_frame(
    "Compare",
    "The same text through your tokenizer and others. Rings mark where they cut differently.",
)
if shown is not None:
    try:
        compare(shown)
    except BpeError as error:
        st.error(plain_markdown(str(error), 600))
