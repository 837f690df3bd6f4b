// The vocabulary as a table, a page at a time. What is asked for is a record of texts, the same that
// stands in the address: it goes to Python after each change, and comes back with what was found.

import { codePointName, halfCharacter } from "../shared/characters.js";
import { addButton, addPart, keepKeys } from "../shared/elements.js";
import { grouped } from "../shared/numbers.js";
import { tileButton, walkByArrows } from "./parts.js";

const PAUSE_MS = 150;
const MOST_ECHOES = 16;
const COLUMNS = [
  ["token", "Token", ""],
  ["id", "Id", "id"],
  ["bytes", "Bytes", "length"],
  ["uses", "Used", "use"],
  ["rank", "Made by merge", ""],
  ["built", "Builds", ""],
];
const tables = new WeakMap();

export default function mountTable({ data, parentElement, setTriggerValue }) {
  let table = tables.get(parentElement);
  if (!table) tables.set(parentElement, (table = makeTable(parentElement)));
  table.ask = (asked) => setTriggerValue("asked", asked);
  table.open = (id) => setTriggerValue("opened", id);
  table.receive(data);
  return () => {
    table.stop();
    tables.delete(parentElement);
  };
}

function makeTable(parent) {
  const root = addPart(parent, "div", "vocabulary");
  keepKeys(root);
  const search = makeSearch(root, ask);
  const filters = makeFilters(root, ask);
  const line = addPart(root, "div", "found");
  const found = addPart(line, "p", "");
  found.setAttribute("role", "status");
  const clear = addButton(line, "plain", "Show all", () => {
    for (const name of Object.keys(asked)) asked[name] = "";
    search.show(asked);
    filters.show(asked);
    send();
  });
  const problem = addPart(root, "p", "problem");
  problem.setAttribute("role", "alert");
  const rows = makeRows(root, { sort, open: (id) => self.open(id), turn });
  const pager = addPart(root, "div", "pager");
  const previous = addButton(pager, "button", "Previous", () => turn(-1));
  const range = addPart(pager, "span", "muted");
  const next = addButton(pager, "button", "Next", () => turn(1));
  let asked = {};
  let sent = [];
  let timer = 0;
  let page = 1;
  let pages = 1;

  function ask(changes, { atOnce = true } = {}) {
    Object.assign(asked, changes, { page: "" });
    clearTimeout(timer);
    if (atOnce) send();
    else timer = setTimeout(send, PAUSE_MS);
  }
  function send() {
    clearTimeout(timer);
    timer = 0;
    const half = halfCharacter(asked.find);
    if (half >= 0) {
      problem.hidden = false;
      problem.textContent = `At position ${grouped(half + 1)} stands half a character (${codePointName(asked.find[half])}, a lone surrogate). Remove it to search.`;
      return;
    }
    sent = [...sent.slice(1 - MOST_ECHOES), JSON.stringify(asked)];
    self.ask({ ...asked });
  }
  function sort(name) {
    const now = asked.sort || "id";
    const descends = now === name ? true : now === `-${name}` ? false : name !== "id";
    ask({ sort: descends ? `-${name}` : name === "id" ? "" : name });
  }
  function turn(by) {
    if (page + by < 1 || page + by > pages) return false;
    asked.page = page + by === 1 ? "" : String(page + by);
    rows.toTop();
    send();
    return true;
  }

  const self = {
    ask: () => {},
    open: () => {},
    receive(data) {
      // An answer to what was asked here, maybe not the last: what is typed stays.
      const echo = sent.lastIndexOf(JSON.stringify(data.asked));
      if (echo >= 0) sent = sent.slice(echo);
      else if (!timer) {
        sent = [];
        asked = { ...data.asked };
        search.show(asked);
      }
      filters.receive(data, asked);
      problem.hidden = !data.problem;
      problem.textContent = data.problem;
      ({ page, pages } = data);
      const all = data.n_found === data.n_all;
      found.textContent = data.problem
        ? ""
        : all
          ? `All ${grouped(data.n_all)} tokens`
          : `${grouped(data.n_found)} of ${grouped(data.n_all)} tokens`;
      clear.hidden = all && !data.problem;
      rows.receive(data);
      pager.hidden = pages <= 1;
      previous.disabled = page === 1;
      next.disabled = page === pages;
      range.textContent = `${grouped(data.start + 1)}–${grouped(data.start + data.rows.length)} of ${grouped(data.n_found)}`;
    },
    stop() {
      clearTimeout(timer);
      root.remove();
    },
  };
  search.field.addEventListener("keydown", (event) => {
    if (event.key === "Enter") send();
    if (event.key === "ArrowDown" && rows.focusFirst()) event.preventDefault();
  });
  return self;
}

