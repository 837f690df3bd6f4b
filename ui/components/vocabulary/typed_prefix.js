// The prefix that the visitor types, sent to Python after a pause.

import { halfCharacter } from "../shared/characters.js";
import { browserClock } from "../shared/clock.js";
import { Echoes } from "../shared/python_echoes.js";

/** @import { Clock } from "../shared/clock.js" */

const PAUSE_MS = 150;

export class TypedPrefix {
  /** @param {(text: string, problem: string) => void} send Gets the text after a pause, or why it is
        invalid.
      @param {Clock} clock */
  constructor(send, clock = browserClock) {
    this.send = send;
    this.clock = clock;
    this.echoes = new Echoes();
    this.timer = 0;
  }

  /** @param {string} text */
  type(text) {
    this.clock.cancel(this.timer);
    this.timer = this.clock.after(() => {
      this.timer = 0;
      const half = halfCharacter(text);
      if (!half) this.echoes.expect(text);
      this.send(text, half && `${half}. Remove it to search.`);
    }, PAUSE_MS);
  }

  /** Take the prefix of the node that Python sent; return whether the field must show it.
      @param {string} text */
  receive(text) {
    if (this.echoes.isEcho(text) || this.timer) return false;
    this.forget();
    return true;
  }

  forget() {
    this.echoes.forget();
  }

  stop() {
    this.clock.cancel(this.timer);
  }
}
