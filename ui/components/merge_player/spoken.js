// The state of the player in words, for a screen reader.

import { spokenToken } from "../shared/characters.js";
import { counted, grouped, times } from "../shared/numbers.js";

/** @import { Run } from "./run.js" */

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
