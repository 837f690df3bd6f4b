// The rules of the game: a list of merges replayed on a text, the list that BPE learns, and how two lists differ.

import { byteSymbols, learnMerges, replayMerges } from "../shared/merging.js";
import { splitWords } from "../start_loop/learn.js";

const N_BYTES = 256;
const WHY_BPE_LEADS = "BPE joins the most frequent pair each time, and never looks further ahead. That is hard to beat, but not always best: it can be beaten, more easily on the other text.";
const CAN_BE_WON = "Hint: BPE’s first pair, e + r, stands in here and in reader. Which pair would serve both, and leave “he” whole?";
const WON_FIRST = "You looked further ahead than BPE, which joins the most frequent pair each time.";
const WON = "You looked further ahead than BPE: its first pair was the most frequent, and took the e that a longer token needed.";

/** A merge of a player's list: two tokens, as text.
    @typedef {{ left: string, right: string }} Joint */

/** A text to play on: its words as they stand in it, and how many merges each side has.
    @typedef {{ name: string, about: string, words: string[], most: number }} Level */

/** What a list of merges makes of a text: its tokens, how many each merge saved, and the tokens of each word.
    @typedef {{ n: number, saved: number[], words: Map<string, { tokens: string[], count: number }> }} Played */

/** Return the words of a text to play on.
    @param {string} text
    @returns {string[]} */
export function wordsOfText(text) {
  return splitWords(text);
}

/** Return the token that a merge makes.
    @param {Joint} joint */
export function madeBy({ left, right }) {
  return left + right;
}

/** Replay a list on the words of a text: of the pairs in a word, the one that is first in the list is joined first.
    @param {string[]} words
    @param {Joint[]} list
    @returns {Played} */
export function play(words, list) {
  /** @type {string[]} */
  const names = [];
  /** @type {Map<string, number>} */
  const ids = new Map();
  const idOf = (/** @type {string} */ token) => {
    const known = ids.get(token);
    if (known !== undefined) return known;
    ids.set(token, names.push(token) - 1);
    return names.length - 1;
  };
  const merges = list.map((joint) => ({ left: idOf(joint.left), right: idOf(joint.right), id: idOf(madeBy(joint)), count: 0 }));
  const replayed = replayMerges(words, (word) => Array.from(word, idOf), merges);
  const saved = list.map(() => 0);
  const played = new Map();
  let n = 0;
  for (const [word, { symbols, count, joinedAt }] of replayed) {
    n += count * symbols.length;
    for (const merge of joinedAt) if (merge <= list.length) saved[merge - 1] += count;
    played.set(word, { tokens: symbols.map((id) => names[id]), count });
  }
  return { n, saved, words: played };
}

/** Return the list that BPE learns from words in ASCII: each time the most frequent pair, of equal ones that with
    the lower ids.
    @param {string[]} words
    @param {number} most
    @returns {Joint[]} */
export function listOfBpe(words, most) {
  const names = new Map(Array.from(new Set(words.join("")), (letter) => [byteSymbols(letter)[0], letter]));
  const learning = learnMerges(words, byteSymbols, { nBase: N_BYTES, most });
  for (;;) {
    const { done, value } = learning.next();
    if (!done) continue;
    return value.merges.map(({ left, right, id }) => {
      const joint = { left: names.get(left) ?? "", right: names.get(right) ?? "" };
      names.set(id, madeBy(joint));
      return joint;
    });
  }
}

/** Count the pairs of neighbours in the words of a text, most frequent first.
    @param {Played["words"]} words
    @returns {(Joint & { count: number })[]} */
export function countNeighbours(words) {
  /** @type {Map<string, Joint & { count: number }>} */
  const pairs = new Map();
  for (const { tokens, count } of words.values()) {
    for (let i = 0; i + 1 < tokens.length; i++) {
      const [left, right] = tokens.slice(i, i + 2);
      const key = `${left.length} ${left}${right}`;
      const pair = pairs.get(key) ?? { left, right, count: 0 };
      pairs.set(key, pair);
      pair.count += count;
    }
  }
  return [...pairs.values()].sort((one, other) => other.count - one.count);
}

/** Return pairs to choose from, in an order that does not tell which is the most frequent.
    @param {Played["words"]} words
    @param {number} most
    @returns {Joint[]} */
export function pairsToOffer(words, most) {
  const pairs = countNeighbours(words).slice(0, most).map(({ left, right }) => ({ left, right }));
  return pairs.sort((one, other) => (madeBy(one).trim() < madeBy(other).trim() ? -1 : 1));
}

/** Return the neighbours that make a token, the most frequent if several do; null if none do.
    @param {Played["words"]} words
    @param {string} token
    @returns {Joint | null} */
export function findNeighbours(words, token) {
  const found = countNeighbours(words).find((pair) => madeBy(pair) === token);
  return found ? { left: found.left, right: found.right } : null;
}

/** Return the words whose tokens differ between two lists, and how many tokens they have more under the second.
    @param {Played} before
    @param {Played} after */
export function compareWords(before, after) {
  let n = 0;
  let example = "";
  let most = 0;
  for (const [word, { tokens, count }] of after.words) {
    const old = before.words.get(word)?.tokens ?? [];
    if (old.length === tokens.length && old.every((token, i) => token === tokens[i])) continue;
    n += count;
    // The longest word shows most of what changed.
    if (word.length > most) [example, most] = [word, word.length];
  }
  return { n, more: after.n - before.n, example };
}

/** Return a list with the merge at one place moved to another.
    @param {Joint[]} list
    @param {number} from
    @param {number} to */
export function moved(list, from, to) {
  const next = [...list];
  next.splice(to, 0, ...next.splice(from, 1));
  return next;
}

/** Say who leads, once both lists are full.
    @param {number} yours
    @param {number} bpes */
export function verdictOn(yours, bpes) {
  const by = Math.abs(yours - bpes);
  const tokens = by === 1 ? "1 token" : `${by.toLocaleString("en-US")} tokens`;
  if (!by) return "A draw.";
  return yours < bpes ? `You win by ${tokens}.` : `BPE leads by ${tokens}.`;
}

/** Say why one list leads, or how BPE can be beaten.
    @param {number} yours
    @param {number} bpes
    @param {boolean} isFirst Whether the text is the first, which was not made for the game. */
export function explainVerdict(yours, bpes, isFirst) {
  if (yours < bpes) return isFirst ? WON_FIRST : WON;
  return isFirst ? WHY_BPE_LEADS : CAN_BE_WON;
}
