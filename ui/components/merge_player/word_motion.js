// The animation of a merge: its two beats, gather and fuse, and the fading of the rings afterwards.

import { addPart } from "../shared/elements.js";
import { drawToken } from "../shared/token_drawing.js";
import { pairPlaces, SLIDE, slideTiles, tilePlaces } from "./sliding.js";
import { shortToken } from "./token_names.js";
import { tileOfSymbol } from "./word_grid.js";

/** @import { Run } from "./run.js"
    @import { Box } from "./sliding.js"
    @import { Cell, WordGrid } from "./word_grid.js" */

/** One of the two tiles that fuse: its id, a new tile that shows it, and the place of the old one.
    @typedef {{ id: number, tile: HTMLElement, place: Box }} Half */

const CLOSE_GAP = "cubic-bezier(.2, 0, 0, 1)";

export class WordMotion {
  /** @param {WordGrid} grid */
  constructor(grid) {
    this.grid = grid;
  }

  /** Play the first beat: each pair that merges after `step` closes its gap and is ringed.
      @param {number} step
      @param {number} duration */
  gather(step, duration) {
    const changed = this.grid.cells.filter((cell) => this.grid.isStale(cell, step, true));
    const before = changed.map(tilePlaces);
    this.grid.follow(duration, () => {
      for (const cell of changed) this.grid.fill(cell);
    });
    const after = changed.map(tilePlaces);
    changed.forEach((cell, i) => {
      slideTiles(cell, before[i], after[i], duration, CLOSE_GAP);
      const bare = { boxShadow: "0 0 0 2px transparent", backgroundColor: "transparent" };
      for (const pair of cell.pairs.values()) {
        pair.animate([bare, {}], { duration, easing: CLOSE_GAP });
        for (const tile of pair.children) {
          const symbol = tile.classList.contains("symbol");
          const from = { borderColor: "var(--control)", ...(symbol && { backgroundColor: "var(--background)" }) };
          tile.animate([from, {}], { duration, easing: CLOSE_GAP });
        }
      }
    });
  }

  /** Play the second beat: each ringed pair becomes one tile, and the tiles after it move up.
      @param {number} step
      @param {number} duration */
  fuse(step, duration) {
    const { run, longest } = this.grid;
    const cells = this.grid.cells.filter((cell) => cell.pairs.size);
    const before = cells.map((cell) => ({ places: tilePlaces(cell), pairs: pairPlaces(cell), symbols: cell.symbols }));
    this.grid.follow(duration, () => this.grid.draw(step + 1, { marked: false }));
    const after = cells.map(tilePlaces);
    // Read before anything is written, because each reading after a change lays out the page again.
    const [any] = cells.flatMap(({ tiles }) => [...tiles.values()]);
    const inset = any ? parseFloat(getComputedStyle(any).paddingLeft) + 1 : 0;
    if (step === 0) this.openBorders(duration);
    cells.forEach((cell, i) => {
      const { places, pairs, symbols } = before[i];
      slideTiles(cell, places, after[i], duration, SLIDE, new Set(pairs.keys()));
      for (const [start, pair] of pairs) {
        const at = symbols.findIndex((symbol) => symbol.start === start);
        const tile = cell.tiles.get(start);
        const made = after[i].get(start);
        const halves = [symbols[at], symbols[at + 1]].flatMap(({ id, start }) => {
          const place = places.get(start);
          return run && place && typeof id === "number" ? [{ id, tile: tileOfSymbol(run, id, longest), place }] : [];
        });
        // The halves of a word that is read from right to left stand the other way round.
        halves.sort((one, other) => one.place.x - other.place.x);
        if (run && tile && made) fuseOne(run, cell, { tile, pair, made, halves, longest, inset }, duration);
      }
    });
  }

  /** Let the borders between words fade, as the first merge that may join words is done.
      @param {number} duration */
  openBorders(duration) {
    const closed = { boxShadow: "-3px 0 0 0 var(--text)" };
    for (const tile of this.grid.list.querySelectorAll(".begins-word")) {
      tile.animate([closed, { ...closed, offset: 0.3 }, {}], { duration });
    }
  }

  /** Fade the rings of the new tiles after the second beat.
      @param {number} duration */
  settle(duration) {
    // The timer may fire before the fuse has ended, and its remaining animations would hide the tiles.
    for (const animation of this.grid.list.getAnimations({ subtree: true })) animation.cancel();
    for (const cell of this.grid.cells) {
      for (const box of cell.box.querySelectorAll(".fusing")) box.remove();
      for (const tile of cell.box.querySelectorAll(".fresh")) {
        tile.classList.remove("fresh");
        if (!duration) continue;
        const ring = { boxShadow: "0 0 0 2px var(--chosen)" };
        tile.animate([ring, { ...ring, offset: 0.35 }, { boxShadow: "0 0 0 2px transparent" }], { duration });
      }
    }
  }

  /** End all animations immediately, in their final state. */
  still() {
    this.settle(0);
  }
}

/** @param {Run} run
    @param {Cell} cell
    @param {{ tile: HTMLElement, pair: Box, made: Box, halves: Half[], longest: number, inset: number }} what
    @param {number} duration */
function fuseOne(run, cell, { tile, pair, made, halves, longest, inset }, duration) {
  const timing = { duration, easing: SLIDE };
  const box = addPart(cell.box, "span", `fusing ${[...tile.classList].find((name) => name.startsWith("slot-")) ?? ""}`);
  box.style.cssText = `left: ${made.x}px; top: ${made.y}px; height: ${made.height}px; width: ${made.width}px; background: var(--fill)`;
  const from = `translate(${pair.x - made.x}px, ${pair.y - made.y}px)`;
  box.animate(
    [{ width: `${pair.width}px`, transform: from, backgroundColor: "var(--chosen-fill)" }, { transform: "none" }],
    timing,
  );
  let textAt = inset;
  for (const { id, tile: half, place } of halves) {
    const offset = place.x - pair.x;
    const ground = addPart(box, "span", `half ${half.className.replace("tile", "")}`);
    const learned = !half.classList.contains("symbol");
    ground.style.cssText = `left: ${offset}px; width: ${place.width}px; border-radius: 5px; background: ${learned ? "var(--fill)" : "transparent"}; opacity: 0`;
    ground.animate([{ opacity: 1 }, { opacity: 0 }], timing);
    const text = addPart(box, "span", "half");
    drawToken(text, shortToken(run.tokens[id], longest));
    text.style.left = `${textAt}px`;
    text.animate([{ transform: `translateX(${offset + inset - textAt}px)` }, { transform: "none" }], timing);
    text.animate([{ opacity: 1 }, { opacity: 1, offset: 0.8 }, { opacity: 0 }], { duration, fill: "forwards" });
    textAt += place.width - 2 * inset;
  }
  tile.style.position = "relative";
  tile.style.zIndex = "2";
  tile.classList.add("fresh");
  tile.animate([{ opacity: 0 }, { opacity: 0, offset: 0.8 }, { opacity: 1 }], { duration });
}
