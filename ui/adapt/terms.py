"""Ask for terms that are to be one token, and draw what each of them cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import streamlit as st

from bpe_core.comparison import read_terms
from bpe_core.runs import TermCost
from ui.components import FigureRow, figure_table
from ui.corpus import area_to_address, start_area
from ui.look import counted, file_stem, lines_left_out, plain_markdown, plain_text, token_label
from ui.run import csv_table, offer_csv

_MAX_CHARACTERS: Final = 100_000
_MAX_ROWS: Final = 100
_MAX_NAMED: Final = 20
_MAX_NAME_LENGTH: Final = 60
_ALREADY: Final = "0, as before"


def join_terms(costs: Sequence[TermCost]) -> str:
    """Return terms as they are typed, one per line; pinned tokens are none of them.

    >>> join_terms([TermCost("hug", b" hug"), TermCost(b"ug", b"ug"), TermCost("pun", None)])
    'hug\\npun'
    """
    return "\n".join(cost.term for cost in costs if isinstance(cost.term, str))


def ask_for_terms(key: str, first: str) -> tuple[str, ...]:
    """Draw the field for domain terms, which begins with `first`; return them."""
    start_area(key, first)
    text = st.text_area(
        "Domain terms, one per line",
        key=key,
        height=104,
        max_chars=_MAX_CHARACTERS,
        placeholder="Kubernetes\nkubelet",
        help="Each is made one token before any other is learned. The result says what each cost "
        "in new tokens, how often your text contains it, or why it cannot be a token.",
        persist_state="session",
    )
    area_to_address(key, text or "", first=first, longest=_MAX_CHARACTERS)
    listed = read_terms(text or "")
    if words := lines_left_out(listed):
        st.warning(words)
    if listed.terms:
        n = len(listed.terms)
        st.markdown(
            f":gray[:small[{n:,} {'term is' if n == 1 else 'terms are'} tried first. Their merges "
            "count among the new tokens.]]"
        )
    return listed.terms


def draw_term_costs(
    costs: Sequence[TermCost], title: str, *, key: str, n_characters: int = 0
) -> None:
    """Draw what each of some terms and pinned tokens cost; `title` names the file with them.

    `n_characters` were added in all, before any merge.
    """
    st.header("Domain terms", anchor=False)
    st.markdown(plain_markdown(terms_sentence(costs, n_characters), 1_000))
    made = [cost for cost in costs if cost.reason is None]
    if made:
        figure_table(
            ["New tokens", "Saved", "Occurs"],
            [
                FigureRow(
                    term_name(cost),
                    (
                        f"{_count_added(cost):,}" if _count_added(cost) else _ALREADY,
                        f"{cost.tokens_saved:,}",
                        occurrences(cost),
                    ),
                )
                for cost in made[:_MAX_ROWS]
            ],
            caption="What each term cost, and saved on the training text",
            key=f"{key}_made",
        )
    for reason, names in refusals(costs):
        more = f" and {len(names) - _MAX_NAMED:,} more" if len(names) > _MAX_NAMED else ""
        listed = ", ".join(f"“{name}”" for name in names[:_MAX_NAMED])
        why = reason if len(names) == 1 else f"For each: {reason[0].lower()}{reason[1:]}"
        st.markdown(f"**Not one token:** {plain_markdown(f'{listed}{more}. {why}', 2_000)}")
    offer_csv(
        lambda: terms_csv(costs),
        f"{file_stem(title)}-terms.csv",
        key=f"{key}_csv",
        label="Terms as CSV",
    )
    rest = f" The table holds the first {_MAX_ROWS}." if len(made) > _MAX_ROWS else ""
    st.markdown(
        ":small[:gray[Each new token is a row of the model’s embedding. Saved: how many fewer "
        "tokens the training text takes because of their merges. Occurs: how often that text holds "
        f"the new token; at 0, nothing in it trains the row.{rest}]]"
    )


def terms_sentence(costs: Sequence[TermCost], n_characters: int = 0) -> str:
    """Return how many terms are one token, what they cost together, and what they saved.

    `n_characters` were added in all, before any merge.

    >>> terms_sentence([TermCost("hug", b" hug", 2, 10), TermCost("New York", None, reason="Cut.")])
    '1 of 2 terms is one token. Together they took the first 2 new tokens, and save 10 tokens.'
    >>> terms_sentence([TermCost("hug", b" hug", 1, 0, occurrences=0)]).split(". ")[-1]
    '1 of them does not occur in the training text.'
    >>> made = TermCost("漢字", "漢字".encode(), 1, 10, characters_added=2)
    >>> terms_sentence([made], n_characters=9)
    '1 of 1 term is one token. Together they took 3 new tokens, and their merges save 10 tokens.'
    """
    n_made = sum(cost.reason is None for cost in costs)
    n_added = sum(map(_count_added, costs))
    n_saved = sum(cost.tokens_saved for cost in costs)
    are = "is" if n_made == 1 else "are"
    first = f"{n_made:,} of {counted(len(costs), 'term')} {are} one token."
    if not n_added:
        return f"{first} None of them took a new token."
    new = "the first new token" if n_added == 1 else f"the first {n_added:,} new tokens"
    save = "save"
    if n_characters:
        new, save = counted(n_added, "new token"), "their merges save"
    n_absent = sum(cost.is_absent for cost in costs)
    do = "does" if n_absent == 1 else "do"
    absent = f" {n_absent:,} of them {do} not occur in the training text." if n_absent else ""
    return f"{first} Together they took {new}, and {save} {counted(n_saved, 'token')}.{absent}"


def _count_added(cost: TermCost) -> int:
    """Return how many new tokens a term took: its characters and merges."""
    return cost.characters_added + cost.tokens_added


def occurrences(cost: TermCost) -> str:
    """Return how often the training text contains a term's new token, for a table.

    >>> [occurrences(TermCost("hug", b" hug", 1, n, occurrences=n)) for n in (5, 0)]
    ['5', '0']
    """
    if cost.occurrences is None:
        return "–"
    return f"{cost.occurrences:,}"


def term_name(cost: TermCost) -> str:
    """Return a term's name: the term as it was given, or a pinned token's label.

    >>> term_name(TermCost("hug", b" hug", 1, 5)), term_name(TermCost(b" hug", b" hug", 1, 5))
    ('hug', '␣hug (pinned)')
    """
    if isinstance(cost.term, str):
        return plain_text(cost.term, _MAX_NAME_LENGTH)
    return f"{plain_text(token_label(cost.term), _MAX_NAME_LENGTH)} (pinned)"


def refusals(costs: Sequence[TermCost]) -> list[tuple[str, list[str]]]:
    """Return each reason with the names of the terms that it keeps from being tokens."""
    found: dict[str, list[str]] = {}
    for cost in costs:
        if cost.reason is not None:
            found.setdefault(cost.reason, []).append(term_name(cost))
    return list(found.items())


def terms_csv(costs: Sequence[TermCost]) -> bytes:
    """Return the terms as CSV: what each cost and saved, its token in hex, or the reason."""
    return csv_table(
        (
            "term",
            "is one token",
            "new tokens",
            "tokens saved",
            "bytes in hex",
            "reason",
            "occurrences",
        ),
        (
            (
                cost.term if isinstance(cost.term, str) else token_label(cost.term),
                "yes" if cost.reason is None else "no",
                _count_added(cost),
                cost.tokens_saved,
                None if cost.token is None else cost.token.hex(),
                cost.reason,
                cost.occurrences,
            )
            for cost in costs
        ),
    )
