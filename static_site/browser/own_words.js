// A visitor's words for the merge player, as `own_words` in `views/packing.py` gives them to the app.

import { cut } from "./encode.js";
import { byteString } from "./vocabulary.js";

/** @import { Run } from "../../ui/components/merge_player/run.js" */

const MAX_WORD_LENGTH = 400; // bytes

/** Return the pre-tokens of a text, each as the ids of its bytes.
    @param {string} text
    @param {Pick<Run, "tokens">} run A run on bytes.
    @param {RegExp} pattern Matches the next pre-token.
    @returns {number[][]} */
export function ownWords(text, run, pattern) {
  /** @type {Map<number, number>} */
  const idOfByte = new Map();
  run.tokens.forEach((token, id) => {
    const [byte, ...others] = typeof token === "string" ? byteString(token) : token;
    if (byte === undefined || others.length) return;
    const value = typeof byte === "string" ? byte.charCodeAt(0) : byte;
    if (!idOfByte.has(value)) idOfByte.set(value, id);
  });
  return cut(text, { pattern }).map((pretoken) =>
    Array.from(byteString(pretoken).slice(0, MAX_WORD_LENGTH), (byte) =>
      /** @type {number} */ (idOfByte.get(byte.charCodeAt(0)))));
}
