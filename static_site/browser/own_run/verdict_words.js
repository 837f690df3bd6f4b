// The verdict on a tokenizer that was trained here, in the app's words: `ui/compare/wording.py` and
// `trainers/statistics.py`; with an interval over documents, if enough of them were held out whole.

import { counted, grouped, times } from "../../../ui/components/shared/numbers.js";
import { stopSentence } from "./replaying.js";

/** @import { Rival } from "../../../ui/components/rivals/scale.js"
    @import { Run } from "../engine/training.js"
    @import { HeldOut } from "./own_text.js" */

/** @typedef {[text: string, isBold: boolean][]} Sentence */

/** @typedef {{ name: string, vocabSize: number, tokens: number }} Counted A tokenizer, and its tokens for the text. */

/** The ends of a 95% interval of how many percent fewer tokens one's own tokenizer needs.
    @typedef {{ low: number, high: number }} Interval */

const OF_THE_APP = "The app also divides a text by its kinds and languages, and leaves out copies.";
const MIN_UNITS = 20;
const MAX_UNITS = 1024;
const N_RESAMPLES = 2000;
const TAIL = 0.025;
const CANNOT_TELL = "This figure does not say what new documents will take.";
const MIN_TOKENS = 300;
const MIN_PERCENT = 0.05;
const MIN_GAP = 0.25;
const MIN_SHARE_ONCE = 0.25;
const FRACTIONS = [
  ...["half", "a third", "a quarter", "a fifth", "a sixth", "a seventh", "an eighth", "a ninth", "a tenth"],
  ...["an eleventh", "a twelfth"],
];

/** Return how far a difference may be off on other documents, by the bootstrap of `intervals.py` in the app; but
    all documents are of one kind, and the random numbers are others.
    @param {ArrayLike<number>} own The tokens that each held-out document takes.
    @param {ArrayLike<number>} theirs
    @returns {Interval | null} null if there are too few documents. */
export function findInterval(own, theirs) {
  const n = Math.min(own.length, MAX_UNITS);
  const units = Array.from({ length: n }, () => [0, 0]);
  for (let i = 0; i < own.length; i++) {
    const unit = units[Math.floor((i * n) / own.length)];
    unit[0] += own[i];
    unit[1] += theirs[i];
  }
  const used = units.filter(([mine, other]) => mine || other);
  if (used.length < MIN_UNITS) return null;
  const draw = drawer();
  const figures = Float64Array.from({ length: N_RESAMPLES }, () => {
    let [mine, other] = [0, 0];
    // One fewer than there are, because as many would vary too little.
    for (let i = 1; i < used.length; i++) {
      const unit = used[Math.floor(draw() * used.length)];
      mine += unit[0];
      other += unit[1];
    }
    return percentFewer(mine, other);
  }).sort();
  const at = (/** @type {number} */ share) => {
    const place = share * (N_RESAMPLES - 1);
    const below = Math.floor(place);
    return figures[below] + (place - below) * (figures[below + 1] - figures[below]);
  };
  return { low: at(TAIL), high: at(1 - TAIL) };
}

/** Return a function that draws the same numbers from 0 to 1 each time: Mulberry32. */
function drawer() {
  let state = 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Say how the intervals were computed, or why there are none, and what the app does in addition.
    @param {Interval | null} interval
    @param {Pick<HeldOut, "how" | "nDocuments">} heldOut */
export function methodSentence(interval, { how, nDocuments }) {
  if (interval) return `95% intervals over whole documents, ${grouped(N_RESAMPLES)} resamples. ${OF_THE_APP}`;
  const why = how === "documents" && nDocuments < MIN_UNITS ? `, and ${nDocuments} were held out` : " that were held out whole";
  return `No interval: it takes ${MIN_UNITS} documents${why}. ${OF_THE_APP}`;
}

/** Return a sentence on one's own tokenizer against another, and an aside.
    @param {Counted} own
    @param {Counted} other
    @param {Pick<HeldOut, "how" | "nDocuments">} heldOut
    @param {Interval | null} interval
    @returns {{ sentence: Sentence, aside: string }} */
export function judge(own, other, { how, nDocuments }, interval) {
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
  const isEqual = own.tokens === other.tokens;
  if (isEqual && !(interval && interval.low < interval.high)) {
    return { sentence: [[needs, false], ["as many tokens", true], [` as ${other.name}${size}`, false]], aside };
  }
  const figure = isEqual ? "" : difference(own.tokens, other.tokens);
  const range = interval ? ` (${intervalWords(interval)} over documents)` : "";
  if (interval && isUnclear(interval)) {
    /** @type {Sentence} */
    const shown = figure ? [[": ", false], [figure, true]] : [];
    return { sentence: [[`${needs}about as many tokens as ${other.name}`, false], ...shown, [`${range}${size}`, false]], aside };
  }
  const noun = figure.includes("%") ? " tokens" : "";
  return { sentence: [[needs, false], [`${figure}${noun}`, true], [` than ${other.name}${range}${size}`, false]], aside };
}

/** @param {Interval} interval */
function isUnclear({ low, high }) {
  return low <= 0 && high >= 0;
}

/** @param {Interval} interval */
function intervalWords({ low, high }) {
  const digits = Math.max(Math.abs(low), Math.abs(high)) < 0.1 ? 2 : 1;
  if (isUnclear({ low, high })) return `95% interval from ${signed(low, digits)} to ${signed(high, digits)}`;
  const [least, most] = [Math.abs(low), Math.abs(high)].sort((one, other) => one - other);
  return `95% interval ${decimal(least, digits)}–${decimal(most, digits)}%`;
}

/** @param {Interval} interval */
function intervalEnds({ low, high }) {
  if (isUnclear({ low, high })) return `${signed(low)} to ${signed(high)}`;
  const [least, most] = [Math.abs(low), Math.abs(high)].sort((one, other) => one - other);
  return `${decimal(least)} to ${decimal(most)}`;
}

/** Return the row of another tokenizer, as the app's table of them has it.
    @param {Counted} own
    @param {Counted} other
    @param {number} place
    @param {Interval | null} interval
    @returns {Rival} */
export function rivalRow(own, other, place, interval) {
  const isEnough = Math.min(own.tokens, other.tokens) >= MIN_TOKENS;
  const isEqual = own.tokens === other.tokens && !(interval && interval.low < interval.high);
  const percent = percentFewer(own.tokens, other.tokens);
  const range = isEnough && !isEqual && interval ? { interval: intervalEnds(interval), ...interval } : { interval: "", low: null, high: null };
  return {
    ...{ place, name: other.name, facts: "Byte-level BPE, encoded in this tab.", ...range },
    vocabulary: grouped(other.vocabSize),
    tokens: grouped(other.tokens),
    figure: !isEnough ? "" : isEqual ? "as many" : signed(percent),
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

/** @param {number} percent
    @param {number} [digits] */
function signed(percent, digits) {
  return `${decimal(Math.abs(percent), digits)}% ${percent < 0 ? "more" : "fewer"}`;
}

/** @param {number} number
    @param {number} [digits] */
function decimal(number, digits = 1) {
  // As Python rounds 6.25. Older browsers do not know the option, and write 6.3.
  const rounding = /** @type {object} */ ({ roundingMode: "halfEven" });
  return number.toLocaleString("en-US", { ...rounding, minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** @param {number} own
    @param {number} theirs */
function difference(own, theirs) {
  const percent = percentFewer(own, theirs);
  if (Math.abs(percent) >= MIN_PERCENT) return signed(percent);
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
