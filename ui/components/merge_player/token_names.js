// Short names of tokens, and their spoken names.

import { tokenBytes, GRAPHEMES, spokenToken, wholeAndPartial } from "../shared/characters.js";

/** @import { Token } from "../shared/component.js"
    @import { Pair, Run } from "./run.js" */

const HEX_BYTE = /^[0-9A-F]{2}$/;

/** Return a token, truncated with an ellipsis if it is too long; of bytes, the first characters and bytes.
    @param {Token} token
    @param {number} most
    @returns {Token} */
export function shortToken(token, most) {
  if (typeof token === "string") return shortText(token, most);
  let room = most;
  return wholeAndPartial(token).flatMap((piece) => {
    const shown = typeof piece === "string" ? [...piece].slice(0, room) : piece.slice(0, room);
    room -= shown.length;
    return typeof piece === "string" ? tokenBytes(shown.join("")) : piece.slice(0, shown.length);
  });
}

/** Truncate a text between two characters as they are seen: a letter keeps its accents, an emoji its parts.
    @param {string} text
    @param {number} most */
export function shortText(text, most) {
  if ([...text].length <= most) return text;
  let short = "";
  for (const { segment } of GRAPHEMES.segment(text)) {
    if ([...short, ...segment].length > most - 1) break;
    short += segment;
  }
  return short + "…";
}

/** Return how many characters of each of two tokens to show if there is room for `all` characters.
    @param {number} left
    @param {number} right
    @returns {[number, number]} */
export function roomFor(left, right, all = 13) {
  const half = Math.floor(all / 2);
  return [Math.max(half, all - right), Math.max(half, all - left)];
}

/** @param {Run} run
    @param {Pair} pair */
export function spokenPair(run, { left, right }) {
  return `${spokenToken(run.tokens[left])}, ${spokenToken(run.tokens[right])}`;
}

/** Return the token of a symbol. One that the alphabet lacks is a character, or a byte in hex.
    @param {Run} run
    @param {number | string} id
    @returns {Token} */
export function tokenOfSymbol(run, id) {
  if (typeof id === "number") return run.tokens[id];
  return HEX_BYTE.test(id) ? [parseInt(id, 16)] : id;
}

/** @param {Run} run
    @param {number | string} id A symbol that the alphabet lacks is text. */
export function spokenSymbol(run, id) {
  return spokenToken(tokenOfSymbol(run, id));
}
