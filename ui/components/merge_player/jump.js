// Find a merge by its number, or by the token that it made.

import { grouped } from "../shared/numbers.js";
import { shortText } from "./token_names.js";

/** @import { Run } from "./run.js" */

/** Find what a visitor asked to go to: a step, or why there is none. A number is a merge, counted from
    1; other text, text in quotes, or a number that no merge has, is a token: exactly that one, or,
    where there is none, with a space in front or the marker behind.
    @param {Run} run
    @param {string} text
    @returns {{ step: number, problem?: undefined } | { step?: undefined, problem: string }} */
export function findMerge(run, text) {
  const number = /^\s*#?([0-9][0-9,]*)\s*$/.exec(text);
  if (number) {
    const wanted = Number(number[1].replaceAll(",", ""));
    if (wanted >= 1 && wanted <= run.n_merges) return { step: wanted - 1 };
  }
  const quoted = /^\s*["“](.+)["”]\s*$/su.exec(text);
  const wanted = quoted ? quoted[1] : text;
  if (!wanted) return { problem: "Type a number or a token." };
  const marker = run.end_of_word ?? "";
  const trimmed = wanted.trim();
  const spellings = [text, wanted, trimmed, wanted + marker, trimmed + marker, ` ${wanted}`, ` ${trimmed}`];
  for (const spelling of spellings) {
    if (!spelling.trim() && spelling !== text && spelling !== wanted) continue;
    const id = run.tokens.findIndex((token, id) => token === spelling && run.isLearned(id));
    const step = run.firstMade.get(id);
    if (step !== undefined) return { step };
    if (!run.tokens.includes(spelling)) continue;
    if (number) break;
    const kind = [...spelling].length === 1 ? "is a base symbol" : "was in the vocabulary from the start";
    return { problem: `“${shortText(spelling, 24)}” ${kind}: no merge made it.` };
  }
  if (number && run.n_merges === 0) return { problem: "This run has no merges." };
  if (number && run.n_merges === 1) return { problem: "This run has one merge, number 1." };
  if (number) return { problem: `Merges go from 1 to ${grouped(run.n_merges)}.` };
  return { problem: `No merge made “${shortText(wanted, 24)}”.` };
}
