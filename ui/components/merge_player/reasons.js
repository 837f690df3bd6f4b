// Why a pair is merged next: its count, its rivals, and the rule if they tie. While the visitor guesses,
// the rivals are not named: they would reveal the next winner.

import { grouped, times } from "../shared/numbers.js";
import { tieRule } from "./guesses.js";
import { traced } from "./run.js";

/** @import { CountedPair, Pair, Run } from "./run.js" */

/** A piece of a sentence: text, text in bold, or a pair as tiles.
    @typedef {string | { bold: string } | { pair: Pair }} Part */

/** Return the sentence that explains why a pair is next.
    @param {Run} run
    @param {number} step
    @param {CountedPair[]} pairs The race before it.
    @param {boolean} guessing
    @returns {Part[]} */
export function explainStep(run, step, pairs, guessing) {
  const tied = traced(run, "n_tied", step);
  const others = traced(run, "n_pairs", step) - tied;
  const [winner, second] = pairs;
  const often = times(winner.count);
  if (run.languages) {
    const language = run.languages[run.picked?.[step] ?? -1];
    const who = [{ bold: language ?? "All languages" }, language === undefined ? " picked it together." : " picked it, whose text was the longest in tokens."];
    return [{ pair: winner }, ` occurs ${often} in all text. `, ...who];
  }
  if (step < run.n_for_terms) return [{ pair: winner }, ` occurs ${often}. It is merged first because it is part of a token that was asked for.`];
  if (tied < 2 && others === 0) return [{ pair: winner }, ` occurs ${often}. It is the only pair left.`];
  const rest = moreThan(others);
  if (tied < 2) return [{ pair: winner }, ` occurs ${often}${rest}.`];
  const ids = run.tie_break === "smallest-pair" && !guessing
    ? `, ${winner.left}, ${winner.right} before ${second.left}, ${second.right}`
    : "";
  return [
    ...tying(winner, second, tied, guessing),
    ` ${tied === 2 ? "both" : "all"} occur ${often}${rest}. The tie rule decides: `,
    { bold: tieRule(run) },
    `${ids}.`,
  ];
}

/** @param {number} others */
function moreThan(others) {
  if (others === 0) return "";
  return others === 1 ? ", more than the one other pair" : `, more than any of the other ${grouped(others)} pairs`;
}

/** @param {Pair} winner
    @param {Pair} second
    @param {number} tied
    @param {boolean} guessing
    @returns {Part[]} */
function tying(winner, second, tied, guessing) {
  if (guessing) return [{ pair: winner }, ` and ${unnamed(tied - 1)}`];
  if (tied === 2) return [{ pair: winner }, " and ", { pair: second }];
  return [{ pair: winner }, ", ", { pair: second }, ` and ${unnamed(tied - 2)}`];
}

/** Return the winner's lead over the next pair, and that pair if it is in the race: 0 if they tie.
    @param {Run} run
    @param {number} step
    @param {CountedPair[]} pairs
    @param {boolean} guessing
    @returns {{ lead: string, over: string, rival?: Pair }} */
export function explainMargin(run, step, pairs, guessing) {
  if (step < run.n_for_terms) return { lead: "none", over: "" };
  const next = traced(run, "next_count", step);
  const tied = traced(run, "n_tied", step);
  if (tied > 1) {
    const [, rival] = pairs;
    if (guessing || !rival) return { lead: "0", over: `ties with ${unnamed(tied - 1)}` };
    return { lead: "0", over: "ties with ", rival };
  }
  if (!next) return { lead: "no rival", over: "" };
  const rival = guessing ? undefined : pairs.find((pair) => pair.count === next);
  return { lead: grouped(pairs[0].count - next), over: rival ? "over " : "over the next", rival };
}

/** @param {number} n */
function unnamed(n) {
  return n === 1 ? "one other pair" : `${grouped(n)} other pairs`;
}

/** Return how a word's share of the occurrences is computed: "2 × 5 = " if it has the pair twice.
    @param {number} given
    @param {number | null} count Occurrences of the word. */
export function formatProduct(given, count) {
  return count === null || given === count ? "" : `${grouped(given / count)} × ${grouped(count)} = `;
}
