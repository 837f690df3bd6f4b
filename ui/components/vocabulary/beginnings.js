// Truncate tokens that are too long to show whole.

/** @import { Token } from "../shared/component.js" */

const MAX_LETTERS = 48;
const MAX_BYTES = 24;

/** Return the beginning of a token, and whether it was cut.
    @param {Token} token
    @returns {[Token, boolean]} */
export function findBeginning(token) {
  if (typeof token !== "string") return [token.slice(0, MAX_BYTES), token.length > MAX_BYTES];
  const characters = [...token];
  if (characters.length <= MAX_LETTERS) return [token, false];
  return [characters.slice(0, MAX_LETTERS).join(""), true];
}
