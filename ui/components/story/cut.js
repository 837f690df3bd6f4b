// The text is cut first: what a small tokenizer, trained on one sentence alone, learns under each cut.

import { counted } from "../shared/numbers.js";
import { learnMerges } from "../shared/merging.js";
import { cutText } from "./cuts.js";

/** @import { CutName } from "./cuts.js" */

/** A pair of characters that a cut parts: where it stands in the text, how often it is cut there, and the pieces
    that begin with its right character.
    @typedef {{ left: string, right: string, count: number, cut: number, pieces: number[] }} Seam */

/** @typedef {{ pieces: string[], nCharacters: number, nTokens: number, longest: string, seam: Seam | null }} CutRow
    @property longest The longest token that was learned; empty if none was. */

/** @type {CutName[]} */
export const CUTS = ["none", "gpt2", "o200k"];
export const CUT_NAMES = { none: "No cut", gpt2: "GPT-2", o200k: "GPT-4o" };
const MAX_MERGES = 10;
const MIN_COUNT = 2;
const SPACE = /^\p{White_Space}$/u;

/** Cut a text, and learn from it; yields now and then.
    @param {string} text
    @param {CutName} cut
    @returns {Generator<undefined, CutRow>} */
export function* learnCut(text, cut) {
  const pieces = cutText(text, cut);
  const tokens = [...new Set(text)].sort((one, other) => Number(one.codePointAt(0)) - Number(other.codePointAt(0)));
  const ids = new Map(tokens.map((character, id) => [character, id]));
  const toSymbols = (/** @type {string} */ piece) => Array.from(piece, (character) => ids.get(character) ?? 0);
  const rule = { nBase: tokens.length, minCount: MIN_COUNT, most: MAX_MERGES };
  const { merges, words } = yield* learnMerges(pieces, toSymbols, rule);
  for (const { left, right } of merges) tokens.push(tokens[left] + tokens[right]);
  const learned = tokens.slice(rule.nBase);
  return {
    pieces,
    nCharacters: [...text].length,
    nTokens: [...words.values()].reduce((sum, { symbols, count }) => sum + symbols.length * count, 0),
    longest: learned.reduce((best, token) => ([...token].length > [...best].length ? token : best), ""),
    seam: findSeam(pieces),
  };
}

/** Return the pair of characters, neither a space, that cuts part most often; null if they part none twice.
    @param {string[]} pieces
    @returns {Seam | null} */
function findSeam(pieces) {
  /** @type {Map<string, Seam>} */
  const seams = new Map();
  const characters = pieces.map((piece) => [...piece]);
  for (let i = 1; i < pieces.length; i++) {
    const [left, right] = [/** @type {string} */ (characters[i - 1].at(-1)), characters[i][0]];
    if (SPACE.test(left) || SPACE.test(right)) continue;
    const seam = seams.get(left + right) ?? { left, right, count: 0, cut: 0, pieces: [] };
    seam.cut++;
    seam.pieces.push(i);
    seams.set(left + right, seam);
  }
  const [best] = [...seams.values()].sort((one, other) => other.cut - one.cut);
  if (!best || best.cut < MIN_COUNT) return null;
  const all = characters.flat();
  best.count = all.filter((left, i) => left === best.left && all[i + 1] === best.right).length;
  return best;
}

/** Return what a row says of its pair: " occurs 4 times, may not join". Empty if no cut parts one.
    @param {Record<CutName, CutRow>} row
    @param {CutName} cut
    @returns {{ pair: [string, string], rest: string, isSeam: boolean } | null} */
export function seamSentence(row, cut) {
  const { seam } = row[cut];
  if (seam) {
    const rest = seam.count === seam.cut
      ? ` occurs ${counted(seam.count, "time")}, may not join`
      : ` is cut ${seam.cut} of ${counted(seam.count, "time")}: there it may not join`;
    return { pair: [seam.left, seam.right], rest, isSeam: true };
  }
  const before = row.gpt2.seam;
  const fewer = row.gpt2.nTokens - row.o200k.nTokens;
  if (cut !== "o200k" || !before || fewer <= 0) return null;
  return { pair: [before.left, before.right], rest: ` may join: ${counted(fewer, "token")} fewer than with GPT-2`, isSeam: false };
}

/** Return whether a token reaches across a space: it joins parts of two words.
    @param {string} token */
export function spansWords(token) {
  return /\P{White_Space}\p{White_Space}+\P{White_Space}/u.test(token);
}

/** "26 pieces, 32 tokens of 35 characters"
    @param {CutRow} row */
export function spokenRow({ pieces, nTokens, nCharacters }) {
  return `${counted(pieces.length, "piece")}, ${counted(nTokens, "token")} of ${counted(nCharacters, "character")}`;
}
