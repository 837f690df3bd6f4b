"""Draw a visitor's terms under several tokenizers: the field, sentences, a table and a CSV."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from bpe_core.comparison import TermCut, TermCuts, TermLoss, Terms
from bpe_core.corpus import Note, decode_text
from bpe_core.errors import CorpusError
from bpe_core.tokenizer import Encoder
from ui.compare.figures import COLUMNS
from ui.compare.language_costs import in_others
from ui.components import TermCell, TermRow, draw_term_table
from ui.corpus import file_opener, find_text, live_field, own_text
from ui.host import cached, errors_shown
from ui.look import plain_markdown, plain_text, token_label
from ui.run import csv_table, offer_csv
from ui.shell import bound, choose_one, workspace
from ui.tokenizers import Member, shelf

AFTER_A_SPACE: Final = "After a space"
ALONE: Final = "Alone"
FORMS: Final[Mapping[str, str]] = {
    AFTER_A_SPACE: "Each term is encoded after a space, as within a sentence: the space, drawn ␣, "
    "counts.",
    ALONE: "Each term is encoded without a space before it, as at the start of a text.",
}
_FORMS_HELP: Final = " ".join(FORMS.values())
LOSS: Final = (
    "Loss: how many more tokens it takes than with the best tokenizer on the shelf for that term."
)
_MAX_NAMED: Final = 5
_NAME: Final = "terms"
FIRST_TERMS = "\n".join(
    (
        "tokenization",
        "Kubernetes",
        "pneumonia",
        "New York",
        "don’t",
        "2026-11-22",
        "Straße",
        "naïve",
        "привет",
        "東京",
    )
)
MAX_CHARACTERS = 1_000_000
"""More than the longest list of terms has."""
_MAX_BYTES = 8_000_000
"""A file of a million characters has 4 MB at most. To guess the encoding of 100 MB took 17 s."""
_FORM_KEY, _LOSS_KEY = "terms_form", "terms_of"
_MAX_ROWS = 500


@cached(spinner="Encoding the terms")
def cut_terms_with(terms: Sequence[str], encoder: Encoder) -> tuple[TermCuts, ...]:
    """Return how a tokenizer cuts each term."""
    return Terms(tuple(terms)).cut(encoder)


def one_token_sentence(names: Sequence[str], cuts: Sequence[Sequence[TermCut]]) -> str:
    """Return how many of the terms are one token with each tokenizer; names may be hostile.

    >>> one, two = (TermCut((1,) * n, (b"x",) * n, n, is_spelled=True) for n in (1, 2))
    >>> one_token_sentence(["Your tokenizer", "GPT-2"], [[one, one], [one, two]])
    '2 of 2 terms are one token with your tokenizer, 1 with GPT-2.'
    """
    counts = [sum(cut.is_one_token for cut in of_one) for of_one in cuts]
    n = len(cuts[0])
    first = (
        f"{counts[0]:,} of {n:,} {'term' if n == 1 else 'terms'} "
        f"{'is' if counts[0] == 1 else 'are'} one token with {shelf.in_sentence(names[0])}"
    )
    named = list(zip(names, counts, strict=True))[1 : _MAX_NAMED + 1]
    parts = [first, *(f"{count:,} with {name}" for name, count in named)]
    if rest := counts[_MAX_NAMED + 1 :]:
        parts.append(in_others(rest))
    return f"{', '.join(parts)}."


def total_sentence(names: Sequence[str], cuts: Sequence[Sequence[TermCut]]) -> str:
    """Return how many tokens all terms take together, and how many cannot be spelled."""
    parts: list[str] = []
    for name, of_one in list(zip(names, cuts, strict=True))[: _MAX_NAMED + 1]:
        part = f"{sum(cut.n_tokens for cut in of_one):,} with {shelf.in_sentence(name)}"
        if n := sum(not cut.is_spelled for cut in of_one):
            part += f" (which cannot spell {n:,} of them)"
        parts.append(part)
    return f"Tokens for all of them: {', '.join(parts)}."


def term_rows(found: Sequence[TermLoss], encoders: Sequence[Encoder]) -> list[TermRow]:
    """Return a row for each term: its loss, and under each tokenizer the count and the cut."""
    return [
        TermRow(
            each.term,
            _loss_words(each.loss),
            tuple(
                _cell(cut, each, encoder) for cut, encoder in zip(each.cuts, encoders, strict=True)
            ),
        )
        for each in found
    ]


def _loss_words(loss: int | None) -> str:
    """Format a loss: 0, +2, or the reason why there is none."""
    if loss is None:
        return "cannot spell"
    return f"+{loss:,}" if loss else "0"


def _cell(cut: TermCut, found: TermLoss, encoder: Encoder) -> TermCell:
    counts = {each.n_tokens if each.is_spelled else None for each in found.cuts}
    return TermCell(
        count=f"{cut.n_tokens:,}" if cut.is_spelled else "cannot spell",
        # A token that covers no text, such as a marker for the end of a word, is shown itself.
        tokens=tuple(
            (part or (b"" if id_ is None else encoder.vocab[id_]), id_)
            for part, id_ in zip(cut.parts, cut.ids, strict=True)
        ),
        is_best=cut.is_spelled and cut.n_tokens == found.fewest and len(counts) > 1,
    )


def terms_csv(
    names: Sequence[str],
    chosen: int,
    found: Sequence[TermLoss],
    cuts: Mapping[str, Sequence[TermCuts]],
) -> bytes:
    """Return the terms in their order as CSV, one line each.

    `cuts` holds the cuts by each tokenizer of each term. A count is empty where the tokenizer
    cannot spell the term.
    """
    columns = ["term", f"loss of {names[chosen]}"]
    for name in names:
        columns += [f"tokens after a space: {name}", f"tokens alone: {name}"]
        columns += [f"cut after a space: {name}", f"ids after a space: {name}"]
    rows: list[list[str | int | None]] = []
    for each in found:
        row: list[str | int | None] = [each.term, each.loss]
        for cut in cuts[each.term]:
            spaced, alone = cut.in_text, cut.alone
            row += [one.n_tokens if one.is_spelled else None for one in (spaced, alone)]
            row.append(cut_label(spaced))
            row.append(" ".join("none" if id_ is None else str(id_) for id_ in spaced.ids))
        rows.append(row)
    return csv_table(columns, rows)


def cut_label(cut: TermCut) -> str:
    """Return a cut as one line, such as "␣hug | ging"."""
    return " | ".join(token_label(part) for part in cut.parts if part)


def _terms_field(text: str) -> None:
    """Draw the field with the list, and put the list in the address."""
    live_field(
        text,
        _NAME,
        label="Your terms, one per line",
        first=FIRST_TERMS,
        key="compare_terms_text",
        longest=MAX_CHARACTERS,
        lines=10,
    )
    terms = find_text(_NAME)
    if note := terms.problem or terms.cut:
        st.warning(plain_markdown(note, 600))


def _read_file(upload: UploadedFile) -> tuple[str, int, Sequence[Note]]:
    if upload.size > _MAX_BYTES:
        raise CorpusError(
            f"{upload.name} has {upload.size:,} bytes; the limit for a list of terms is "
            f"{_MAX_BYTES:,}. Use a part of it."
        )
    text = decode_text(upload.getvalue(), upload.name).text
    return text[:MAX_CHARACTERS], len(text), ()


class TermChoice(NamedTuple):
    """Which terms are shown and how; each is a visitor's own words."""

    text: str
    form: str
    """How they are encoded, such as "Alone"."""
    loss_of: str
    """The name of the tokenizer by whose loss they are sorted."""