function makeSearch(root, ask) {
  const bar = addPart(root, "div", "search");
  const by = addSelect(bar, "Search by", [["", "Text"], ["bytes", "Bytes in hex"], ["regex", "Regular expression"]], (value) => ask({ by: value }));
  const field = addPart(bar, "input", "field mono");
  field.type = "search";
  field.spellcheck = false;
  field.autocomplete = "off";
  field.setAttribute("aria-label", "Search the tokens");
  const hints = { "": "any part of a token", bytes: "E6 97 A5", regex: "^ [A-Z].+ing$" };
  const hint = () => (field.placeholder = hints[by.value]);
  by.addEventListener("change", hint);
  field.addEventListener("input", () => ask({ find: field.value }, { atOnce: false }));
  return {
    field,
    show(asked) {
      if (field.value !== asked.find) field.value = asked.find;
      by.value = asked.by;
      hint();
    },
  };
}

function makeFilters(root, ask) {
  const bar = addPart(root, "div", "filters");
  const finding = addSelect(bar, "Finding", [["", "All tokens"]], (value) => ask({ finding: value }));
  const script = addSelect(bar, "Script", [["", "All scripts"]], (value) => ask({ script: value }));
  script.title = "The script that most of a token’s letters belong to";
  const space = addSelect(bar, "Leading space", [["", "Leading space or not"], ["yes", "With leading space"], ["no", "Without leading space"]], (value) => ask({ space: value }));
  const partial = addSelect(bar, "Partial UTF-8", [["", "Whole or partial UTF-8"], ["no", "Whole characters"], ["yes", "Partial UTF-8"]], (value) => ask({ partial: value }));
  const special = addSelect(bar, "Special", [["", "Special or not"], ["yes", "Special tokens"], ["no", "Not special"]], (value) => ask({ special: value }));
  const lengths = addPart(bar, "span", "lengths");
  const from = addNumber(lengths, "Least length in bytes", "from");
  addPart(lengths, "span", "muted", "to");
  const to = addNumber(lengths, "Greatest length in bytes", "any");
  addPart(lengths, "span", "muted", "bytes");
  for (const end of [from, to]) {
    end.addEventListener("change", () => {
      const [low, high] = [from.value, to.value];
      ask({ bytes: low || high ? (low === high ? low : `${low || 0}-${high}`) : "" });
    });
  }
  let lists = "";
  const show = (asked) => {
    for (const [select, name] of [[finding, "finding"], [script, "script"], [space, "space"], [partial, "partial"], [special, "special"]]) select.value = asked[name];
    const [low, high = low] = asked.bytes.split("-");
    from.value = low === "0" && asked.bytes !== "0" ? "" : low;
    to.value = high;
  };
  return {
    show,
    receive(data, asked) {
      const now = JSON.stringify([data.findings, data.scripts]);
      if (now !== lists) {
        setOptions(finding, [["", "All tokens"], ...data.findings.map(([key, name, n]) => [key, `${name} (${grouped(n)})`])]);
        setOptions(script, [["", "All scripts"], ...data.scripts.map(([name, n]) => [name, `${name} (${grouped(n)})`])]);
        lists = now;
      }
      show(asked);
    },
  };
}

