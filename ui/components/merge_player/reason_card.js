// "Why this pair?": its count, its rivals and the rule, the words that contribute most, and the pairs
// that rise and fall. The rising pairs are hidden while the visitor guesses: they would reveal the next
// winner.

import { addPart } from "../shared/elements.js";
import { grouped } from "../shared/numbers.js";
import { frameSharedCharacters, layTiles } from "../shared/word_tiles.js";
import { explainMargin, formatProduct, explainStep } from "./reasons.js";
import { givenAt, tableRow } from "./run.js";
import { chosenIn, symbolsAround, symbolsAt } from "./symbols.js";
import { bold, couple, makeCouple, muted, smallTile } from "./tiles.js";
import { spokenSymbol, tokenOfSymbol } from "./token_names.js";

/** @import { CountedPair, Run, Word } from "./run.js" */

const SYMBOLS_GIVEN = 12; // symbols shown of a word in the card
const SYMBOLS_BEFORE = 4; // symbols shown before the pair if the word is longer

/** @param {HTMLElement} element
    @param {Run} run
    @param {number} step
    @param {CountedPair[]} pairs
    @param {boolean} guessing */
export function writeReason(element, run, step, pairs, guessing) {
  element.textContent = "";
  for (const part of explainStep(run, step, pairs, guessing)) {
    if (typeof part === "string") element.append(part);
    else element.append("pair" in part ? couple(run, part.pair) : bold(part.bold));
  }
}

/** @param {HTMLElement} element
    @param {Run} run
    @param {number} step
    @param {CountedPair[]} pairs
    @param {boolean} guessing */
export function writeMargin(element, run, step, pairs, guessing) {
  const { lead, over, rival } = explainMargin(run, step, pairs, guessing);
  element.textContent = lead;
  if (over) element.append(" ", muted(over));
  if (rival) element.append(couple(run, rival, [10, 10]));
}

/** Draw the words with the most occurrences of the pair, each with its number of occurrences.
    @param {HTMLElement} element
    @param {Run} run
    @param {number} step */
export function writeGiven(element, run, step) {
  element.textContent = "";
  for (const { word, given } of givenAt(run, step)) {
    const item = addPart(element, "li", "");
    item.append(wordWithPair(run, word, step));
    const number = addPart(item, "span", "");
    const product = formatProduct(given, word.count);
    if (product) number.append(muted(product));
    number.append(grouped(given));
  }
}

/** Make a row of a word's symbols with the next pair marked; a long word shows the symbols around it.
    @param {Run} run
    @param {Word} word
    @param {number} step */
function wordWithPair(run, word, step) {
  const symbols = symbolsAt(run, word.base, step);
  const chosen = chosenIn(run, symbols, step);
  const { from, to } = symbolsAround(symbols.length, chosen, SYMBOLS_GIVEN, SYMBOLS_BEFORE);
  const row = document.createElement("span");
  row.className = "given";
  row.setAttribute("role", "img");
  row.setAttribute("aria-label", symbols.map(({ id }) => spokenSymbol(run, id)).join(", "));
  const tokens = symbols.slice(from, to).map(({ id }) => tokenOfSymbol(run, id));
  const tiles = symbols.slice(from, to).map(({ id }, i) => {
    // All symbols of a word of the corpus are in the alphabet, so each has an id.
    const tile = smallTile(run, Number(id), 14);
    tile.classList.toggle("chosen", chosen.has(from + i) || chosen.has(from + i - 1));
    return tile;
  });
  frameSharedCharacters(tiles, tokens);
  if (from) row.append(muted("…"));
  layTiles(row, tiles, tokens);
  if (to < symbols.length) row.append(muted("…"));
  return row;
}

/** Draw the pairs whose counts rise or fall most.
    @param {HTMLElement} element
    @param {Run} run
    @param {number} step
    @param {"risen" | "fallen"} name
    @param {"+" | "−"} sign */
export function writeChanges(element, run, step, name, sign) {
  element.textContent = "";
  const pairs = tableRow(run, name, step, "by");
  for (const { left, right, count } of pairs) {
    const item = addPart(element, "li", "");
    item.append(makeCouple(smallTile(run, left, 9), smallTile(run, right, 9), run, { left, right }));
    addPart(item, "span", "", sign + grouped(count));
  }
  if (!pairs.length) addPart(element, "li", "muted", "none");
}

/** @param {HTMLElement} element */
export function writeHidden(element) {
  element.textContent = "";
  addPart(element, "li", "muted", "hidden while you guess");
}
