// Unpack the text and tokens that Python sent: where each token is, and what it is. See `packing.py`
// for the other side.

import { bytesFromBase64 } from "../shared/base64.js";
import { isSuperword } from "../shared/characters.js";
import { runningSlots } from "../shared/colours.js";

/** @import { Token } from "../shared/component.js" */

/** @typedef {{ type: string, data: string }} PackedNumbers */

/** @typedef {object} PackedTokens
    @property {PackedNumbers} ids
    @property {PackedNumbers} lengths
    @property {PackedNumbers} starts
    @property {{ ids: number[], tokens: Token[], written: (string | null)[], left: number[], right: number[], rank: number[],
      special: number[], ends: number[], marker: string | null, n_merges: number | null, normalizes: boolean }} table */

/** What is known of a token.
    @typedef {object} Known
    @property {number} id
    @property {Token} token
    @property {string | null} written Its text with the marks of another library's file, such as ▁.
    @property {number} left The id of its left part; -1 where no merge made it.
    @property {number} right
    @property {number} rank Of the merge that made it; -1 where none did.
    @property {boolean} special
    @property {boolean} ends Whether it holds the end-of-word marker.
    @property {boolean} marker Whether it is that marker alone. */

/** The position of each token, and of the end: one entry more than there are tokens.
    @typedef {object} Places
    @property {Uint32Array} at In UTF-16 units.
    @property {Uint8Array} into In bytes of the character at `at` that belong to tokens before it.
    @property {Uint32Array} byteAt In bytes. */

/** A text's tokens and their properties; an id is -1 for text in no token.
    @typedef {Places & { text: string, ids: Int32Array, n: number, about: Map<number, Known>,
      slots: Uint8Array, order: Uint32Array, marker: string | null, nMerges: number | null, normalizes: boolean,
      unsettled: number, superwords: Set<number>, startsPretoken: (i: number) => boolean }} Tokens */

const MIN_TOKENS_PER_BLOCK = 200;
const MAX_TOKENS_PER_BLOCK = 2000;

/** @param {PackedNumbers} packed */
export function unpackNumbers({ type, data }) {
  const { buffer } = bytesFromBase64(data);
  if (type === "Uint8Array") return new Uint8Array(buffer);
  return type === "Uint16Array" ? new Uint16Array(buffer) : new Uint32Array(buffer);
}

/** Return the number of UTF-8 bytes of the character at an offset.
    @param {string} text
    @param {number} at */
export function utf8Size(text, at) {
  const unit = text.charCodeAt(at);
  if (unit < 0x80) return 1;
  if (unit < 0x800) return 2;
  return unit >= 0xd800 && unit < 0xdc00 ? 4 : 3;
}

/** Return the positions in a text of tokens with these lengths in bytes.
    @param {string} text
    @param {ArrayLike<number>} lengths
    @returns {Places} */
export function placeTokens(text, lengths) {
  const n = lengths.length;
  const places = { at: new Uint32Array(n + 1), into: new Uint8Array(n + 1), byteAt: new Uint32Array(n + 1) };
  let [at, into, byteAt] = [0, 0, 0];
  for (let i = 0; i < n; i++) {
    places.at[i] = at;
    places.into[i] = into;
    places.byteAt[i] = byteAt;
    byteAt += lengths[i];
    for (let left = lengths[i]; left > 0; ) {
      const size = utf8Size(text, at);
      const step = Math.min(left, size - into);
      left -= step;
      into += step;
      if (into === size) {
        at += size === 4 ? 2 : 1;
        into = 0;
      }
    }
  }
  places.at[n] = at;
  places.into[n] = into;
  places.byteAt[n] = byteAt;
  return places;
}

/** @param {string} text
    @param {PackedTokens} packed
    @param {number | null} [unsettled] The first token that text added to a prompt may change.
    @returns {Tokens} */
