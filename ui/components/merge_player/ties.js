// The list of all tied pairs in the order of the tie rule, below the reason, which names two of them.
// Only visible rows are drawn, because the list can be long.

import { addPart, find } from "../shared/elements.js";
import { grouped } from "../shared/numbers.js";
import { isTraced, tiesAt, traced } from "./run.js";
import { couple } from "./tiles.js";
import { roomFor } from "./token_names.js";

/** @import { Pair, Run } from "./run.js" */

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
