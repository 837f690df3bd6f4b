// What is asked of the vocabulary's table: a record of texts, the same that stands in the address. It
// goes to Python after each change, and comes back with what was found.

import { halfCharacter } from "../shared/characters.js";
import { browserClock } from "../shared/clock.js";
import { Echoes } from "../shared/echoes.js";

/** @import { Clock } from "../shared/clock.js" */

/** By name: find, by, finding, script, space, partial, special, bytes, sort, page. An empty text asks for
    nothing.
    @typedef {Record<string, string>} Asked */

const PAUSE_MS = 150;

export class Query {
  /** @param {Asked} asked
      @param {{ ask: (asked: Asked) => void, refuse: (problem: string) => void }} hears Gets what is asked,
      or why it cannot be.
      @param {Clock} clock */
  constructor(asked, { ask, refuse }, clock = browserClock) {
    this.asked = asked;
    this.ask = ask;
    this.refuse = refuse;
    this.clock = clock;
    this.echoes = new Echoes();
    this.timer = 0;
  }

  /** Ask for something else, and for its first page; while one types, only after a pause.
      @param {Asked} changes */
  change(changes, { atOnce = true } = {}) {
    this.asked = { ...this.asked, ...changes, page: "" };
    this.stop();
    if (atOnce) this.send();
    else this.timer = this.clock.after(() => this.send(), PAUSE_MS);
  }

  /** Ask for all tokens. */
  clear() {
    this.asked = Object.fromEntries(Object.keys(this.asked).map((name) => [name, ""]));
    this.send();
  }

  /** Sort by a column; by the one that sorts already, the other way round.
      @param {string} column */
  sort(column) {
    this.change({ sort: sortedBy(column, this.asked.sort) });
  }

  /** Turn pages; return whether there are any there.
      @param {number} by
      @param {number} page The one shown.
      @param {number} pages */
  turn(by, page, pages) {
    if (page + by < 1 || page + by > pages) return false;
    this.asked = { ...this.asked, page: page + by === 1 ? "" : String(page + by) };
    this.send();
    return true;
  }

  send() {
    this.stop();
    const half = halfCharacter(this.asked.find);
    if (half) {
      this.refuse(`${half}. Remove it to search.`);
      return;
    }
    this.echoes.expect(JSON.stringify(this.asked));
    this.ask({ ...this.asked });
  }

  /** Take what Python answered to; return whether the fields have to show it. An answer to what was asked
      here may not be the last: what is typed stays.
      @param {Asked} asked */
  receive(asked) {
    if (this.echoes.isEcho(JSON.stringify(asked)) || this.timer) return false;
    this.echoes.forget();
    this.asked = { ...asked };
    return true;
  }

  stop() {
    this.clock.cancel(this.timer);
    this.timer = 0;
  }
}

/** Return how a table is sorted once a column's head was pressed: "-bytes" where it falls. Ids rise first,
    and are asked for by an empty text; all others fall first.
    @param {string} column
    @param {string} sorted How it is sorted now. */
export function sortedBy(column, sorted) {
  const now = sorted || "id";
  const descends = now === column ? true : now === `-${column}` ? false : column !== "id";
  if (descends) return `-${column}`;
  return column === "id" ? "" : column;
}

/** Return lengths from one to another as they are asked for: "3", "2-5", "2-", "0-5"; empty for any.
    @param {string} low
    @param {string} high */
export function lengthsAsked(low, high) {
  if (!low && !high) return "";
  return low === high ? low : `${low || 0}-${high}`;
}

/** Return the two ends of lengths that are asked for, as the fields show them.
    @param {string} asked
    @returns {[string, string]} */
export function endsOfLengths(asked) {
  const [low, high = low] = asked.split("-");
  return [low === "0" && asked !== "0" ? "" : low, high];
}
