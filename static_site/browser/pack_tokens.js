// Pack a text's tokens for the token view, as `views/packing.py` does for the app.

import { asToken } from "./engine/replay.js";
import { tokenAt } from "./engine/tokenizer_file.js";

/** @import { PackedNumbers, PackedTokens } from "../../ui/components/token_view/reading.js"
    @import { Encoded } from "./engine/encoding.js"
    @import { Table } from "./engine/tokenizer_file.js" */

const TOKENS_CONSIDERED = 400;
const MAX_ARGUMENTS = 8192; // of one call: browsers have a limit
const LETTER = /\p{L}/u;

/** A text's tokens, and the one to open first.
    @typedef {{ packed: PackedTokens, longest: number | null }} ShownTokens */

/** Packs texts that one tokenizer has encoded. */
export class TokenPacker {
  #tokens;
  #merges;
  /** The first merge that makes each token, and 0 if none does, plus 1. */
  #made;

  /** @param {Table} table */
  constructor({ tokens, merges }) {
    this.#tokens = tokens;
    this.#merges = merges;
    this.#made = new Int32Array(tokens.starts.length - 1);
    for (let rank = merges.length / 3 - 1; rank >= 0; rank--) this.#made[merges[3 * rank + 2]] = rank + 1;
  }

  /** @param {Encoded} encoded
      @returns {ShownTokens} */
  pack({ ids, lengths, startsWord }) {
    return {
      packed: {
        ids: packNumbers(ids.map((id) => id + 1)),
        lengths: packNumbers(lengths),
        starts: packNumbers(packBits(startsWord)),
        table: this.#table(new Set(ids)),
      },
      longest: this.#findLongestWord(ids),
    };
  }

  /** @param {number} id */
  #token(id) {
    return asToken(tokenAt(this.#tokens, id));
  }

  /** Return the index of the longest word near the start of a text, as `find_longest_word` does in the app.
      @param {Int32Array} ids */
  #findLongestWord(ids) {
    let [longest, most] = [/** @type {number | null} */ (null), 0];
    ids.subarray(0, TOKENS_CONSIDERED).forEach((id, i) => {
      if (id < 0) return;
      const token = this.#token(id);
      const size = typeof token === "string" && LETTER.test(token) ? [...token].length : 1;
      if (size > most) [longest, most] = [i, size];
    });
    return longest;
  }

  /** Return the tokens with these ids and all their parts, down to the bytes.
      @param {Set<number>} used
      @returns {PackedTokens["table"]} */
  #table(used) {
    const known = new Set();
    const waiting = [...used].filter((id) => id >= 0);
    for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
      if (known.has(id)) continue;
      known.add(id);
      const rank = this.#made[id] - 1;
      if (rank >= 0) waiting.push(this.#merges[3 * rank], this.#merges[3 * rank + 1]);
    }
    const ids = [...known].sort((one, other) => one - other);
    const part = (/** @type {number} */ id, /** @type {0 | 1} */ side) =>
      this.#made[id] ? this.#merges[3 * (this.#made[id] - 1) + side] : -1;
    return {
      ids,
      tokens: ids.map((id) => this.#token(id)),
      written: [],
      left: ids.map((id) => part(id, 0)),
      right: ids.map((id) => part(id, 1)),
      rank: ids.map((id) => this.#made[id] - 1),
      special: [],
      ends: [],
      marker: null,
      n_merges: this.#merges.length / 3,
      normalizes: false,
    };
  }
}

/** Encode numbers from 0 to 2 ** 32 - 1 as base64.
    @param {ArrayLike<number> & Iterable<number>} numbers
    @returns {PackedNumbers} */
export function packNumbers(numbers) {
  let top = 0;
  for (const number of numbers) if (number > top) top = number;
  const Kind = top < 2 ** 8 ? Uint8Array : top < 2 ** 16 ? Uint16Array : Uint32Array;
  const bytes = new Uint8Array(Kind.from(numbers).buffer);
  let binary = "";
  for (let at = 0; at < bytes.length; at += MAX_ARGUMENTS) binary += String.fromCharCode(...bytes.subarray(at, at + MAX_ARGUMENTS));
  return { type: Kind.name, data: btoa(binary) };
}

/** Pack eight bits into each number, the first as the most significant.
    @param {Uint8Array} bits */
function packBits(bits) {
  const packed = new Uint8Array(Math.ceil(bits.length / 8));
  bits.forEach((bit, i) => (packed[i >> 3] |= bit << (7 - (i & 7))));
  return packed;
}
