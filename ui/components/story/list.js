// The list is the tokenizer: the merges of a sentence, replayed in their order on a word it never had.

import { learn } from "../start_loop/learn.js";
import { withMerge } from "../merge_player/symbols.js";
import { GRAPHEMES, spokenToken } from "../shared/characters.js";
import { counted } from "../shared/numbers.js";
import { cutText } from "./cuts.js";

/** @import { PlacedSymbol } from "../merge_player/symbols.js"
    @import { CutName } from "./cuts.js"
    @import { LearnedRun } from "../start_loop/learn.js" */

const MAX_MERGES = 14; // of the list
const MAX_LETTERS = 16; // of the word
const MIN_MERGES = 3; // of a sentence that is worth a list
const MAX_NAMED = 4;

/** A symbol of the word: which it is, where, the merge that made it and the one that used it up, counted from 1.
    `from` is 0 for a letter; `until` is the number of merges plus 1 for a symbol that is left.
    @typedef {{ id: number | string, start: number, length: number, from: number, until: number }} Fallen */

/** @typedef {{ length: number, fired: number[], fallen: Fallen[], left: Fallen[], cuts: number[] }} Replay
    @property fired The merges that joined something, counted from 1.
    @property cuts Where the word itself is cut, in characters. */

/** A tokenizer: how a text is cut, and the merges that follow.
    @typedef {{ run: LearnedRun, nMerges: number, cut: CutName }} List */

/** Learn the list of a sentence, cut as GPT-2 cuts, or else as GPT-4o does; null if that gives too few merges.
    @param {string} text
    @param {LearnedRun | null} [known] What was learned from it as GPT-2 cuts it.
    @returns {List | null} */
export function learnList(text, known = null) {
  for (const cut of /** @type {CutName[]} */ (["gpt2", "o200k"])) {
    const run = (cut === "gpt2" && known) || learn(text, known?.slots, (whole) => cutText(whole, cut));
    if (run.n_merges >= MIN_MERGES) return { run, nMerges: Math.min(run.n_merges, MAX_MERGES), cut };
  }
  return null;
}

/** Return the first letters of what was typed, as they stand inside a sentence: after a space.
    @param {string} typed */
export function wordInSentence(typed) {
  const word = [...typed.trim()].slice(0, MAX_LETTERS).join("");
  return word ? ` ${word}` : "";
}

/** Replay the merges of a list on a word.
    @param {List} list
    @param {string} word
    @returns {Replay} */
export function replayOn({ run, nMerges, cut }, word) {
  let start = 0;
  let pieces = cutText(word, cut).map((piece) => Array.from(piece, (character) => {
    const id = run.tokens.indexOf(character);
    return /** @type {PlacedSymbol} */ ({ id: id < 0 ? character : id, start: start++, length: 1 });
  }));
  const cuts = pieces.slice(1).map(([{ start: first }]) => first);
  const asFallen = (/** @type {PlacedSymbol} */ symbol, /** @type {number} */ from) => ({ ...symbol, from, until: nMerges + 1 });
  /** @type {Map<string, Fallen>} */
  const alive = new Map(pieces.flat().map((symbol) => [keyOf(symbol), asFallen(symbol, 0)]));
  const fallen = [...alive.values()];
  /** @type {number[]} */
  const fired = [];
  for (let merge = 1; merge <= nMerges; merge++) {
    const [left, right, id] = [run.merge_left, run.merge_right, run.merge_id].map((ids) => ids[merge - 1]);
    const joined = pieces.map((piece) => /** @type {PlacedSymbol[]} */ (withMerge(piece, left, right, id)));
    const now = new Set(joined.flat().map(keyOf));
    for (const [key, symbol] of alive) {
      if (now.has(key)) continue;
      symbol.until = merge;
      alive.delete(key);
    }
    for (const symbol of joined.flat()) {
      if (alive.has(keyOf(symbol))) continue;
      const made = asFallen(symbol, merge);
      alive.set(keyOf(symbol), made);
      fallen.push(made);
      if (fired.at(-1) !== merge) fired.push(merge);
    }
    pieces = joined;
  }
  const left = pieces.flat().map((symbol) => /** @type {Fallen} */ (alive.get(keyOf(symbol))));
  return { length: start, fired, fallen, left, cuts };
}

