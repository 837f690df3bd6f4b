// Truncate tokens that are too long to show whole.

/** @import { Token } from "../shared/component.js" */

const MOST_LETTERS = 48;
const MOST_BYTES = 24;

/** Return the beginning of a token, and whether it was cut.
    @param {Token} token
    @returns {[Token, boolean]} */
export function beginningOf(token) {
  if (typeof token !== "string") return [token.slice(0, MOST_BYTES), token.length > MOST_BYTES];
  const characters = [...token];
  if (characters.length <= MOST_LETTERS) return [token, false];
  return [characters.slice(0, MOST_LETTERS).join(""), true];
}
