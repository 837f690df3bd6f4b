// The contents of a block of text, in order: pieces of tokens, markers that cover no text, and characters
// split by boundaries, once each, with the bytes that each token holds.

import { isEmpty, utf8Size } from "./reading.js";

/** @import { Tokens } from "./reading.js" */

/** The bytes of a split character that one token holds.
    @typedef {{ token: number, from: number, to: number }} Bytes */

/** `span` is the disagreement that a piece is in; -1 for none.
    @typedef {{ kind: "text", token: number, span: number, text: string }
      | { kind: "marker", token: number, span: number }
      | { kind: "cut", span: number, character: string, bytes: Bytes[] }} BlockPiece */

/** Return the pieces of the tokens from `start` to before `end`. No character is cut at the ends. The
    pieces hold the whole text of these tokens, each character once.
    @param {Pick<Tokens, "text" | "n" | "at" | "into" | "byteAt">} tokens
    @param {number} start
    @param {number} end
    @param {ArrayLike<number> | null} spanByToken The disagreement of each token; null where none are shown.
    @returns {BlockPiece[]} */
export function blockPieces(tokens, start, end, spanByToken) {
  const { text, at, into } = tokens;
  /** @type {BlockPiece[]} */
  const pieces = [];
  /** @type {Bytes[]} */
  let bytes = [];
  for (let i = start; i < end; i++) {
    const span = spanByToken ? spanByToken[i] : -1;
    let from = at[i];
    if (isEmpty(tokens, i)) {
      pieces.push({ kind: "marker", token: i, span });
      continue;
    }
    if (into[i] > 0) {
      const size = utf8Size(text, from);
      const within = at[i + 1] === from;
      bytes.push({ token: i, from: into[i], to: within ? into[i + 1] : size });
      if (within) continue;
      from += size === 4 ? 2 : 1;
    }
    if (from < at[i + 1]) pieces.push({ kind: "text", token: i, span, text: text.slice(from, at[i + 1]) });
    if (into[i + 1] > 0) {
      const character = String.fromCodePoint(/** @type {number} */ (text.codePointAt(at[i + 1])));
      bytes = [{ token: i, from: 0, to: into[i + 1] }];
      pieces.push({ kind: "cut", span: cutSpan(tokens, i, spanByToken), character, bytes });
    }
  }
  return pieces;
}

/** A split character is in a disagreement if any of its bytes is.
    @param {Pick<Tokens, "n" | "into">} tokens
    @param {number} i
    @param {ArrayLike<number> | null} spanByToken */
function cutSpan(tokens, i, spanByToken) {
  if (!spanByToken) return -1;
  let span = spanByToken[i];
  for (let j = i + 1; j < tokens.n && tokens.into[j] > 0 && span < 0; j++) span = spanByToken[j];
  return span;
}
