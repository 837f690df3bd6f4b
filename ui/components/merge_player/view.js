// Everything the player shows at one step: the sentence, the words, the race and the reasons.

import { find } from "../shared/elements.js";
import { counted, grouped } from "../shared/numbers.js";
import { wordsToCount } from "./countable.js";
import { EndView } from "./end.js";
import { tilesAround, writeCandidates, writeQuestion, writeVerdict } from "./guess_view.js";
import { Guesses } from "./guesses.js";
import { formatNote, raceNote, formatTitle, whyNothing } from "./notes.js";
import { Race } from "./race.js";
import { writeChanges, writeGiven, writeMargin, writeReason, writeHidden, TieList } from "./reason_card.js";
import { remembered } from "./remembered.js";
import { blockAt, mergesSaved, raceAt, traced } from "./run.js";
import { cellsOfWord, sceneAt, findScene, placeScenes } from "./word_layout.js";
import { writeSentence } from "./sentence.js";
import { muted } from "./tiles.js";
import { WordGrid } from "./word_grid.js";
import { WordMotion } from "./word_motion.js";

/** @import { Mode } from "./notes.js"
    @import { Block, Pair, RacingPair, Run, Word } from "./run.js"
    @import { Scene } from "./word_layout.js" */

const ROWS = 8;
const HIDDEN_PAIRS = "While you guess, the counts of the other pairs stay hidden.";

export class PlayerView {
  /** @param {HTMLElement} root
      @param {Run} run
      @param {(pair: Pair, byKey: boolean) => void} choose Hears which pair is named as a guess. */
  constructor(root, run, choose) {
    this.root = root;
    this.choose = choose;
    this.grid = new WordGrid(this.find(".words"));
    this.motion = new WordMotion(this.grid);
    this.race = new Race(this.find(".race"));
    this.ties = new TieList(find(root, ".ties", HTMLDetailsElement));
    /** @type {Mode} */
    this.mode = "touched";
    /** @type {{ words: Word[], problem: string }} */
    this.own = { words: [], problem: "" };
    /** @type {Scene | null} */
    this.scene = null;
    this.shown = 0;
    /** Whether the answer to the question can be counted in the words shown. */
    this.isCountable = false;
    /** The scenes of each block, and the number of cells that they were computed for.
        @type {WeakMap<Block, { room: string, scenes: Scene[] }>} */
    this.scenes = new WeakMap();
    this.run = run;
    this.guesses = new Guesses(remembered, run.player);
    this.end = new EndView(root);
    this.end.prepare(run);
    this.measure();
  }

  /** @param {string} selector */
  find(selector) {
    return find(this.root, selector, HTMLElement);
  }

  /** @param {string} act */
  button(act) {
    return find(this.root, `[data-act=${act}]`, HTMLButtonElement);
  }

  /** @param {Run} run */
  setRun(run) {
    this.run = run;
    this.guesses = new Guesses(remembered, run.player, this.guesses);
    this.end.prepare(run);
    this.measure();
  }

  /** @param {{ words: (number | string)[][], problem: string }} own */
  setOwnWords({ words, problem }) {
    const cells = words.map((base, i) => ({ key: `own ${i} ${base}`, base, count: null, cut: false }));
    this.own = { words: cells, problem };
  }

  /** Set sizes that fit all numbers of the run, so that a changing number never moves its neighbours. */
  measure() {
    const { run, root } = this;
    let most = 0;
    for (const count of run.merge_count) most = Math.max(most, count);
    const wordMost = run.frequent[0]?.count ?? 0;
    const pixels = Math.max(34, 8 * grouped(wordMost).length);
    root.style.setProperty("--count-pixels", String(pixels));
    root.style.setProperty("--count-width", `${pixels}px`);
    this.race.list.style.setProperty("--count-width", `${Math.max(44, 8.5 * grouped(most).length)}px`);
    root.style.setProperty("--position-width", `${grouped(run.n_merges).length}ch`);
    root.style.setProperty("--what-width", `${11 + grouped(run.n_merges).length}ch`);
    const scrub = find(root, ".scrub", HTMLInputElement);
    scrub.max = String(run.n_merges);
    scrub.disabled = !run.n_merges;
  }

