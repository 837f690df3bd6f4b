// Byte-pair encoding of one sentence: cut into words and characters, then learned merge by merge.

import { buildLookups } from "../merge_player/run.js";
import { withMerge } from "../merge_player/symbols.js";

/** @import { Run } from "../merge_player/run.js"
    @import { PlacedSymbol } from "../merge_player/symbols.js" */

/** A run learned from a sentence, with all its merges.
    @typedef {Run & { n_tokens: number[], tied: number[], n_left: number }} LearnedRun
    @property n_tokens How many tokens the sentence has after each number of merges.
    @property tied How many pairs were as frequent as the one that each merge joined, itself included.
    @property n_left How many distinct pairs are left after the last merge. */

// GPT-2's pattern. \s is written out, because JavaScript's has U+FEFF and lacks U+0085.
const WORD = /'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\p{White_Space}\p{L}\p{N}]+|\p{White_Space}+(?!\P{White_Space})|\p{White_Space}+/gu;
const FEWEST = 2; // occurrences of a pair that is joined

/** Cut a text into words as GPT-2 does: a space belongs to the word behind it.
    @param {string} text
    @returns {string[]} */
export function splitWords(text) {
  return text.match(WORD) ?? [];
}

/** Learn from a text until no pair of neighbours occurs twice. Of the most frequent pairs, the first in
    the text is joined.
    @param {string} text
    @returns {LearnedRun} */
export function learn(text) {
  const tokens = Array.from(new Set(text)).sort((one, other) => codePoint(one) - codePoint(other));
  const idByCharacter = new Map(tokens.map((character, id) => [character, id]));
  const bases = splitWords(text).map((word) => Array.from(word, (character) => idByCharacter.get(character) ?? 0));
  const merges = { left: emptyList(), right: emptyList(), id: emptyList(), count: emptyList() };
  const tied = emptyList();
  let words = bases.map((base) => base.map((id, start) => ({ id, start, length: 1 })));
  const n_tokens = [countSymbols(words)];
  for (;;) {
    const { left, right, count, nTied, nPairs } = mostFrequent(words);
    if (count < FEWEST) return asRun({ tokens, bases, merges, n_tokens, tied, n_left: nPairs });
    const id = tokens.push(tokens[left] + tokens[right]) - 1;
    words = words.map((word) => /** @type {Symbols} */ (withMerge(word, left, right, id)));
    for (const [name, value] of Object.entries({ left, right, id, count })) {
      merges[/** @type {keyof typeof merges} */ (name)].push(value);
    }
    tied.push(nTied);
    n_tokens.push(countSymbols(words));
  }
}

/** @typedef {(PlacedSymbol & { id: number })[]} Symbols */

/** Return the pair that occurs most often, overlapping or not; of several, the first. The count is 0 where
    there is no pair.
    @param {Symbols[]} words */
function mostFrequent(words) {
  /** @type {Map<number, { left: number, right: number, count: number }>} */
  const pairs = new Map();
  for (const word of words) {
    for (let i = 0; i + 1 < word.length; i++) {
      const [left, right] = [word[i].id, word[i + 1].id];
      const key = left * 2 ** 26 + right;
      const pair = pairs.get(key);
      if (pair) pair.count++;
      else pairs.set(key, { left, right, count: 1 });
    }
  }
  let best = { left: -1, right: -1, count: 0 };
  let nTied = 0;
  for (const pair of pairs.values()) {
    if (pair.count > best.count) [best, nTied] = [pair, 1];
    else if (pair.count === best.count) nTied++;
  }
  return { ...best, nTied, nPairs: pairs.size };
}

/** Return what was learned as the merge player's modules read it: a run whose merges are all there.
    @param {{ tokens: string[], bases: number[][], merges: Record<"left" | "right" | "id" | "count", number[]> }
      & Pick<LearnedRun, "n_tokens" | "tied" | "n_left">} learned
    @returns {LearnedRun} */
function asRun({ tokens, bases, merges, ...counts }) {
  const merge_left = Int32Array.from(merges.left);
  const merge_right = Int32Array.from(merges.right);
  const merge_id = Int32Array.from(merges.id);
  const n_merges = merge_id.length;
  const untraced = { player: "", start: 0, stop: n_merges, widths: {}, words: [], arrays: {} };
  return {
    ...counts,
    ...{ player: "", tokens, n_merges, n_pretokens: bases.length, ending: "", end_of_word: null, last: [] },
    ...{ merge_left, merge_right, merge_id, merge_count: Int32Array.from(merges.count) },
    ...buildLookups({ merge_left, merge_right, merge_id }, tokens.length),
    tie_break: "first-seen",
    n_for_terms: 0,
    frequent: bases.map((base, word) => ({ key: `word ${word}`, base, count: null, cut: false })),
    isSaved: true,
    block_starts: [0],
    blocks: new Map([[0, untraced]]),
  };
}

/** @param {string} character */
function codePoint(character) {
  return /** @type {number} */ (character.codePointAt(0));
}

/** @param {Symbols[]} words */
function countSymbols(words) {
  return words.reduce((sum, word) => sum + word.length, 0);
}

/** @returns {number[]} */
function emptyList() {
  return [];
}
