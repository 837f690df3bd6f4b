// Tiles that slide from their old place to their new one.

/** @import { Cell } from "./word_grid.js" */

/** @typedef {{ x: number, y: number, width: number, height: number }} Box */

export const SLIDE = "cubic-bezier(.3, 0, .1, 1)";

/** Return the places of a word's tiles within it, by the first base symbol of each.
    @param {Cell} cell */
export function tilePlaces(cell) {
  return placesIn(cell.box, cell.tiles);
}

/** @param {Cell} cell */
export function pairPlaces(cell) {
  return placesIn(cell.box, cell.pairs);
}

/** Return how much larger an element is drawn than its own pixels: in full screen, the player is zoomed.
    @param {Element} element */
export function readZoom(element) {
  return element.currentCSSZoom ?? 1;
}

/** @param {HTMLElement} box
    @param {Map<number, HTMLElement>} elements
    @returns {Map<number, Box>} */
function placesIn(box, elements) {
  const outer = box.getBoundingClientRect();
  const zoom = readZoom(box);
  return new Map([...elements].map(([start, element]) => {
    const inner = element.getBoundingClientRect();
    return [start, {
      x: (inner.x - outer.x) / zoom, y: (inner.y - outer.y) / zoom, width: inner.width / zoom, height: inner.height / zoom,
    }];
  }));
}

/** @param {Cell} cell
    @param {Map<number, Box>} before
    @param {Map<number, Box>} after
    @param {number} duration
    @param {string} easing
    @param {Set<number>} except Tiles that do not slide. */
export function slideTiles(cell, before, after, duration, easing, except = new Set()) {
  for (const [start, tile] of cell.tiles) {
    const from = before.get(start);
    const to = after.get(start);
    if (!from || !to || except.has(start) || (from.x === to.x && from.y === to.y)) continue;
    tile.animate([{ transform: `translate(${from.x - to.x}px, ${from.y - to.y}px)` }, { transform: "none" }], { duration, easing });
  }
}
