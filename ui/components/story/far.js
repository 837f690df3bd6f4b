// How far to go: what a text and one that was held out become, after each number of merges.

import { countsByStep } from "../shared/bars.js";
import { utf8 } from "../shared/characters.js";
import { byteSymbols, joinsOfText, learnMerges, replayMerges } from "../shared/merging.js";
import { counted, grouped } from "../shared/numbers.js";
import { cutText } from "./cuts.js";

/** @typedef {{ bytes: Uint8Array, joinedAt: Int32Array, counts: Int32Array }} FarText
    @typedef {{ nMerges: number, onceFrom: number, seen: FarText, unseen: FarText }} Far
    @property onceFrom The number of merges after which every pair that is joined occurs once. */

export const MIN_OWN_LENGTH = 600; // characters
const SHARE_SEEN = 0.75;

/** Learn from a text without limit, as GPT-2 cuts it, in steps; then replay the merges on the unseen text.
    @param {string} seen
    @param {string} unseen
    @returns {Generator<undefined, Far>} */
export function* learnFar(seen, unseen) {
  const keys = cutText(seen, "gpt2");
  const { merges, words } = yield* learnMerges(keys, byteSymbols, { nBase: 256 });
  const unseenKeys = cutText(unseen, "gpt2");
  const unseenWords = replayMerges(unseenKeys, byteSymbols, merges);
  return {
    nMerges: merges.length,
    onceFrom: merges.findLastIndex(({ count }) => count > 1) + 1,
    seen: farText(seen, joinsOfText(keys, words), merges.length),
    unseen: farText(unseen, joinsOfText(unseenKeys, unseenWords), merges.length),
  };
}

/** @param {string} text
    @param {Int32Array} joinedAt
    @param {number} nMerges
    @returns {FarText} */
function farText(text, joinedAt, nMerges) {
  const bytes = utf8(text);
  return { bytes, joinedAt, counts: countsByStep(bytes.length, joinedAt, nMerges) };
}

/** Split a visitor's own text into what is learned from and the rest, between two words; null if it is too short.
    @param {string} text
    @returns {{ seen: string, unseen: string } | null} */
export function splitOwn(text) {
  if ([...text].length < MIN_OWN_LENGTH) return null;
  let at = 0;
  for (const piece of cutText(text, "gpt2")) {
    if (at + piece.length > text.length * SHARE_SEEN) break;
    at += piece.length;
  }
  return at ? { seen: text.slice(0, at), unseen: text.slice(at) } : null;
}

/** @param {FarText} text
    @param {number} step */
export function bytesPerToken({ bytes, counts }, step) {
  return bytes.length / counts[step];
}

/** "195 merges: seen 737 tokens, unseen 254".
    @param {Far} far
    @param {number} step */
export function spokenFar({ seen, unseen }, step) {
  return `${counted(step, "merge")}: seen ${counted(seen.counts[step], "token")}, unseen ${grouped(unseen.counts[step])}`;
}

/** Return why the vocabulary with all merges is too large, with the figures of the chart; empty if no merge joins a
    pair that occurs once.
    @param {Far} far */
export function tooLargeSentence({ nMerges, onceFrom, seen, unseen }) {
  const n = nMerges - onceFrom;
  if (!n) return "";
  const [seenSaved, unseenSaved] = [seen, unseen].map(({ counts }) => counts[onceFrom] - counts[nMerges]);
  return `This vocabulary is too large: its last ${counted(n, "merge")} ${n === 1 ? "saves" : "save"} ${counted(seenSaved, "token")} seen, ${grouped(unseenSaved)} unseen.`;
}
