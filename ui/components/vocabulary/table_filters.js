// The search field and filters above the vocabulary's table.

import { addPart } from "../shared/elements.js";
import { grouped } from "../shared/numbers.js";
import { endsOfLengths, lengthsField } from "./query.js";

/** @import { SearchRecord } from "./query.js" */

/** @typedef {(changes: SearchRecord, when?: { atOnce: boolean }) => void} Change */

/** Choices, each a value in the record and its name.
    @typedef {[string, string][]} Choices */

/** @typedef {{ findings: [string, string, number][], scripts: [string, number][] }} Lists */

/** @type {Record<string, string>} */
const HINTS = { "": "part of a token", bytes: "E6 97 A5", regex: "^ [A-Z].+ing$" };
/** @type {[string, string, Choices][]} */
const FILTERS = [
  ["finding", "Finding", [["", "All tokens"]]],
  ["script", "Script", [["", "All scripts"]]],
  ["space", "Leading space", [["", "Leading space or not"], ["yes", "With leading space"], ["no", "Without leading space"]]],
  ["partial", "Partial UTF-8", [["", "Whole or partial UTF-8"], ["no", "Whole characters"], ["yes", "Partial UTF-8"]]],
  ["special", "Special", [["", "Special or not"], ["yes", "Special tokens"], ["no", "Not special"]]],
];

export class SearchField {
  /** @param {HTMLElement} root
      @param {Change} change */
  constructor(root, change) {
    const bar = addPart(root, "div", "search");
    const ways = /** @type {Choices} */ ([["", "Text"], ["bytes", "Bytes in hex"], ["regex", "Regular expression"]]);
    this.by = addSelect(bar, "Search by", ways, (value) => {
      this.showHint();
      change({ by: value });
    });
    this.field = addPart(bar, "input", "field mono");
    this.field.type = "search";
    this.field.spellcheck = false;
    this.field.autocomplete = "off";
    this.field.setAttribute("aria-label", "Search the tokens");
    this.field.addEventListener("input", () => change({ find: this.field.value }, { atOnce: false }));
    this.showHint();
  }

  showHint() {
    this.field.placeholder = HINTS[this.by.value];
  }

  /** @param {SearchRecord} record */
  show(record) {
    if (this.field.value !== record.find) this.field.value = record.find;
    this.by.value = record.by;
    this.showHint();
  }
}

export class Filters {
  /** @param {HTMLElement} root
      @param {Change} change */
  constructor(root, change) {
    const bar = addPart(root, "div", "filters");
    /** @type {Map<string, HTMLSelectElement>} */
    this.selects = new Map();
    for (const [name, label, choices] of FILTERS) {
      this.selects.set(name, addSelect(bar, label, choices, (value) => change({ [name]: value })));
    }
    const lengths = addPart(bar, "span", "lengths");
    this.from = addNumber(lengths, "Shortest length in bytes", "from");
    addPart(lengths, "span", "muted", "to");
    this.to = addNumber(lengths, "Longest length in bytes", "any");
    addPart(lengths, "span", "muted", "bytes");
    for (const end of [this.from, this.to]) {
      end.addEventListener("change", () => change({ bytes: lengthsField(this.from.value, this.to.value) }));
    }
    this.lists = "";
  }

  /** @param {SearchRecord} record */
  show(record) {
    for (const [name, select] of this.selects) select.value = record[name];
    [this.from.value, this.to.value] = endsOfLengths(record.bytes);
  }

  /** Offer the findings and scripts of a vocabulary.
      @param {Lists} lists */
  offer({ findings, scripts }) {
    const now = JSON.stringify([findings, scripts]);
    if (now === this.lists) return;
    this.lists = now;
    this.offerIn("finding", findings);
    this.offerIn("script", scripts.map(([name, n]) => [name, name, n]));
  }

  /** @param {string} name
      @param {[string, string, number][]} counted */
  offerIn(name, counted) {
    const select = /** @type {HTMLSelectElement} */ (this.selects.get(name));
    const [all] = /** @type {Choices[]} */ (FILTERS.filter(([one]) => one === name).map(([, , choices]) => choices));
    setChoices(select, [...all, .../** @type {Choices} */ (counted.map(([key, what, n]) => [key, `${what} (${grouped(n)})`]))]);
  }
}

/** @param {HTMLElement} parent
    @param {string} label
    @param {Choices} choices
    @param {(value: string) => void} changed */
function addSelect(parent, label, choices, changed) {
  const select = addPart(parent, "select", "field");
  select.setAttribute("aria-label", label);
  setChoices(select, choices);
  select.addEventListener("change", () => changed(select.value));
  return select;
}

/** @param {HTMLSelectElement} select
    @param {Choices} choices */
function setChoices(select, choices) {
  const { value } = select;
  select.textContent = "";
  for (const [key, name] of choices) addPart(select, "option", "", name).value = key;
  select.value = value;
}

/** @param {HTMLElement} parent
    @param {string} label
    @param {string} placeholder */
function addNumber(parent, label, placeholder) {
  const input = addPart(parent, "input", "field number");
  Object.assign(input, { type: "number", min: 0, max: 99999, placeholder });
  input.setAttribute("aria-label", label);
  return input;
}
