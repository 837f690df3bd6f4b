// A field that sends what is typed gets every text back from Python. By then more may be typed: such
// an echo must not replace it, and a text that comes from elsewhere must.

const MOST_ECHOES = 16;

export class Echoes {
  constructor() {
    /** @type {string[]} */
    this.sent = [];
  }

  /** The text that was sent last; undefined where nothing is awaited.
      @returns {string | undefined} */
  get last() {
    return this.sent.at(-1);
  }

  /** @param {string} text */
  expect(text) {
    this.sent = [...this.sent.slice(1 - MOST_ECHOES), text];
  }

  /** Return whether a text was sent from here. Those sent before it are not awaited any more: what
      Python does not answer, it has skipped.
      @param {string} text */
  isEcho(text) {
    const place = this.sent.lastIndexOf(text);
    if (place >= 0) this.sent = this.sent.slice(place);
    return place >= 0;
  }

  forget() {
    this.sent = [];
  }
}
