// Disagreements: where tokenizers split a text differently.

import { lastThat } from "../shared/binary_search.js";
import { unpackNumbers } from "./reading.js";

/** @import { PackedNumbers, Places, Tokens } from "./reading.js" */

/** A disagreement, from `start` up to but not including `end`, in bytes.
    @typedef {object} Span
    @property {number} start
    @property {number} end
    @property {boolean} hasText Whether it covers more than white space. */

/** @typedef {{ starts: PackedNumbers, ends: PackedNumbers, has_text: PackedNumbers }} PackedSpans */

/** @param {PackedSpans} packed
    @returns {Span[]} */
export function readSpans(packed) {
  const [starts, ends, hasText] = [packed.starts, packed.ends, packed.has_text].map(unpackNumbers);
  return Array.from(starts, (start, k) => ({ start, end: ends[k], hasText: hasText[k] === 1 }));
}

/** Return for each token the number of the span that its first byte is in; -1 for none.
    @param {Places & { n: number }} tokens
    @param {Pick<Span, "start" | "end">[]} spans */
export function spansByToken(tokens, spans) {
  const of = new Int32Array(tokens.n).fill(-1);
  let k = 0;
  for (let i = 0; i < tokens.n; i++) {
    while (k < spans.length && spans[k].end <= tokens.byteAt[i]) k++;
    if (k < spans.length && spans[k].start <= tokens.byteAt[i]) of[i] = k;
  }
  return of;
}

/** Return the token that holds the byte at an offset.
    @param {Places & { n: number }} tokens
    @param {number} byte */
export function tokenAtByte(tokens, byte) {
  return lastThat(0, tokens.n - 1, (i) => tokens.byteAt[i] <= byte);
}

/** Return how a reading splits a span: the indices of its tokens, and any text in no token between them.
    @param {Pick<Tokens, "text" | "ids" | "n" | keyof Places>} tokens
    @param {Span} span
    @returns {({ token: number } | { uncovered: string })[]} */
export function partsOfSpan(tokens, { start, end }) {
  const isInside = (/** @type {number} */ i) => i < tokens.n && tokens.byteAt[i] < end;
  const parts = [];
  for (let i = tokenAtByte(tokens, start); isInside(i); i++) {
    if (tokens.ids[i] >= 0) {
      parts.push({ token: i });
      continue;
    }
    const from = i;
    while (isInside(i + 1) && tokens.ids[i + 1] < 0) i++;
    parts.push({ uncovered: tokens.text.slice(tokens.at[from], tokens.at[i + 1]) });
  }
  return parts;
}

/** Return the span before or after another, wrapping around; the last or the first if it is not in the list.
    @param {number[]} active
    @param {number} focused
    @param {1 | -1} direction */
export function findNeighbour(active, focused, direction) {
  const at = active.indexOf(focused);
  return active[(at + direction + active.length) % active.length];
}
