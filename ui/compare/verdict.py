"""Draw the verdict: a sentence on the strongest other tokenizer, and a row for each of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import streamlit as st

import bpe_core
from bpe_core.comparison import (
    Blocks,
    Comparison,
    Division,
    TextPart,
    TokenSaving,
)
from bpe_core.corpus import Corpus, HeldOut
from ui.compare.compared import NEEDS_WHOLE, ComparedText, compare_on, gain_on, unseen_on
from ui.compare.comparison_charts import part_dots
from ui.compare.wording import (
    CANNOT_TELL,
    HELD_OUT,
    INTERVAL,
    OWN,
    PARTS,
    Sentence,
    disagreement,
    figure_words,
    folder_words,
    interval_ends,
    is_equal,
    is_fair,
    no_verdict,
    part_name,
    strongest,
    text_words,
    uncovered_words,
    verdict_sentence,
)
from ui.components import ChartPicture, Rival, corpus_strip, draw_rivals, verdict
from ui.corpus import open_to_hold_out
from ui.look import CONFIG, counted, definitions, escape_markdown, plain_markdown, plain_text
from ui.run import csv_table, draw_run_ribbons, offer_csv, offer_pictures
from ui.shell import check_linked, choose_one, frame, show_unread, workspace
from ui.storage import SAMPLE_RUN_ID, StoredRun
from ui.tokenizers import Member, shelf

TITLES: Final[dict[Division, str]] = {
    "kind": "By kind",
    "script": "By script",
    "type": "By file type",
    "file": "By file",
}
_CSV_COLUMNS: Final = (
    "tokenizer",
    "against",
    "by",
    "part",
    "tokens",
    "tokens of the other",
    "percent fewer",
    "95% low",
    "95% high",
    "units",
    "resamples",
    "seed",
    "text sha256",
    "fingerprint",
    "fingerprint of the other",
    "bpe_core",
)
_KEY = "compare_rivals"
_MAX_NAME_LENGTH = 60
_MAX_SHORT_TEXT = 20_000
"""The bytes up to which a text is seen as a picture before its figures."""
_CHART_WIDTH = 720


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
    compared: ComparedText | None,
    members: Sequence[Member],
    where: str,
    *,
    is_placeholder: bool,
) -> Judged | None:
    """Draw the verdict and a row for each other tokenizer, and return it; None without a text."""
    comparison = None if compared is None else compared.comparison
    if compared is None or comparison is None:
        _rivals(rival_rows(members), 0, members)
        return None
    judged = judge(stored, compared, comparison, members, where, is_placeholder=is_placeholder)
    terms = definitions("Token", *(["Held-out text"] if where.endswith(HELD_OUT) else []))
    verdict(judged.sentence, judged.aside, key="compare_verdict", terms=terms)
    if stored.id != SAMPLE_RUN_ID and stored.run.corpus_bytes <= _MAX_SHORT_TEXT:
        name = "Never seen" if where.endswith(HELD_OUT) else "The text on this page"
        draw_run_ribbons(stored.id, (name, compared.corpus.documents), key="compare_ribbons")
    gains = () if is_placeholder or not judged.gain.has_enough_text else judged.gains
    if gains:
        _newness(stored, compared.corpus, where)
    _rivals(rival_rows(members, comparison, gains), judged.place, members)
    return judged


def method_line(compared: ComparedText) -> None:
    """Say how the intervals were computed, or why there are none."""
    blocks = None if compared.comparison is None else compared.comparison.blocks
    if blocks is not None:
        words = escape_markdown(blocks.interval_method)
        st.markdown(f":small[:gray[{words}]]", help=INTERVAL.meaning, width="content")


def _rivals(rows: Sequence[Rival], chosen: int, members: Sequence[Member]) -> None:
    def pressed(name: str) -> Member | None:
        place = workspace.component_value(_KEY, name)
        return members[place] if isinstance(place, int) and 0 < place < len(members) else None

    def choose() -> None:
        if member := pressed("against"):
            workspace.set_query(against=member.key)

    def remove() -> None:
        if member := pressed("removed"):
            shelf.remove(member.key)
            if workspace.query_text("against") == member.key:
                workspace.set_query(against=None)

    draw_rivals(
        rows,
        own_name=shelf.in_sentence(members[0].name),
        chosen=chosen,
        key=_KEY,
        on_chosen=choose,
        on_removed=remove,
    )


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
    chosen = workspace.query_text("against")
    keys = [member.key for member in members]
    # One that cannot be opened, or not yet, has a message of its own.
    check_linked("against", {*keys[1:], *shelf.wanted_keys()}, "one of these tokenizers")
    place = keys.index(chosen) if chosen in keys[1:] else strongest(comparison)
    show_unread("against", place)
    encoders = [member.encoder for member in members]
    gains = tuple(
        gain_on(compared.corpus, encoders, comparison, other) for other in range(1, len(members))
    )
    gain, own_name, other = gains[place - 1], members[0].name, members[place].name
    seen = stored.run.trained_on.share_of(compared.corpus)
    flatters = Comparison.seen_sentence(own_name, seen) if seen else ""
    missing = no_verdict(gain, where, own_name=own_name, other=other, is_placeholder=is_placeholder)
    if missing is not None:
        sentence, remedy = missing
        asides = (
            remedy,
            flatters,
            uncovered_words(comparison, own_name=own_name, other=other, place=place),
        )
        return Judged(place, gains, sentence, " ".join(filter(None, asides)), has_verdict=False)
    how = None if comparison.blocks is None else comparison.blocks.how
    n = counted(comparison.n_documents, "document")
    documents = f", {n}" if where.endswith(OWN) else ""
    on_text = f"{text_words(where, how)}{documents}"
    sentence = verdict_sentence(
        comparison, gain, on_text, own_name=own_name, other=other, place=place
    )
    fair = is_fair(comparison, place)
    asides = (
        flatters,
        gain.carried_words if fair and gain.whole.way != "unclear" else "",
        _on_folders(stored, gain, members, place) if where == HELD_OUT else "",
        CANNOT_TELL if how is not None and how.share_within == 1 else "",
        disagreement(gain) if fair else "",
        uncovered_words(comparison, own_name=own_name, other=other, place=place),
    )
    return Judged(place, gains, sentence, " ".join(filter(None, asides)), has_verdict=fair)


def describe_member(member: Member) -> str:
    """Return the kind of model and the engine that encodes with it."""
    return f"{member.encoder.model}, encoded by {member.encoder.engine}"


def rival_rows(
    members: Sequence[Member],
    comparison: Comparison | None = None,
    gains: Sequence[TokenSaving] = (),
) -> list[Rival]:
    """Return a row for each tokenizer but the first, the one with the fewest tokens first.

    Without `gains` there are no figures, because there is too little text.
    """
    found: list[tuple[int, Rival]] = []
    for place, member in enumerate(members[1:], 1):
        n_tokens = 0 if comparison is None else comparison.rows[place].n_tokens
        rival = Rival(
            place=place,
            name=plain_text(member.name, _MAX_NAME_LENGTH),
            facts=f"{describe_member(member)}. {plain_text(member.note, 600)}",
            vocabulary=f"{member.encoder.vocab_size:,}",
            tokens="" if comparison is None else f"{n_tokens:,}",
            figure="",
            interval="",
            percent=None,
            low=None,
            high=None,
        )
        if comparison is not None and gains:
            rival = _with_figure(rival, gains[place - 1].whole, is_fair(comparison, place))
        found.append((n_tokens, rival))
    return [rival for _, rival in sorted(found, key=lambda each: each[0])]


def _with_figure(rival: Rival, part: TextPart, fair: bool) -> Rival:
    if not fair or not part.theirs:
        return replace(rival, figure="leaves text out")
    if is_equal(part):
        return replace(rival, figure=figure_words(part), percent=0.0)
    rival = replace(rival, figure=TextPart.signed(part.percent_fewer), percent=part.percent_fewer)
    if not part.has_interval:
        return rival
    return replace(rival, interval=interval_ends(part), low=part.low, high=part.high)


def _newness(stored: StoredRun, corpus: Corpus, where: str) -> None:
    """Draw how much text there is, and how much of it is new."""
    how = corpus.how if where.endswith(HELD_OUT) else None
    n = corpus.n_sources if how is None else how.n_units
    figures: list[tuple[str, str, Sequence[tuple[str, str]]]] = [
        (f"{n:,}", _units_named(how, n), ())
    ]
    if how is not None and how.share_within:
        flatters = [("this share", f"{how.flattery} Training has seen the rest of them.")]
        figures.append((f"{how.share_within:.0%}", "from documents trained on", flatters))
    if (unseen := unseen_on(stored, corpus)) is not None:
        figures.append((f"{unseen:.1%}", "of its words never trained on", ()))
    is_by_folder = how is not None and how.by.startswith("folder")
    newness = stored.newness if where == HELD_OUT and not is_by_folder else None
    if newness is not None and newness.unseen_by_folder is not None:
        figures.append((f"{newness.unseen_by_folder:.1%}", "in folders never seen", ()))
    corpus_strip(key="compare_newness", figures=figures, is_line=True)
    if newness is not None and newness.depends_on_folder:
        _propose_folders(stored)


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
        return "document" if n == 1 else "documents"
    if how.by == "file":
        return f"{how.noun(n)} of your own"
    if how.share_within == 1:
        return f"{how.noun(n)} with held-out ends"
    whole = "" if how.share_within else ", whole"
    return f"{how.noun(n)} held out{whole}"


def _on_folders(stored: StoredRun, gain: TokenSaving, members: Sequence[Member], place: int) -> str:
    """Return the same figure on folders that training never saw; empty if it was not measured."""
    check = stored.by_folder
    if check is None or members[0].encoder.fingerprint != stored.run.tokenizer.fingerprint:
        return ""
    pair = [check.tokenizer, members[place].encoder]
    compared = compare_on(check.held_out, pair)
    if compared.comparison is None:
        return ""
    by_folder = gain_on(compared.corpus, pair, compared.comparison)
    return folder_words(gain, by_folder) if by_folder.has_enough_text else ""


def parts_part(compared: ComparedText, judged: Judged, members: Sequence[Member]) -> None:
    """Draw the difference to the chosen tokenizer by part."""
    gain, other = judged.gain, members[judged.place]
    divisions: dict[str, Division] = {TITLES[division]: division for division, _ in gain.divisions}
    if not judged.has_verdict or not divisions:
        return
    titles = list(divisions)
    with st.container(horizontal=True, vertical_alignment="center"):
        name = plain_markdown(other.name)
        if len(titles) > 1:
            st.header(f"Against {name}", anchor=False, width="content", help=PARTS.meaning)
            title = choose_one("Parts", titles, key="by")
        else:
            title = titles[0]
            shown = f"Against {name}, {title[0].lower()}{title[1:]}"
            st.header(shown, anchor=False, help=PARTS.meaning)
    # The first part is the whole, whose figure is in the row of the chosen tokenizer.
    parts = shown_parts(gain, divisions[title])[1:]
    with st.container(width=_CHART_WIDTH):
        st.plotly_chart(
            part_dots(parts, theme=frame.theme_type()),
            theme=None,
            config=CONFIG,
            key="compare_parts",
        )
    with st.container(horizontal=True):
        offer_csv(
            lambda: differences_csv(judged.gains, members, compared.corpus.sha256),
            "differences.csv",
            key="compare_parts_csv",
            help="One line per other tokenizer and part, with the interval, the text’s SHA-256 and "
            "the fingerprints of the tokenizers."
            if compared.pending is None
            else NEEDS_WHOLE,
            disabled=compared.pending is not None,
        )
        picture = ChartPicture(
            "compare_parts",
            "PNG",
            f"{members[0].name} against {other.name}, {title[0].lower()}{title[1:]}",
            "Fewer or more tokens, with 95% intervals",
            "difference-by-part.png",
        )
        offer_pictures([picture], key="compare_parts_picture")


def shown_parts(gain: TokenSaving, division: Division) -> list[TextPart]:
    """Return the whole and the parts of a division, by the names shown."""
    parts = dict(gain.divisions)[division]
    return [
        gain.whole._replace(name="all text"),
        *(part._replace(name=part_name(division, part.name)) for part in parts),
    ]


def differences_csv(
    gains: Sequence[TokenSaving], members: Sequence[Member], text_sha256: str
) -> bytes:
    """Return the difference of the first tokenizer to each other one and its parts as CSV."""
    own = members[0]
    return csv_table(
        _CSV_COLUMNS,
        (
            (
                own.name,
                other.name,
                by,
                part.name,
                part.own,
                part.theirs,
                part.percent_fewer,
                part.low,
                part.high,
                part.n_units,
                Blocks.N_RESAMPLES,
                Blocks.SEED,
                text_sha256,
                own.encoder.fingerprint,
                other.encoder.fingerprint,
                bpe_core.__version__,
            )
            for gain, other in zip(gains, members[1:], strict=True)
            for by, parts in (("all", (gain.whole,)), *gain.divisions)
            for part in parts
        ),
    )
