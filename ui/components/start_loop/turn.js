// The visitor's turn: a few merges that they guess, one after another.

import { writeCandidates } from "../merge_player/guess_view.js";
import { candidatesAt, Guesses, isSame } from "../merge_player/guesses.js";
import { raceAt } from "../merge_player/run.js";
import { addPart } from "../shared/elements.js";
import { times } from "../shared/numbers.js";

/** @import { Pair } from "../merge_player/run.js"
    @import { LearnedRun } from "./learn.js" */

const QUESTIONS = 3;
const MIN_WATCHED = 2; // merges played before it is the visitor's turn
const CANDIDATES = 4;
const NUMBERS = ["", "merge", "two merges", "three merges"];

export const HINT = "Count them within pieces: the most frequent pair wins. If several tie, each of them is right.";
// By ids, which this page does not show.
export const TIE_RULE = "the earlier left token wins; if equal, the earlier right one. Characters come first, in Unicode’s order, then merged tokens, oldest first";

/** Return the step at which playing stops for the visitor's turn; -1 if there are too few merges.
    @param {LearnedRun} run */
export function stepOfTurn(run) {
  return run.n_merges >= QUESTIONS + MIN_WATCHED ? run.n_merges - QUESTIONS : -1;
}

export class Turn {
  /** @param {LearnedRun} run
      @param {number} step Where the visitor is: the next merges are asked, or at the end the last ones. */
  constructor(run, step) {
    this.run = run;
    this.from = step < run.n_merges ? step : Math.max(0, run.n_merges - QUESTIONS);
    this.until = Math.min(this.from + QUESTIONS, run.n_merges);
    this.guesses = new Guesses({ get: () => null, set() {} }, "", { on: true });
  }

  /** @param {number} step */
  isAsking(step) {
    return this.includes(step) && this.guesses.isAsking(this.run, step);
  }

  /** @param {number} step */
  includes(step) {
    return step >= this.from && step < this.until;
  }

  /** "Your turn, 1 of 3."
      @param {number} step */
  title(step) {
    return `Your turn, ${step - this.from + 1} of ${this.until - this.from}.`;
  }

  /** "2 of 3 right."; empty if nothing was guessed. */
  score() {
    const score = this.guesses.score();
    return score && `${score}.`;
  }
}

/** Return what the button that starts a turn says; empty if there is no merge to guess.
    @param {LearnedRun} run
    @param {number} step */
export function guessLabel(run, step) {
  if (!run.n_merges) return "";
  const left = run.n_merges - step || run.n_merges;
  return `Guess the ${step < run.n_merges ? "next" : "last"} ${NUMBERS[Math.min(left, QUESTIONS)]}`;
}

/** Write the pairs to choose from as cards. After the answer, the winner and the guess show their counts.
    @param {HTMLElement} list
    @param {Turn} turn
    @param {number} step
    @param {(pair: Pair, byKey: boolean) => void} choose */
export function writeCards(list, { run, guesses }, step, choose) {
  const pairs = candidatesAt(run, step, CANDIDATES);
  writeCandidates(list, run, step, choose, pairs);
  const isAnswered = guesses.known.has(step);
  const race = raceAt(run, step) ?? [];
  const shown = isAnswered ? guesses.visible(race, step) : [];
  pairs.forEach((pair, i) => {
    const button = /** @type {HTMLButtonElement} */ (list.children[i].firstChild);
    const known = shown.find((one) => isSame(one, pair));
    const count = button.querySelector(".times") ?? addPart(button, "span", "times");
    count.textContent = known ? times(known.count) : "?";
    button.disabled = isAnswered;
    button.classList.toggle("wins", isAnswered && isSame(race[0], pair));
    button.classList.toggle("guessed", known !== undefined && !isSame(race[0], pair));
  });
}