export function readTokens(text, packed, unsettled) {
  const { table } = packed;
  const packedIds = unpackNumbers(packed.ids);
  const ids = new Int32Array(packedIds.length);
  // Int32Array.from with a function takes 15 times as long.
  for (let i = 0; i < ids.length; i++) ids[i] = packedIds[i] - 1;
  const starts = unpackNumbers(packed.starts);
  const about = knownTokens(table);
  const joined = [...about.values()].filter(({ token, rank }) => rank >= 0 && isSuperword(token));
  const used = new Set(joined.length ? ids : []); // a million ids are looked through only if need be
  const superwords = new Set(joined.map(({ id }) => id).filter((id) => used.has(id)));
  return {
    text, ids,
    ...placeTokens(text, unpackNumbers(packed.lengths)),
    n: ids.length,
    about,
    superwords,
    slots: runningSlots(ids),
    order: readingOrder(ids),
    marker: table.marker,
    nMerges: table.n_merges,
    normalizes: table.normalizes,
    unsettled: unsettled ?? Infinity,
    startsPretoken: (i) => ((starts[i >> 3] >> (7 - (i & 7))) & 1) === 1,
  };
}

/** @param {PackedTokens["table"]} table
    @returns {Map<number, Known>} */
function knownTokens(table) {
  const special = new Set(table.special);
  const ends = new Set(table.ends);
  return new Map(table.ids.map((id, k) => {
    const [token, left, right, rank] = [table.tokens[k], table.left[k], table.right[k], table.rank[k]];
    const marker = table.marker !== null && token === table.marker && rank < 0 && ends.has(id);
    return [id, { id, token, written: table.written[k] ?? null, left, right, rank, special: special.has(id), ends: ends.has(id), marker }];
  }));
}

/** Return the number of each token, from 1; text in no token is not counted.
    @param {Int32Array} ids */
function readingOrder(ids) {
  const order = new Uint32Array(ids.length);
  let n = 0;
  for (let i = 0; i < ids.length; i++) if (ids[i] >= 0) order[i] = ++n;
  return order;
}

/** Return whether a token covers no text: an end-of-word marker on its own.
    @param {Places} tokens
    @param {number} i */
export function isEmpty(tokens, i) {
  return tokens.byteAt[i] === tokens.byteAt[i + 1];
}

/** A character split by a boundary, and the tokens that share it, from `start` to before `end`.
    @typedef {{ at: number, start: number, end: number }} CutCharacter */

/** @param {Places & { n: number }} tokens
    @returns {CutCharacter[]} */
export function cutCharacters(tokens) {
  /** @type {CutCharacter[]} */
  const cuts = [];
  for (let i = 1; i < tokens.n; i++) {
    if (tokens.into[i] === 0) continue;
    const last = cuts.at(-1);
    if (last && last.at === tokens.at[i]) last.end = i + 1;
    else cuts.push({ at: tokens.at[i], start: i - 1, end: i + 1 });
  }
  return cuts;
}

/** Return the first token of each block. Blocks start at the same places in all readings: at a line's end
    where there is one, else wherever no reading has a token across.
    @param {(Places & { text: string, n: number })[]} readings
    @returns {number[][]} */
export function blockCuts(readings) {
  const [first, ...others] = readings;
  const cursors = others.map(() => 0);
  const cuts = [readings.map(() => 0)];
  let begun = 0;
  for (let i = 1; i < first.n; i++) {
    const size = i - begun;
    const at = first.at[i];
    if (size < MIN_TOKENS_PER_BLOCK || first.into[i] !== 0 || isEmpty(first, i)) continue;
    const lineEnds = first.text.charCodeAt(at - 1) === 10;
    if (!lineEnds && size < MAX_TOKENS_PER_BLOCK) continue;
    const same = others.every((other, k) => {
      let j = cursors[k];
      while (j < other.n && (other.at[j] < at || (other.at[j] === at && isEmpty(other, j)))) j++;
      cursors[k] = j;
      return j < other.n && other.at[j] === at && other.into[j] === 0;
    });
    if (same) {
      cuts.push([i, ...cursors]);
      begun = i;
    }
  }
  cuts.push(readings.map((reading) => reading.n));
  return cuts;
}
