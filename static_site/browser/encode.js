// Byte-pair encoding with a finished vocabulary: cut a text, and merge each pre-token by rank.

import { byteString } from "./vocabulary.js";

/** @import { Vocabulary } from "./vocabulary.js" */

/** Encode a text; return the ids of each pre-token. Text that spells a special token is ordinary text.
    @param {string} text Without half characters (lone surrogates).
    @param {Vocabulary} vocabulary
    @returns {number[][]} */
export function encodePretokens(text, vocabulary) {
  return cut(text, vocabulary).map((pretoken) => mergeBytes(byteString(pretoken), vocabulary.ids));
}

/** Cut a text into pre-tokens, which merges never cross.
    @param {string} text
    @param {Pick<Vocabulary, "pattern">} vocabulary
    @returns {string[]} */
export function cut(text, { pattern }) {
  return text.match(pattern) ?? [];
}

/** Return the ids of a pre-token: of all neighbours that together are a token, join the two whose token was
    learned first, the leftmost if there are several, until none are left. The tokens have their ids in the
    order in which they were learned. Takes time in the square of the length.
    @param {string} bytes
    @param {Map<string, number>} ids
    @param {number} [learned] Only tokens with a lower id have been learned.
    @returns {number[]} */
export function mergeBytes(bytes, ids, learned = Infinity) {
  const whole = ids.get(bytes);
  if (whole !== undefined && whole < learned) return [whole];
  const starts = Array.from({ length: bytes.length + 1 }, (_, i) => i);
  const idAt = (/** @type {number} */ i) => {
    const id = i + 2 < starts.length ? ids.get(bytes.slice(starts[i], starts[i + 2])) : undefined;
    return id === undefined || id >= learned ? Infinity : id;
  };
  const joined = starts.map((_, i) => idAt(i));
  for (;;) {
    let first = 0;
    for (let i = 1; i < joined.length; i++) if (joined[i] < joined[first]) first = i;
    if (joined[first] === Infinity) break;
    starts.splice(first + 1, 1);
    joined.splice(first + 1, 1);
    joined[first] = idAt(first);
    if (first > 0) joined[first - 1] = idAt(first - 1);
  }
  return starts.slice(0, -1).map((start, i) => /** @type {number} */ (ids.get(bytes.slice(start, starts[i + 1]))));
}
