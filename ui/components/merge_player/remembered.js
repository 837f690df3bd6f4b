// Settings that survive a refresh of the page.

/** @typedef {object} Memory
    @property {(name: string) => string | null} get
    @property {(name: string, value: string) => void} set */

/** A browser may block storage: then values last only as long as the page.
    @type {Memory} */
export const remembered = {
  get(name) {
    try {
      return sessionStorage.getItem(`merge-player-${name}`);
    } catch {
      return null;
    }
  },
  set(name, value) {
    try {
      sessionStorage.setItem(`merge-player-${name}`, value);
    } catch {
      // Nothing is kept.
    }
  },
};
