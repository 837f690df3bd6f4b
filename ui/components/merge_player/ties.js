// All pairs that tie, below the reason that names two of them: in the order of the rule, as long as
// the list may be. Only the rows in sight are drawn.

import { addPart } from "../shared/elements.js";
import { grouped } from "../shared/numbers.js";
import { isTraced, tiesAt, traced } from "./run.js";
import { couple, roomFor } from "./tiles.js";

const TIE_ROW = 32; // px
const TIE_WIDTH = 236; // px that a pair and its ids take

export class TieList {
  constructor(details) {
    this.details = details;
    this.summary = details.querySelector("summary");
    this.box = details.querySelector(".tie-box");
    this.list = details.querySelector(".tie-list");
    this.pairs = [];
  }

  /** Shows who ties before a merge. `said` takes the place of the pairs that must not be told. */
  show(run, step, said = "") {
    const tied = isTraced(run, step) ? traced(run, "n_tied", step) : 1;
    this.run = run;
    this.step = step;
    this.said = said;
    this.summary.textContent = tied > 1 ? `All ${grouped(tied)} pairs that tie, in the order of the rule` : "Pairs that tie";
    // Two are both named in the reason. An open list stays open, so that the page does not jump.
    this.details.classList.toggle("needless", tied < 3 || said !== "");
    this.drawAll();
  }

  drawAll() {
    if (!this.details.open || !this.run) return;
    const { run, step } = this;
    this.pairs = !this.said && isTraced(run, step) ? tiesAt(run, step) : [];
    this.columns = Math.max(1, Math.floor(this.box.clientWidth / TIE_WIDTH));
    this.details.querySelector(".tie-note").textContent = this.said || (this.pairs.length ? "" : "No other pair occurs as often.");
    this.list.style.setProperty("--tie-columns", this.columns);
    this.list.style.height = `${Math.ceil(this.pairs.length / this.columns) * TIE_ROW}px`;
    this.drawn = "";
    this.drawSeen();
  }

  /** Draws the rows in sight, and one more at either side. */
  drawSeen() {
    const first = Math.max(0, Math.floor(this.box.scrollTop / TIE_ROW) - 1);
    const last = Math.ceil((this.box.scrollTop + this.box.clientHeight) / TIE_ROW) + 1;
    if (this.drawn === `${first} ${last}`) return;
    this.drawn = `${first} ${last}`;
    this.list.textContent = "";
    this.list.style.paddingTop = `${first * TIE_ROW}px`;
    const { run, columns } = this;
    for (let i = first * columns; i < Math.min(last * columns, this.pairs.length); i++) {
      const { left, right } = this.pairs[i];
      const item = addPart(this.list, "li", i === 0 ? "wins" : "");
      item.setAttribute("aria-setsize", this.pairs.length);
      item.setAttribute("aria-posinset", i + 1);
      item.append(couple(run, left, right, roomFor(run.tokens[left].length, run.tokens[right].length)));
      // What decides, where the ids do.
      if (run.tie_break === "smallest-pair") addPart(item, "span", "muted", `${left}, ${right}`);
    }
  }
}
