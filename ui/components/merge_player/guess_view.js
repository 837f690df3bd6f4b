// The question which pair comes next, the pairs to choose from, and the verdict on a guess.

import { addPart } from "../shared/elements.js";
import { grouped } from "../shared/numbers.js";
import { candidatesAt, judgeGuess, nearestBorder } from "./guesses.js";
import { isByKey } from "./keys.js";
import { bold, couple } from "./tiles.js";

/** @import { Guesses } from "./guesses.js"
    @import { Pair, Run } from "./run.js"
    @import { Cell } from "./word_grid.js" */

/** @param {HTMLElement} list
    @param {Run} run
    @param {number} step
    @param {(pair: Pair, byKey: boolean) => void} choose
    @param {Pair[]} pairs */
export function writeCandidates(list, run, step, choose, pairs = candidatesAt(run, step)) {
  const question = `${run.player} ${step}`;
  // Written once per question, because the keyboard focus may be on one of them.
  if (list.dataset.question === question && list.firstChild) return;
  list.dataset.question = question;
  list.textContent = "";
  for (const pair of pairs) {
    const button = addPart(addPart(list, "li", ""), "button", "candidate");
    button.type = "button";
    button.append(couple(run, pair, [9, 9]));
    button.addEventListener("click", (event) => choose(pair, isByKey(event)));
  }
}

/** @param {HTMLElement} element
    @param {number} step
    @param {boolean} playing */
export function writeQuestion(element, step, playing) {
  element.textContent = "";
  addPart(element, "span", "what", `Merge ${grouped(step + 1)}`);
  const click = playing ? "To play on, click" : "Click";
  addPart(element, "span", "how-often", `Which pair comes next? ${click} two neighbouring tiles, or a pair in the list.`);
}

/** @param {HTMLElement} element
    @param {Run} run
    @param {number} step
    @param {Guesses} guesses
    @param {string} [rule] The tie rule, in the page's own words. */
export function writeVerdict(element, run, step, guesses, rule) {
  element.textContent = "";
  const verdict = judgeGuess(run, step, guesses, rule);
  if (verdict) element.append(bold(verdict.before), " ", couple(run, verdict.pair), verdict.after);
}

/** Return the two neighbouring tiles of a word whose border is nearest to a point, and their pair;
    null if the word has only one tile.
    @param {Cell} cell
    @param {number} x
    @param {number} y */
export function tilesAround(cell, x, y) {
  const tiles = cell.symbols.map((symbol) => cell.tiles.get(symbol.start)).filter((tile) => tile !== undefined);
  const nearest = nearestBorder(tiles.map((tile) => tile.getBoundingClientRect()), x, y, cell.box.dir === "rtl");
  if (nearest === null) return null;
  const [left, right] = [cell.symbols[nearest].id, cell.symbols[nearest + 1].id];
  if (typeof left !== "number" || typeof right !== "number") return null;
  return { pair: { left, right }, tiles: [tiles[nearest], tiles[nearest + 1]] };
}
