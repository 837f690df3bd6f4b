// The race of the most frequent pairs: bars that slide to their new rank and length.

import { addPart } from "../shared/elements.js";
import { grouped } from "../shared/numbers.js";
import { makeCouple, smallTile } from "./tiles.js";
import { roomFor, spokenPair } from "./token_names.js";

/** @import { Pair, RacingPair, Run } from "./run.js" */

/** @typedef {object} Row
    @property {HTMLElement} item
    @property {HTMLElement} names
    @property {HTMLElement} number
    @property {HTMLElement} word
    @property {number} place
    @property {number} [width] */

const MIN_LABEL = 60; // px; the column of names widens for longer names, and does not shrink by itself
const LABEL_STEP = 24;

export class Race {
  /** @param {HTMLElement} list */
  constructor(list) {
    this.list = list;
    /** @type {Map<string, Row>} */
    this.rows = new Map();
    this.labels = MIN_LABEL;
  }

  /** Allow the column of names to shrink again after a jump of the cursor. */
  forgetWidth() {
    this.labels = MIN_LABEL;
  }

  /** Show the pairs, the most frequent first; rows that stay slide, new ones fade in.
      @param {Run} run
      @param {RacingPair[]} pairs */
  show(run, pairs) {
    const most = Math.max(1, ...pairs.map((pair) => pair.count));
    const gone = new Map(this.rows);
    pairs.forEach((pair, place) => {
      const key = `${pair.left},${pair.right}`;
      const row = this.rows.get(key) ?? this.newRow(run, pair);
      gone.delete(key);
      this.rows.set(key, row);
      row.place = place;
      row.item.className = pair.next ? "next" : pair.tied ? "tie" : "";
      row.item.style.setProperty("--place", String(place));
      row.item.style.setProperty("--share", String(pair.count / most));
      row.number.textContent = grouped(pair.count);
      row.word.textContent = pair.next ? "next" : pair.tied ? "tie" : "";
      row.item.dataset.place = String(place);
    });
    for (const [key, row] of gone) {
      this.rows.delete(key);
      row.item.classList.add("leaving");
      row.item.setAttribute("aria-hidden", "true");
      row.item.removeAttribute("id");
      const parted = () => row.item.remove();
      if (getComputedStyle(row.item).transitionDuration === "0s") parted();
      else setTimeout(parted, 1000);
    }
    // aria-owns gives screen readers the order of the ranks, whatever the order in the DOM.
    const inOrder = [...this.rows.values()].sort((one, other) => one.place - other.place);
    this.list.setAttribute("aria-owns", inOrder.map((row) => row.item.id).join(" "));
    this.fitLabels(inOrder);
  }

  /** @param {Row[]} rows */
  fitLabels(rows) {
    for (const row of rows) {
      row.width ??= /** @type {HTMLElement} */ (row.names.firstElementChild).offsetWidth + 2;
      while (this.labels < row.width) this.labels += LABEL_STEP;
    }
    this.list.style.setProperty("--label-width", `${this.labels}px`);
  }

  /** @param {Run} run
      @param {Pair} pair
      @returns {Row} */
  newRow(run, pair) {
    const item = addPart(this.list, "li", "");
    item.id = `pair-${pair.left}-${pair.right}`;
    const names = addPart(item, "span", "names");
    names.setAttribute("role", "img");
    names.setAttribute("aria-label", spokenPair(run, pair));
    const [left, right] = roomFor(run.tokens[pair.left].length, run.tokens[pair.right].length);
    names.append(makeCouple(smallTile(run, pair.left, left), smallTile(run, pair.right, right), run, pair));
    addPart(addPart(item, "span", "bar"), "i", "");
    return { item, names, number: addPart(item, "span", "number"), word: addPart(item, "em", ""), place: 0 };
  }
}
