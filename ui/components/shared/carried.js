// The visitor's sentence, which the start page's loop carries to the scenes below it.

/** A text as it is in the field, and the colour slots that its learned tokens have.
    @typedef {{ text: string, slots: Map<string, number> }} Carried */

const EVENT = "bpe-sentence";

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
