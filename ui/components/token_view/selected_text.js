// The selected part of a text. Copies are taken from the text itself, because markers, code points and
// bytes are drawn by CSS only.

/** @import { Tokens } from "./reading.js" */

/** One end of a selection: a block, and the number of UTF-16 units of its text before the end.
    @typedef {{ block: { start: number }, before: number }} End */

/** Return the offset of an end in the text.
    @param {Pick<Tokens, "at">} tokens
    @param {End} end */
export function findOffset({ at }, { block, before }) {
  return at[block.start] + before;
}

/** Return the selected part of the text, {start, end} in UTF-16 units; null if none of it is selected. A
    selection that goes on outside the text, where its end is null, goes to the end of the text.
    @param {Pick<Tokens, "at" | "text">} tokens
    @param {End | null} first
    @param {End | null} last */
export function selectedPart(tokens, first, last) {
  if (!first && !last) return null;
  const start = first ? findOffset(tokens, first) : 0;
  const end = last ? findOffset(tokens, last) : tokens.text.length;
  return start < end ? { start, end } : null;
}
