"""Draw the verdict: a sentence on the strongest other tokenizer, and a row for each of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from bpe_core.comparison.comparison import Comparison
from bpe_core.comparison.interval_words import method_words, signed, unit_noun
from bpe_core.comparison.parts import Division, TokenSaving
from bpe_core.corpus.corpus import Corpus
from bpe_core.corpus.held_out import HeldOut
from ui.compare import readings
from ui.compare.compared import NEEDS_WHOLE, ComparedText, compare_on, whole_text_card
from ui.compare.definitions import INTERVAL
from ui.compare.gain_words import (
    CANNOT_TELL,
    HELD_OUT,
    OWN,
    Sentence,
    folder_words,
    interval_ends,
    no_verdict,
    text_words,
)
from ui.compare.part_figures import TITLES, part_dots, parts_csv, shown_parts
from ui.compare.verdict import (
    is_fair,
    strongest,
    uncovered_aside,
    verdict_aside,
    verdict_sentence,
)
from ui.components.chart_pictures import ChartPicture, chart_pictures
from ui.components.corpus_strip import corpus_strip
from ui.components.figures import verdict
from ui.components.rivals import Rival, rivals
from ui.corpus.filled_corpus import open_to_hold_out
from ui.look.chart_style import CONFIG
from ui.look.glossary import definitions
from ui.look.labels import escape_markdown, plain_markdown, plain_text
from ui.shell import address, frame, workspace
from ui.shell.choices import choose_one
from ui.storage.run_store import StoredRun, folder_check
from ui.tokenizers.shelf import Member

_KEY = "compare_rivals"
_MAX_NAME_LENGTH = 60


@dataclass(frozen=True, slots=True)
class Judged:
    """The first tokenizer judged against each other one."""

    place: int
    """The place of the one that the sentence names."""
    gains: tuple[TokenSaving, ...]
    """Against each other one, in their order."""
    sentence: Sentence
    aside: str
    has_verdict: bool
    """Whether there is enough text to compare those two on, and both are counted on all of it."""

    @property
    def gain(self) -> TokenSaving:
        """Against the one that the sentence names."""
        return self.gains[self.place - 1]


def verdict_part(
    stored: StoredRun,
    compared: ComparedText,
    members: Sequence[Member],
    where: str,
    *,
    is_placeholder: bool,
) -> Judged | None:
    """Draw the verdict, and the parts if there is one; return it, or None without a comparison.

    While only a sample is compared, say so, and show the progress of the whole text.
    """
    if not compared.is_whole:
        whole_text_card(compared)
    comparison = compared.comparison
    if comparison is None:
        return None
    judged = judge(stored, compared, comparison, members, where, is_placeholder=is_placeholder)
    terms = definitions("Token", *(["Held-out text"] if where.endswith(HELD_OUT) else []))
    verdict(judged.sentence, judged.aside, key="compare_verdict", terms=terms)
    if not is_placeholder and judged.gain.has_enough_text:
        st.space("small")
        _newness(stored, compared.corpus, where)
        rows = rival_rows(comparison, judged.gains, [member.name for member in members])
        rivals(rows, chosen=judged.place, key=_KEY, on_chosen=lambda: _choose(members))
        if comparison.blocks is not None:
            words = f":small[:gray[{escape_markdown(method_words(comparison.blocks))}]]"
            st.markdown(words, help=INTERVAL.meaning)
    if judged.has_verdict:
        st.space("small")
        _parts(compared, judged, members, where)
    st.space("small")
    return judged


def judge(
    stored: StoredRun,
    compared: ComparedText,
    comparison: Comparison,
    members: Sequence[Member],
    where: str,
    *,
    is_placeholder: bool = False,
) -> Judged:
    """Judge the run's tokenizer against the chosen one, or else the strongest, and all others."""
    chosen = address.query_text("against")
    keys = [member.key for member in members]
    place = keys.index(chosen) if chosen in keys[1:] else strongest(comparison)
    encoders = [member.encoder for member in members]
    gains = tuple(
        readings.gain_on(compared.corpus, encoders, comparison, other)
        for other in range(1, len(members))
    )
    gain, other = gains[place - 1], members[place].name
    missing = no_verdict(gain, where, is_placeholder=is_placeholder)
    if missing is not None:
        sentence, remedy = missing
        aside = f"{remedy} {uncovered_aside(comparison, other=other, place=place)}".rstrip()
        return Judged(place, gains, sentence, aside, has_verdict=False)
    how = None if comparison.blocks is None else comparison.blocks.how
    n = comparison.n_documents
    documents = f", {n:,} {'document' if n == 1 else 'documents'}" if where.endswith(OWN) else ""
    on_text = f"{text_words(where, how)}{documents}"
    sentence = verdict_sentence(comparison, gain, on_text, other=other, place=place)
    aside = verdict_aside(comparison, gain, other=other, place=place)
    if how is not None and how.share_within == 1:
        aside = f"{CANNOT_TELL} {aside}".strip()
    if where == HELD_OUT:
        aside = f"{_on_folders(stored, gain, members, place)} {aside}".strip()
    return Judged(place, gains, sentence, aside, has_verdict=is_fair(comparison, place))


