"""Ask what to adapt: the tokenizer, the corpus, and which tokens may be removed in which order."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final, cast

import streamlit as st

from bpe_core.adapting import RemovalOrder
from bpe_core.comparison import embedding_rows
from bpe_core.errors import BpeError
from bpe_core.tokenizer import Tokenizer
from bpe_core.unicode import token_script
from ui.adapt.adapting_process import Removable
from ui.adapt.in_background import Order
from ui.adapt.result_parts import usual_general
from ui.components import FigureRow, figure_table
from ui.corpus import area_to_address, choose_corpus, show_corpus, start_area
from ui.host import cached
from ui.look import counted, plain_markdown, plain_text, token_label
from ui.shell import bound, is_share, note_unread, show_unread, workspace
from ui.storage import StoredRun
from ui.tokenizers import add_button, draw_shelf_problems, shelf

_KEY: Final = "adapt_base"
_PARAMETER: Final = "base"
_MAX_KEY_LENGTH: Final = 64
_MAX_NAME_LENGTH: Final = 60

_MAX_NAMED: Final = 5
_WRITTEN: Final = re.compile("␣|→|↵|<[0-9A-F]{2}(?: [0-9A-F]{2})*>")
_GLYPHS: Final = {"␣": b" ", "→": b"\t", "↵": b"\n"}
_MAX_SCRIPTS: Final = 8
_ORDERS: Final = {"fewest-uses": "Least used first", "last-learned": "Last learned first"}
_MAX_CHARACTERS: Final = 100_000
_KEEP: Final = "adapt_keep"


def choose_base(stored: StoredRun) -> shelf.Base:
    """Draw the choice of the base and what it holds; return it."""
    bases = shelf.bases_of(stored)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.header("Base", anchor=False, width="content")
        st.space("stretch")
        add_button(stored)
    usual = _usual_key(stored, bases)
    asked = workspace.query_text(_PARAMETER, _MAX_KEY_LENGTH)
    if asked and asked not in bases and not workspace.has_widget(_KEY):
        named = plain_text(asked, _MAX_NAME_LENGTH)
        note_unread(_KEY, f"This address names “{named}”, which is not among these tokenizers.")
    workspace.start_choice(_KEY, asked if asked in bases else usual)
    if workspace.widget_text(_KEY) not in bases:
        workspace.set_widget(_KEY, usual)
    key = st.selectbox(
        "Tokenizer to adapt",
        list(bases),
        format_func=lambda key: plain_text(bases[key].name.name, _MAX_NAME_LENGTH),
        key=_KEY,
        label_visibility="collapsed",
        persist_state="session",
    )
    workspace.set_query(**{_PARAMETER: key if key != usual else None})
    base = bases[key]
    draw_shelf_problems()
    show_unread(_KEY, key)
    st.markdown(f":gray[:small[{plain_markdown(_facts(base), 600)}]]")
    return base


def usable(base: shelf.Base) -> Tokenizer | None:
    """Return the tokenizer to adapt, or None and show why it cannot be and what to do instead."""
    try:
        return base.tokenizer()
    except BpeError as error:
        st.warning(plain_markdown(str(error), 1_000))
        return None


def _usual_key(stored: StoredRun, bases: Mapping[str, shelf.Base]) -> str:
    if stored.base is not None:
        return stored.base.key
    return shelf.GPT2 if shelf.GPT2 in bases else next(iter(bases))


def _facts(base: shelf.Base) -> str:
    rows = embedding_rows(base.encoder)
    gaps = rows - base.encoder.vocab_size
    more = f", {rows:,} embedding rows" if gaps else ""
    note = f" {base.note.rstrip('.')}." if base.note else ""
    return f"{counted(base.encoder.vocab_size, 'token')}{more}.{note}"


@dataclass(frozen=True, slots=True)
class Asked:
    """The forms as they are filled."""

    base: shelf.Base
    tokenizer: Tokenizer | None
    """None if the base cannot be adapted."""
    order: Order | None
    """None while a form is empty or invalid."""


def ask_for_order(stored: StoredRun) -> Asked:
    """Draw the forms."""
    base = choose_base(stored)
    tokenizer = usable(base)
    chosen, figures = choose_corpus()
    if chosen is None or tokenizer is None:
        return Asked(base, tokenizer, None)
    with figures:
        is_counted = show_corpus(chosen, tokenizer.pretokenizer.name)
    order = None
    if is_counted:
        general_id = usual_general(chosen.title)
        order = Order(
            tokenizer,
            chosen.corpus,
            chosen.held_out_share,
            held_out_by=chosen.held_out_by,
            general_id=general_id,
        )
    return Asked(base, tokenizer, order)


def ask_for_coverage(tokenizer: Tokenizer | None, first: float, *, key: str) -> float:
    """Draw the field for the share of the text whose characters are added, which holds `first`.

    Only a base that spells characters in bytes needs it; of others, return `first`.
    """
    if tokenizer is None or not tokenizer.table.byte_ids:
        return first
    number = partial(
        st.number_input,
        "Character coverage",
        min_value=0.0,
        max_value=1.0,
        value=first,
        step=0.0005,
        format="%.4f",
        help="This base spells characters that it lacks in bytes, and merges no bytes. So the most "
        "frequent of them become tokens first, until this share of the text is covered. They count "
        "among the new tokens. With 0, only those of domain terms are added.",
        persist_state="session",
    )
    return bound(
        number,
        key=key,
        usable=is_share,
        expected="a number from 0 to 1",
    )


@dataclass(frozen=True, slots=True)
class KeptTokens:
    """The tokens of a list, one per line."""

    ids: tuple[int, ...]
    """Of all lines that are tokens, ascending; each once."""
    problem: str
    """Which lines are not tokens, and what to do, as plain text; empty if all are."""


def read_kept_tokens(text: str, tokenizer: Tokenizer) -> KeptTokens:
    """Return the ids of the tokens in a list, one per line; blank lines are ignored.

    A line is a token's text. If no token has it, ␣, → and ↵ stand for a space, a tab and a line
    feed, and hexadecimal digits in angle brackets for bytes, as `token_label` writes them.

    >>> from bpe_core.tokenizer import gpt2
    >>> read_kept_tokens("ug\\n␣the\\n the\\n", gpt2())
    KeptTokens(ids=(262, 1018), problem='')
    """
    lines = [line for line in re.split("\r\n|\r|\n", text) if line.strip()]
    if not lines:
        return KeptTokens((), "")
    ids_of: dict[bytes, list[int]] = {}
    for id, token in tokenizer.vocab.items():
        ids_of.setdefault(token, []).append(id)
    found: set[int] = set()
    unknown: dict[str, str] = {}
    for line in lines:
        literal = line.encode("utf-8", "surrogatepass")
        # An arrow may be one, and not stand for a tab.
        arrows = literal.replace("␣".encode(), b" ")
        ids = ids_of.get(literal) or ids_of.get(_bytes_written(line)) or ids_of.get(arrows)
        if ids is None:
            other = b" " + literal.strip()
            name = plain_text(line).replace(" ", "␣")
            unknown[f"“{name}”"] = f"“{token_label(other)}”" if other in ids_of else ""
        else:
            found.update(ids)
    return KeptTokens(tuple(sorted(found)), _problem_with(unknown))


def _bytes_written(line: str) -> bytes:
    """Return the bytes that a label stands for."""
    parts: list[bytes] = []
    end = 0
    for match in _WRITTEN.finditer(line):
        glyph = match[0]
        parts += (
            line[end : match.start()].encode("utf-8", "surrogatepass"),
            _GLYPHS.get(glyph) or bytes.fromhex(glyph.strip("<>")),
        )
        end = match.end()
    return b"".join(parts) + line[end:].encode("utf-8", "surrogatepass")


def _problem_with(unknown: dict[str, str]) -> str:
    """Name lines that are not tokens, and tokens that may be meant, given for each or empty."""
    if not unknown:
        return ""
    n = len(unknown)
    named = ", ".join([*unknown][:_MAX_NAMED])
    meant = ", ".join([*filter(None, unknown.values())][:_MAX_NAMED])
    more = f" and {n - _MAX_NAMED:,} more" if n > _MAX_NAMED else ""
    are = "is not a token" if n == 1 else "are not tokens"
    return (
        f"{named}{more} {are} of this tokenizer. Correct or remove {'it' if n == 1 else 'them'}: "
        "one token per line, with ␣ for its space."
        f"{f' Did you mean {meant}?' if meant else ''}"
    )


def token_scripts(tokenizer: Tokenizer) -> Mapping[int, str]:
    """Return the script of each token, by id."""
    return _scripts(tokenizer.fingerprint, tokenizer)


@cached()
def _scripts(fingerprint: str, _tokenizer: Tokenizer) -> Mapping[int, str]:
    return {id: token_script(token) for id, token in _tokenizer.vocab.items()}


def draw_by_script(base: Tokenizer, removed: Iterable[int], *, caption: str) -> None:
    """Draw a table of the most frequent scripts of the removed tokens, given by id."""
    script_of = token_scripts(base)
    scripts = Counter(script_of[id] for id in removed).most_common(_MAX_SCRIPTS)
    all_of = Counter(script_of.values())
    figure_table(
        ["Removed", "Of", "Share"],
        [
            FigureRow(script, (f"{n:,}", f"{all_of[script]:,}", f"{n / all_of[script]:.0%}"))
            for script, n in scripts
        ],
        caption=caption,
        key="removed_scripts",
    )


def ask_what_may_go(tokenizer: Tokenizer) -> Removable | None:
    """Draw the order of removal, the scripts and the tokens to keep; None if a line is wrong."""
    st.header("Tokens to remove", anchor=False)
    orders = partial(
        st.segmented_control,
        "Order of removal",
        list(_ORDERS),
        default="fewest-uses",
        required=True,
        format_func=_ORDERS.__getitem__,
        help="A token is removed only once no other is merged from it. Of those, the one your text "
        "uses least is removed first, or the one learned last, whatever its uses.",
        persist_state="session",
    )
    order = bound(orders, key="shrink_order", usable=(*_ORDERS, *_ORDERS.values()))
    n_of = Counter(token_scripts(tokenizer).values())
    lists = partial(
        st.multiselect,
        "Remove only tokens of these scripts",
        [script for script, _ in n_of.most_common()],
        format_func=lambda script: f"{script} ({n_of[script]:,})",
        placeholder="All scripts",
        help="A token belongs to the script of most of its letters.",
        persist_state="session",
    )
    scripts = bound(
        lists,
        key=f"shrink_only_{tokenizer.fingerprint[:12]}",
        usable={name for script, n in n_of.items() for name in (script, f"{script} ({n:,})")},
        expected="a script of this vocabulary",
    )
    pinned = _ask_what_stays(tokenizer)
    if pinned is None:
        return None
    # Not set immediately after the browser's Back.
    chosen = cast(RemovalOrder, order or "fewest-uses")
    return Removable(chosen, tuple(sorted(scripts)), pinned)


def _ask_what_stays(tokenizer: Tokenizer) -> tuple[int, ...] | None:
    """Draw the field for the tokens to keep; return their ids, or None if a line is wrong."""
    start_area(_KEEP, "")
    text = st.text_area(
        "Keep these tokens",
        key=_KEEP,
        height=104,
        max_chars=_MAX_CHARACTERS,
        placeholder="␣Kubernetes\n␣Berlin",
        help="One per line, with ␣ for the space that a token begins with. The tokens that they "
        "are merged from stay too. The alphabet and special tokens always stay.",
        persist_state="session",
    )
    area_to_address(_KEEP, text or "", first="", longest=_MAX_CHARACTERS)
    kept = read_kept_tokens(text or "", tokenizer)
    if kept.problem:
        st.error(plain_markdown(kept.problem, 1_000))
        return None
    return kept.ids
