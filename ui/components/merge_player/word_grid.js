// The words as rows of tiles: the place of each, and its tiles after any number of merges.

import { addPart } from "../shared/elements.js";
import { grouped } from "../shared/numbers.js";
import { makeTile } from "../shared/token_drawing.js";
import { frameSharedCharacters, layTiles, splitsCharacters } from "../shared/word_tiles.js";
import { readZoom, SLIDE, slideTiles, tilePlaces } from "./sliding.js";
import { chosenIn, symbolsAt } from "./symbols.js";
import { tileOfLength } from "./tiles.js";
import { spokenSymbol, tokenOfSymbol } from "./token_names.js";
import { MAX_WORD_LENGTH, placeWords, sizeOfWord } from "./word_layout.js";

/** @import { Token } from "../shared/component.js"
    @import { Run, Word } from "./run.js"
    @import { PlacedSymbol } from "./symbols.js" */

/** A word in its place, with its tiles and rings by their first base symbol. `wanted` and `drawn` describe
    the state to draw and the state drawn.
    @typedef {object} Cell
    @property {string} name
    @property {HTMLElement} item
    @property {HTMLElement} box
    @property {Word} word
    @property {Map<number, HTMLElement>} tiles
    @property {Map<number, HTMLElement>} pairs
    @property {PlacedSymbol[]} symbols
    @property {Set<number>} chosen
    @property {string} wanted
    @property {string} drawn */

/** @typedef {{ columns: number, rows: number, from: number, inOrder: boolean, fade?: number }} Layout */

export class WordGrid {
  /** @param {HTMLElement} list */
  constructor(list) {
    this.list = list;
    /** @type {Run | null} */
    this.run = null;
    /** @type {Cell[]} */
    this.cells = [];
    /** The widths of measured tiles, by symbol.
        @type {Map<number | string, number>} */
    this.widths = new Map();
    /** The width of the list when words were last placed, in pixels. */
    this.width = 0;
    /** How many base symbols of one word are drawn. */
    this.longest = MAX_WORD_LENGTH;
    /** The direction of the line that the words make; "" if each stands on its own.
        @type {"ltr" | "rtl" | ""} */
    this.direction = "";
  }

  /** Place words in cells of the size that they need after `from` merges, so that they stay in place
      during later merges. A word that stays in its cell keeps its tiles. Return how many words fit.
      @param {Run} run
      @param {Word[]} words
      @param {Layout} layout */
  lay(run, words, { columns, rows, from, inOrder, fade = 0 }) {
    this.run = run;
    const places = this.places(run, words, { columns, rows, from, inOrder });
    const kept = new Map(this.cells.map((cell) => [cell.name, cell]));
    this.cells = places.map(({ word, row, column, span, lines }) => {
      const area = `${row + 1} / ${column + 1} / span ${lines} / span ${span}`;
      const name = `${word.key} ${area}`;
      const known = kept.get(name);
      kept.delete(name);
      const cell = known ?? newCell(name, area, word);
      if (!known && fade) cell.item.animate([{ opacity: 0 }, {}], { duration: fade });
      return cell;
    });
    for (const cell of kept.values()) cell.item.remove();
    this.cells.forEach((cell, i) => {
      if (this.list.children[i] !== cell.item) this.list.insertBefore(cell.item, this.list.children[i] ?? null);
    });
    this.list.style.setProperty("--columns", String(columns));
    return this.cells.length;
  }

  /** @param {Run} run
      @param {Word[]} words
      @param {Layout} layout */
  places(run, words, { columns, rows, from, inOrder }) {
    const ids = words.map((word) =>
      symbolsAt(run, word.base, from).filter(({ start }) => start < MAX_WORD_LENGTH).map(({ id }) => id));
    this.measure(run, ids.flat());
    const count = words.some((word) => word.count !== null) ? this.countWidth() : 0;
    this.width = this.list.clientWidth;
    const room = { columns, rows, width: this.width, count };
    const sizes = words.map((word, i) => {
      const widths = ids[i].map((id) => this.widths.get(id) ?? 0);
      return { word, ...sizeOfWord(widths, word.base.length > MAX_WORD_LENGTH, room) };
    });
    return placeWords(sizes, { columns, rows, inOrder });
  }

  countWidth() {
    const style = getComputedStyle(this.list);
    const width = parseFloat(style.getPropertyValue("--count-pixels")) || 34;
    return width + 14;
  }

  /** @param {Run} run
      @param {(number | string)[]} ids */
  measure(run, ids) {
    const unknown = [...new Set(ids)].filter((id) => !this.widths.has(id));
    if (!unknown.length) return;
    const trial = document.createElement("div");
    trial.className = "word";
    trial.style.cssText = "position: absolute; visibility: hidden; width: 10000px";
    for (const id of unknown) {
      const tile = tileOfSymbol(run, id);
      tile.classList.toggle("shares", typeof tokenOfSymbol(run, id) !== "string");
      trial.append(tile);
    }
    this.list.append(trial);
    const zoom = readZoom(trial);
    unknown.forEach((id, i) => this.widths.set(id, trial.children[i].getBoundingClientRect().width / zoom));
    trial.remove();
  }

