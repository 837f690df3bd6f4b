// How a run that was trained here is replayed: where it opens, its blocks, and its ending, as in the app.

import { tableRow, unpackBlock } from "../../../ui/components/merge_player/run.js";
import { grouped, times } from "../../../ui/components/shared/numbers.js";
import { asToken } from "../engine/replay.js";
import { tableOfRun, tokenAt } from "../engine/tokenizer_file.js";
import { NEVER } from "../engine/training.js";

/** @import { Run as PlayedRun } from "../../../ui/components/merge_player/run.js"
    @import { Run } from "../engine/training.js" */

const WORK_OF_MERGE = 300;
const WORK_OF_WHOLE_RUN = 400_000;
const WORK_OF_BLOCK = 50_000;
const SLOTS_A_WORK = 20;
const CLOSE_RACE = 0.95;
const MAX_SEARCHED = 1000;
const SEARCHED_FIRST = 16;
const FACTOR = 4;
const LETTERS = /^[\p{L}\p{M}]+$/u;

/** Return the first merge of each block of a run, as `block_starts` in `views/packing.py`.
    @param {Run} run */
export function blockStarts({ joinedAt, counts }) {
  const joins = new Float64Array(counts.length);
  for (const rank of joinedAt) if (rank !== NEVER) joins[rank] += 1;
  let sum = 0;
  const work = joins.map((n) => (sum += n + WORK_OF_MERGE));
  if (sum <= WORK_OF_WHOLE_RUN) return [0];
  const each = Math.max(WORK_OF_BLOCK, Math.floor(joinedAt.length / SLOTS_A_WORK));
  /** @type {number[]} */
  const starts = [];
  let merge = 0;
  for (let at = 0; at < sum; at += each) {
    while (merge < work.length && work[merge] <= at) merge += 1;
    if (merge < work.length && merge !== starts.at(-1)) starts.push(merge);
  }
  return starts;
}

/** Return the step before the first merge of letters with a tie or a close race, as `opening_step` in the app.
    @param {Run} run
    @param {(start: number, stop: number) => Promise<Uint8Array> | Uint8Array} merges Returns the message of merges. */
export async function openingStep(run, merges) {
  const { counts } = run;
  const { tokens } = tableOfRun(run);
  const hasLetters = (/** @type {number} */ left, /** @type {number} */ right) =>
    [left, right].every((id) => {
      const token = asToken(tokenAt(tokens, id));
      return typeof token === "string" && LETTERS.test(token);
    });
  const isOfLetters = (/** @type {number} */ rank) => hasLetters(run.merges[2 * rank], run.merges[2 * rank + 1]);
  let first = 0;
  while (first < counts.length && !isOfLetters(first)) first += 1;
  if (first === counts.length) return 0;
  const stop = Math.min(first + MAX_SEARCHED, counts.length);
  for (let [start, size] = [first, SEARCHED_FIRST]; start < stop; start += size, size *= FACTOR) {
    const block = unpackBlock(await merges(start, Math.min(start + size, stop)));
    const traced = /** @type {PlayedRun} */ ({ block_starts: [start], n_merges: stop, blocks: new Map([[0, block]]) });
    for (let step = start; step < block.stop; step++) {
      const [winner, second] = tableRow(traced, "top", step);
      if (!second || second.count < CLOSE_RACE * winner.count) continue;
      if (isOfLetters(step) && hasLetters(second.left, second.right)) return step;
    }
  }
  return first;
}

/** Return why training stopped, as the app says it.
    @param {Pick<Run, "stopReason" | "config" | "firstId" | "counts">} run */
export function stopSentence({ stopReason, config, firstId, counts }) {
  const reasons = {
    "vocab-size": `It stopped because the vocabulary reached ${grouped(firstId + counts.length)}.`,
    "no-pairs": "It stopped because no pair was left to merge.",
    "min-frequency": `It stopped because no pair occurs ${times(config.minFrequency)} any longer.`,
    cancelled: "It was cancelled.",
  };
  return reasons[stopReason];
}
