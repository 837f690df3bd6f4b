// The leading sentence: which merge is next.

import { addPart } from "../shared/elements.js";
import { grouped, times } from "../shared/numbers.js";
import { frameSharedCharacters } from "../shared/word_tiles.js";
import { doneSentence } from "./notes.js";
import { roomFor } from "./token_names.js";
import { bigTile, bold, makeCouple, smallTile } from "./tiles.js";

/** @import { Run } from "./run.js" */

const MAX_LENGTH_IN_SENTENCE = 14; // characters of a token, so that the sentence fits on a line

const MAX_LARGE_RULE_LENGTH = 12; // characters of both tokens and the new one that fit on a phone in large type

/** "Taken out again: ho, nearly all of it in hog."
    @param {HTMLElement} element
    @param {Run} run
    @param {number} step */
function writeRemovals(element, run, step) {
  const removed = run.removals.filter(({ done }) => done === step);
  if (!removed.length) return;
  const line = addPart(element, "span", "removed");
  const tile = (/** @type {number} */ id) => smallTile(run, id, MAX_LENGTH_IN_SENTENCE);
  line.append("Taken out again: ", ...removed.flatMap(({ id }) => [tile(id), " "]));
  line.append(`${removed.length === 1 ? "is" : "are"} nearly always a part of `, tile(run.merge_id[step - 1]), " now.");
}

/** Return where the pairs of a run are counted.
    @param {Pick<Run, "joins_words" | "languages">} run */
export function placeCounted(run) {
  if (run.joins_words) return "in the text";
  return run.languages ? "in all languages" : "within pieces";
}

/** "Next, merge 46: l a → la occurs 1,379 times within pieces.", or another place: see `placeCounted`.
    @param {HTMLElement} element
    @param {Run} run
    @param {number} step */
export function writeSentence(element, run, step) {
  element.textContent = "";
  writeRemovals(element, run, step);
  if (step >= run.n_merges) {
    addPart(element, "span", "what", doneSentence(run.n_merges));
    addPart(element, "span", "how-often", run.ending);
    return;
  }
  addPart(element, "span", "what", `Next, merge ${grouped(step + 1)}`);
  const rule = addPart(element, "span", "rule");
  const ids = [run.merge_left[step], run.merge_right[step]];
  const room = roomFor(run.tokens[ids[0]].length, run.tokens[ids[1]].length, MAX_LENGTH_IN_SENTENCE);
  const [left, right] = ids.map((id, i) => bigTile(run, id, "chosen", room[i]));
  rule.append(makeCouple(left, right, run, { left: ids[0], right: ids[1] }));
  addPart(rule, "span", "arrow", "→").setAttribute("aria-label", "becomes");
  const id = run.merge_id[step];
  const made = bigTile(run, id, "made", MAX_LENGTH_IN_SENTENCE);
  frameSharedCharacters([made], [run.tokens[id]]);
  rule.append(made);
  rule.classList.toggle("long", (rule.textContent ?? "").length > MAX_LARGE_RULE_LENGTH);
  const count = run.merge_count[step];
  const [number, noun] = count <= 2 ? [times(count), ""] : [grouped(count), " times"];
  addPart(element, "span", "how-often").append("occurs ", bold(number), `${noun} ${placeCounted(run)}`);
}
