// Byte-pair encoding of a text in the browser: merges learned step by step, and replayed on other words.
//
// A text is cut into words of base symbols, which are ids from 0. Learning is a generator that yields after each
// merge, so that a long text can be learned in slices (slices.js). Of each word it keeps when neighbours were
// joined, which is what a ribbon draws (ribbon.js).

import { NEVER } from "./bars.js";
import { utf8 } from "./characters.js";

/** A pair of tokens that becomes a token, and how often the pair occurred then.
    @typedef {{ left: number, right: number, id: number, count: number }} Merge */

/** A distinct word: its symbols now, where each begins in base symbols, and after how many merges each base symbol
    was joined to the next.
    @typedef {{ count: number, symbols: number[], starts: number[], joinedAt: Int32Array }} Word */

/** @typedef {{ merges: Merge[], words: Map<string, Word>, nBase: number }} Learned */

/** @typedef {object} Rule
    @property {number} nBase How many base symbols there are: merges get the ids behind them.
    @property {number} [minCount] Occurrences of a pair that is joined.
    @property {number} [most] Merges that are learned. */

/** Learn from the words of a text. Yields after each merge; a key stands for a word in the result.
    @param {string[]} keys The words as they stand in the text.
    @param {(key: string) => number[]} toSymbols
    @param {Rule} rule
    @returns {Generator<undefined, Learned>} */
export function* learnMerges(keys, toSymbols, { nBase, minCount = 1, most = Infinity }) {
  const words = distinctWords(keys, toSymbols);
  /** @type {Merge[]} */
  const merges = [];
  while (merges.length < most) {
    const best = mostFrequent(words.values());
    if (!best || best.count < minCount) break;
    merges.push({ ...best, id: nBase + merges.length });
    for (const word of words.values()) join(word, merges.at(-1), merges.length);
    yield;
  }
  return { merges, words, nBase };
}

/** Replay merges, in their order, on the words of a text.
    @param {string[]} keys
    @param {(key: string) => number[]} toSymbols
    @param {Merge[]} merges
    @returns {Map<string, Word>} */
export function replayMerges(keys, toSymbols, merges) {
  const ranks = new Map(merges.map(({ left, right }, rank) => [pairKey(left, right), rank]));
  const words = distinctWords(keys, toSymbols);
  for (const word of words.values()) {
    for (;;) {
      let first = Infinity;
      for (let i = 0; i + 1 < word.symbols.length; i++) {
        first = Math.min(first, ranks.get(pairKey(word.symbols[i], word.symbols[i + 1])) ?? Infinity);
      }
      if (first === Infinity) break;
      join(word, merges[first], first + 1);
    }
  }
  return words;
}

/** Return, for each base symbol of a whole text, after how many merges it was joined to the next.
    @param {string[]} keys
    @param {Map<string, Pick<Word, "joinedAt">>} words */
export function joinsOfText(keys, words) {
  return Int32Array.from(keys.flatMap((key) => [.../** @type {Word} */ (words.get(key)).joinedAt, NEVER]));
}

/** @param {string[]} keys
    @param {(key: string) => number[]} toSymbols */
function distinctWords(keys, toSymbols) {
  /** @type {Map<string, Word>} */
  const words = new Map();
  for (const key of keys) {
    const known = words.get(key);
    if (known) known.count++;
    else {
      const symbols = toSymbols(key);
      const joinedAt = new Int32Array(symbols.length - 1).fill(NEVER);
      words.set(key, { count: 1, symbols, starts: symbols.map((_, i) => i), joinedAt });
    }
  }
  return words;
}

/** Return the pair that occurs most often, overlapping or not, of several the one with the lower ids, as Train
    does; undefined if there is none.
    @param {Iterable<Word>} words */
function mostFrequent(words) {
  /** @type {Map<number, { left: number, right: number, count: number }>} */
  const pairs = new Map();
  let best;
  for (const { symbols, count } of words) {
    for (let i = 0; i + 1 < symbols.length; i++) {
      const key = pairKey(symbols[i], symbols[i + 1]);
      const pair = pairs.get(key);
      if (pair) pair.count += count;
      else pairs.set(key, { left: symbols[i], right: symbols[i + 1], count });
    }
  }
  for (const [key, pair] of pairs) {
    const more = best ? pair.count - best.count : 1;
    if (more > 0 || (best && more === 0 && key < pairKey(best.left, best.right))) best = pair;
  }
  return best;
}

/** @param {number} left
    @param {number} right */
function pairKey(left, right) {
  return left * 2 ** 26 + right;
}

/** Join each occurrence of a pair in a word, from left to right without overlap.
    @param {Word} word
    @param {Merge | undefined} merge
    @param {number} step How many merges have been done then. */
function join({ symbols, starts, joinedAt }, merge, step) {
  if (!merge) return;
  for (let i = 0; i + 1 < symbols.length; i++) {
    if (symbols[i] !== merge.left || symbols[i + 1] !== merge.right) continue;
    joinedAt[starts[i + 1] - 1] = step;
    symbols.splice(i, 2, merge.id);
    starts.splice(i + 1, 1);
  }
}

/** The bytes in the order of GPT-2's ids: those it writes as printable characters first. */
const BYTE_IDS = (() => {
  const isPrintable = (/** @type {number} */ byte) =>
    (byte > 32 && byte < 127) || (byte > 160 && byte < 173) || byte > 173;
  const bytes = Array.from({ length: 256 }, (_, byte) => byte);
  const ordered = [...bytes.filter(isPrintable), ...bytes.filter((byte) => !isPrintable(byte))];
  return new Map(ordered.map((byte, id) => [byte, id]));
})();

/** Return the bytes of a word as base symbols, with GPT-2's ids.
    @param {string} word */
export function byteSymbols(word) {
  return Array.from(utf8(word), (byte) => BYTE_IDS.get(byte) ?? 0);
}
