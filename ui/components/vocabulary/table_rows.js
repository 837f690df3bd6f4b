// The rows of the vocabulary's table, one for each token of a page.

import { addButton, addPart, find } from "../shared/elements.js";
import { grouped } from "../shared/numbers.js";
import { tileButton, walkByArrows } from "./parts.js";

/** @import { ShownToken } from "./parts.js" */

/** A token with its figures; `uses` is null while they are not counted.
    @typedef {ShownToken & { bytes: number, uses: number | null, built: number }} TableRow */

/** @typedef {object} Page
    @property {TableRow[]} rows
    @property {string} sort
    @property {number} opened
    @property {string} problem
    @property {string} about_uses
    @property {boolean} has_merges */

/** Callbacks for the header of a column, a token, and a key that turns the page.
    @typedef {object} Pressed
    @property {(column: string) => void} sort
    @property {(id: number) => void} open
    @property {(by: number) => boolean} turn */

// Columns: class, name, and sort key.
const COLUMNS = [
  ["token", "Token", ""],
  ["id", "Id", "id"],
  ["bytes", "Bytes", "length"],
  ["uses", "Uses", "use"],
  ["rank", "Made by merge", ""],
  ["built", "Builds", ""],
];

export class TableRows {
  /** @param {HTMLElement} root
      @param {Pressed} pressed */
  constructor(root, { sort, open, turn }) {
    this.open = open;
    this.scroller = addPart(root, "div", "scroller");
    this.scroller.tabIndex = -1;
    this.table = addPart(this.scroller, "table", "");
    addPart(this.table, "caption", "visually-hidden", "Tokens of the vocabulary. The button of a token opens it.");
    const head = addPart(addPart(this.table, "thead", ""), "tr", "");
    /** The header cells that sort, with their buttons, by sort key.
        @type {Map<string, { cell: HTMLElement, button: HTMLElement }>} */
    this.sorters = new Map();
    for (const [key, name, sortBy] of COLUMNS) {
      const cell = addPart(head, "th", key, sortBy ? undefined : name);
      cell.scope = "col";
      if (sortBy) this.sorters.set(sortBy, { cell, button: addButton(cell, "sorter", name, () => sort(sortBy)) });
    }
    this.body = addPart(this.table, "tbody", "");
    this.empty = addPart(root, "p", "muted empty");
    this.drawn = "";
    /** The buttons of the rows, by id.
        @type {Map<number, HTMLElement>} */
    this.lines = new Map();
    walkByArrows(this.body, "button");
    this.body.addEventListener("keydown", (event) => {
      const by = { PageDown: 1, PageUp: -1 }[event.key];
      if (by && turn(by)) event.preventDefault();
    });
  }

  /** Focus the first row; return whether there is one. */
  focusFirst() {
    const first = this.body.querySelector("button");
    first?.focus();
    return first !== null;
  }

  toTop() {
    this.scroller.scrollTop = 0;
  }

  /** @param {Page} page */
  show({ rows, sort, opened, problem, about_uses: aboutUses, has_merges: hasMerges }) {
    this.table.classList.toggle("without-merges", !hasMerges);
    for (const [sortBy, { cell, button }] of this.sorters) {
      const way = sort === sortBy ? "ascending" : sort === `-${sortBy}` ? "descending" : "none";
      cell.setAttribute("aria-sort", way);
      button.dataset.way = way;
    }
    find(this.table, "th.uses", HTMLElement).title = aboutUses;
    this.#drawRows(rows);
    this.empty.hidden = rows.length > 0;
    this.empty.textContent = problem ? "Correct the search to see tokens." : "No token matches. Relax a filter, or show all.";
    this.scroller.hidden = rows.length === 0;
    for (const [id, line] of this.lines) {
      line.classList.toggle("opened", id === opened);
      find(line, "button", HTMLElement).setAttribute("aria-current", String(id === opened));
    }
  }

  /** @param {TableRow[]} rows */
  #drawRows(rows) {
    const now = JSON.stringify(rows);
    if (now === this.drawn) return;
    const { activeElement } = /** @type {ShadowRoot} */ (this.body.getRootNode());
    const hadFocus = this.body.contains(activeElement);
    this.drawn = now;
    this.body.textContent = "";
    this.lines = new Map(rows.map((row) => [row.id, addRow(this.body, row, this.open)]));
    this.toTop();
    if (hadFocus) this.focusFirst();
  }
}

/** @param {HTMLElement} body
    @param {TableRow} row
    @param {(id: number) => void} open */
function addRow(body, row, open) {
  const line = addPart(body, "tr", row.uses === 0 ? "unused" : "");
  const name = addPart(line, "th", "token");
  name.scope = "row";
  name.append(tileButton(row, open));
  const cells = [
    ["id", grouped(row.id)],
    ["bytes", grouped(row.bytes)],
    ["uses", row.uses === null ? "–" : grouped(row.uses)],
    ["rank", row.kind === "merge" ? grouped(row.rank + 1) : row.kind],
    ["built", grouped(row.built)],
  ];
  for (const [key, text] of cells) addPart(line, "td", key, text);
  line.addEventListener("click", () => open(row.id));
  return line;
}
