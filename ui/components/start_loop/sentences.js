// What the loop says of a sentence: the next merge, its length, and why nothing is left to learn.

import { codePointName } from "../shared/characters.js";
import { counted, grouped } from "../shared/numbers.js";

/** @import { LearnedRun } from "./learn.js" */

const ORDER_CONTROL = /[\u202a-\u202e\u2066-\u2069]/g;

/** Return the facts about the merge after `step`, in parts around its two tiles, and why it is the next.
    @param {LearnedRun} run
    @param {number} step */
export function mergeSentence(run, step) {
  const ties = run.tied[step];
  return {
    name: `Merge ${grouped(step + 1)}:`,
    occurs: "occur together ",
    count: counted(run.merge_count[step], "time"),
    rest: " within pieces.",
    why: ties > 1
      ? `${grouped(ties)} pairs tie: a fixed rule picks one.`
      : "No other pair occurs as often.",
  };
}

/** Return what the gaps between the tiles are.
    @param {LearnedRun} run */
export function legend({ frequent, tokens }) {
  // A mark that begins a piece, or follows the space that does, was cut off its letter.
  const isCutOff = frequent.some(({ base }) => /^\s?\p{M}/u.test(base.slice(0, 2).map((id) => tokens[Number(id)]).join("")));
  const cut = isCutOff
    ? "GPT-2’s rule cuts off vowel signs and other marks, too. No merge crosses a gap."
    : "GPT-2’s rule cuts the text into pieces: no merge crosses a gap.";
  return `${cut} ␣ is a space: one before a word belongs to it.`;
}

/** Return why there is no next merge.
    @param {LearnedRun} run */
export function endSentence(run) {
  if (!run.n_tokens[0]) return "Type your name, or any sentence: it is cut into characters and learned.";
  const left = run.n_merges ? "Nothing is left to learn: " : "Nothing to learn yet: ";
  if (run.n_left) return `${left}within pieces, every pair of neighbours occurs only once.`;
  return left + (run.n_merges ? "every piece is one token." : "a character alone has no neighbour in its piece.");
}

/** Return whether saying the sentence twice would give something to learn.
    @param {LearnedRun} run */
export function wantsRepeating(run) {
  return !run.n_merges && run.n_left > 0;
}

/** "37 characters, now 22 tokens", in parts.
    @param {LearnedRun} run
    @param {number} step */
export function lengthSentence(run, step) {
  const [count, noun] = counted(run.n_tokens[step], "token").split(" ");
  return { characters: `${counted(run.n_tokens[0], "character")}, now `, count, noun: ` ${noun}` };
}

/** Return what to say of invisible characters that turn the text on the screen around; may be empty.
    @param {string} text */
export function orderNote(text) {
  const names = [...new Set(text.match(ORDER_CONTROL))].map(codePointName).sort();
  if (!names.length) return "";
  const many = names.length > 1;
  return `Your sentence has ${many ? "invisible characters that change" : "an invisible character that changes"} the order on the screen: ${names.join(", ")}.`;
}

/** Return the first characters of a text, and what to say of the rest if it is cut off. A line break counts as
    a space, as in a field of one line.
    @param {string} text
    @param {number} longest */
export function cutSentence(text, longest) {
  // Two code units at most are one character, so the rest of a huge text is never read.
  const characters = [...text.slice(0, 2 * longest + 2).replace(/[\r\n]+/g, " ")];
  const cut = characters.slice(0, longest).join("");
  const isWhole = characters.length <= longest;
  return { text: cut, note: isWhole ? "" : `Only the first ${grouped(longest)} characters are used here. Train takes longer texts.` };
}
