"""Draw a text coloured by token, under one tokenizer or several side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bpe_core.views import PackedSpans, PackedTokens, View
from ui.components.shared import make_component

_view = make_component(__file__, "token_view", "view", styles=View.STYLES["token_view"])


def draw_token_view(
    text: str,
    packed: PackedTokens,
    *,
    stamp: str,
    chosen: int | None,
    name: str,
    special_note: str,
    code: Sequence[str],
    allowed_special: bool,
    unsettled: int | None = None,
    end_note: str = "",
    border_terms: Sequence[tuple[str, str]] = (),
    mark_terms: Sequence[tuple[str, str]] = (),
    key: str,
) -> None:
    """Draw a text coloured by token, its ids, and details of the token under the pointer.

    `code` holds the Python lines that create `tokenizer`, for "Copy as Python". `special_note`
    states how special tokens were read; it is empty if the tokenizer has none. `chosen` is the
    segment whose details are shown first. When the visitor chooses another, a `token_origin` on
    the page receives its index and the `stamp`. Segments from `unsettled` on are dashed, since text
    added to a prompt may change them; `end_note` says so. `border_terms` and `mark_terms` are
    explained next to the switches for pre-token borders and for the spelling of the file.
    """
    _view(
        key=key,
        data={
            "text": text,
            "packed": packed,
            "stamp": stamp,
            "chosen": chosen,
            "name": name,
            "special_note": special_note,
            "code": list(code),
            "unsettled": unsettled,
            "end_note": end_note,
            "code_options": ', allowed_special="all"' if allowed_special else "",
            "border_terms": list(border_terms),
            "mark_terms": list(mark_terms),
        },
    )


_compare = make_component(__file__, "token_compare", "compare", styles=View.STYLES["token_compare"])


@dataclass(frozen=True, slots=True)
class Reading:
    """One side of a comparison: a tokenizer's name, its tokens, and a badge next to the name."""

    name: str
    packed: PackedTokens
    n_tokens: int
    badge: str = ""
    is_exact: bool = True
    """If False, the badge is drawn as a warning."""


def token_compare(
    text: str, readings: Sequence[Reading], spans: PackedSpans, *, source: str, key: str
) -> None:
    """Draw a passage under each tokenizer, with disagreements ringed; `source` names it."""
    _compare(
        key=key,
        data={
            "text": text,
            "readings": [
                {
                    "name": reading.name,
                    "packed": reading.packed,
                    "n_tokens": reading.n_tokens,
                    "badge": reading.badge,
                    "exact": reading.is_exact,
                }
                for reading in readings
            ],
            "spans": spans,
            "source": source,
        },
    )


_trees = make_component(__file__, "word_trees", "trees", styles=("view", "trees"))


def word_trees(text: str, readings: Sequence[Reading], *, key: str) -> None:
    """Draw a word's tokens under each tokenizer, with the merges that built them."""
    _trees(
        key=key,
        data={
            "text": text,
            "readings": [{"name": reading.name, "packed": reading.packed} for reading in readings],
        },
    )
