// Guessing: the next merge stays hidden until the visitor guesses which pair wins. Any pair that occurs
// as often as the winner is right, because only the tie rule decides between them. The counts of other
// pairs stay hidden after a guess, since they would reveal the next answers.

import { grouped, times } from "../shared/numbers.js";
import { isTraced, raceAt, tiesAt, traced, widthOfRace } from "./run.js";

/** @import { Pair, Run } from "./run.js"
    @import { Memory } from "./remembered.js" */

export class Guesses {
  /** Restore the guesses that were made on a run before a refresh or a change of page.
      @param {Memory} memory
      @param {string} run
      @param {{ on?: boolean }} [before] Of another run: whether the visitor guesses stays. */
  constructor(memory, run, { on = false } = {}) {
    const name = `guesses-${run}`;
    const saved = savedGuesses(memory.get(name));
    this.on = on;
    /** The guessed pair by step; null if the merge was shown without a guess.
        @type {Map<number, Pair | null>} */
    this.known = new Map(saved.known);
    this.right = saved.right ?? 0;
    this.made = saved.made ?? 0;
    /** @type {(text: string) => void} */
    this.save = (text) => memory.set(name, text);
  }

  /** @param {Run} run
      @param {number} step */
  isAsking(run, step) {
    return this.on && isTraced(run, step) && !this.known.has(step) && !(step < run.n_for_terms);
  }

  /** @param {Run} run
      @param {number} step
      @param {Pair} pair */
  answer(run, step, pair) {
    this.known.set(step, pair);
    this.made++;
    if (isRight(run, step, pair)) this.right++;
    this.keep();
  }

  /** Show the merge without a guess; it is not counted.
      @param {number} step */
  giveUp(step) {
    this.known.set(step, null);
    this.keep();
  }

  keep() {
    const { right, made } = this;
    this.save(JSON.stringify({ known: [...this.known], right, made }));
  }

  score() {
    return this.made ? `${grouped(this.right)} of ${grouped(this.made)} right` : "";
  }

  /** Return the pairs of a step that may be shown after a guess: the winner and the guessed pair.
      @template {Pair} Shown
      @param {Shown[]} pairs
      @param {number} step */
  visible(pairs, step) {
    const guess = this.known.get(step);
    return pairs.filter((pair, i) => i === 0 || (guess && isSame(pair, guess)));
  }
}

/** @param {string | null} text
    @returns {{ known?: [number, Pair | null][], right?: number, made?: number }} */
function savedGuesses(text) {
  try {
    return JSON.parse(text ?? "{}") ?? {};
  } catch {
    return {}; // Unreadable guesses are discarded.
  }
}

/** @param {Pair} one
    @param {Pair} two */
export function isSame(one, two) {
  return one.left === two.left && one.right === two.right;
}

/** Return whether a guess occurs as often as the winner. A tied pair may be too low in the order for the
    race.
    @param {Run} run
    @param {number} step
    @param {Pair} guess */
function isRight(run, step, guess) {
  const pairs = raceAt(run, step) ?? [];
  const found = pairs.find((pair) => isSame(pair, guess));
  return found ? found.count === pairs[0].count : tiesAt(run, step).some((pair) => isSame(pair, guess));
}

/** Return the pairs to choose from, in an order that does not reveal their counts. If there is room for
    only `most`, one tie of the winner is enough, so that others are among them.
    @param {Run} run
    @param {number} step
    @param {number} most
    @returns {Pair[]} */
export function candidatesAt(run, step, most = Infinity) {
  const scattered = (/** @type {Pair} */ { left, right }) => Math.imul(left * 31 + right, 2654435761) >>> 0;
  const race = raceAt(run, step) ?? [];
  const firstTie = race.findIndex(({ tied }) => tied);
  const isSpare = race.map(({ tied }, i) => tied && i !== firstTie);
  const pairs = [...race.filter((_, i) => !isSpare[i]), ...race.filter((_, i) => isSpare[i])].slice(0, most);
  return pairs.map(({ left, right }) => ({ left, right })).sort((one, other) => scattered(one) - scattered(other));
}

/** Return whether a guess was right, and why: the text before the pair and the text after it. Null if
    there is no guess to judge.
    @param {Run} run
    @param {number} step
    @param {Guesses} guesses
    @param {string} [rule] The tie rule, in the words of a page that shows no ids. */
export function judgeGuess(run, step, guesses, rule = tieRule(run)) {
  const guess = guesses.known.get(step);
  if (!guesses.on || !guess || !isTraced(run, step)) return null;
  const pairs = raceAt(run, step) ?? [];
  const [winner, rival] = pairs;
  const tied = traced(run, "n_tied", step);
  if (isRight(run, step, guess)) {
    const lead = rival ? `, ${grouped(winner.count - rival.count)} more than the next` : "";
    const goesFirst = isSame(winner, guess) ? `Of the ${grouped(tied)} that tie, it goes first` : "Another goes first";
    return {
      pair: guess,
      before: "Right.",
      after: tied > 1
        ? ` occurs ${times(winner.count)}, as often as any. ${goesFirst}: ${rule}.`
        : ` occurs ${times(winner.count)}${lead}.`,
    };
  }
  const found = pairs.find((pair) => isSame(pair, guess));
  return {
    pair: guess,
    before: "Not this one.",
    after: found
      ? ` occurs ${times(found.count)}, ${grouped(winner.count - found.count)} fewer.`
      : pairs.length < widthOfRace(run, step)
        ? " cannot be merged within any word now."
        : ` is not among the top ${pairs.length}.`,
  };
}

/** @param {Pick<Run, "tie_break">} run */
export function tieRule(run) {
  return run.tie_break === "smallest-pair" ? "the lower ids win" : "the pair seen first wins";
}

/** Return the index of the box whose border with the next box is nearest to a point; null if there are
    fewer than two boxes. Vertical distance counts four times, so that the pointer's line is preferred.
    @param {{ left: number, right: number, top: number, bottom: number }[]} boxes
    @param {number} x
    @param {number} y
    @param {boolean} isFromRight Whether the boxes stand from right to left. */
export function nearestBorder(boxes, x, y, isFromRight = false) {
  let nearest = null;
  let least = Infinity;
  for (let i = 0; i + 1 < boxes.length; i++) {
    const { left, right, top, bottom } = boxes[i];
    const next = boxes[i + 1];
    const isNextLeft = next.top === top ? next.left < left : isFromRight;
    const distance = Math.abs(x - (isNextLeft ? left : right)) + 4 * Math.max(0, top - y, y - bottom);
    if (distance < least) [least, nearest] = [distance, i];
  }
  return nearest;
}
