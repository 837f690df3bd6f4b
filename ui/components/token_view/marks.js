// How a tokenizer's file writes its tokens, with marks such as ▁, ## and <0xE2>, and what these mean.

import { codePointName, piecesOf } from "../shared/characters.js";

/** @import { Known } from "./reading.js" */

const SPACE_MARK = "▁";
const GOES_ON = /^##./s;
const BYTE = /^<0x[0-9A-F]{2}>$/;

/** Return how its file writes a token; null where it writes what stands in the text.
    @param {Known | undefined} known
    @param {string} piece What stands in the text. */
export function spelledUnlike(known, piece) {
  return known && !known.special && known.written !== null && known.written !== piece ? known.written : null;
}

/** Return a spelling as it is shown in running text: line breaks and the like as code points.
    @param {string} written */
export function shownSpelling(written) {
  const isShown = (/** @type {string} */ kind) => kind === "text" || kind === "mark" || kind === "space";
  return [...piecesOf(written)].map(({ kind, text }) => (isShown(kind) ? text : codePointName(text))).join("");
}

/** Return whether the file of these tokens writes any with marks of its own.
    @param {Map<number, Known>} about */
export function hasSpelling(about) {
  return [...about.values()].some(({ written, special }) => written !== null && !special);
}

/** Say what the marks of these tokens mean; empty if they have none.
    @param {Map<number, Known>} about */
export function legendOf(about) {
  const written = [...about.values()].flatMap((known) => (known.written === null || known.special ? [] : [known.written]));
  const sentences = [];
  if (written.some((text) => text.includes(SPACE_MARK))) sentences.push("▁ stands for a space.");
  if (written.some((text) => GOES_ON.test(text))) sentences.push("## means that the word goes on.");
  if (written.some((text) => BYTE.test(text))) sentences.push("<0x…> is one byte of a character that no token spells.");
  return sentences.join(" ");
}

/** Say of one token what its marks mean; empty if it has none.
    @param {Known} known
    @param {boolean} isEmpty Whether it stands for no character of the text. */
export function markNote(known, isEmpty) {
  if (known.special || known.marker) return "";
  if (isEmpty) return "The tokenizer adds this token: it stands for nothing in your text.";
  const { written } = known;
  if (written === null) return "";
  if (written.includes(SPACE_MARK)) return "▁ stands for a space, U+0020.";
  if (GOES_ON.test(written)) return "## means that the word goes on, and stands for nothing in your text.";
  if (BYTE.test(written)) return "A byte that stands for itself, because no token spells the whole character.";
  return "";
}
