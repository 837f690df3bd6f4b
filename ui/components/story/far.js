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
// A vocabulary is called too small if merges ahead would make the unseen text shorter by this share.
const TOO_LONG = 0.2;

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

/** Return whether the vocabulary with this many merges is too small or too large, with what the next or the last
    merges save in both texts. The next ones end where every pair occurs once, as the last ones begin there.
    @param {Far} far
    @param {number} step */
export function sizeSentence(far, step) {
  const { nMerges, onceFrom, unseen } = far;
  if (step > onceFrom) {
    const size = mostHelp(unseen, onceFrom, step) ? "Not too large yet" : "Too large";
    return `${size}: the last ${savings(far, onceFrom, step)}.`;
  }
  const until = step < onceFrom ? onceFrom : nMerges;
  if (step === until) return "No merge is left: every piece of the text seen is one token.";
  const ahead = saved(unseen, step, until);
  const isEnough = step < onceFrom ? !ahead : !mostHelp(unseen, step, until);
  const isSmall = step < onceFrom && ahead >= TOO_LONG * unseen.counts[step];
  const size = isEnough ? "Large enough" : isSmall ? "Too small" : "More merges still help";
  return `${size}: the next ${savings(far, step, until)}.`;
}

/** "merge saves 1 token seen, 0 unseen", "267 merges save 267 tokens seen, 24 unseen".
    @param {Far} far
    @param {number} from
    @param {number} until */
function savings({ seen, unseen }, from, until) {
  const n = until - from;
  const merges = n === 1 ? "merge saves" : `${grouped(n)} merges save`;
  return `${merges} ${counted(saved(seen, from, until), "token")} seen, ${grouped(saved(unseen, from, until))} unseen`;
}

/** @param {FarText} text
    @param {number} from
    @param {number} until */
function saved({ counts }, from, until) {
  return counts[from] - counts[until];
}

/** Return whether at least half of some merges join anything in a text.
    @param {FarText} text
    @param {number} from
    @param {number} until */
function mostHelp(text, from, until) {
  let n = 0;
  for (let step = from; step < until; step++) n += Number(saved(text, step, step + 1) > 0);
  return 2 * n >= until - from;
}

/** Return why a visitor's own text is not learned from.
    @param {string} text One that cannot be split. */
export function whyNotOwn(text) {
  return [...text].length < MIN_OWN_LENGTH
    ? `until you type ${MIN_OWN_LENGTH} characters`
    : "as your sentence cannot be split between two words";
}
