// When to ask Python to draw the page for another theme.

export const MILLISECONDS_BETWEEN_CHECKS = 250;
/** Five seconds. A request is lost while the connection is broken, for example when a laptop wakes up
    after dusk. */
const CHECKS_UNTIL_ASKED_AGAIN = 20;

export class Switches {
  /** @type {string | undefined} */
  #asked;
  #checks = 0;
  #patience = CHECKS_UNTIL_ASKED_AGAIN;

  /** Return true if a page drawn for one theme, but shown in another, should be drawn again: once for
      each switch, and then ever more rarely, because Python may go on drawing for the old theme.
      @param {string} shown
      @param {string} drawnFor */
  needRequest(shown, drawnFor) {
    if (shown === drawnFor) {
      this.#asked = undefined;
      return false;
    }
    const isNew = shown !== this.#asked;
    if (!isNew && ++this.#checks < this.#patience) return false;
    this.#patience = isNew ? CHECKS_UNTIL_ASKED_AGAIN : 2 * this.#patience;
    this.#asked = shown;
    this.#checks = 0;
    return true;
  }
}