function addSelect(parent, label, options, changed) {
  const select = addPart(parent, "select", "field");
  select.setAttribute("aria-label", label);
  setOptions(select, options);
  select.addEventListener("change", () => changed(select.value));
  return select;
}

function setOptions(select, options) {
  const { value } = select;
  select.textContent = "";
  for (const [key, name] of options) addPart(select, "option", "", name).value = key;
  select.value = value;
}

function addNumber(parent, label, placeholder) {
  const input = addPart(parent, "input", "field number");
  Object.assign(input, { type: "number", min: 0, max: 99999, placeholder });
  input.setAttribute("aria-label", label);
  return input;
}

function makeRows(root, { sort, open, turn }) {
  const scroller = addPart(root, "div", "scroller");
  scroller.tabIndex = -1;
  const table = addPart(scroller, "table", "");
  addPart(table, "caption", "said", "Tokens of the vocabulary; a token's button opens it");
  const head = addPart(addPart(table, "thead", ""), "tr", "");
  const sorters = new Map();
  const names = new Map();
  for (const [key, name, sortBy] of COLUMNS) {
    const cell = addPart(head, "th", key, sortBy ? undefined : name);
    cell.scope = "col";
    if (sortBy) sorters.set(sortBy, [cell, addButton(cell, "sorter", name, () => sort(sortBy))]);
    names.set(key, cell);
  }
  const body = addPart(table, "tbody", "");
  const empty = addPart(root, "p", "muted empty");
  let drawn = "";
  let lines = new Map();
  walkByArrows(body, "button");
  body.addEventListener("keydown", (event) => {
    const by = { PageDown: 1, PageUp: -1 }[event.key];
    if (by && turn(by)) event.preventDefault();
  });

  return {
    focusFirst() {
      const first = body.querySelector("button");
      first?.focus();
      return Boolean(first);
    },
    toTop: () => (scroller.scrollTop = 0),
    receive({ rows, sort: sorted, opened, problem, about_uses: aboutUses, has_merges: hasMerges }) {
      table.classList.toggle("without-merges", !hasMerges);
      for (const [sortBy, [cell, button]] of sorters) {
        const way = sorted === sortBy ? "ascending" : sorted === `-${sortBy}` ? "descending" : "none";
        cell.setAttribute("aria-sort", way);
        button.dataset.way = way;
      }
      names.get("uses").title = aboutUses;
      const now = JSON.stringify(rows);
      if (now !== drawn) {
        const hadFocus = body.contains(root.getRootNode().activeElement);
        drawn = now;
        lines = new Map();
        body.textContent = "";
        for (const row of rows) lines.set(row.id, addRow(body, row, open));
        scroller.scrollTop = 0;
        if (hadFocus) this.focusFirst();
      }
      empty.hidden = rows.length > 0;
      empty.textContent = problem ? "Nothing was searched for yet." : "No token fits. Loosen a filter, or show all.";
      scroller.hidden = rows.length === 0;
      for (const [id, line] of lines) {
        line.classList.toggle("opened", id === opened);
        line.querySelector("button").setAttribute("aria-current", String(id === opened));
      }
    },
  };
}

function addRow(body, row, open) {
  const line = addPart(body, "tr", row.uses === 0 ? "unused" : "");
  const name = addPart(line, "th", "token");
  name.scope = "row";
  name.append(tileButton(row, open));
  const made = row.kind === "merge" ? grouped(row.rank + 1) : row.kind;
  const cells = { id: grouped(row.id), bytes: grouped(row.bytes), uses: row.uses === null ? "–" : grouped(row.uses), rank: made, built: grouped(row.built) };
  for (const [key] of COLUMNS.slice(1)) addPart(line, "td", key, cells[key]);
  line.addEventListener("click", () => open(row.id));
  return line;
}
