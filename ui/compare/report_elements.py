"""Build the elements of a report, so that no visitor's text can become markup."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from xml.etree import ElementTree as ET

from ui.components.figures import Row
from ui.look.labels import plain_text

_LONGEST_TEXT = 10_000


def add_rows(body: ET.Element, names: Sequence[str], rows: Sequence[Row]) -> None:
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
    element.text = plain_text(text, _LONGEST_TEXT)
    return element