  /** Return which words to show. While a question is asked, the words that the merge changes would answer it.
      @param {number} step */
  shownMode(step) {
    const reveals = this.mode === "touched" && this.guesses.isAsking(this.run, step);
    return reveals ? "frequent" : this.mode;
  }

  /** Choose and place the words to show; words that were not there before fade in.
      @param {number} step
      @param {number} fade Milliseconds. */
  lay(step, fade = 0) {
    const { run } = this;
    const columns = this.root.clientWidth <= 640 ? 1 : 2;
    const least = Math.ceil(Math.max(run.frequent.length, 1) / columns);
    const mode = this.shownMode(step);
    const own = mode === "yours";
    const rows = own ? ROWS - 1 : Math.max(3, Math.min(ROWS, columns === 1 ? 2 * least : least + 4));
    this.root.classList.toggle("yours", own);
    this.grid.list.style.setProperty("--rows", String(rows));
    this.scene = null;
    let words = own ? this.own.words : run.frequent;
    const block = mode === "touched" && run.n_merges ? blockAt(run, step) : undefined;
    if (block) {
      const merge = Math.min(step, run.n_merges - 1);
      // Words that later merges change would reveal those merges.
      this.scene = this.guesses.on ? findScene(block, merge) : sceneAt(this.scenesFor(block, columns, rows), merge);
      words = Array.from(this.scene?.words ?? [], (word) => block.words[word]);
    }
    this.find(".words-part h2").textContent = formatTitle(this);
    const asked = !own && this.guesses.isAsking(run, step) ? blockAt(run, step) : undefined;
    const toCount = asked && wordsToCount(run, asked, step, { room: rows * columns, columns });
    this.isCountable = Boolean(toCount);
    if (toCount) words = toCount;
    const from = this.scene?.from ?? 0;
    this.shown = this.grid.lay(run, words, { columns, rows, from, inOrder: own, fade });
  }

  /** Return the scenes of a block, which depend only on the number of cells.
      @param {Block} block
      @param {number} columns
      @param {number} rows */
  scenesFor(block, columns, rows) {
    const room = `${columns} ${rows}`;
    const known = this.scenes.get(block);
    if (known?.room === room) return known.scenes;
    const scenes = placeScenes(block, columns * rows, (word) => cellsOfWord(block.words[word].base.length, columns));
    this.scenes.set(block, { room, scenes });
    return scenes;
  }

  /** @param {boolean} playing */
  drawPlaying(playing) {
    this.root.classList.toggle("playing", playing);
    const button = this.button("play");
    find(button, "span", HTMLElement).textContent = playing ? "Pause" : "Play";
    button.title = playing ? "Pause (space)" : "Play (space)";
  }

  /** Set the duration in which bars and rings move; 0 ends their motion.
      @param {number} duration Milliseconds. */
  drawMoving(duration) {
    if (duration) this.root.style.setProperty("--settle", `${duration}ms`);
    this.root.classList.toggle("moving", duration > 0);
  }

  /** @param {number} step */
  drawPosition(step) {
    const { run } = this;
    const scrub = find(this.root, ".scrub", HTMLInputElement);
    scrub.value = String(step);
    scrub.style.setProperty("--done", `${run.n_merges ? (100 * step) / run.n_merges : 0}%`);
    scrub.setAttribute("aria-valuetext", `${grouped(step)} of ${counted(run.n_merges, "merge")}`);
    this.find(".position b").textContent = grouped(step);
    this.find(".position span").textContent = ` of ${counted(run.n_merges, "merge")}`;
  }

