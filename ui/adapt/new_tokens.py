"""Ask for terms that are to be tokens, and draw the new tokens: what each cost, saved or replaced.

Tokens can be pinned or left out, to extend again.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from bpe_core.comparison import Terms
from bpe_core.trainers import TermCost
from ui.adapt.result_parts import base_name, training_tokens
from ui.components import FigureRow, TermCell, TermRow, draw_term_table, figure_table
from ui.corpus import area_to_address, start_area
from ui.host import fragment
from ui.look import counted, file_stem, plain_markdown, plain_text, token_label
from ui.run import csv_table, offer_csv
from ui.shell import workspace
from ui.storage import StoredRun

_MAX_CHARACTERS: Final = 100_000
_MAX_TERMS: Final = 100
_MAX_NAMED: Final = 20
_MAX_NAME_LENGTH: Final = 60
_ALREADY: Final = "0, as before"

MAX_CHOSEN: Final = 500
_MAX_LABEL_LENGTH: Final = 40
_MAX_ROWS: Final = 500
_MAX_QUERY_LENGTH: Final = 200
_IN_ORDER, _BY_SAVING = "as learned", "by tokens saved"
_SAYS: Final = "Saved: how many fewer tokens the training text took once this one was added."
_EXTENDS_AGAIN: Final = "Extends the same base with the corpus and all choices of the form above."


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
    listed = Terms.read(text or "")
    if words := listed.left_out:
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
                for cost in made[:_MAX_TERMS]
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
    rest = f" The table holds the first {_MAX_TERMS}." if len(made) > _MAX_TERMS else ""
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


@dataclass(frozen=True, slots=True)
class TokenChoices:
    """The new tokens of a run that its visitor pinned or left out, to extend again."""

    run_id: str
    pinned: tuple[str, ...]
    """Their bytes in hexadecimal."""
    left_out: tuple[str, ...]
    """Their bytes in hexadecimal."""


@dataclass(frozen=True, slots=True)
class Choices:
    """What was chosen among new tokens."""

    to_extend: TokenChoices | None = None
    """Those with which an extension was just asked for; None once it has begun."""
    to_replace: TokenChoices | None = None
    """Those that Replace pins or leaves out; `run_id` is the base's fingerprint."""


def choose_tokens(
    id: str,
    offered: Sequence[bytes],
    first: TokenChoices,
    *,
    again: str,
    explanation: str,
) -> TokenChoices | None:
    """Draw the choices among the offered tokens; return them once the button `again` is pressed.

    `id` is that of the result whose tokens these are, and `first` is what is chosen at first.
    """
    tokens = [token.hex() for token in offered]
    st.markdown(
        ":gray[Leave out a token that you do not want, or pin one to make it again whatever else "
        "changes. The search above finds more tokens.]"
    )
    left, right = st.columns(2)
    with left:
        left_out = _choice("Leave out", tokens, [*first.left_out], key=f"adapt_leave_out_{id}")
    with right:
        pinned = _choice("Pin", tokens, [*first.pinned], key=f"adapt_pin_{id}")
    if both := set(left_out) & set(pinned):
        named = ", ".join(sorted(plain_text(_label(token)) for token in both)[:5])
        st.warning(f"Both left out and pinned: {named}. A token that is left out is never made.")
    changed = bool(left_out or pinned or first.left_out or first.pinned)
    is_pressed = st.button(again, key="extend_again", disabled=not changed)
    st.markdown(f":small[:gray[{explanation}]]")
    return TokenChoices(id, tuple(pinned), tuple(left_out)) if is_pressed else None


def _choice(label: str, tokens: Sequence[str], first: list[str], *, key: str) -> list[str]:
    chosen = workspace.widget_choices(key, first)
    options = list(dict.fromkeys([*chosen, *tokens]))
    names = label_tokens(options)
    return st.multiselect(
        label,
        options,
        default=first,
        format_func=names.__getitem__,
        key=key,
        max_selections=MAX_CHOSEN,
        placeholder="None",
        persist_state="session",
    )


def label_tokens(tokens: Sequence[str]) -> dict[str, str]:
    """Return a name for each token, given as hexadecimal bytes; no two are the same.

    >>> label_tokens(["20687567", "f0"])
    {'20687567': '␣hug', 'f0': '<F0>'}
    """
    labels = {token: _label(token) for token in tokens}
    times = Counter(labels.values())
    return {
        token: label
        if times[label] == 1
        else f"{label} {hashlib.sha256(token.encode()).hexdigest()[:8]}"
        for token, label in labels.items()
    }


def _label(token: str) -> str:
    return plain_text(token_label(bytes.fromhex(token)), _MAX_LABEL_LENGTH)