def rival_rows(
    comparison: Comparison, gains: Sequence[TokenSaving], names: Sequence[str]
) -> list[Rival]:
    """Return a row for each tokenizer but the first, the one with the fewest tokens first."""
    found: list[Rival] = []
    for place, gain in enumerate(gains, 1):
        row, part = comparison.rows[place], gain.whole
        is_comparable = is_fair(comparison, place) and part.theirs > 0
        has_interval = is_comparable and part.has_interval
        found.append(
            Rival(
                place=place,
                name=plain_text(names[place], _MAX_NAME_LENGTH),
                vocabulary=f"{row.vocab_size:,}",
                tokens=f"{row.n_tokens:,}",
                figure=signed(part.percent_fewer) if is_comparable else "leaves text out",
                interval=interval_ends(part) if has_interval else "",
                percent=part.percent_fewer if is_comparable else None,
                low=part.low if has_interval else None,
                high=part.high if has_interval else None,
            )
        )
    return sorted(found, key=lambda rival: comparison.rows[rival.place].n_tokens)


def _choose(members: Sequence[Member]) -> None:
    place = workspace.component_value(_KEY, "against")
    if isinstance(place, int) and 0 < place < len(members):
        address.set_query(against=members[place].key)


def _newness(stored: StoredRun, corpus: Corpus, where: str) -> None:
    """Draw how much text there is, and how much of it is new."""
    how = corpus.how if where.endswith(HELD_OUT) else None
    n = corpus.n_sources if how is None else how.n_units
    figures = [(f"{n:,}", _units_named(how, n), ())]
    if (unseen := readings.unseen_on(stored, corpus)) is not None:
        figures.append((f"{unseen:.1%}", "of its words never trained on", ()))
    newness = stored.newness if where == HELD_OUT and not _is_by_folder(how) else None
    if newness is not None and newness.unseen_by_folder is not None:
        figures.append((f"{newness.unseen_by_folder:.1%}", "in folders never seen", ()))
    corpus_strip(key="compare_newness", figures=figures)
    if newness is not None and newness.depends_on_folder:
        _propose_folders(stored)


def _is_by_folder(how: HeldOut | None) -> bool:
    return how is not None and how.by.startswith("folder")


def _propose_folders(stored: StoredRun) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(
            ":small[:gray[Will your text come from other projects or sources than the corpus?]]",
            width="content",
        )
        if st.button(":primary[Hold out by folder]", type="tertiary", key="hold_out_by_folder"):
            open_to_hold_out(stored, "folder")


def _units_named(how: HeldOut | None, n: int) -> str:
    if how is None:
        return unit_noun(None, n)
    if how.by == "file":
        return f"{unit_noun(how, n)} of your own"
    if how.share_within == 1 and how.by != "block":
        return f"{unit_noun(how, n)} with held-out ends"
    whole = "" if how.share_within else ", whole"
    return f"{unit_noun(how, n)} held out{whole}"


def _on_folders(stored: StoredRun, gain: TokenSaving, members: Sequence[Member], place: int) -> str:
    """Return the same figure on folders that training never saw; empty if it was not measured."""
    check = folder_check(stored.id)
    if check is None or members[0].encoder.fingerprint != stored.run.tokenizer.fingerprint:
        return ""
    pair = [check.tokenizer, members[place].encoder]
    compared = compare_on(check.held_out, pair)
    if compared.comparison is None:
        return ""
    by_folder = readings.gain_on(compared.corpus, pair, compared.comparison)
    return folder_words(gain, by_folder) if by_folder.has_enough_text else ""


def _parts(compared: ComparedText, judged: Judged, members: Sequence[Member], where: str) -> None:
    gain, pair = judged.gain, (members[0], members[judged.place])
    names = [member.name for member in pair]
    divisions: dict[str, Division] = {TITLES[division]: division for division, _ in gain.divisions}
    if not divisions:
        return
    st.header(f"Against {plain_markdown(names[1])}, by part", anchor=False)
    titles = list(divisions)
    title = choose_one("Parts", titles, key="by") if len(titles) > 1 else titles[0]
    parts = shown_parts(gain, divisions[title])
    st.plotly_chart(
        part_dots(parts, theme=frame.theme_type()), theme=None, config=CONFIG, key="compare_parts"
    )
    fingerprints = [member.encoder.fingerprint for member in pair]
    with st.container(horizontal=True, vertical_alignment="center"):
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
