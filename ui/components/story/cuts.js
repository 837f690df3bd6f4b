// The knives: how a text is cut into pieces before anything is learned. No merge crosses a cut.

import { splitWords } from "../start_loop/learn.js";

/** @typedef {"none" | "gpt2" | "o200k"} CutName */

const UPPER = "\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}";
const LOWER = "\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}";
// \s is written out, because JavaScript's has U+FEFF and lacks U+0085; so is (?i:...), with ſ for s.
const ENDING = "(?:'(?:[sSſtTmMdD]|[rR][eE]|[vV][eE]|[lL][lL]))?";
const O200K = new RegExp(
  [
    `[^\\r\\n\\p{L}\\p{N}]?[${UPPER}]*[${LOWER}]+${ENDING}`,
    `[^\\r\\n\\p{L}\\p{N}]?[${UPPER}]+[${LOWER}]*${ENDING}`,
    "\\p{N}{1,3}",
    " ?[^\\p{White_Space}\\p{L}\\p{N}]+[\\r\\n/]*",
    "\\p{White_Space}*[\\r\\n]+",
    "\\p{White_Space}+(?!\\P{White_Space})",
    "\\p{White_Space}+",
  ].join("|"),
  "gu",
);

/** Cut a text into pieces.
    @param {string} text
    @param {CutName} name
    @returns {string[]} */
export function cutText(text, name) {
  if (name === "gpt2") return splitWords(text);
  if (name === "o200k") return text.match(O200K) ?? [];
  return text ? [text] : [];
}
