// Short names of tokens, and their spoken names.

import { spokenToken } from "../shared/characters.js";

/** @import { Token } from "../shared/component.js"
    @import { Pair, Run } from "./run.js" */

/** Return a token, truncated with an ellipsis if it is too long.
    @param {Token} token
    @param {number} most
    @returns {Token} */
export function shortToken(token, most) {
  if (typeof token !== "string") return token.length <= most ? token : token.slice(0, most);
  return shortText(token, most);
}

/** @param {string} text
    @param {number} most */
export function shortText(text, most) {
  const characters = [...text];
  return characters.length <= most ? text : characters.slice(0, most - 1).join("") + "…";
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

/** @param {Run} run
    @param {number | string} id A symbol that the alphabet lacks is text. */
export function spokenSymbol(run, id) {
  return typeof id === "string" ? id : spokenToken(run.tokens[id]);
}
