// The search shown in the vocabulary's table: a record of texts, the same as in the address. It is sent
// to Python after each change, and comes back with the rows found.

import { halfCharacter } from "../shared/characters.js";
import { browserClock } from "../shared/clock.js";
import { Echoes } from "../shared/python_echoes.js";

/** @import { Clock } from "../shared/clock.js" */

/** Values of find, by, finding, script, space, partial, special, bytes, sort and page. An empty text is no
    condition.
    @typedef {Record<string, string>} SearchRecord */

const PAUSE_MS = 150;

export class Query {
  /** @param {SearchRecord} record
      @param {{ onChange: (record: SearchRecord) => void, refuse: (problem: string) => void }} callbacks Get each
      new search, or why it is invalid.
      @param {Clock} clock */
  constructor(record, { onChange, refuse }, clock = browserClock) {
    this.record = record;
    this.onChange = onChange;
    this.refuse = refuse;
    this.clock = clock;
    this.echoes = new Echoes();
    this.timer = 0;
  }

  /** Change the search and go to its first page; unless `atOnce`, after a pause.
      @param {SearchRecord} changes */
  change(changes, { atOnce = true } = {}) {
    this.record = { ...this.record, ...changes, page: "" };
    this.stop();
    if (atOnce) this.send();
    else this.timer = this.clock.after(() => this.send(), PAUSE_MS);
  }

  /** Search for all tokens. */
  clear() {
    this.record = Object.fromEntries(Object.keys(this.record).map((name) => [name, ""]));
    this.send();
  }

  /** Sort by a column; reverse the order if it is sorted by this column already.
      @param {string} column */
  sort(column) {
    this.change({ sort: sortedBy(column, this.record.sort) });
  }

  /** Turn pages; return whether such a page exists.
      @param {number} by
      @param {number} page The one shown.
      @param {number} pages */
  turn(by, page, pages) {
    if (page + by < 1 || page + by > pages) return false;
    this.record = { ...this.record, page: page + by === 1 ? "" : String(page + by) };
    this.send();
    return true;
  }

  send() {
    this.stop();
    const half = halfCharacter(this.record.find);
    if (half) {
      this.refuse(`${half}. Remove it to search.`);
      return;
    }
    this.echoes.expect(JSON.stringify(this.record));
    this.onChange({ ...this.record });
  }

  /** Take the record in Python's answer; return whether the fields must show it. The answer to an
      earlier search must not replace what was typed since.
      @param {SearchRecord} record */
  receive(record) {
    if (this.echoes.isEcho(JSON.stringify(record)) || this.timer) return false;
    this.echoes.forget();
    this.record = { ...record };
    return true;
  }

  stop() {
    this.clock.cancel(this.timer);
    this.timer = 0;
  }
}

/** Return the order after a column's header was pressed: "-bytes" is descending. Ids are first sorted
    ascending, which is the empty text, and other columns first descending.
    @param {string} column
    @param {string} sorted The present order. */
export function sortedBy(column, sorted) {
  const now = sorted || "id";
  const descends = now === column ? true : now === `-${column}` ? false : column !== "id";
  if (descends) return `-${column}`;
  return column === "id" ? "" : column;
}

/** Return a range of lengths as a field of the record: "3", "2-5", "2-", "0-5"; empty for any.
    @param {string} low
    @param {string} high */
export function lengthsField(low, high) {
  if (!low && !high) return "";
  return low === high ? low : `${low || 0}-${high}`;
}

/** Return the two ends of a range of lengths, as the inputs show them.
    @param {string} lengths
    @returns {[string, string]} */
export function endsOfLengths(lengths) {
  const [low, high = low] = lengths.split("-");
  return [low === "0" && lengths !== "0" ? "" : low, high];
}