def chosen_terms() -> TermChoice:
    """Return what the fields hold, though they may not be drawn."""
    form, loss_of = (workspace.widget_text(key) for key in (_FORM_KEY, _LOSS_KEY))
    return TermChoice(own_text(FIRST_TERMS, _NAME), form, loss_of)


def terms_record(choice: TermChoice, members: Sequence[Member]) -> dict[str, Any] | None:
    """Return the visitor's terms under all tokenizers; None for the sample or without any."""
    terms = Terms.read(choice.text).terms
    if choice.text == FIRST_TERMS or not terms:
        return None
    cuts = [cut_terms_with(terms, member.encoder) for member in members]
    names, _, found, chosen = _sorted_terms(choice, terms, cuts, members)
    return {
        "encoded": choice.form if choice.form in FORMS else AFTER_A_SPACE,
        "loss_of": names[chosen],
        "rows": [
            {
                "term": each.term,
                "loss": each.loss,
                "tokenizers": [
                    {
                        "name": name,
                        "n_tokens": cut.n_tokens if cut.is_spelled else None,
                        "ids": list(cut.ids),
                        "cut": cut_label(cut),
                    }
                    for name, cut in zip(names, each.cuts, strict=True)
                ],
            }
            for each in found
        ],
    }


def _sorted_terms(
    choice: TermChoice,
    terms: Sequence[str],
    cuts: Sequence[Sequence[TermCuts]],
    members: Sequence[Member],
) -> tuple[list[str], list[list[TermCut]], list[TermLoss], int]:
    names = [member.name for member in members]
    chosen = names.index(choice.loss_of) if choice.loss_of in names else 0
    is_alone = choice.form == ALONE
    shown = [[cut.alone if is_alone else cut.in_text for cut in of_one] for of_one in cuts]
    return names, shown, Terms(tuple(terms)).by_loss(shown, chosen), chosen


