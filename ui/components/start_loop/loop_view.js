// What is drawn of a sentence at one step: its tiles, the next merge or the question which it is, the most
// frequent pairs, the slider, and how long the sentence is now.

import { writeVerdict } from "../merge_player/guess_view.js";
import { Race } from "../merge_player/race.js";
import { raceAt } from "../merge_player/run.js";
import { roomFor, spokenPair } from "../merge_player/token_names.js";
import { bold, tileOfLength } from "../merge_player/tiles.js";
import { WordMotion } from "../merge_player/word_motion.js";
import { goToScene } from "../shared/carried.js";
import { spokenToken } from "../shared/characters.js";
import { addPart, find } from "../shared/elements.js";
import { directionOfAll } from "../shared/word_tiles.js";
import { SentenceWords } from "./sentence_words.js";
import { endSentence, legend, lengthSentence, mergeSentence, wantsRepeating } from "./sentences.js";
import { guessLabel, HINT, TIE_RULE, writeCards } from "./turn.js";

/** @import { Pair } from "../merge_player/run.js"
    @import { LearnedRun } from "./learn.js"
    @import { Turn } from "./turn.js" */

const MAX_LENGTH_IN_SENTENCE = 18; // characters of both tokens
const BARS = 4;
const RULE = "You did what BPE does: join the most frequent pair, again and again. ";

export class LoopView {
  /** @param {HTMLElement} root
      @param {LearnedRun} run
      @param {(pair: Pair, byKey: boolean) => void} choose Hears which pair is named as a guess. */
  constructor(root, run, choose) {
    this.root = root;
    this.run = run;
    this.choose = choose;
    /** @type {Turn | null} */
    this.turn = null;
    this.grid = new SentenceWords(find(root, ".words", HTMLElement));
    this.motion = new WordMotion(this.grid);
    this.scrub = find(root, ".scrub", HTMLInputElement);
    this.play = find(root, "[data-act=play]", HTMLButtonElement);
    this.sentence = find(root, ".sentence", HTMLElement);
    this.why = find(root, ".why", HTMLElement);
    this.length = find(root, ".length", HTMLElement);
    this.twice = find(root, ".twice", HTMLButtonElement);
    this.guess = find(root, "[data-act=guess]", HTMLButtonElement);
    this.join = find(root, "[data-act=join]", HTMLButtonElement);
    this.candidates = find(root, ".candidates", HTMLElement);
    this.verdict = find(root, ".verdict", HTMLElement);
    this.race = new Race(find(root, ".race", HTMLElement));
    this.guesses = { on: false }; // playing at full speed, which a sentence does not have
  }

  /** @param {LearnedRun} run
      @param {boolean} isFromRight Whether the sentence is read from right to left. */
  setRun(run, isFromRight) {
    this.run = run;
    this.turn = null;
    this.grid.direction = isFromRight ? "rtl" : "ltr";
    this.grid.list.dir = this.grid.direction;
    this.grid.place(run);
    this.scrub.max = String(run.n_merges);
    this.scrub.disabled = this.play.disabled = !run.n_merges;
    this.twice.hidden = !wantsRepeating(run);
    find(this.root, ".legend", HTMLElement).textContent = legend(run);
    this.root.classList.toggle("empty", !run.n_tokens[0]);
  }

  lay() {}

  drawMoving() {}

  /** @param {boolean} playing */
  drawPlaying(playing) {
    this.root.classList.toggle("playing", playing);
    find(this.play, "span", HTMLElement).textContent = playing ? "Pause" : "Play";
  }

  /** @param {number} step */
  drawPosition(step) {
    const { run, scrub } = this;
    scrub.value = String(step);
    scrub.setAttribute("aria-valuetext", `${step} of ${run.n_merges}`);
    scrub.style.setProperty("--done", `${run.n_merges ? (100 * step) / run.n_merges : 0}%`);
    const { characters, count, noun } = lengthSentence(run, step);
    this.length.replaceChildren(characters, bold(count), noun);
  }

