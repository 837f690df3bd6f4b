// The verdict on a tokenizer that was trained here, in the app's words: `ui/compare/wording.py` and
// `runs/statistics.py`. There are no intervals, which the app draws from many documents.

import { counted, grouped, times } from "../../../ui/components/shared/numbers.js";
import { stopSentence } from "./replaying.js";

/** @import { Rival } from "../../../ui/components/rivals/scale.js"
    @import { Run } from "../engine/training.js"
    @import { HeldOut } from "./own_text.js" */

/** @typedef {[text: string, isBold: boolean][]} Sentence */

/** @typedef {{ name: string, vocabSize: number, tokens: number }} Counted A tokenizer, and its tokens for the text. */

export const SIMPLER =
  "The app divides a text by its kinds and languages, leaves out copies, and says how far the figure may be off.";
const CANNOT_TELL = "This figure does not say what new documents will take.";
const MIN_TOKENS = 300;
const MIN_PERCENT = 0.05;
const MIN_GAP = 0.25;
const MIN_SHARE_ONCE = 0.25;
const FRACTIONS = [
  ...["half", "a third", "a quarter", "a fifth", "a sixth", "a seventh", "an eighth", "a ninth", "a tenth"],
  ...["an eleventh", "a twelfth"],
];

/** Return a sentence on one's own tokenizer against another, and an aside.
    @param {Counted} own
    @param {Counted} other
    @param {Pick<HeldOut, "how" | "nDocuments">} heldOut
    @returns {{ sentence: Sentence, aside: string }} */
export function judge(own, other, { how, nDocuments }) {
  if (Math.min(own.tokens, other.tokens) < MIN_TOKENS) {
    return {
      sentence: [
        ["No verdict yet", true],
        [": on held-out text your tokenizer needs ", false],
        [counted(own.tokens, "token"), true],
        [` and ${other.name} `, false],
        [grouped(other.tokens), true],
        [`, and a verdict takes ${MIN_TOKENS} of each.`, false],
      ],
      aside: "Train on more text, or hold out more of it.",
    };
  }
  const seen = nDocuments === 1 ? "the document" : "documents";
  const onText = how === "ends" ? `On held-out ends of ${seen} it has seen` : "On documents it has never seen";
  const size = `, with ${sizeInWords(other.vocabSize / own.vocabSize)}.`;
  const needs = `${onText}, your tokenizer needs `;
  const aside = how === "ends" ? CANNOT_TELL : "";
  if (own.tokens === other.tokens) {
    return { sentence: [[needs, false], ["as many tokens", true], [` as ${other.name}${size}`, false]], aside };
  }
  return { sentence: [[needs, false], [difference(own.tokens, other.tokens), true], [` than ${other.name}${size}`, false]], aside };
}

/** Return the row of another tokenizer, as the app's table of them has it.
    @param {Counted} own
    @param {Counted} other
    @param {number} place
    @returns {Rival} */
export function rivalRow(own, other, place) {
  const isEnough = Math.min(own.tokens, other.tokens) >= MIN_TOKENS;
  const percent = percentFewer(own.tokens, other.tokens);
  return {
    ...{ place, name: other.name, facts: "Byte-level BPE, encoded in this tab.", interval: "", low: null, high: null },
    vocabulary: grouped(other.vocabSize),
    tokens: grouped(other.tokens),
    figure: !isEnough ? "" : own.tokens === other.tokens ? "as many" : signed(percent),
    percent: isEnough ? percent : null,
  };
}

/** Return how many merges a training learned, why it stopped, and in which state, as the app says it.
    @param {Run} run */
export function resultSentence(run) {
  const { counts, firstId, stopReason } = run;
  const n = counts.length;
  const last = n ? ` The last pair still occurred ${times(counts[n - 1])}.` : "";
  const end = stopReason === "vocab-size" ? last : ` The vocabulary has ${counted(firstId + n, "token")}.`;
  return `${counted(n, "merge")}. ${stopSentence(run)}${end}`;
}

/** Return a sentence on a run that fits its own text far better than new text; may be empty.
    @param {Float64Array} counts
    @param {number | null} gap How much better its bytes per token are on its own text. */
export function byHeartSentence(counts, gap) {
  const nOnce = counts.reduce((n, count) => n + Number(count === 1), 0);
  const fits = gap === null || gap < MIN_GAP ? "" : `spells ${Math.round(100 * gap)}% more of the training text`;
  const isOnce = nOnce > 0 && nOnce >= MIN_SHARE_ONCE * counts.length;
  const once = isOnce ? `${grouped(nOnce)} of ${grouped(counts.length)} merges join a pair that occurred only once` : "";
  let found = "";
  if (gap === null && once) found = `Learned by heart: ${once}.`;
  else if (fits && once) found = `Learned by heart: a token ${fits} than of held-out text, and ${once}.`;
  else if (fits) found = `A token ${fits} than of held-out text: that was learned by heart in part, or the held-out text is of another kind.`;
  return found && `${found} Train on more text, or to fewer tokens.`;
}

/** @param {number} own
    @param {number} theirs */
function percentFewer(own, theirs) {
  return 100 * (1 - own / theirs);
}

/** @param {number} percent */
function signed(percent) {
  const figure = Math.abs(percent).toLocaleString("en-US", { minimumFractionDigits: 1, maximumFractionDigits: 1 });
  return `${figure}% ${percent < 0 ? "more" : "fewer"}`;
}

/** @param {number} own
    @param {number} theirs */
function difference(own, theirs) {
  const percent = percentFewer(own, theirs);
  if (Math.abs(percent) >= MIN_PERCENT) return `${signed(percent)} tokens`;
  return `${grouped(Math.abs(own - theirs))} ${own > theirs ? "more" : "fewer"} ${Math.abs(own - theirs) === 1 ? "token" : "tokens"}`;
}

/** Return the size of one's own vocabulary, of which the other is `ratio` times the size.
    @param {number} ratio */
function sizeInWords(ratio) {
  if (ratio > 0.95 && ratio < 1.05) return "a vocabulary of about the same size";
  if (ratio < 1) return `${(1 / ratio).toFixed(1)} times its vocabulary`;
  if (ratio < 1.75) return `${Math.round(100 / ratio)}% of its vocabulary`;
  const share = FRACTIONS[Math.round(ratio) - 2] ?? `1/${grouped(Math.round(ratio))}`;
  return `about ${share} of its vocabulary`;
}
