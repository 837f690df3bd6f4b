"""Show one passage under each tokenizer, and how each builds one word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final, NamedTuple

import numpy as np
import streamlit as st

from bpe_core.comparison import Comparison, Stretches
from bpe_core.corpus import Corpus
from bpe_core.tokenizer import (
    Boundaries,
    Encoder,
    GoldenCase,
    boundaries,
    gpt2,
    gpt2_golden_cases,
    gpt2_golden_result,
)
from bpe_core.views import PackedSpans, PackedTokens, pack_boundaries, pack_spans
from ui.compare.compared import Evaluation
from ui.compare.wording import HELD_OUT
from ui.components import (
    Reading,
    SymbolRow,
    Tile,
    Tiles,
    draw_symbol_rows,
    token_compare,
    word_trees,
)
from ui.host import cached
from ui.look import plain_markdown
from ui.run import csv_table, offer_csv
from ui.shell import workspace
from ui.storage import StoredRun
from ui.tokenizers import GPT2, Member, add_button, draw_all_normalized

_WORD_KEY: Final = "word"
_FIRST_WORD = " tokenization"
MAX_TILES = 16
"""How many tokens of a golden text are drawn."""
MAX_CHARACTERS = 4_000_000
"""Longer texts are cut here, because browsers become slow."""
MAX_WORD_LENGTH = 40
_EXCERPT_CHARACTERS = 1_500
_LONG_ENOUGH = 400
_MAX_EXCERPTS = 16


class Passage(NamedTuple):
    """The text shown in detail, and where it comes from."""

    text: str
    source: str


def passage_part(
    stored: StoredRun,
    members: Sequence[Member],
    evaluation: Evaluation,
    comparison: Comparison | None,
) -> None:
    """Draw the passage under all tokenizers, and one word."""
    text, source = choose_passage(members, evaluation, comparison)
    if not text:
        st.info("There is no text yet. Type some above.")
        return
    read = read_by_all(text, [member.encoder for member in members])
    token_compare(
        text,
        _drawn_readings(members, read),
        read.spans,
        source=source,
        key="compare_passage",
    )
    draw_all_normalized([(member.name, member.encoder) for member in members], text)
    _word_part(members, read.longest or _FIRST_WORD)
    if any(member.key == GPT2 for member in members):
        _golden_part()
    add_button(stored)


def choose_passage(
    members: Sequence[Member], evaluation: Evaluation, comparison: Comparison | None
) -> Passage:
    """Return the text that was typed, or the passage of the documents most like all of them."""
    if evaluation.typed or comparison is None:
        return Passage(evaluation.typed[:MAX_CHARACTERS], "your own text")
    return _typical_passage(members, evaluation, comparison)


def _typical_passage(
    members: Sequence[Member], evaluation: Evaluation, comparison: Comparison
) -> Passage:
    found = typical_excerpt(
        evaluation.corpus,
        [member.encoder for member in members[:2]],
        comparison.verdict().percent_fewer_tokens,
    )
    part = "" if found.is_whole else ", an excerpt"
    kind = "held-out" if evaluation.where == HELD_OUT else "your"
    return Passage(found.text, f"{kind} document “{found.document}”{part}")


def _word_part(members: Sequence[Member], suggested: str) -> None:
    is_asked_for = bool(workspace.widget_text(_WORD_KEY)) or workspace.has_query(_WORD_KEY)
    with st.expander("One word under each tokenizer", expanded=is_asked_for):
        typed = st.text_input(
            "A word; a leading space matters",
            placeholder=suggested,
            max_chars=MAX_WORD_LENGTH,
            width=320,
            key=_WORD_KEY,
            bind="query-params",
        )
        word = typed or suggested
        read = read_by_all(word, [member.encoder for member in members])
        word_trees(word, _drawn_readings(members, read), key="compare_word")


def _drawn_readings(members: Sequence[Member], read: Readings) -> list[Reading]:
    return [
        _read_passage(member, packed, n_tokens)
        for member, packed, n_tokens in zip(members, read.packed, read.n_tokens, strict=True)
    ]


def _read_passage(member: Member, packed: PackedTokens, n_tokens: int) -> Reading:
    if member.key != GPT2:
        return Reading(member.name, packed, n_tokens)
    exact, of = gpt2_golden_result()
    badge = f"{'✓ ' if exact == of else ''}exact: {exact} of {of}"
    return Reading(member.name, packed, n_tokens, badge, is_exact=exact == of)


def _golden_part() -> None:
    """Draw how many golden texts are exact, and all of them in an expander."""
    cases = gpt2_golden_cases()
    exact = sum(case.is_exact for case in cases)
    with st.expander(f"GPT-2 exact: {exact} of {len(cases)} golden texts, computed here"):
        for number, (provenance, n) in enumerate(provenances(cases).items(), start=1):
            texts = "text" if n == 1 else "texts"
            st.markdown(f"**[{number}]** {n} {texts}: {plain_markdown(provenance, 400)}.")
        draw_symbol_rows(
            golden_rows(cases),
            key="compare_golden",
            caption="Golden texts in GPT-2’s tokens, with their ids",
            columns=("The text in its tokens",),
        )
        offer_csv(
            lambda: golden_csv(cases),
            "golden-texts.csv",
            key="compare_golden_csv",
            help="One line per text, with its published ids, their source, and whether they match.",
        )


def golden_csv(cases: Sequence[GoldenCase]) -> bytes:
    """Return each golden text as CSV, with its ids."""
    return csv_table(
        ["group", "text", "ids", "is exact", "source"],
        [
            [
                case.group,
                case.text,
                " ".join(map(str, case.ids)),
                int(case.is_exact),
                case.provenance,
            ]
            for case in cases
        ],
    )


def provenances(cases: Sequence[GoldenCase]) -> dict[str, int]:
    """Return each source of ids with its number of texts."""
    counts: dict[str, int] = {}
    for case in cases:
        counts[case.provenance] = counts.get(case.provenance, 0) + 1
    return counts


def golden_rows(cases: Sequence[GoldenCase]) -> list[SymbolRow]:
    """Return a row per text: its published ids as tiles and numbers, and whether they match."""
    vocab = gpt2().vocab
    numbers = {provenance: n for n, provenance in enumerate(provenances(cases), start=1)}
    rows: list[SymbolRow] = []
    for case in cases:
        shown = case.ids[:MAX_TILES]
        left = len(case.ids) - len(shown)
        ids = " ".join(map(str, shown)) + (f" and {left:,} more" if left else "")
        rows.append(
            SymbolRow(
                label=f"{'✓' if case.is_exact else '✗'} {case.group} [{numbers[case.provenance]}]",
                cells=(Tiles(tuple(Tile(vocab[id], id) for id in shown)),),
                note=ids,
            )
        )
    return rows


@dataclass(frozen=True, slots=True)
class Readings:
    """One text under several tokenizers."""

    packed: tuple[PackedTokens, ...]
    n_tokens: tuple[int, ...]
    spans: PackedSpans
    """Where they do not all agree."""
    longest: str
    """The longest word, or part of one, on which they disagree; may be empty."""


@cached(spinner="Encoding the text")
def read_by_all(text: str, encoders: Sequence[Encoder]) -> Readings:
    """Encode a text with several tokenizers and find where they disagree.

    Special tokens are ordinary text. Raises InvalidTextError for a lone surrogate, and
    TokenizationError if another library fails.
    """
    found = [_read_by_one(text, encoder) for encoder in encoders]
    differing = Stretches.between([each.found.byte_ends for each in found], text)
    return Readings(
        packed=tuple(each.packed for each in found),
        n_tokens=tuple(int(np.count_nonzero(each.found.ids >= 0)) for each in found),
        spans=pack_spans(text, differing),
        longest=differing.longest_word(text, MAX_WORD_LENGTH),
    )


class _ReadByOne(NamedTuple):
    found: Boundaries
    packed: PackedTokens


@cached()
def _read_by_one(text: str, encoder: Encoder) -> _ReadByOne:
    found = boundaries(text, encoder)
    return _ReadByOne(found, pack_boundaries(found, encoder))


class Excerpt(NamedTuple):
    """A passage of a corpus to show in detail."""

    document: str
    text: str
    is_whole: bool
    """True if it is a whole document."""


@cached()
def typical_excerpt(
    corpus: Corpus, encoders: Sequence[Encoder], percent_fewer_tokens: float
) -> Excerpt:
    """Return the excerpt whose figure is closest to that of the whole corpus.

    `percent_fewer_tokens` is the gain of the first tokenizer over the second on the whole corpus.
    One document in five may contradict it, and visitors believe what they see.
    """

    def distance(candidate: Excerpt) -> float:
        n_first, n_second = (
            np.count_nonzero(boundaries(candidate.text, each).ids >= 0) for each in encoders[:2]
        )
        return abs(100 * (1 - n_first / max(n_second, 1)) - percent_fewer_tokens)

    return min(excerpts(corpus), key=distance)


def excerpts(corpus: Corpus) -> list[Excerpt]:
    """Return the beginnings of the first long documents, each up to the end of a line.

    Returns one excerpt if none is long, and an empty one if the corpus has no documents.
    """
    long = (i for i, text in enumerate(corpus.documents) if len(text) >= _LONG_ENOUGH)
    chosen = list(islice(long, _MAX_EXCERPTS)) or [0]
    if not corpus.documents:
        return [Excerpt("", "", is_whole=True)]
    return [_beginning(corpus.names[i], corpus.documents[i]) for i in chosen]


def _beginning(name: str, text: str) -> Excerpt:
    if len(text) <= _EXCERPT_CHARACTERS:
        return Excerpt(name, text, is_whole=True)
    line_end = text.rfind("\n", 0, _EXCERPT_CHARACTERS) + 1
    return Excerpt(name, text[: line_end or _EXCERPT_CHARACTERS], is_whole=False)
