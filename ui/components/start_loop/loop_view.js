// What is drawn of a sentence at one step: its tiles, the next merge, the slider, and how long it is now.

import { roomFor, spokenPair } from "../merge_player/token_names.js";
import { bold, tileOfLength } from "../merge_player/tiles.js";
import { spokenToken } from "../shared/characters.js";
import { addPart, find } from "../shared/elements.js";
import { directionOfAll } from "../shared/word_tiles.js";
import { SentenceMotion, SentenceWords } from "./sentence_words.js";
import { endSentence, lengthSentence, mergeSentence, wantsRepeating } from "./sentences.js";

/** @import { LearnedRun } from "./learn.js" */

const MAX_LENGTH_IN_SENTENCE = 18; // characters of both tokens

export class LoopView {
  /** @param {HTMLElement} root
      @param {LearnedRun} run */
  constructor(root, run) {
    this.root = root;
    this.run = run;
    this.grid = new SentenceWords(find(root, ".words", HTMLElement));
    this.motion = new SentenceMotion(this.grid);
    this.scrub = find(root, ".scrub", HTMLInputElement);
    this.play = find(root, "[data-act=play]", HTMLButtonElement);
    this.sentence = find(root, ".sentence", HTMLElement);
    this.length = find(root, ".length", HTMLElement);
    this.twice = find(root, ".twice", HTMLButtonElement);
    // What the playback of a whole run asks of its view, and a sentence does not have.
    this.race = { forgetWidth() {} };
    this.guesses = { on: false };
  }

  /** @param {LearnedRun} run
      @param {boolean} isFromRight Whether the sentence is read from right to left. */
  setRun(run, isFromRight) {
    this.run = run;
    this.grid.direction = isFromRight ? "rtl" : "ltr";
    this.grid.list.dir = this.grid.direction;
    this.grid.place(run);
    this.scrub.max = String(run.n_merges);
    this.scrub.disabled = this.play.disabled = !run.n_merges;
    this.twice.hidden = !wantsRepeating(run);
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
    this.drawPosition(step);
    this.#writeSentence(step);
  }

  /** Return what a screen reader says at a step.
      @param {number} step */
  spoken(step) {
    const { run } = this;
    const length = `${this.length.textContent}. `;
    if (step >= run.n_merges) return length + endSentence(run);
    const { name, occurs, count, rest } = mergeSentence(run, step);
    const pair = spokenPair(run, { left: run.merge_left[step], right: run.merge_right[step] });
    return `${length}${name} ${pair} ${occurs}${count}${rest}`;
  }

  /** @param {number} step */
  #writeSentence(step) {
    const { run, sentence } = this;
    if (step >= run.n_merges) return sentence.replaceChildren(endSentence(run));
    const { name, occurs, count, rest } = mergeSentence(run, step);
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

  /** @param {number} id
      @param {number} most Characters that are shown. */
  #tile(id, most) {
    const tile = tileOfLength(this.run, id, most, { symbol: !this.run.isLearned(id) });
    tile.setAttribute("role", "img");
    tile.setAttribute("aria-label", spokenToken(this.run.tokens[id]));
    return tile;
  }
}
