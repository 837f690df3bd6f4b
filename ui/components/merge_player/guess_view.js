// The question which pair comes next, the pairs to choose from, and the verdict on a guess.

import { addPart } from "../shared/elements.js";
import { grouped } from "../shared/numbers.js";
import { candidatesAt, verdictOf } from "./guesses.js";
import { nearestBorder } from "./nearest_border.js";
import { bold, couple } from "./tiles.js";

/** @import { Guesses } from "./guesses.js"
    @import { Pair, Run } from "./run.js"
    @import { Cell } from "./word_grid.js" */

/** @param {HTMLElement} list
    @param {Run} run
    @param {number} step
    @param {(pair: Pair, byKey: boolean) => void} choose */
export function writeCandidates(list, run, step, choose) {
  list.textContent = "";
  for (const pair of candidatesAt(run, step)) {
    const button = addPart(addPart(list, "li", ""), "button", "candidate");
    button.type = "button";
    button.append(couple(run, pair, [9, 9]));
    // A click made by a key has no count of clicks.
    button.addEventListener("click", (event) => choose(pair, event.detail === 0));
  }
}

/** @param {HTMLElement} element
    @param {number} step */
export function writeQuestion(element, step) {
  element.textContent = "";
  addPart(element, "span", "what", `Merge ${grouped(step + 1)}`);
  addPart(element, "span", "how-often", "Which pair comes next? Click two neighbouring tiles, or a pair in the list.");
}

/** @param {HTMLElement} element
    @param {Run} run
    @param {number} step
    @param {Guesses} guesses */
export function writeVerdict(element, run, step, guesses) {
  element.textContent = "";
  const verdict = verdictOf(run, step, guesses);
  if (verdict) element.append(bold(verdict.before), " ", couple(run, verdict.pair), verdict.after);
}

/** Return the two neighbouring tiles of a word whose border lies nearest to a point, and their pair;
    null where the word has one tile.
    @param {Cell} cell
    @param {number} x
    @param {number} y */
export function tilesAround(cell, x, y) {
  const tiles = cell.symbols.map((symbol) => cell.tiles.get(symbol.start)).filter((tile) => tile !== undefined);
  const nearest = nearestBorder(tiles.map((tile) => tile.getBoundingClientRect()), x, y);
  if (nearest === null) return null;
  const [left, right] = [cell.symbols[nearest].id, cell.symbols[nearest + 1].id];
  if (typeof left !== "number" || typeof right !== "number") return null;
  return { pair: { left, right }, tiles: [tiles[nearest], tiles[nearest + 1]] };
}
