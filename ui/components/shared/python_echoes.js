// Python sends every typed text back to its field. By then the visitor may have typed more, so an echo
// must not replace the field's text; a text from elsewhere must.

const MAX_ECHOES = 16;

export class Echoes {
  constructor() {
    /** @type {string[]} */
    this.sent = [];
  }

  /** The text that was sent last; undefined if no echo is expected.
      @returns {string | undefined} */
  get last() {
    return this.sent.at(-1);
  }

  /** @param {string} text */
  expect(text) {
    this.sent = [...this.sent.slice(1 - MAX_ECHOES), text];
  }

  /** Return whether a text was sent from here. Texts sent before it are no longer expected: Python has
      skipped those it did not answer.
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
