// The words as rows of tiles: where each stands, and how it is drawn after a number of merges.

import { spokenToken } from "../shared/characters.js";
import { addPart } from "../shared/elements.js";
import { grouped } from "../shared/numbers.js";
import { drawToken, makeTile } from "../shared/token_drawing.js";
import { SLIDE, slideTiles, tilePlaces } from "./sliding.js";
import { chosenIn, symbolsAt } from "./symbols.js";
import { shortToken } from "./tiles.js";
import { lineCount, LONGEST_WORD, placedIn } from "./word_layout.js";

export class WordGrid {
  constructor(list) {
    this.list = list;
    this.cells = [];
    this.widths = new Map();
  }

  /** Places words in cells as wide and high as they need after `from` merges, so that nothing moves
      when they merge further. A word that stays in its cell keeps its tiles. */
  lay(run, words, { columns, rows, from, inOrder, fade = 0 }) {
    this.run = run;
    const places = this.places(words, { columns, rows, from, inOrder });
    const kept = new Map(this.cells.map((cell) => [cell.name, cell]));
    this.cells = places.map(({ word, row, column, span, lines }) => {
      const area = `${row + 1} / ${column + 1} / span ${lines} / span ${span}`;
      const name = `${word.key} ${area}`;
      const known = kept.get(name);
      kept.delete(name);
      const cell = known ?? this.newCell(name, area, word);
      if (!known && fade) cell.item.animate([{ opacity: 0 }, {}], { duration: fade });
      return cell;
    });
    for (const cell of kept.values()) cell.item.remove();
    this.cells.forEach((cell, i) => {
      if (this.list.children[i] !== cell.item) this.list.insertBefore(cell.item, this.list.children[i] ?? null);
    });
    this.list.style.setProperty("--columns", columns);
    return this.cells.length;
  }

  /** Where each word stands, in cells; the last that find no room are left out. Words in order may
      leave cells free beside wide ones; otherwise those of one cell come first, side by side. */
  places(words, { columns, rows, from, inOrder }) {
    const symbols = words.map((word) => symbolsAt(this.run, word.base, from).filter(({ start }) => start < LONGEST_WORD));
    this.measure(symbols.flat());
    const count = words.some((word) => word.count !== null) ? this.countWidth() : 0;
    const whole = this.list.clientWidth;
    const narrow = (whole - 28 * (columns - 1)) / columns - count;
    const sizes = words.map((word, i) => {
      const widths = symbols[i].map(({ id }) => this.widths.get(id));
      if (word.base.length > LONGEST_WORD) widths.push(16);
      const isNarrow = columns > 1 && lineCount(widths, narrow) === 1 && widths.every((width) => width <= narrow);
      if (isNarrow) return { word, span: 1, lines: 1 };
      return { word, span: columns, lines: Math.min(rows, lineCount(widths, whole - count)) };
    });
    const placed = placedIn(sizes, columns, rows);
    return inOrder ? placed : placedIn(placed.toSorted((one, other) => one.span - other.span), columns, rows);
  }

  countWidth() {
    const style = getComputedStyle(this.list);
    const width = parseFloat(style.getPropertyValue("--count-pixels")) || 34;
    return width + 14;
  }

  measure(symbols) {
    const unknown = new Set();
    for (const { id } of symbols) if (!this.widths.has(id)) unknown.add(id);
    if (!unknown.size) return;
    const trial = document.createElement("div");
    trial.className = "word";
    trial.style.cssText = "position: absolute; visibility: hidden; width: 10000px";
    for (const id of unknown) trial.append(this.tileOf({ id }));
    this.list.append(trial);
    [...unknown].forEach((id, i) => this.widths.set(id, trial.children[i].getBoundingClientRect().width));
    trial.remove();
  }

  newCell(name, area, word) {
    const item = document.createElement("li");
    item.style.gridArea = area;
    if (word.count !== null) addPart(item, "span", "count", grouped(word.count));
    const box = addPart(item, "span", "word");
    return { name, item, box, word, tiles: new Map(), pairs: new Map(), drawn: "" };
  }

  tileOf(symbol) {
    if (typeof symbol.id === "string") {
      const tile = document.createElement("span");
      tile.className = "tile missing";
      tile.title = "not in the alphabet of this run";
      drawToken(tile, symbol.id);
      return tile;
    }
    const token = this.run.tokens[symbol.id];
    const short = shortToken(token, LONGEST_WORD);
    const tile = makeTile(short, symbol.id, { symbol: !this.run.isLearned(symbol.id) });
    tile.dataset.id = symbol.id;
    if (short !== token) tile.title = spokenToken(token);
    return tile;
  }

  /** Draws all words after `step` merges; `marked` rings the pair that merges next. With a duration
      the tiles slide from where they stood. */
  draw(step, { marked, slide = 0 }) {
    const changed = this.cells.filter((cell) => this.isStale(cell, step, marked));
    const before = slide ? changed.map(tilePlaces) : [];
    for (const cell of changed) this.fill(cell, step, marked);
    if (slide) {
      const after = changed.map(tilePlaces);
      changed.forEach((cell, i) => slideTiles(cell, before[i], after[i], slide, SLIDE));
    }
  }

  isStale(cell, step, marked) {
    cell.symbols = symbolsAt(this.run, cell.word.base, step);
    cell.chosen = marked ? chosenIn(this.run, cell.symbols, step) : new Set();
    cell.wanted = `${cell.symbols.map((symbol) => symbol.id)}|${[...cell.chosen]}`;
    return cell.wanted !== cell.drawn;
  }

  fill(cell) {
    cell.box.textContent = "";
    cell.tiles.clear();
    cell.pairs.clear();
    cell.drawn = cell.wanted;
    let parent = cell.box;
    cell.symbols.forEach((symbol, i) => {
      // A pair that begins within the length drawn is drawn whole.
      const begins = cell.chosen.has(i - 1) ? cell.symbols[i - 1].start : symbol.start;
      if (begins >= LONGEST_WORD) return;
      if (cell.chosen.has(i)) {
        parent = addPart(cell.box, "span", "pair");
        cell.pairs.set(symbol.start, parent);
      } else if (!cell.chosen.has(i - 1)) {
        parent = cell.box;
      }
      const tile = this.tileOf(symbol);
      cell.tiles.set(symbol.start, tile);
      parent.append(tile);
    });
    const last = cell.symbols.at(-1);
    if (cell.word.cut || (last && last.start >= LONGEST_WORD)) {
      addPart(cell.box, "span", "more", "…").title = "a long word: only its beginning is shown";
    }
    const spoken = cell.symbols.map((symbol) =>
      typeof symbol.id === "string" ? symbol.id : spokenToken(this.run.tokens[symbol.id]));
    cell.box.setAttribute("role", "img");
    cell.box.setAttribute("aria-label", spoken.slice(0, LONGEST_WORD).join(", "));
  }
}
