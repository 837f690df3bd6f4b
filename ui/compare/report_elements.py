"""Build the elements and tables of a report, so that no visitor's text can become markup."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final, cast
from xml.etree import ElementTree as ET

import numpy as np

from bpe_core.comparison import differing_columns
from bpe_core.tokenizer import Boundaries, Encoder, boundaries
from ui.compare.costs import CostTable
from ui.compare.terms import Terms
from ui.components import MAX_TILES, FigureRow, TermCell
from ui.look import plain_text, token_label
from ui.tokenizers import Member

_MAX_TEXT_LENGTH = 10_000
_MAX_TOKENS = 12
MAX_DISAGREEMENTS: Final = 60
MAX_TERMS_IN_REPORT: Final = 200


def add_rows(body: ET.Element, names: Sequence[str], rows: Sequence[FigureRow]) -> None:
    """Append a table of figures, with a mark at the best of each row."""
    better = {(row.name, place) for row in rows for place in row.better}
    add_table(body, names, [(row.name, row.figures) for row in rows], kind="figures", better=better)


def add_table(
    body: ET.Element,
    columns: Sequence[str],
    rows: Iterable[tuple[str, Sequence[str]]],
    *,
    kind: str,
    better: Collection[tuple[str, int]] = (),
) -> list[list[ET.Element]]:
    """Append a table and return its cells; `better` holds names and places of those with a mark."""
    room = add(body, "div", **{"class": "room"})
    table = add(room, "table", **{"class": kind})
    head = add(add(table, "thead"), "tr")
    add(head, "td")
    for column in columns:
        add(head, "th", column, scope="col")
    lines = add(table, "tbody")
    made: list[list[ET.Element]] = []
    for name, cells in rows:
        line = add(lines, "tr")
        add(line, "th", name, scope="row")
        made.append(
            [
                add(line, "td", f"{cell} ●" if (name, place) in better else cell)
                for place, cell in enumerate(cells)
            ]
        )
    return made


def add(parent: ET.Element, tag: str, text: str = "", **attributes: str) -> ET.Element:
    """Append an element with a text, which never becomes markup."""
    element = ET.SubElement(parent, tag, attributes)
    # A bidi control character in a visitor's name could reverse the rest of the line.
    element.text = plain_text(text, _MAX_TEXT_LENGTH)
    return element


def add_costs(body: ET.Element, names: Sequence[str], costs: CostTable | None) -> None:
    """Append the costs of the tokenizers; nothing without a price, a width or a window."""
    if costs is None:
        return
    add(body, "h2", "What it costs")
    add(body, "p", costs.note, **{"class": "aside"})
    add_rows(body, names, costs.rows)


def add_terms(body: ET.Element, names: Sequence[str], terms: Terms | None) -> None:
    """Append a table of the visitor's terms with their cuts in colours; nothing for the sample."""
    if terms is None:
        return
    add(body, "h2", "Terms")
    add(body, "p", terms.sentences)
    shown = terms.rows[:MAX_TERMS_IN_REPORT]
    which = f" The first {len(shown)} are shown." if len(shown) < terms.n_terms else ""
    add(body, "p", f"{terms.note}{which} The dot marks the fewest tokens.", **{"class": "aside"})
    cells = add_table(
        body,
        ("loss", *names),
        [(row.term, [row.loss, *["" for _ in names]]) for row in shown],
        kind="terms",
    )
    for row, (_, *places) in zip(shown, cells, strict=True):
        for cell, place in zip(row.cells, places, strict=True):
            _add_cut(place, cell)


def _add_cut(place: ET.Element, cell: TermCell) -> None:
    add(place, "b" if cell.is_best else "span", f"{cell.count} ●" if cell.is_best else cell.count)
    line = add(place, "div", **{"class": "cut"})
    for token, id_ in cell.tokens[:MAX_TILES]:
        slot = "symbol" if id_ is None else f"slot-{_slot(id_)}"
        add(line, "span", token_label(token), **{"class": f"tile {slot}"})
    if (left := len(cell.tokens) - MAX_TILES) > 0:
        add(line, "span", f"and {left} more")


def _slot(id_: int) -> int:
    """Return the slot of a token's colour, as `colourSlot` in the browser does.

    >>> [_slot(id_) for id_ in (0, 1, 2, 50_256)]
    [0, 4, 1, 7]
    """
    return (id_ * 2_654_435_761 & 0xFFFFFFFF) >> 29


def add_disagreements(body: ET.Element, text: str, source: str, members: Sequence[Member]) -> None:
    """Append a table of the stretches of a passage that the tokenizers cut differently."""
    found = [boundaries(text, one.encoder) for one in members]
    differing = differing_columns([each.byte_ends for each in found], text)
    with_words = np.flatnonzero(differing.has_word)
    add(body, "h2", "Where they differ")
    if not len(with_words):
        same = "On this passage all words get the same tokens."
        add(body, "p", same, **{"class": "aside"})
        return
    shown = with_words[:MAX_DISAGREEMENTS].tolist()
    n = len(with_words)
    which = f"The first {len(shown)} of {n:,}" if len(shown) < n else f"All {n:,}"
    add(
        body,
        "p",
        f"{which} stretches with letters or numbers in {plain_text(source, 80)} on "
        "which the tokenizers differ. ␣ stands for a space.",
        **{"class": "aside"},
    )
    data = text.encode()
    rows: list[tuple[str, list[str]]] = []
    for place in shown:
        start, end = int(differing.byte_starts[place]), int(differing.byte_ends[place])
        cells = [
            _tokens_between(data, own, one.encoder, start, end)
            for own, one in zip(found, members, strict=True)
        ]
        stretch = text[differing.starts[place] : differing.ends[place]]
        rows.append((token_label(stretch.encode()), cells))
    add_table(body, [one.name for one in members], rows, kind="tokens")


def _tokens_between(data: bytes, own: Boundaries, encoder: Encoder, start: int, end: int) -> str:
    """Return the tokens that begin between two bytes; text in no token is shown unchanged."""
    first, last = np.searchsorted(own.byte_ends, [start, end - 1], side="right")
    labels: list[str] = []
    for place in range(int(first), min(int(last) + 1, int(first) + _MAX_TOKENS)):
        token_id, token_end = int(own.ids[place]), int(own.byte_ends[place])
        token = encoder.vocab[token_id] if token_id >= 0 else data[start:token_end]
        labels.append(token_label(token))
        start = token_end
    return " | ".join(labels) + (" …" if last - first >= _MAX_TOKENS else "")


def record_rows(record: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return what `TrainingRun.to_dict` returned as rows of a name and a value, for tables.

    >>> record_rows({"bpe_core": "0.1.0", "config": {"vocab_size": 260}, "split": None})
    [('bpe_core', '0.1.0'), ('vocab_size', '260'), ('split', 'None')]
    """
    rows: list[tuple[str, str]] = []
    for name, value in record.items():
        if name == "split" and value is not None:
            rows.append(("held_out_share", str(value["held_out_share"])))
            rows.append(("held_out_by", value["by"]))
            rows.append(("held_out_seed", str(value["seed"])))
            rows.append(("whole_corpus_sha256", value["corpus_sha256"]))
        elif isinstance(value, dict):
            settings = cast("dict[str, object]", value)
            rows += [(key, str(each)) for key, each in settings.items()]
        else:
            rows.append((name, str(value)))
    return rows