  /** @param {number} step */
  drawStatus(step) {
    const { root, run, turn } = this;
    this.drawPosition(step);
    const isAsking = Boolean(turn?.isAsking(step));
    const isTurn = Boolean(turn?.includes(step));
    root.classList.toggle("asking", isTurn);
    // A button that disappears must not lose the keyboard focus.
    if (!isTurn && this.join.matches(":focus")) root.focus({ preventScroll: true });
    root.classList.toggle("turn", isTurn);
    if (turn && isAsking) {
      this.sentence.replaceChildren(bold(turn.title(step)), " Which pair is joined next?");
      this.why.textContent = "";
    } else this.#writeSentence(step);
    if (turn && isTurn) this.#drawTurn(turn, step, isAsking);
    else {
      this.candidates.textContent = "";
      this.race.show(run, (raceAt(run, step) ?? []).slice(0, BARS));
    }
    this.guess.textContent = guessLabel(run, step);
  }

  /** @param {Turn} turn
      @param {number} step
      @param {boolean} isAsking */
  #drawTurn(turn, step, isAsking) {
    writeCards(this.candidates, turn, step, this.choose);
    writeVerdict(this.verdict, turn.run, step, turn.guesses, TIE_RULE);
    if (isAsking) this.verdict.textContent = HINT;
    this.join.textContent = isAsking ? "Show me" : "Join them";
  }

  /** Return what a screen reader says at a step.
      @param {number} step */
  spoken(step) {
    const { run } = this;
    const length = `${this.length.textContent}. `;
    if (this.turn?.isAsking(step)) return `${length}${this.sentence.textContent}`;
    if (step >= run.n_merges) return length + endSentence(run);
    const { name, occurs, count, rest, why } = mergeSentence(run, step);
    const pair = spokenPair(run, { left: run.merge_left[step], right: run.merge_right[step] });
    return `${length}${name} ${pair} ${occurs}${count}${rest} ${why}`;
  }

  /** @param {number} step */
  #writeSentence(step) {
    const { run, sentence, turn } = this;
    this.why.textContent = "";
    if (step >= run.n_merges) {
      const score = turn?.score() ?? "";
      sentence.replaceChildren(bold(score), ` ${endSentence(run)}`);
      if (run.n_tokens[0]) this.#writeNext(score);
      return;
    }
    const { name, occurs, count, rest, why } = mergeSentence(run, step);
    this.why.textContent = why;
    sentence.replaceChildren(bold(name), " ");
    // The two tiles stay together at the end of a line.
    const pair = addPart(sentence, "span", "operands");
    const ids = [run.merge_left[step], run.merge_right[step]];
    const room = roomFor(run.tokens[ids[0]].length, run.tokens[ids[1]].length, MAX_LENGTH_IN_SENTENCE);
    const [left, right] = ids.map((id, i) => this.#tile(id, room[i]));
    pair.dir = directionOfAll(ids.map((id) => run.tokens[id])) || "ltr";
    pair.append(left, " + ", right);
    sentence.append(" ", occurs, bold(count), rest);
  }

  /** Write what the guesses taught, if there were any, and the way to the next scene.
      @param {string} score */
  #writeNext(score) {
    if (score) this.why.append(RULE);
    const next = addPart(this.why, "a", "next", "↓ Next: why some pairs never join");
    next.href = "#cut";
    next.addEventListener("click", (event) => {
      event.preventDefault();
      goToScene("cut");
    });
  }

  /** @param {number} id
      @param {number} most Characters that are shown. */
  #tile(id, most) {
    const tile = tileOfLength(this.run, id, most, { symbol: !this.run.isLearned(id) });
    tile.setAttribute("role", "img");
    tile.setAttribute("aria-label", spokenToken(this.run.tokens[id]));
    return tile;
  }
}
