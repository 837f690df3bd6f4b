// Notes around the words, the race and the reasons: what is shown, what is missing, and the player's state in
// words, for a screen reader.

import { SUPERWORD_LEGEND, spokenToken } from "../shared/characters.js";
import { counted, grouped, times } from "../shared/numbers.js";
import { mergesSaved, traced } from "./run.js";

/** @import { Ending, RacingPair, Run, Word } from "./run.js"
    @import { Scene } from "./word_layout.js" */

/** @typedef {"frequent" | "touched" | "yours"} Mode */

/** Which words are shown, and how many.
    @typedef {object} Shown
    @property {Mode} mode The visitor's choice.
    @property {Mode} shownMode What is shown instead while a question is asked.
    @property {Scene | null} scene
    @property {number} n The number of words that fit.
    @property {boolean} [isCountable] Whether the answer to a question can be counted in them.
    @property {{ words: Word[], problem: string }} own */

const COLOURED = "Tiles are coloured once merged.";

/** Return a name of the merges whose words are shown.
    @param {Pick<Shown, "mode" | "scene">} shown */
export function formatTitle({ mode, scene }) {
  if (mode !== "touched" || !scene) return "Words";
  const { from, to } = scene;
  return to - from === 1 ? `Words of merge ${grouped(to)}` : `Words of merges ${grouped(from + 1)} to ${grouped(to)}`;
}

/** @param {Run} run
    @param {Shown} shown */
export function formatNote(run, shown) {
  const { mode, shownMode, scene, n } = shown;
  if (run.joins_words && shownMode === mode && mode !== "yours") return noteOfJoins(run, shown);
  if (shown.isCountable) return "Count it here: a word counts as often as the number before it says. The answer leads in these words too.";
  if (shownMode !== mode) return "Some of the most frequent words. The words that the merge changes are shown after your guess.";
  if (mode === "yours") return noteOfOwn(shown);
  if (mode === "frequent" || (!scene && mergesSaved(run))) {
    return `The ${grouped(n)} most frequent of ${counted(run.n_pretokens, "word")}, not counting words of a single symbol. ${COLOURED}`;
  }
  if (!scene) return "";
  if (scene.to - scene.from > 1) {
    return `${counted(n, "word")}, with ${n === 1 ? "its count" : "their counts"}. ${COLOURED}`;
  }
  const all = traced(run, "n_words", scene.from);
  return all === 1 ? `1 word, with its count. ${COLOURED}` : `${grouped(n)} of ${grouped(all)} words, with their counts. ${COLOURED}`;
}

/** Describe pieces of text, in which merges join words.
    @param {Run} run
    @param {Shown} shown */
function noteOfJoins(run, { mode, scene, n }) {
  const which = mode === "frequent" || !scene ? `The ${grouped(n)} most frequent of ${counted(run.n_pretokens, "piece")} of text.` : `${counted(n, "piece")} of text, with ${n === 1 ? "its count" : "their counts"}.`;
  return `${which} Words may join: a line marks where each begins, until the first merge opens it. ${SUPERWORD_LEGEND}`;
}

/** @param {Shown} shown */
function noteOfOwn({ own, n }) {
  if (own.problem) return own.problem;
  if (!own.words.length) return "Type above to see the merges of this run applied to your words.";
  const cut = n < own.words.length ? `The first ${n} of ${counted(own.words.length, "pre-token")}. ` : "";
  const missing = own.words.some((word) => word.base.some((id) => typeof id === "string"));
  return cut + (missing ? "Dashed: not in the alphabet of this run." : "No merge crosses a gap.");
}

/** Return why there is no next pair.
    @param {Run} run
    @param {RacingPair[] | null} pairs The race; null where its merges have not come. */
export function whyNothing(run, pairs) {
  const saved = mergesSaved(run);
  if (pairs === null && saved) {
    return `To stay small, this file includes the race and the reasons only for merges ${grouped(saved.start + 1)} to ${grouped(saved.stop)}.`;
  }
  if (pairs === null) return "Fetching the merges around this one …";
  return run.n_merges ? "No merges are left. Step back to see why each pair was chosen." : "There are no merges.";
}

/** @param {Run} run
    @param {number} step
    @param {RacingPair[] | null} pairs */
export function raceNote(run, step, pairs) {
  if (!pairs) return "";
  if (!pairs.length) return `No pairs are left: every ${run.joins_words ? "piece" : "word"} is a single symbol.`;
  if (step >= run.n_merges) return "The most frequent pairs that were left when training stopped.";
  const isOpening = step > 0 && step === run.opening_step;
  return isOpening ? openingNote(run) : "";
}

/** Return how many merges come before the one where the run opens, and what they join if it is parts of characters.
    @param {Run} run */
function openingNote({ opening_step, tokens, merge_left, merge_right }) {
  const opening = `The run opens here, after ${counted(opening_step, "merge")}`;
  let n = 0;
  for (let i = 0; i < opening_step; i++) if ([merge_left[i], merge_right[i]].some((id) => typeof tokens[id] !== "string")) n++;
  if (!n) return `${opening}.`;
  return `${opening}: ${grouped(n)} of them ${n === 1 ? "joins" : "join"} bytes, since each character beyond ASCII is several.`;
}

/** Return a sentence stating that all merges are done.
    @param {number} nMerges */
export function doneSentence(nMerges) {
  if (nMerges === 0) return "No merges were learned";
  return nMerges === 1 ? "The one merge is done" : `All ${grouped(nMerges)} merges are done`;
}

/** Return the heading above the merges that saved most, and what they saved together.
    @param {Ending} end
    @param {number} nMerges */
export function savedSentences({ before, after, savers }, nMerges) {
  const n = savers.length;
  const saved = savers.reduce((sum, [, each]) => sum + each, 0);
  const which = savers.every(([rank]) => rank < n) && n > 1 ? `They are the first ${grouped(n)}: ` : "";
  return {
    heading: n === 1 ? "The merge that saved most" : `${n === 10 ? "Ten" : n} merges that saved most`,
    note: `${which}${grouped(saved)} of the ${counted(before - after, "token")} saved, with ${grouped(n)} of ${counted(nMerges, "merge")}.`,
  };
}

/** @param {Run} run
    @param {number} step */
export function spokenState(run, step) {
  const done = `${grouped(step)} of ${counted(run.n_merges, "merge")}.`;
  if (step >= run.n_merges) {
    const shorter = run.end ? ` ${grouped(run.end.before)} tokens have become ${grouped(run.end.after)}.` : "";
    return `${done} ${run.ending}${shorter}`;
  }
  const [left, right, made] = [run.merge_left, run.merge_right, run.merge_id].map((ids) => spokenToken(run.tokens[ids[step]]));
  return `${done} Next: ${left} and ${right} become ${made}; ${times(run.merge_count[step])}.`;
}

/** @param {Run} run
    @param {number} step */
export function spokenQuestion(run, step) {
  return `${grouped(step)} of ${counted(run.n_merges, "merge")}. Which pair comes next?`;
}
