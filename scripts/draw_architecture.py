"""Draw the packages of `bpe_core` and `ui`, and which imports which, to docs/architecture.svg.

An arrow that follows from others is left out: if a imports b, and b imports c, then a may import c.

Run: python -m scripts.draw_architecture
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Final

from tests.unit.test_imports import FLOORS, HOUSES, ROOT, House, heights

Place = tuple[float, float]

PICTURE: Final = ROOT / "docs" / "architecture.svg"
PAGES: Final = "a package for each page"
_WIDTH: Final = 860
_ROW: Final = 66
_BOX: Final = 28
_COLUMNS: Final = [100.0 + 55 * number for number in range(13)]
_MOVES: Final = 6_000
_STYLE: Final = """
  text { font: 14px ui-sans-serif, system-ui, sans-serif; fill: #1f2328; text-anchor: middle; }
  .title { font-weight: 600; font-size: 16px; text-anchor: start; }
  rect { fill: #ffffff; stroke: #57606a; }
  path { fill: none; stroke: #57606a; stroke-opacity: 0.65; marker-end: url(#tip); }
  marker path { fill: #57606a; stroke: none; marker-end: none; }
  .ground { fill: #f6f8fa; stroke: none; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; }
    rect { fill: #21262d; stroke: #9198a1; }
    path { stroke: #9198a1; }
    marker path { fill: #9198a1; }
    .ground { fill: #0d1117; }
  }
"""


def packages(house: House) -> dict[str, set[str]]:
    """Return the packages of a house with those that each imports; all pages count as one."""
    pages = next((set(floor) for floor in FLOORS[house.name] if len(floor) > 5), set[str]())
    inside = {room for room in house.rooms if (house.folder / room).is_dir()}
    found: dict[str, set[str]] = {PAGES if room in pages else room: set() for room in inside}
    for above, below in house.arrows:
        if {above, below} <= inside:
            found[PAGES if above in pages else above].add(PAGES if below in pages else below)
    return {name: below - {name} for name, below in found.items()}


def shortest(below: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """Leave out the arrows that follow from others.

    >>> shortest({"a": {"b", "c"}, "b": {"c"}, "c": set()})
    {'a': {'b'}, 'b': {'c'}, 'c': set()}
    """

    def reached(name: str) -> set[str]:
        return below[name].union(*map(reached, below[name]))

    return {name: down - set().union(*map(reached, down)) for name, down in below.items()}


def _width(name: str) -> int:
    return 8 * len(name) + 26


def _faults(below: dict[str, set[str]], places: dict[str, Place]) -> float:
    """Return how badly the boxes stand: arrows behind boxes, boxes too near, long arrows."""
    faults = 0.0
    names = sorted(places)
    for name in names:
        x, y = places[name]
        for other in names:
            ox, oy = places[other]
            if name < other and y == oy and abs(x - ox) < (_width(name) + _width(other)) / 2 + 20:
                faults += 100
            if other in below[name]:
                faults += abs(x - ox) / 200
                faults += 10 * sum(_is_behind(places[name], places[other], places, names))
    return faults


def _is_behind(a: Place, b: Place, places: dict[str, Place], names: list[str]) -> Iterator[bool]:
    """Yield for each box between two places whether an arrow between them runs behind it."""
    for name in names:
        x, y = places[name]
        if a[1] < y < b[1]:
            t = (y - a[1]) / (b[1] - a[1])
            # About where the curve is at this height.
            at = a[0] + (b[0] - a[0]) * t * t * (3 - 2 * t)
            yield abs(at - x) < _width(name) / 2 + 10


def _places(below: dict[str, set[str]]) -> dict[str, Place]:
    """Return the middle of each box, found by moving boxes sideways as long as that helps."""
    floors = heights(below)
    top = max(floors.values())
    chance = random.Random(0)
    places: dict[str, Place] = {
        name: (chance.choice(_COLUMNS), (top - floor + 0.5) * _ROW)
        for name, floor in sorted(floors.items())
    }
    least = _faults(below, places)
    for _ in range(_MOVES):
        name = chance.choice(sorted(places))
        before = places[name]
        places[name] = (chance.choice(_COLUMNS), before[1])
        faults = _faults(below, places)
        if faults <= least:
            least = faults
        else:
            places[name] = before
    return places


def _drawn(house: House, top: float) -> tuple[list[str], float]:
    """Return the lines of one house's picture, and its height."""
    below = shortest(packages(house))
    places = _places(below)
    lines = [f'<text class="title" x="24" y="{top + 24}">{house.name}</text>']
    boxes: list[str] = []
    for name in sorted(places):
        x, y = places[name][0], places[name][1] + top + 24
        for other in sorted(below[name]):
            ox, oy = places[other][0], places[other][1] + top + 24
            y0, y1 = y + _BOX / 2, oy - _BOX / 2 - 6
            bend = (y1 - y0) / 2
            lines.append(
                f'<path data-from="{name}" data-to="{other}" d="M{x:.0f} {y0:.0f}'
                f'C{x:.0f} {y0 + bend:.0f} {ox:.0f} {y1 - bend:.0f} {ox:.0f} {y1:.0f}"/>'
            )
        wide = _width(name)
        boxes.append(
            f'<rect x="{x - wide / 2:.0f}" y="{y - _BOX / 2:.0f}" width="{wide}" '
            f'height="{_BOX}" rx="6"/><text x="{x:.0f}" y="{y + 5:.0f}">{escape(name)}</text>'
        )
    return lines + boxes, max(y for _, y in places.values()) + _ROW


def draw() -> str:
    """Return the picture as SVG."""
    lines: list[str] = []
    top = 0.0
    for house in reversed(HOUSES):
        drawn, height = _drawn(house, top)
        lines += drawn
        top += height
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {top:.0f}" role="img" '
        f'aria-label="The packages of ui and bpe_core, and which imports which">\n'
        f"<style>{_STYLE}</style>\n"
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="2" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z"/></marker></defs>\n'
        '<rect class="ground" width="100%" height="100%"/>\n' + "\n".join(lines) + "\n</svg>\n"
    )


def main() -> None:
    """Write the picture."""
    PICTURE.write_text(draw(), encoding="utf-8")
    print(f"Wrote {Path(PICTURE).relative_to(ROOT)}.")


if __name__ == "__main__":
    main()