  /** Draw all words after `step` merges; `marked` rings the next pair. If `slide` is not 0, the tiles
      slide from their old places, in that many milliseconds.
      @param {number} step
      @param {{ marked: boolean, slide?: number }} how */
  draw(step, { marked, slide = 0 }) {
    const changed = this.cells.filter((cell) => this.isStale(cell, step, marked));
    const before = slide ? changed.map(tilePlaces) : [];
    for (const cell of changed) this.fill(cell);
    if (slide) {
      const after = changed.map(tilePlaces);
      changed.forEach((cell, i) => slideTiles(cell, before[i], after[i], slide, SLIDE));
    }
  }

  /** Change tiles; a grid whose words move as their tiles change lets them slide.
      @param {number} duration
      @param {() => void} change */
  follow(duration, change) {
    change();
  }

  /** Set a cell's symbols to those after `step` merges; return whether they differ from those drawn.
      @param {Cell} cell
      @param {number} step
      @param {boolean} marked */
  isStale(cell, step, marked) {
    const { run } = this;
    if (!run) return false;
    cell.symbols = symbolsAt(run, cell.word.base, step);
    cell.chosen = marked ? chosenIn(run, cell.symbols, step) : new Set();
    cell.wanted = `${cell.symbols.map((symbol) => symbol.id)}|${[...cell.chosen]}`;
    return cell.wanted !== cell.drawn;
  }

  /** @param {Cell} cell */
  fill(cell) {
    const { run } = this;
    if (!run) return;
    cell.box.textContent = "";
    cell.tiles.clear();
    cell.pairs.clear();
    cell.drawn = cell.wanted;
    const tokens = cell.symbols.map(({ id }) => tokenOfSymbol(run, id));
    // A pair that starts within the limit is drawn whole.
    const shown = cell.symbols.filter(({ start }, i) =>
      (cell.chosen.has(i - 1) ? cell.symbols[i - 1].start : start) < this.longest);
    const tiles = shown.map(({ id, start }) => {
      const tile = tileOfSymbol(run, id, this.longest);
      cell.tiles.set(start, tile);
      return tile;
    });
    /** @type {[number, number][]} */
    const pairs = [...cell.chosen].filter((i) => i < shown.length).map((i) => [i, i + 2]);
    cell.box.classList.toggle("tall", splitsCharacters(cell.word.base.map((id) => tokenOfSymbol(run, id))));
    if (run.joins_words) tiles.forEach((tile, i) => tile.classList.toggle("begins-word", i > 0 && beginsWord(tokens[i])));
    frameSharedCharacters(tiles, tokens);
    layTiles(cell.box, tiles, tokens, this.direction, pairs, (parent, place) => {
      const pair = addPart(parent, "span", "pair");
      cell.pairs.set(cell.symbols[pairs[place][0]].start, pair);
      return pair;
    });
    // The count stands where the word begins.
    cell.item.dir = cell.box.dir;
    const last = cell.symbols.at(-1);
    if (cell.word.cut || (last && last.start >= this.longest)) {
      addPart(cell.box, "span", "more", "…").title = "Long word: only the beginning is shown";
    }
    const spoken = cell.symbols.slice(0, this.longest).map(({ id }) => spokenSymbol(run, id));
    cell.box.setAttribute("role", "img");
    cell.box.setAttribute("aria-label", spoken.join(", "));
  }
}

/** Return whether a token begins a word: white space and then more.
    @param {Token} token */
function beginsWord(token) {
  return /^\s+\S/.test(typeof token === "string" ? token : String.fromCharCode(...token));
}

/** @param {string} name
    @param {string} area
    @param {Word} word
    @returns {Cell} */
export function newCell(name, area, word) {
  const item = document.createElement("li");
  item.style.gridArea = area;
  if (word.count !== null) addPart(item, "span", "count", grouped(word.count));
  const box = addPart(item, "span", "word");
  return { name, item, box, word, tiles: new Map(), pairs: new Map(), symbols: [], chosen: new Set(), wanted: "", drawn: "" };
}

/** @param {Run} run
    @param {number | string} id Text if the alphabet lacks the symbol.
    @param {number} longest How many of its characters are drawn. */
export function tileOfSymbol(run, id, longest = MAX_WORD_LENGTH) {
  if (typeof id === "string") {
    const tile = makeTile(tokenOfSymbol(run, id), 0, { symbol: true });
    tile.className = "tile missing";
    tile.title = "Not in the alphabet of this run";
    return tile;
  }
  const tile = tileOfLength(run, id, longest, { symbol: !run.isLearned(id) });
  tile.dataset.id = String(id);
  return tile;
}