@dataclass(frozen=True, slots=True)
class NewTokens:
    """New tokens in the order in which they were learned."""

    title: str
    """Names the file with them."""
    base: str
    """The name of the base."""
    ids: Sequence[int]
    vocab: Mapping[int, bytes]
    """The bytes of the new ids, at least."""
    parts: Mapping[int, tuple[int, ...]]
    """The base's ids that spell each new id."""
    base_vocab: Mapping[int, bytes]
    saved: NDArray[np.int64]
    """int64[n]: how many tokens shorter each made the training text.

    The count of a pair is larger if the pair overlaps itself, as in runs of one letter.
    """

    def token(self, place: int) -> bytes:
        """Return the bytes of the token at a place."""
        return self.vocab[self.ids[place]]

    def found(self, query: str) -> list[int]:
        """Return the places of the tokens that hold a text; a space may be typed as ␣."""
        wanted = query.replace("␣", " ").encode("utf-8", "surrogatepass").lower()
        return [place for place in range(len(self.ids)) if wanted in self.token(place).lower()]

    def by_saving(self, places: Sequence[int]) -> list[int]:
        """Return places with those first that saved most tokens."""
        return sorted(places, key=lambda place: -self.saved[place])


def list_new_tokens(stored: StoredRun, kept: int) -> NewTokens:
    """Return the first `kept` new tokens of an extended run."""
    run = stored.run
    vocab = run.tokenizer.vocab
    return NewTokens(
        stored.title,
        base_name(stored),
        run.new_ids[:kept],
        vocab,
        run.new_tokens,
        vocab,
        -np.diff(training_tokens(run)[: kept + 1]),
    )


@fragment()
def draw_new_tokens(stored: StoredRun, kept: int) -> None:
    """Draw the first `kept` new tokens of an extended run."""
    offered = draw_token_list(list_new_tokens(stored, kept))
    if offered is None:
        return
    run = stored.run
    chosen = choose_tokens(
        stored.id,
        offered,
        TokenChoices(
            stored.id,
            tuple(cost.term.hex() for cost in run.terms if isinstance(cost.term, bytes)),
            tuple(token.hex() for token in run.left_out),
        ),
        again="Extend again",
        explanation=_EXTENDS_AGAIN,
    )
    if chosen is not None:
        workspace.update(Choices, to_extend=chosen)
        st.rerun()


def draw_token_list(new: NewTokens) -> list[bytes] | None:
    """Draw new tokens with a search, their table and a CSV of all; return those in the table.

    Returns None if there are none to draw.
    """
    st.header("New tokens", anchor=False)
    st.markdown(
        f":gray[Each new token next to the tokens of {plain_markdown(new.base)} that it replaces. "
        "A new row of the embedding usually starts as the mean of theirs.]"
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        query = st.text_input(
            "Search the new tokens",
            type="search",
            live=True,
            max_chars=_MAX_QUERY_LENGTH,
            placeholder="Part of a token",
            key="adapt_search",
            width=320,
        )
        order = st.segmented_control(
            "Order",
            (_IN_ORDER, _BY_SAVING),
            default=_IN_ORDER,
            required=True,
            key="adapt_order",
            label_visibility="collapsed",
        )
    found = new.found(query or "")
    if order == _BY_SAVING:
        found = new.by_saving(found)
    if not found:
        nothing = "No new token holds this text." if query else "No token is added at this cut."
        st.info(nothing)
        return None
    draw_term_table(
        ["New", new.base],
        token_rows(new, found[:_MAX_ROWS]),
        caption="New tokens and the tokens they replace",
        loss_of="Saved",
        term_of="Token",
        key="adapt_new_tokens",
    )
    more = len(found) - _MAX_ROWS
    rest = f" The table holds the first {_MAX_ROWS} of {len(found):,}." if more > 0 else ""
    offer_csv(
        lambda: tokens_csv(new),
        f"{file_stem(new.title)}-new-tokens.csv",
        key="adapt_tokens_csv",
        label="New tokens as CSV",
    )
    st.markdown(f":small[:gray[{_SAYS}{rest} CSV: one line per new token, with ids and bytes.]]")
    return [new.token(place) for place in found[:_MAX_ROWS]]


def token_rows(new: NewTokens, places: Sequence[int]) -> list[TermRow]:
    """Return a row for each place: its token, the tokens it saved, and the base's tokens for it."""
    rows: list[TermRow] = []
    for place in places:
        id, token = new.ids[place], new.token(place)
        old = tuple((new.base_vocab[part], part) for part in new.parts[id])
        cells = (TermCell("1", ((token, id),)), TermCell(f"{len(old)}", old))
        rows.append(TermRow(token_label(token), f"{new.saved[place]:,}", cells))
    return rows


def tokens_csv(new: NewTokens) -> bytes:
    """Return new tokens as CSV: ids, labels, bytes in hex, tokens saved and base ids."""
    return csv_table(
        ("id", "token", "bytes in hex", "tokens saved", "base ids", "base tokens"),
        (
            (
                id,
                token_label(new.token(place)),
                new.token(place).hex(),
                int(new.saved[place]),
                " ".join(map(str, new.parts[id])),
                "| " + " | ".join(token_label(new.base_vocab[part]) for part in new.parts[id]),
            )
            for place, id in enumerate(new.ids)
        ),
    )
