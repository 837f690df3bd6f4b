// The run in the browser: arrays unpacked from Python's messages, traced blocks of merges, and lookups by
// step. `packing.py` defines the messages.

import { unpack } from "../shared/arrays.js";
import { lastThat } from "../shared/binary_search.js";
import { colourSlot } from "../shared/colours.js";

/** @import { Numbers } from "../shared/arrays.js"
    @import { Token } from "../shared/component.js" */

/** @typedef {object} Pair
    @property {number} left
    @property {number} right */

/** @typedef {Pair & { count: number }} CountedPair */

/** @typedef {CountedPair & { next: boolean, tied: boolean }} RacingPair */

/** A word as the grid draws it. A base symbol is text if the alphabet lacks it.
    @typedef {object} Word
    @property {string} key
    @property {(number | string)[]} base
    @property {number | null} count
    @property {boolean} cut Whether only the beginning of the word was sent. */

/** Traced merges from `start` to before `stop`, and the arrays of their trace by name.
    @typedef {object} Block
    @property {string} player
    @property {number} start
    @property {number} stop
    @property {Record<string, number>} widths How many numbers of an array belong to one merge.
    @property {Word[]} words
    @property {Record<string, Numbers>} arrays */

/** A merge by its rank, and how many tokens it saved.
    @typedef {[number, number]} Saver */

/** A text and its tokens; text in no token has the id -1.
    @typedef {{ text: string, ids: number[], lengths: number[] }} RibbonTokens */

/** What the last frame shows. The site has no `next`.
    @typedef {object} Ending
    @property {number} before The tokens of the text before the first merge.
    @property {number} after
    @property {Saver[]} savers Those that saved most, the largest first.
    @property {RibbonTokens} [ribbon] The beginning of the text.
    @property {{ name: string, note: string, href: string }[]} [next] */

/** A token that was taken out again after so many merges, and the parts that it splits into, each with its
    length in base symbols.
    @typedef {{ done: number, id: number, parts: [number, number][] }} Removal */

/** @typedef {object} Run
    @property {string} player
    @property {Token[]} tokens By id.
    @property {number} n_merges
    @property {number} n_pretokens
    @property {number[]} block_starts
    @property {number} opening_step Where the page opens the run.
    @property {number} n_for_terms How many of the first merges were chosen by a term or a language, not by count.
    @property {string[] | null} [languages] Those that took turns; null unless languages did.
    @property {Numbers} [picked] The number of the language that picked each merge; -1 for all together.
    @property {Removal[]} removals In order; empty unless training took tokens out again.
    @property {"smallest-pair" | "first-seen"} tie_break
    @property {string | null} end_of_word
    @property {boolean} [joins_words] Whether the merges may cross the borders of words.
    @property {string} ending Why training stopped.
    @property {Ending} [end] What the last frame shows.
    @property {Numbers} merge_left
    @property {Numbers} merge_right
    @property {Numbers} merge_id
    @property {Numbers} merge_count
    @property {RacingPair[]} last The pairs left after the last merge.
    @property {Word[]} frequent
    @property {boolean} isSaved Whether this is a saved replay, which cannot request more merges.
    @property {Map<number, Block>} blocks The blocks received so far, by number.
    @property {Map<number, number>} firstMade The first merge that makes each id.
    @property {(left: number, right: number) => number[]} findRanks The merges of a pair.
    @property {(id: number) => boolean} isLearned Whether a merge makes an id.
    @property {(id: number) => number} findSlot The colour slot of an id. */

/** Unpack a run: tokens, merges, frequent words; no block of traced merges yet.
    @param {Uint8Array} message
    @param {{ isSaved?: boolean }} [where]
    @returns {Run} */
export function unpackRun(message, { isSaved = false } = {}) {
  const { header, arrays } = unpack(message);
  const { merge_left, merge_right, merge_id, merge_count, picked } = arrays;
  const lookups = buildLookups({ merge_left, merge_right, merge_id }, header.tokens.length);
  const last = Array.from(arrays.last_count, (count, i) => ({
    left: arrays.last_left[i], right: arrays.last_right[i], count, next: false, tied: false,
  }));
  return {
    ...header,
    ...{ merge_left, merge_right, merge_id, merge_count, picked, last, isSaved, ...lookups },
    frequent: wordsIn(arrays),
    blocks: new Map(),
    findSlot: colourSlot,
  };
}

/** Return the lookups of merges: by the id that they make, and by the pair that they join.
    @param {Pick<Run, "merge_left" | "merge_right" | "merge_id">} merges
    @param {number} size How many ids there are.
    @returns {Pick<Run, "firstMade" | "findRanks" | "isLearned">} */
export function buildLookups({ merge_left, merge_right, merge_id }, size) {
  /** @type {Map<number, number>} */
  const firstMade = new Map();
  /** @type {Map<number, number[]>} */
  const ranks = new Map();
  for (let rank = 0; rank < merge_id.length; rank++) {
    const key = merge_left[rank] * size + merge_right[rank];
    // A pair can be merged again if a later merge produces an existing token.
    ranks.set(key, [...(ranks.get(key) ?? []), rank]);
    if (!firstMade.has(merge_id[rank])) firstMade.set(merge_id[rank], rank);
  }
  return {
    firstMade,
    findRanks: (left, right) => ranks.get(left * size + right) ?? [],
    isLearned: (id) => firstMade.has(id),
  };
}

/** Unpack traced merges.
    @param {Uint8Array} message
    @returns {Block} */
