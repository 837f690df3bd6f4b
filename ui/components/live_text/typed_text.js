// Send typed text to Python after a pause, and decide about the text that comes back: an echo of the
// typing is ignored; another text, such as a file's, has to be shown in the field.

import { halfCharacter } from "../shared/characters.js";
import { browserClock } from "../shared/clock.js";
import { Echoes } from "../shared/python_echoes.js";
import { withLineEnds } from "./line_ends.js";

/** @import { Clock } from "../shared/clock.js" */

const PAUSE_MS = 100;
const PAUSE_MS_PER_100K = 250;
const MAX_PAUSE_MS = 1500;
// The next text waits for Python to read the last one, but no longer than this.
const MAX_WAIT_MS = 1000;

export class TypedText {
  /** @param {{ send: (text: string) => void, warn: (problem: string) => void }} callbacks `send` sends a
        text; `warn` shows why one cannot be sent, or nothing for an empty string.
      @param {Clock} clock */
  constructor({ send, warn }, clock = browserClock) {
    this.send = send;
    this.warn = warn;
    this.clock = clock;
    this.echoes = new Echoes();
    /** The text that Python sent last.
        @type {string | null} */
    this.received = null;
    /** The text in the field, with its carriage returns. */
    this.whole = "";
    this.typed = "";
    this.timer = 0;
    this.sentAt = 0;
  }

  get hasCarriageReturns() {
    return this.whole.includes("\r");
  }

  /** The text in the field now, with its line ends. */
  get current() {
    return withLineEnds(this.whole, this.typed);
  }

  /** Take a text from Python; return whether the field has to show it.
      @param {string} text */
  receive(text) {
    if (text === this.received) return false;
    this.received = text;
    if (this.echoes.isEcho(text)) return false;
    this.echoes.forget();
    this.stop();
    this.warn("");
    this.whole = this.typed = text;
    return true;
  }

  /** Take the field's text after a key press; its line ends are all line feeds.
      @param {string} typed */
  type(typed) {
    this.typed = typed;
    this.stop();
    const extra = (typed.length / 100000) * PAUSE_MS_PER_100K;
    this.timer = this.clock.after(() => this.flush(), Math.min(PAUSE_MS + extra, MAX_PAUSE_MS));
  }

  /** Start with another text.
      @param {string} text */
  startOver(text) {
    this.whole = this.typed = text;
    this.flush({ atOnce: true });
  }

  /** Send a waiting text when the field loses focus. */
  leave() {
    if (this.timer) this.flush({ atOnce: true });
  }

  flush({ atOnce = false } = {}) {
    this.stop();
    const waits = this.echoes.last !== undefined && this.echoes.last !== this.received;
    if (waits && !atOnce && this.clock.now() - this.sentAt < MAX_WAIT_MS) {
      this.timer = this.clock.after(() => this.flush(), PAUSE_MS / 2);
      return;
    }
    const text = this.current;
    const half = halfCharacter(text);
    this.warn(half && `${half}, which UTF-8 cannot encode. Remove it to see the tokens.`);
    if (half) return;
    this.whole = text;
    this.echoes.expect(text);
    this.sentAt = this.clock.now();
    this.send(text);
  }

  stop() {
    this.clock.cancel(this.timer);
    this.timer = 0;
  }
}
