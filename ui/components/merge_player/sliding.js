// Tiles that slide from where they stood to where they stand now.

export const SLIDE = "cubic-bezier(.3, 0, .1, 1)";

function placeIn(box, element) {
  const inner = element.getBoundingClientRect();
  return { x: inner.x - box.x, y: inner.y - box.y, width: inner.width, height: inner.height };
}

export function tilePlaces(cell) {
  const box = cell.box.getBoundingClientRect();
  return new Map([...cell.tiles].map(([start, tile]) => [start, placeIn(box, tile)]));
}

export function pairPlaces(cell) {
  const box = cell.box.getBoundingClientRect();
  return new Map([...cell.pairs].map(([start, pair]) => [start, placeIn(box, pair)]));
}

export function slideTiles(cell, before, after, duration, easing, except = new Set()) {
  for (const [start, tile] of cell.tiles) {
    const from = before.get(start);
    const to = after.get(start);
    if (!from || !to || except.has(start) || (from.x === to.x && from.y === to.y)) continue;
    tile.animate([{ transform: `translate(${from.x - to.x}px, ${from.y - to.y}px)` }, { transform: "none" }], { duration, easing });
  }
}