export function unpackBlock(message) {
  const { header, arrays } = unpack(message);
  return { ...header, words: wordsIn(arrays), arrays };
}

/** @param {Record<string, Numbers>} arrays
    @returns {Word[]} */
function wordsIn({ word_index, word_symbols, word_starts, word_counts, word_cut }) {
  return Array.from(word_counts, (count, word) => ({
    key: `word ${word_index[word]}`,
    base: Array.from(word_symbols.subarray(word_starts[word], word_starts[word + 1])),
    count,
    cut: word_cut[word] === 1,
  }));
}

/** @param {Uint8Array} one
    @param {Uint8Array} two */
export function sameBytes(one, two) {
  return one.length === two.length && one.every((byte, i) => byte === two[i]);
}

/** Return the number of the block with the merge after `step`; the last block at the end of the run.
    @param {Run} run
    @param {number} step */
export function blockNumber(run, step) {
  const merge = Math.max(0, Math.min(step, run.n_merges - 1));
  return lastThat(0, run.block_starts.length - 1, (number) => run.block_starts[number] <= merge);
}

/** Store traced merges; one message may contain several blocks.
    @param {Run} run
    @param {Block} block */
export function keepBlocks(run, block) {
  const last = blockNumber(run, block.stop - 1);
  for (let number = blockNumber(run, block.start); number <= last; number++) run.blocks.set(number, block);
}

/** Return the block with the merge after `step`; undefined if it is not loaded.
    @param {Run} run
    @param {number} step */
export function blockAt(run, step) {
  return run.blocks.get(blockNumber(run, step));
}

/** Return the only block of a saved replay; null if the run is not a saved replay.
    @param {Run} run */
export function mergesSaved(run) {
  const [block] = run.isSaved ? run.blocks.values() : [];
  return block ?? null;
}

/** Return the last step from `from` to `to` up to which all merges are loaded.
    @param {Run} run
    @param {number} from
    @param {number} to */
export function lastReady(run, from, to) {
  const end = Math.min(to, run.n_merges);
  if (mergesSaved(run)) return end;
  for (let number = blockNumber(run, from); number <= blockNumber(run, to); number++) {
    if (!run.blocks.has(number)) return run.block_starts[number] - 1;
  }
  return end;
}

/** @param {Run} run
    @param {number} step */
export function isTraced(run, step) {
  return step < run.n_merges && blockAt(run, step) !== undefined;
}

/** @param {Run} run
    @param {number} step */
function tracedBlock(run, step) {
  const block = blockAt(run, step);
  if (!block) throw new Error(`Merge ${step + 1} is not loaded; check isTraced first.`);
  return block;
}

/** Return one figure from the trace of the merge after `step`.
    @param {Run} run
    @param {string} name
    @param {number} step */
export function traced(run, name, step) {
  const { arrays, start } = tracedBlock(run, step);
  return arrays[name][step - start];
}

/** Return the row of a traced table for the merge after `step`, without the padding at its end.
    @param {Run} run
    @param {string} name
    @param {number} step
    @param {string} countName
    @returns {CountedPair[]} */
export function tableRow(run, name, step, countName = "count") {
  const { arrays, widths, start } = tracedBlock(run, step);
  const [left, right, count] = ["left", "right", countName].map((part) => arrays[`${name}_${part}`]);
  const from = (step - start) * widths[name];
  const rows = [];
  for (let i = from; i < from + widths[name] && left[i] >= 0; i++) {
    rows.push({ left: left[i], right: right[i], count: count[i] });
  }
  return rows;
}

/** Return all pairs tied for first place, in the order of the tie rule; empty if only the winner has its
    count.
    @param {Run} run
    @param {number} step */
export function tiesAt(run, step) {
  const { tied_left, tied_right, tied_from, tied_until } = tracedBlock(run, step).arrays;
  /** @type {Pair[]} */
  const pairs = [];
  for (let i = 0; i < tied_left.length; i++) {
    if (tied_from[i] <= step && step < tied_until[i]) pairs.push({ left: tied_left[i], right: tied_right[i] });
  }
  return pairs;
}

/** Return the most frequent pairs after `step` merges, the next to merge first; null if not traced.
    @param {Run} run
    @param {number} step
    @returns {RacingPair[] | null} */
export function raceAt(run, step) {
  if (step >= run.n_merges) return run.last;
  if (!isTraced(run, step)) return null;
  return tableRow(run, "top", step).map((pair, i, all) => ({
    ...pair, next: i === 0, tied: i > 0 && !(step < run.n_for_terms) && pair.count === all[0].count,
  }));
}

/** Return the words that the merge after `step` changes, most occurrences first, as indices in the block.
    @param {Block} block
    @param {number} step */
export function touchedIn({ arrays, widths, start }, step) {
  const from = (step - start) * widths.touched;
  return Array.from(arrays.touched.subarray(from, from + widths.touched)).filter((word) => word >= 0);
}

/** Return the words with the most occurrences of the next pair, each with its number of occurrences.
    @param {Run} run
    @param {number} step */
export function givenAt(run, step) {
  const block = tracedBlock(run, step);
  const width = block.widths.given;
  return touchedIn(block, step).slice(0, width).map((word, i) => ({
    word: block.words[word],
    given: block.arrays.touched_given[(step - block.start) * width + i],
  }));
}

/** Return the number of pairs for which the race has room.
    @param {Run} run
    @param {number} step */
export function widthOfRace(run, step) {
  return tracedBlock(run, step).widths.top;
}
