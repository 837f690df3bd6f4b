// Pack a text's tokens for the token view, as `views/packing.py` does for the app.

import { mergeBytes } from "./encode.js";

/** @import { Token } from "../../ui/components/shared/component.js"
    @import { PackedNumbers, PackedTokens } from "../../ui/components/token_view/reading.js"
    @import { Vocabulary } from "./vocabulary.js" */

const N_BYTES = 256; // tokens that no merge made
const TOKENS_CONSIDERED = 400;
const LETTER = /\p{L}/u;
const STRICT_UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** @param {number[][]} pretokens The ids of each pre-token.
    @param {Vocabulary} vocabulary
    @returns {PackedTokens} */
export function packTokens(pretokens, vocabulary) {
  const ids = pretokens.flat();
  return {
    ids: packNumbers(ids.map((id) => id + 1)),
    lengths: packNumbers(ids.map((id) => vocabulary.tokens[id].length)),
    starts: packNumbers(packBits(pretokens.flatMap((pretoken) => pretoken.map((_, i) => i === 0)))),
    table: tokenTable(new Set(ids), vocabulary),
  };
}

/** Return the index of the longest word near the start of a text, as `find_longest_word` does in the app;
    null without tokens.
    @param {number[]} ids
    @param {Vocabulary} vocabulary */
export function findLongestWord(ids, { tokens }) {
  const sizes = ids.slice(0, TOKENS_CONSIDERED).map((id) => {
    const token = asToken(tokens[id]);
    return typeof token === "string" && LETTER.test(token) ? [...token].length : 1;
  });
  return sizes.length ? sizes.indexOf(Math.max(...sizes)) : null;
}

/** Encode numbers from 0 to 2 ** 32 - 1 as base64.
    @param {number[]} numbers
    @returns {PackedNumbers} */
export function packNumbers(numbers) {
  const top = numbers.reduce((most, number) => Math.max(most, number), 0);
  const Kind = top < 2 ** 8 ? Uint8Array : top < 2 ** 16 ? Uint16Array : Uint32Array;
  let binary = "";
  for (const byte of new Uint8Array(Kind.from(numbers).buffer)) binary += String.fromCharCode(byte);
  return { type: Kind.name, data: btoa(binary) };
}

/** Pack eight bits into each number, the first as the most significant.
    @param {boolean[]} bits */
function packBits(bits) {
  const packed = Array.from({ length: Math.ceil(bits.length / 8) }, () => 0);
  bits.forEach((bit, i) => (packed[i >> 3] |= Number(bit) << (7 - (i & 7))));
  return packed;
}

/** Return the tokens with these ids and all their parts, down to the bytes.
    @param {Set<number>} used
    @param {Vocabulary} vocabulary
    @returns {PackedTokens["table"]} */
function tokenTable(used, { tokens, ids }) {
  /** The two parts of each token that a merge made; none of a byte.
      @type {Map<number, number[]>} */
  const parts = new Map();
  const waiting = [...used];
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    if (parts.has(id)) continue;
    // What was learned before the token makes its two parts.
    parts.set(id, id < N_BYTES ? [] : mergeBytes(tokens[id], ids, id));
    waiting.push(.../** @type {number[]} */ (parts.get(id)));
  }
  const known = [...parts.keys()].sort((one, other) => one - other);
  return {
    ids: known,
    tokens: known.map((id) => asToken(tokens[id])),
    written: [],
    left: known.map((id) => parts.get(id)?.[0] ?? -1),
    right: known.map((id) => parts.get(id)?.[1] ?? -1),
    rank: known.map((id) => Math.max(id - N_BYTES, -1)),
    special: [],
    ends: [],
    marker: null,
    n_merges: ids.size - N_BYTES,
    normalizes: false,
  };
}

/** @param {string} bytes
    @returns {Token} */
function asToken(bytes) {
  const values = Array.from(bytes, (byte) => byte.charCodeAt(0));
  try {
    return STRICT_UTF8.decode(Uint8Array.from(values));
  } catch {
    return values; // The token splits a character.
  }
}