  /** Draw everything around the words.
      @param {number} step */
  drawStatus(step) {
    const { run, guesses } = this;
    this.drawPosition(step);
    this.drawButtons(step);
    const atEnd = step >= run.n_merges;
    this.grid.list.classList.toggle("closed", step === 0);
    // A visitor who typed words wants to see their tokens.
    this.end.show(atEnd && run.n_merges > 0 && run.end !== undefined && this.mode !== "yours");
    const asking = guesses.isAsking(run, step);
    this.drawGuessing(step, asking);
    if (asking) writeQuestion(this.find(".sentence"), step, this.root.classList.contains("playing"));
    else writeSentence(this.find(".sentence"), run, step);
    const pairs = raceAt(run, step);
    this.root.classList.toggle("fetching", !pairs && !mergesSaved(run));
    const hides = guesses.on && !atEnd;
    if (!pairs && mergesSaved(run)) this.race.show(run, []);
    else if (pairs && !asking) this.race.show(run, hides ? guesses.visible(pairs, step) : pairs);
    this.find(".race-note").textContent = hides ? HIDDEN_PAIRS : raceNote(run, step, pairs);
    this.drawReason(step, pairs, asking);
    const { mode, scene, own } = this;
    const shown = { mode, shownMode: this.shownMode(step), scene, n: this.shown, own, isCountable: this.isCountable };
    this.find(".note").textContent = formatNote(run, shown);
  }

  /** @param {number} step */
  drawButtons(step) {
    const atStart = step === 0;
    const atEnd = step >= this.run.n_merges;
    const dead = { first: atStart, back: atStart, forward: atEnd, last: atEnd, play: !this.run.n_merges };
    for (const [act, off] of Object.entries(dead)) {
      const button = this.button(act);
      // A button that becomes disabled must not lose the keyboard focus.
      const { activeElement } = /** @type {ShadowRoot} */ (this.root.getRootNode());
      if (off && button === activeElement) this.root.focus({ preventScroll: true });
      button.disabled = off;
    }
  }

  /** Empty an element that may have the keyboard focus.
      @param {HTMLElement} element */
  empty(element) {
    const { activeElement } = /** @type {ShadowRoot} */ (this.root.getRootNode());
    if (element.contains(activeElement)) this.root.focus({ preventScroll: true });
    element.textContent = "";
  }

  /** @param {number} step
      @param {boolean} asking */
  drawGuessing(step, asking) {
    const { guesses, run } = this;
    this.root.classList.toggle("asking", asking);
    this.root.classList.toggle("guessing", guesses.on);
    const candidates = this.find(".candidates");
    if (asking) writeCandidates(candidates, run, step, this.choose);
    else this.empty(candidates);
    writeVerdict(this.find(".verdict [role=status]"), run, step, guesses);
    this.find(".score").textContent = guesses.on ? guesses.score() : "";
  }

  /** Outline the two tiles that a click would guess; return their pair, or null.
      @param {number} step
      @param {MouseEvent | null} event */
  point(step, event) {
    for (const tile of this.root.querySelectorAll(".pointed")) tile.classList.remove("pointed");
    if (!event || !this.guesses.isAsking(this.run, step)) return null;
    const target = /** @type {Node | null} */ (event.target);
    const cell = this.grid.cells.find(({ box }) => box.contains(target));
    const around = cell ? tilesAround(cell, event.clientX, event.clientY) : null;
    for (const tile of around?.tiles ?? []) tile.classList.add("pointed");
    return around?.pair ?? null;
  }

  /** @param {number} step
      @param {RacingPair[] | null} pairs
      @param {boolean} asking */
  drawReason(step, pairs, asking) {
    const { run } = this;
    const hides = this.guesses.on;
    this.ties.show(run, step, hides ? "Hidden while you guess." : "");
    if (pairs === null || step >= run.n_merges || asking) {
      for (const figure of this.root.querySelectorAll(".grounds dd")) figure.textContent = "–";
      for (const name of [".gave", ".risen", ".fallen"]) this.find(name).textContent = "";
      this.find(".because").textContent = asking ? "Guess first to see the counts." : whyNothing(run, pairs);
      return;
    }
    writeReason(this.find(".because"), run, step, pairs, hides);
    this.find(".occurrences").textContent = grouped(pairs[0].count);
    writeMargin(this.find(".margin"), run, step, pairs, hides);
    this.find(".n-words").replaceChildren(`${grouped(traced(run, "n_words", step))} `, muted(`of ${grouped(run.n_pretokens)}`));
    this.find(".overlaps").textContent = grouped(traced(run, "n_overlapping", step)).replace(/^0$/, "none");
    writeGiven(this.find(".gave"), run, step);
    if (hides) writeHidden(this.find(".risen"));
    else writeChanges(this.find(".risen"), run, step, "risen", "+");
    writeChanges(this.find(".fallen"), run, step, "fallen", "−");
  }
}
