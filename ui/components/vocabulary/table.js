// The vocabulary as a table, a page at a time: its search, its filters, its rows, and turning pages.

import { SUPERWORD_LEGEND } from "../shared/characters.js";
import { addButton, addPart, keepKeys } from "../shared/elements.js";
import { onLeaving } from "../shared/leaving.js";
import { grouped } from "../shared/numbers.js";
import { Query } from "./query.js";
import { Filters, SearchField } from "./table_filters.js";
import { TableRows } from "./table_rows.js";

/** @import { Component } from "../shared/component.js"
    @import { SearchRecord } from "./query.js"
    @import { Change, Lists } from "./table_filters.js"
    @import { Page } from "./table_rows.js" */

/** One page of the tokens found; `start` is the index of its first row.
    @typedef {Page & Lists & { record: SearchRecord, start: number, n_found: number, n_all: number,
      page: number, pages: number }} TableData */

/** @type {WeakMap<ShadowRoot, VocabularyTable>} */
const tables = new WeakMap();

/** @param {Component<TableData>} component */
export default function mountTable(component) {
  const { parentElement } = component;
  const table = tables.get(parentElement);
  if (table) table.receive(component);
  else tables.set(parentElement, new VocabularyTable(component));
  return onLeaving(parentElement, () => {
    tables.get(parentElement)?.stop();
    tables.delete(parentElement);
  });
}

class VocabularyTable {
  /** @param {Component<TableData>} component */
  constructor(component) {
    const { data, parentElement, setStateValue, setTriggerValue } = component;
    this.setStateValue = setStateValue;
    this.setTriggerValue = setTriggerValue;
    this.page = data.page;
    this.pages = data.pages;
    this.root = addPart(parentElement, "div", "vocabulary");
    keepKeys(this.root);
    this.query = new Query({ ...data.record }, {
      // A state, because a trigger is lost if another request arrives just before Python handles it;
      // with the time, because a state that stays the same is not sent.
      onChange: (record) => this.setStateValue("record", { ...record, asked_at: Date.now() }),
      refuse: (problem) => this.#showProblem(problem),
    });
    /** @type {Change} */
    const change = (changes, when) => this.query.change(changes, when);
    this.search = new SearchField(this.root, change);
    this.filters = new Filters(this.root, change);
    const line = addPart(this.root, "div", "found");
    this.found = addPart(line, "p", "");
    this.found.setAttribute("role", "status");
    this.clear = addButton(line, "plain", "Show all", () => {
      this.query.clear();
      this.#showRecord();
    });
    this.problem = addPart(this.root, "p", "problem");
    this.problem.setAttribute("role", "alert");
    this.rows = new TableRows(this.root, {
      sort: (column) => this.query.sort(column),
      open: (id) => this.setTriggerValue("opened", id),
      turn: (by) => this.#turn(by),
    });
    this.legend = addPart(this.root, "p", "muted", SUPERWORD_LEGEND);
    this.pager = addPart(this.root, "div", "pager");
    this.previous = addButton(this.pager, "button", "Previous", () => this.#turn(-1));
    this.range = addPart(this.pager, "span", "muted");
    this.next = addButton(this.pager, "button", "Next", () => this.#turn(1));
    this.search.field.addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.query.send();
      if (event.key === "ArrowDown" && this.rows.focusFirst()) event.preventDefault();
    });
    this.search.show(this.query.record);
    this.#show(data);
  }

  /** @param {Component<TableData>} component */
  receive({ data, setStateValue, setTriggerValue }) {
    this.setStateValue = setStateValue;
    this.setTriggerValue = setTriggerValue;
    if (this.query.receive(data.record)) this.search.show(this.query.record);
    this.#show(data);
  }

  stop() {
    this.query.stop();
    this.root.remove();
  }

  /** @param {TableData} data */
  #show(data) {
    this.filters.offer(data);
    this.filters.show(this.query.record);
    this.#showProblem(data.problem);
    this.page = data.page;
    this.pages = data.pages;
    const all = data.n_found === data.n_all;
    const found = all ? `All ${grouped(data.n_all)}` : `${grouped(data.n_found)} of ${grouped(data.n_all)}`;
    this.found.textContent = data.problem ? "" : `${found} ${data.n_all === 1 ? "token" : "tokens"}`;
    this.clear.hidden = all && !data.problem;
    this.rows.show(data);
    this.legend.hidden = !this.root.querySelector(".superword");
    this.pager.hidden = data.pages <= 1;
    this.previous.disabled = data.page === 1;
    this.next.disabled = data.page === data.pages;
    this.range.textContent = `${grouped(data.start + 1)}–${grouped(data.start + data.rows.length)} of ${grouped(data.n_found)}`;
  }

  #showRecord() {
    this.search.show(this.query.record);
    this.filters.show(this.query.record);
  }

  /** @param {string} problem */
  #showProblem(problem) {
    this.problem.hidden = !problem;
    this.problem.textContent = problem;
  }

  /** @param {number} by */
  #turn(by) {
    if (!this.query.turn(by, this.page, this.pages)) return false;
    this.rows.toTop();
    return true;
  }
}