def terms_part(members: Sequence[Member]) -> None:
    """Draw the visitor's terms under all tokenizers."""
    left, right = st.columns(COLUMNS, gap="large")
    with left:
        st.header("Your terms", anchor=False)
        room = st.container()
        # First, because it may replace the terms.
        file_opener("A text file with one term per line", _read_file, key="terms_file", name=_NAME)
        text = own_text(FIRST_TERMS, _NAME)
        with room:
            _terms_field(text)
        listed = Terms.read(text)
        if words := listed.left_out:
            st.warning(words)
        choose_one("Encoded", list(FORMS), key=_FORM_KEY, shows_label=True, help=_FORMS_HELP)
        names = [member.name for member in members]
        box = partial(
            st.selectbox, "Sorted by the loss of", names, format_func=plain_text, help=LOSS
        )
        bound(box, key=_LOSS_KEY, usable={*names, *map(plain_text, names)})
    with right:
        if listed.terms:
            with errors_shown():
                _draw(listed.terms, members)
        else:
            st.info("There are no terms yet. Type some, one per line.")


def _draw(terms: Sequence[str], members: Sequence[Member]) -> None:
    cuts = [cut_terms_with(terms, member.encoder) for member in members]
    names, shown, found, chosen = _sorted_terms(chosen_terms(), terms, cuts, members)
    sentences = f"{one_token_sentence(names, shown)} {total_sentence(names, shown)}"
    st.markdown(plain_markdown(sentences, 2_000))
    rows = term_rows(found[:_MAX_ROWS], [member.encoder for member in members])
    draw_term_table(names, rows, caption="Your terms", loss_of="Loss", key="compare_terms")
    by_term = dict(zip(terms, zip(*cuts, strict=True), strict=True))
    offer_csv(
        lambda: terms_csv(names, chosen, found, by_term),
        "terms.csv",
        key="terms_csv",
        help="One line per term, with the tokens after a space and alone, the cut and the ids.",
    )
    if len(found) > _MAX_ROWS:
        more = f"The table holds the first {_MAX_ROWS} of {len(found):,} terms; the CSV holds all."
        st.markdown(f":small[:gray[{more}]]")
