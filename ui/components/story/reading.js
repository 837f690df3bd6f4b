// What a model is given of a text, on its way to the scene that shows it.

/** @import { Token } from "../shared/component.js" */

/** @typedef {{ text: string, model: string, ids: number[], tokens: Token[] }} Reading */

const EVENT = "bpe-story-reading";

/** @param {Reading} reading */
export function deliver(reading) {
  document.dispatchEvent(new CustomEvent(EVENT, { detail: reading }));
}

/** @param {(reading: Reading) => void} hear
    @param {AbortSignal} signal */
export function hearReadings(hear, signal) {
  document.addEventListener(EVENT, (event) => hear(/** @type {CustomEvent<Reading>} */ (event).detail), { signal });
}
