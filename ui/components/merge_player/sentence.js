// The sentence that leads: which merge is next, as it is read and as it is heard.

import { spokenToken } from "../shared/characters.js";
import { addPart } from "../shared/elements.js";
import { counted, grouped, times } from "../shared/numbers.js";
import { append, bigTile, bold, roomFor } from "./tiles.js";

const LONGEST_IN_SENTENCE = 14; // characters of a token, so that the sentence keeps to its line

/** "Next, merge 46: l a → la occurs 1,379 times in the corpus." */
export function writeSentence(element, run, step) {
  element.textContent = "";
  if (step >= run.n_merges) {
    const what = run.n_merges === 0 ? "No merge was learned" : run.n_merges === 1 ? "The one merge is done" : `All ${grouped(run.n_merges)} merges are done`;
    addPart(element, "span", "what", what);
    addPart(element, "span", "how-often", run.ending);
    return;
  }
  addPart(element, "span", "what", `Next, merge ${grouped(step + 1)}`);
  const rule = addPart(element, "span", "rule");
  const ids = [run.merge_left[step], run.merge_right[step]];
  const room = roomFor(run.tokens[ids[0]].length, run.tokens[ids[1]].length, LONGEST_IN_SENTENCE);
  ids.forEach((id, i) => rule.append(bigTile(run, id, "chosen", room[i])));
  const arrow = addPart(rule, "span", "arrow", "→");
  arrow.setAttribute("aria-label", "becomes");
  rule.append(bigTile(run, run.merge_id[step], "made", LONGEST_IN_SENTENCE));
  const how = addPart(element, "span", "how-often");
  const count = run.merge_count[step];
  if (count <= 2) append(how, "occurs ", bold(times(count)), " in the corpus");
  else append(how, "occurs ", bold(grouped(count)), " times in the corpus");
}

/** The same for a screen reader, in plain words. */
export function spokenState(run, step) {
  const done = `${grouped(step)} of ${counted(run.n_merges, "merge")}.`;
  if (step >= run.n_merges) return `${done} ${run.ending}`;
  const [left, right, made] = [run.merge_left, run.merge_right, run.merge_id].map((ids) => spokenToken(run.tokens[ids[step]]));
  return `${done} Next: ${left} and ${right} become ${made}; ${times(run.merge_count[step])}.`;
}
