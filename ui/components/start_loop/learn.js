// Byte-pair encoding of one sentence: cut into words and characters, then learned merge by merge.

import { buildLookups } from "../merge_player/run.js";
import { assignSlots } from "../shared/colours.js";
import { withMerge } from "../merge_player/symbols.js";

/** @import { CountedPair, Run } from "../merge_player/run.js"
    @import { PlacedSymbol } from "../merge_player/symbols.js" */

/** A run learned from a sentence, with all its merges.
    @typedef {Run & { n_tokens: number[], tied: number[], n_left: number, slots: Map<string, number> }} LearnedRun
    @property n_tokens How many tokens the sentence has after each number of merges.
    @property tied How many pairs were as frequent as the one that each merge joined, itself included.
    @property n_left How many distinct pairs are left after the last merge.
    @property slots The colour slots of the learned tokens, by token. */

// GPT-2's pattern. \s is written out, because JavaScript's has U+FEFF and lacks U+0085.
const WORD = /'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\p{White_Space}\p{L}\p{N}]+|\p{White_Space}+(?!\P{White_Space})|\p{White_Space}+/gu;
const MIN_COUNT = 2; // occurrences of a pair that is joined
const MAX_PAIRS = 24; // in the race at each step

/** Cut a text into words as GPT-2 does: a space belongs to the word behind it.
    @param {string} text
    @returns {string[]} */
export function splitWords(text) {
  return text.match(WORD) ?? [];
}

/** Learn from a text until no pair of neighbours occurs twice. Of the most frequent pairs, the one
    with the lower ids is joined.
    @param {string} text
    @param {Map<string, number>} [slots] Colour slots that tokens keep where they can.
    @param {(text: string) => string[]} [split] How the text is cut into words.
    @returns {LearnedRun} */
export function learn(text, slots, split = splitWords) {
  const tokens = Array.from(new Set(text)).sort((one, other) => codePoint(one) - codePoint(other));
  const idByCharacter = new Map(tokens.map((character, id) => [character, id]));
  const bases = split(text).map((word) => Array.from(word, (character) => idByCharacter.get(character) ?? 0));
  const merges = { left: emptyList(), right: emptyList(), id: emptyList(), count: emptyList() };
  const tied = emptyList();
  /** @type {CountedPair[][]} */
  const races = [];
  let words = bases.map((base) => base.map((id, start) => ({ id, start, length: 1 })));
  const n_tokens = [countSymbols(words)];
  const shown = new Map();
  for (;;) {
    const { left, right, count, nTied, pairs } = mostFrequent(words);
    races.push(pairs.slice(0, MAX_PAIRS));
    for (const { id } of words.flat()) if (id >= idByCharacter.size) shown.set(id, races.length);
    if (count < MIN_COUNT) {
      const lives = [...shown].map(([id, until]) => ({ token: tokens[id], from: id - idByCharacter.size + 1, until }));
      const counts = { n_tokens, tied, n_left: pairs.length, slots: assignSlots(lives, slots) };
      return asRun({ tokens, bases, merges, races, ...counts });
    }
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

/** Return the pair that occurs most often, overlapping or not; of several, the one with the lower ids. The count is 0 where
    there is no pair. All pairs are returned as well, the most frequent first.
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
  // Of equally frequent pairs, the one with the lower ids is joined, as on Train.
  const ordered = [...pairs.values()].sort(
    (one, other) => other.count - one.count || one.left - other.left || one.right - other.right,
  );
  const best = ordered[0] ?? { left: -1, right: -1, count: 0 };
  return { ...best, nTied: ordered.filter(({ count }) => count === best.count).length, pairs: ordered };
}

/** Return what was learned as the merge player's modules read it: a run whose merges are all there.
    @param {{ tokens: string[], bases: number[][], merges: Record<"left" | "right" | "id" | "count", number[]>,
      races: CountedPair[][] } & Pick<LearnedRun, "n_tokens" | "tied" | "n_left" | "slots">} learned
    @returns {LearnedRun} */
function asRun({ tokens, bases, merges, races, ...counts }) {
  const merge_left = Int32Array.from(merges.left);
  const merge_right = Int32Array.from(merges.right);
  const merge_id = Int32Array.from(merges.id);
  const n_merges = merge_id.length;
  const column = (/** @type {"left" | "right" | "count"} */ name) =>
    Int32Array.from(races.flatMap((race) => Array.from({ length: MAX_PAIRS }, (_, i) => race[i]?.[name] ?? -1)));
  const none = new Int32Array();
  const traced = {
    ...{ player: "", start: 0, stop: n_merges, widths: { top: MAX_PAIRS }, words: [] },
    arrays: {
      ...{ top_left: column("left"), top_right: column("right"), top_count: column("count") },
      ...{ n_tied: Int32Array.from(counts.tied), tied_left: none, tied_right: none, tied_from: none, tied_until: none },
    },
  };
  return {
    ...counts,
    ...{ player: "", tokens, n_merges, n_pretokens: bases.length, ending: "", end_of_word: null },
    last: races[n_merges].map((pair) => ({ ...pair, next: false, tied: false })),
    ...{ merge_left, merge_right, merge_id, merge_count: Int32Array.from(merges.count) },
    ...buildLookups({ merge_left, merge_right, merge_id }, tokens.length),
    tie_break: "smallest-pair",
    n_for_terms: 0,
    removals: [],
    opening_step: 0,
    frequent: bases.map((base, word) => ({ key: `word ${word}`, base, count: null, cut: false })),
    isSaved: true,
    block_starts: [0],
    blocks: new Map([[0, traced]]),
    findSlot: (id) => counts.slots.get(tokens[id]) ?? 0,
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
