// Tokens that are only white space.

/** @import { Token } from "./component.js" */

const MIN_FOLDED = 3;

/** Return whether a token is so much white space that its merge tree is folded: a tree of spaces only
    repeats itself.
    @param {Token} token */
export function isBlank(token) {
  return typeof token === "string" && [...token].length >= MIN_FOLDED && !token.trim();
}