/** @param {PlacedSymbol} symbol */
function keyOf({ start, length }) {
  return `${start} ${length}`;
}

/** Return a word that a text does not have: the one that its list shortens most, and a letter.
    @param {string} text
    @param {List} list */
export function newWord(text, list) {
  const words = cutText(text, list.cut).map((word) => word.trim()).filter((word) => /\p{L}/u.test(word));
  const saved = (/** @type {string} */ word) => {
    const { length, left } = replayOn(list, wordInSentence(word));
    return length - left.length;
  };
  const best = [...new Set(words)].reduce((one, other) => (saved(other) > saved(one) ? other : one), words[0] ?? "");
  const room = [...best].slice(0, MAX_LETTERS - 1).join("");
  const others = words.map((word) => [...GRAPHEMES.segment(word)][0].segment);
  const endings = /[a-z]$/i.test(room) ? ["s", "ed", ...others] : others.toReversed();
  return room + (endings.find((ending) => !words.includes(room + ending)) ?? "");
}

/** A sentence about letters that stay on their own: it begins with some of them, and how many more there are.
    @typedef {{ letters: string[], more: number, rest: string }} Ending */

/** Return the sentences about the end: "2 tokens. s is in no merge: it stays a letter."
    @param {List} list
    @param {Replay} replay
    @returns {{ count: string, endings: Ending[] }} */
export function endOfReplay({ run, nMerges }, { fired, left, length }) {
  const only = (/** @type {string} */ rest) => [{ letters: [], more: 0, rest }];
  if (!length) return { count: "", endings: only("Type a word: the merges run on it.") };
  const count = `${counted(left.length, "token")}.`;
  if (!fired.length) return { count, endings: only("No merge fits.") };
  const inMerges = new Set([...run.merge_left.slice(0, nMerges), ...run.merge_right.slice(0, nMerges)]);
  // The space was not typed.
  const alone = left.filter(({ length: size, start }) => size === 1 && start > 0);
  const isKnown = (/** @type {Fallen} */ { id }) => typeof id === "number" && inMerges.has(id);
  const [unknown, known] = [alone.filter((symbol) => !isKnown(symbol)), alone.filter(isKnown)]
    .map((symbols) => [...new Set(symbols.map(({ id }) => tokenOf(run, id)))]);
  if (!alone.length) {
    const isLearned = left.every(({ length: size }) => size > 1);
    const all = left.length === 1 ? "The whole word is one." : "Each of them was learned.";
    return { count, endings: only(isLearned ? all : "Only the space is left: no merge joins it to the word.") };
  }
  const what = !unknown.every((token) => /^\p{L}$/u.test(token)) ? "alone" : unknown.length > 1 ? "letters" : "a letter";
  const endings = [
    ending(unknown, ` is in no merge: it stays ${what}.`, ` are in no merge: they stay ${what}.`),
    ending(known, " is in merges, but none joins it to a neighbour here.", " are in merges, but none joins them to a neighbour here."),
  ];
  return { count, endings: endings.filter(({ letters }) => letters.length) };
}

/** @param {string[]} named
    @param {string} one
    @param {string} many
    @returns {Ending} */
function ending(named, one, many) {
  const letters = named.length > MAX_NAMED ? named.slice(0, MAX_NAMED - 1) : named;
  return { letters, more: named.length - letters.length, rest: named.length > 1 ? many : one };
}

/** Return what is written before each letter of a sentence, and before its rest.
    @param {Ending} ending */
export function joints({ letters, more }) {
  const last = letters.length - 1;
  const before = letters.map((_, i) => (!i ? "" : i === last && !more ? " and " : ", "));
  return { before, end: more ? ` and ${more} more` : "" };
}

/** @param {LearnedRun} run
    @param {number | string} id */
export function tokenOf(run, id) {
  return /** @type {string} */ (typeof id === "number" ? run.tokens[id] : id);
}

/** "merge 12: space wood + chuck, fired"
    @param {LearnedRun} run
    @param {number} merge
    @param {boolean} hasFired */
export function spokenMerge(run, merge, hasFired) {
  const [left, right] = [run.merge_left, run.merge_right].map((ids) => spokenToken(run.tokens[ids[merge - 1]]));
  return `merge ${merge}: ${left} + ${right}${hasFired ? ", fired" : ""}`;
}
