// How a tokenizer's file writes its tokens, with marks such as ▁, ## and <0xE2>, and what these mean.

import { codePointName, splitPieces } from "../shared/characters.js";

/** @import { Known, Tokens } from "./reading.js" */

const SPACE_MARK = "▁";
const GOES_ON = /^##./s;
const BYTE = /^<0x[0-9A-F]{2}>$/;
/** The marks, each with a test of a spelling and what the legend says.
    @type {[RegExp, string][]} */
const MEANINGS = [
  [/▁/, "▁ stands for a space."],
  [GOES_ON, "## means that the word continues."],
  [BYTE, "<0x…> is one byte of a character that no token spells."],
];

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
  return [...splitPieces(written)].map(({ kind, text }) => (isShown(kind) ? text : codePointName(text))).join("");
}

/** Return whether the file of these tokens writes any with marks of its own.
    @param {Map<number, Known>} about */
export function hasSpelling(about) {
  return [...about.values()].some(({ written, special }) => written !== null && !special);
}

/** Say what the marks in these tokens mean; empty if they have none. Text that happens to look like a
    mark, such as the ### of a heading, is none.
    @param {Pick<Tokens, "text" | "at" | "ids" | "n" | "about">} tokens */
export function describeLegend({ text, at, ids, n, about }) {
  const looksLike = new Map([...about.values()].flatMap((known) => {
    const kinds = MEANINGS.flatMap(([test], kind) => (known.written !== null && !known.special && test.test(known.written) ? [kind] : []));
    return kinds.length ? [[known.id, kinds]] : [];
  }));
  const possible = new Set([...looksLike.values()].flat()).size;
  const found = new Set();
  for (let i = 0; i < n && found.size < possible; i++) {
    const kinds = looksLike.get(ids[i]);
    if (kinds && spelledUnlike(about.get(ids[i]), text.slice(at[i], at[i + 1])) !== null) kinds.forEach((kind) => found.add(kind));
  }
  return MEANINGS.flatMap(([, sentence], kind) => (found.has(kind) ? [sentence] : [])).join(" ");
}

/** Say of one token what its marks mean; empty if it has none.
    @param {Known} known
    @param {string | null} piece What stands in the text; null where it stands for no character. */
export function markNote(known, piece) {
  if (known.special || known.marker) return "";
  if (piece === null) return "The tokenizer adds this token: it stands for nothing in your text.";
  const written = spelledUnlike(known, piece);
  if (written === null) return "";
  if (written.includes(SPACE_MARK)) return spaceNote(written, piece);
  if (GOES_ON.test(written)) return "## means that the word continues, and stands for nothing in your text.";
  if (BYTE.test(written)) return "A byte that stands for itself, because no token spells the whole character.";
  return "";
}

/** @param {string} written
    @param {string} piece */
function spaceNote(written, piece) {
  const marks = written.split(SPACE_MARK).length - 1;
  const spaces = piece.match(/[\s▁]/g) ?? [];
  if (!spaces.length) return "The tokenizer adds the ▁: your text has no space here.";
  const others = [...new Set(spaces)].filter((character) => character !== " " && character !== SPACE_MARK).map(codePointName);
  const meaning = others.length ? `▁ stands for white space, here ${others.join(", ")}.` : "▁ stands for a space, U+0020.";
  return marks > spaces.length ? `${meaning} The tokenizer adds one that is not in your text.` : meaning;
}
