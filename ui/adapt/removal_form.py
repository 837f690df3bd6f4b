"""Choose which tokens may be removed, in which order and for which text, and show those removed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, cast

import streamlit as st

from bpe_core.adapting import RemovalOrder
from bpe_core.tokenizer import Tokenizer
from bpe_core.unicode import token_script
from ui.adapt.adapting_process import Removable
from ui.components import FigureRow, figure_table
from ui.corpus import area_to_address, start_area
from ui.host import cached
from ui.look import plain_markdown, plain_text, token_label

_MAX_NAMED: Final = 5
_WRITTEN: Final = re.compile("␣|→|↵|<[0-9A-F]{2}(?: [0-9A-F]{2})*>")
_GLYPHS: Final = {"␣": b" ", "→": b"\t", "↵": b"\n"}
_MAX_SCRIPTS: Final = 8
_ORDERS: Final = {"fewest-uses": "Least used first", "last-learned": "Last learned first"}
_MAX_CHARACTERS: Final = 100_000
_KEEP: Final = "adapt_keep"


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
    order = st.segmented_control(
        "Order of removal",
        list(_ORDERS),
        default="fewest-uses",
        required=True,
        format_func=_ORDERS.__getitem__,
        key="shrink_order",
        help="A token is removed only once no other is merged from it. Of those, the one your text "
        "uses least is removed first, or the one learned last, whatever its uses.",
        persist_state="session",
        bind="query-params",
    )
    n_of = Counter(token_scripts(tokenizer).values())
    scripts = st.multiselect(
        "Remove only tokens of these scripts",
        [script for script, _ in n_of.most_common()],
        format_func=lambda script: f"{script} ({n_of[script]:,})",
        key=f"shrink_only_{tokenizer.fingerprint[:12]}",
        placeholder="All scripts",
        help="A token belongs to the script of most of its letters.",
        persist_state="session",
        bind="query-params",
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
