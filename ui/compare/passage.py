"""Show one passage under each tokenizer, and how each builds one word."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import streamlit as st

from bpe_core.comparison.comparison import Comparison
from bpe_core.tokenizer.gpt2 import GoldenCase, gpt2, gpt2_golden_cases, gpt2_golden_result
from ui.compare import readings
from ui.compare.evaluation import FIRST_TEXT, Evaluation
from ui.compare.gain_words import HELD_OUT
from ui.components.symbol_rows import SymbolRow, Tile, Tiles, symbol_rows
from ui.components.token_view import Reading, token_compare, word_trees
from ui.corpus.own_text_field import leave_address, own_text, text_field
from ui.look.labels import plain_markdown
from ui.shell.choices import choose_one
from ui.tokenizers.normalized_part import draw_all_normalized
from ui.tokenizers.shelf import GPT2, Member

_HELD_OUT = "Held-out text"
_OWN_FILES = "Your files"
_OWN_TEXT = "Your text"
_FIRST_WORD = " tokenization"
MAX_TILES = 16
"""How many tokens of a golden text are drawn."""


class Passage(NamedTuple):
    """The text shown in detail, and where it comes from."""

    text: str
    source: str


def passage_part(
    members: Sequence[Member], evaluation: Evaluation, comparison: Comparison | None
) -> Passage:
    """Draw the chosen passage under all tokenizers, and return it.

    From documents, the passage most like the whole `comparison` is taken.
    """
    text, source = evaluation.typed[: readings.MAX_CHARACTERS], "your own text"
    if comparison is not None and not evaluation.typed:
        text, source = _excerpt(members, evaluation, comparison)
        whole = _HELD_OUT if evaluation.where == HELD_OUT else _OWN_FILES
        if choose_one("Passage", [whole, _OWN_TEXT], key="passage") == _OWN_TEXT:
            typed = own_text(FIRST_TEXT)
            text_field(typed, first=FIRST_TEXT, key="compare_text")
            text, source = typed[: readings.MAX_CHARACTERS], "your text"
        else:
            leave_address()
    if not text:
        st.info("There is no text yet. Type some above.")
        return Passage("", source)
    read = readings.read_by_all(text, [member.encoder for member in members])
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
        golden_part()
    return Passage(text, source)


def _excerpt(members: Sequence[Member], evaluation: Evaluation, comparison: Comparison) -> Passage:
    found = readings.typical_excerpt(
        evaluation.corpus,
        [member.encoder for member in members],
        comparison.verdict().percent_fewer_tokens,
    )
    part = "" if found.is_whole else ", an excerpt"
    kind = "held-out" if evaluation.where == HELD_OUT else "your"
    return Passage(found.text, f"{kind} document “{found.document}”{part}")


def _word_part(members: Sequence[Member], suggested: str) -> None:
    st.subheader("One word under each tokenizer", anchor=False)
    typed = st.text_input(
        "A word; a leading space matters",
        placeholder=suggested,
        max_chars=readings.MAX_WORD_LENGTH,
        width=320,
        key="word",
        bind="query-params",
    )
    word = typed or suggested
    read = readings.read_by_all(word, [member.encoder for member in members])
    word_trees(word, _drawn_readings(members, read), key="compare_word")


def _drawn_readings(members: Sequence[Member], read: readings.Readings) -> list[Reading]:
    return [
        _read_passage(member, packed, n_tokens)
        for member, packed, n_tokens in zip(members, read.packed, read.n_tokens, strict=True)
    ]


def _read_passage(member: Member, packed: readings.PackedTokens, n_tokens: int) -> Reading:
    if member.key != GPT2:
        return Reading(member.name, packed, n_tokens)
    exact, of = gpt2_golden_result()
    badge = f"{'✓ ' if exact == of else ''}exact: {exact} of {of}"
    return Reading(member.name, packed, n_tokens, badge, is_exact=exact == of)


def golden_part() -> None:
    """Draw how many golden texts are exact, and all of them in an expander."""
    cases = gpt2_golden_cases()
    exact = sum(case.is_exact for case in cases)
    with st.expander(f"GPT-2 exact: {exact} of {len(cases)} golden texts, computed here"):
        for number, (provenance, n) in enumerate(provenances(cases).items(), start=1):
            texts = "text" if n == 1 else "texts"
            st.markdown(f"**[{number}]** {n} {texts}: {plain_markdown(provenance, 400)}.")
        symbol_rows(
            golden_rows(cases),
            key="compare_golden",
            caption="Golden texts in GPT-2’s tokens, with their ids",
            columns=("The text in its tokens",),
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
