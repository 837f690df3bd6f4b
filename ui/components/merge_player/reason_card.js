// "Why this pair?": its count, its rivals and the rule, the words that contribute most, and the pairs
// that rise and fall. The rising pairs are hidden while the visitor guesses: they would reveal the next
// winner. Below the reason, which names two of them, are all tied pairs in the order of the tie rule; only
// visible rows are drawn, because the list can be long.

import { addPart, find } from "../shared/elements.js";
import { grouped } from "../shared/numbers.js";
import { frameSharedCharacters, layTiles } from "../shared/word_tiles.js";
import { explainMargin, explainStep, formatProduct } from "./reasons.js";
import { givenAt, isTraced, tableRow, tiesAt, traced } from "./run.js";
import { chosenIn, symbolsAround, symbolsAt } from "./symbols.js";
import { bold, couple, makeCouple, muted, smallTile } from "./tiles.js";
import { roomFor, spokenSymbol, tokenOfSymbol } from "./token_names.js";

/** @import { CountedPair, Pair, Run, Word } from "./run.js" */

const TIE_ROW = 32; // px
const TIE_WIDTH = 236; // px that a pair and its ids take

export class TieList {
  /** @param {HTMLDetailsElement} details */
  constructor(details) {
    this.details = details;
    this.summary = find(details, "summary", HTMLElement);
    this.box = find(details, ".tie-box", HTMLElement);
    this.note = find(details, ".tie-note", HTMLElement);
    this.list = find(details, ".tie-list", HTMLElement);
    /** @type {Run | null} */
    this.run = null;
    this.step = 0;
    this.instead = "";
    /** @type {Pair[]} */
    this.pairs = [];
    this.columns = 1;
    this.drawn = "";
  }

  /** Show the pairs that are tied before a merge.
      @param {Run} run
      @param {number} step
      @param {string} instead Text shown instead, while the pairs are hidden. */
  show(run, step, instead = "") {
    const tied = isTraced(run, step) ? traced(run, "n_tied", step) : 1;
    this.run = run;
    this.step = step;
    this.instead = instead;
    this.summary.textContent = tied > 1 ? `All ${grouped(tied)} pairs that tie, in the order of the rule` : "Pairs that tie";
    // The reason already names both of two pairs. An open list stays open, so that the page does not jump.
    this.details.classList.toggle("needless", tied < 3 || instead !== "");
    this.drawAll();
  }

  drawAll() {
    const { run, step, instead } = this;
    if (!this.details.open || !run) return;
    this.pairs = !instead && isTraced(run, step) ? tiesAt(run, step) : [];
    this.columns = Math.max(1, Math.floor(this.box.clientWidth / TIE_WIDTH));
    this.note.textContent = instead || (this.pairs.length ? "" : "No other pair occurs as often.");
    this.list.style.setProperty("--tie-columns", String(this.columns));
    this.list.style.height = `${Math.ceil(this.pairs.length / this.columns) * TIE_ROW}px`;
    this.drawn = "";
    this.drawSeen();
  }

  /** Draw the visible rows, and one more on either side. */
  drawSeen() {
    const { run, columns } = this;
    const { first, last } = rowsInSight(this.box.scrollTop, this.box.clientHeight, TIE_ROW);
    if (!run || this.drawn === `${first} ${last}`) return;
    this.drawn = `${first} ${last}`;
    this.list.textContent = "";
    this.list.style.paddingTop = `${first * TIE_ROW}px`;
    for (let i = first * columns; i < Math.min(last * columns, this.pairs.length); i++) {
      const { left, right } = this.pairs[i];
      const item = addPart(this.list, "li", i === 0 ? "wins" : "");
      item.setAttribute("aria-setsize", String(this.pairs.length));
      item.setAttribute("aria-posinset", String(i + 1));
      item.append(couple(run, { left, right }, roomFor(run.tokens[left].length, run.tokens[right].length)));
      // Show the ids if they decide the tie.
      if (run.tie_break === "smallest-pair") addPart(item, "span", "muted", `${left}, ${right}`);
    }
  }
}

/** Return the rows that a window over a list shows, from the first to before the last, and one more at
    either side.
    @param {number} scrollTop
    @param {number} height
    @param {number} rowHeight */
function rowsInSight(scrollTop, height, rowHeight) {
  return {
    first: Math.max(0, Math.floor(scrollTop / rowHeight) - 1),
    last: Math.ceil((scrollTop + height) / rowHeight) + 1,
  };
}

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
