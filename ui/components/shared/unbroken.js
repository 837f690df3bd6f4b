// Text in which a short name or a range, such as GPT-2 or 320–326%, is not broken at its hyphen.

import { addPart } from "./elements.js";

const MAX_LENGTH = 16;

/** Return the pieces of a text, and which of them stay on one line.
    @param {string} text
    @returns {[string, boolean][]} */
export function unbrokenPieces(text) {
  return text
    .split(/(\s+)/)
    .filter((piece) => piece)
    .map((piece) => [piece, piece.length <= MAX_LENGTH && /\p{N}[-–]|[-–]\p{N}/u.test(piece)]);
}

/** Append a text to an element.
    @param {HTMLElement} parent
    @param {string} text */
export function addText(parent, text) {
  for (const [piece, isUnbroken] of unbrokenPieces(text)) {
    if (isUnbroken) addPart(parent, "span", "unbroken", piece);
    else parent.append(piece);
  }
}
