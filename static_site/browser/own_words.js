// A visitor's words for the merge player, as `own_words` in `views/run_packing.py` gives them to the app.

/** @import { Run } from "../../ui/components/merge_player/run.js" */

const MAX_WORD_LENGTH = 400; // bytes
const utf8 = new TextEncoder();

/** Return the pre-tokens of a text, each as the ids of its bytes.
    @param {string} text
    @param {Pick<Run, "tokens">} run A run on bytes.
    @param {RegExp} pattern Matches the next pre-token.
    @returns {number[][]} */
export function ownWords(text, run, pattern) {
  /** @type {Map<number, number>} */
  const idOfByte = new Map();
  run.tokens.forEach((token, id) => {
    const [byte, ...others] = typeof token === "string" ? utf8.encode(token) : token;
    if (byte !== undefined && !others.length && !idOfByte.has(byte)) idOfByte.set(byte, id);
  });
  return (text.match(pattern) ?? []).map((pretoken) =>
    Array.from(utf8.encode(pretoken).subarray(0, MAX_WORD_LENGTH), (byte) => /** @type {number} */ (idOfByte.get(byte))));
}
