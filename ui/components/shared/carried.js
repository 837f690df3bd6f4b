// What the start page's loop carries to the scenes below it: the visitor's sentence, and the visitor.

/** A text as it is in the field, and what was learned from its beginning.
    @typedef {{ text: string, run: LearnedRun | null }} Carried */

/** @import { LearnedRun } from "../start_loop/learn.js" */

const EVENT = "bpe-sentence";
const GO = "bpe-scene";

/** @typedef {typeof globalThis & { bpeSentence?: Carried }} WithSentence */

/** @param {Carried} sentence */
export function carry(sentence) {
  /** @type {WithSentence} */ (globalThis).bpeSentence = sentence;
  document.dispatchEvent(new CustomEvent(EVENT));
}

/** Hear the sentence that is carried now, if any, and each one after it.
    @param {(sentence: Carried) => void} hear
    @param {AbortSignal} signal */
export function followCarried(hear, signal) {
  const tell = () => {
    const { bpeSentence } = /** @type {WithSentence} */ (globalThis);
    if (bpeSentence) hear(bpeSentence);
  };
  document.addEventListener(EVENT, tell, { signal });
  tell();
}

/** @param {string} id */
export function goToScene(id) {
  document.dispatchEvent(new CustomEvent(GO, { detail: id }));
}

/** @param {(id: string) => void} hear
    @param {AbortSignal} signal */
export function hearScenes(hear, signal) {
  document.addEventListener(GO, (event) => hear(/** @type {CustomEvent<string>} */ (event).detail), { signal });
}
