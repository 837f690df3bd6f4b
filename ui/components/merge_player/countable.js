// The words shown with a question: chosen so that the answer can be counted in them.

import { tiesAt, touchedIn } from "./run.js";
import { cellsOfWord } from "./word_layout.js";
import { symbolsAt } from "./symbols.js";

/** @import { Block, Run, Word } from "./run.js" */

/** Count the pairs in words, each as often as it occurs in the text.
    @param {Run} run
    @param {Word[]} words
    @param {number} step
    @returns {Map<string, number>} By "left right". */
export function countPairsIn(run, words, step) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const word of words) {
    for (const [pair, times] of pairsOf(run, word, step)) counts.set(pair, (counts.get(pair) ?? 0) + times * (word.count ?? 0));
  }
  return counts;
}

/** Return short words, at most as many as there is room for, in which the pair that merges next occurs most
    often; null if no such words are found. They are the most frequent ones, as far as that is possible.
    @param {Run} run
    @param {Block} block
    @param {number} step
    @param {{ room: number, columns: number }} grid
    @returns {Word[] | null} */
export function wordsToCount(run, block, step, { room, columns }) {
  const winner = `${run.merge_left[step]} ${run.merge_right[step]}`;
  // A pair that ties with it in the whole text is a right answer, too.
  const right = new Set([winner, ...tiesAt(run, step).map(({ left, right }) => `${left} ${right}`)]);
  const isShort = (/** @type {Word} */ word) => !word.cut && cellsOfWord(word.base.length, columns) === 1;
  const frequent = run.frequent.filter(isShort);
  const chosen = frequent.slice(0, room);
  const known = new Set(chosen.map(({ key }) => key));
  const spare = touchedIn(block, step).map((word) => block.words[word]).filter((word) => isShort(word) && !known.has(word.key));
  for (;;) {
    const counts = countPairsIn(run, chosen, step);
    const own = counts.get(winner) ?? 0;
    const [rival, most] = [...counts].filter(([pair]) => !right.has(pair)).sort(([, one], [, other]) => other - one)[0] ?? ["", 0];
    if (own > most) return chosen.sort((one, other) => (other.count ?? 0) - (one.count ?? 0));
    // Words with the winner take the places of others; then those that add most to the rival's lead are dropped.
    const lead = chosen.map((word) => {
      const pairs = pairsOf(run, word, step);
      return ((pairs.get(rival) ?? 0) - (pairs.get(winner) ?? 0)) * (word.count ?? 0);
    });
    const worst = lead.indexOf(Math.max(...lead));
    const idle = chosen.findLastIndex((word) => !pairsOf(run, word, step).has(winner));
    const next = chosen.length < room || idle >= 0 ? spare.shift() : undefined;
    if (next && chosen.length === room) chosen.splice(idle, 1);
    if (next) chosen.push(next);
    else if (lead[worst] > 0) chosen.splice(worst, 1);
    else return null;
  }
}

/** @param {Run} run
    @param {Word} word
    @param {number} step
    @returns {Map<string, number>} */
function pairsOf(run, word, step) {
  const symbols = symbolsAt(run, word.base, step);
  /** @type {Map<string, number>} */
  const pairs = new Map();
  for (let i = 0; i + 1 < symbols.length; i++) {
    const pair = `${symbols[i].id} ${symbols[i + 1].id}`;
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
  }
  return pairs;
}
