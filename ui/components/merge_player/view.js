// All that the player shows of one moment: the sentence, the words, the race and the reasons.

import { counted, grouped } from "../shared/numbers.js";
import { Guessing, tilesAround, writeCandidates, writeQuestion, writeVerdict } from "./guess.js";
import { Race } from "./race.js";
import { writeChanges, writeGiven, writeMargin, writeReason, writeUnsaid } from "./reason.js";
import { blockAt, mergesSaved, raceAt, traced, wordsIn } from "./run.js";
import { sceneAt, sceneOf, scenesOf } from "./scenes.js";
import { writeSentence } from "./sentence.js";
import { TieList } from "./ties.js";
import { append, muted } from "./tiles.js";
import { WordGrid } from "./word_grid.js";
import { LONGEST_WORD } from "./word_layout.js";
import { WordMotion } from "./word_motion.js";

const ROWS = 8;
const HIDDEN_PAIRS = "While you guess, the counts of the other pairs stay hidden.";

export class PlayerView {
  constructor(root) {
    this.root = root;
    this.find = (selector) => root.querySelector(selector);
    this.grid = new WordGrid(this.find(".words"));
    this.motion = new WordMotion(this.grid);
    this.race = new Race(this.find(".race"));
    this.ties = new TieList(this.find(".ties"));
    this.mode = "touched";
    this.own = { words: [], problem: "" };
    this.guessing = new Guessing();
  }

  /** The kind of words on show. Those that the next merge touches would tell what is asked. */
  shownMode(step) {
    const tells = this.mode === "touched" && this.guessing.isAsking(this.run, step);
    return tells ? "frequent" : this.mode;
  }

  setRun(run) {
    this.run = run;
    this.frequent = wordsIn(run);
    this.guessing.restore(run.player);
    this.measure();
  }

  setOwnWords({ words, problem }) {
    const cells = words.map((base, i) => ({ key: `own ${i} ${base}`, base, count: null, cut: false }));
    this.own = { words: cells, problem };
  }

  /** Sizes that belong to the run, so that no number moves its neighbours. */
  measure() {
    const run = this.run;
    const most = run.n_merges ? run.merge_count.reduce((a, b) => Math.max(a, b)) : 0;
    const wordMost = run.word_counts.length ? run.word_counts[0] : 0;
    const pixels = Math.max(34, 8 * grouped(wordMost).length);
    const style = this.root.style;
    style.setProperty("--count-pixels", pixels);
    style.setProperty("--count-width", `${pixels}px`);
    this.find(".race").style.setProperty("--count-width", `${Math.max(44, 8.5 * grouped(most).length)}px`);
    style.setProperty("--position-width", `${grouped(run.n_merges).length}ch`);
    style.setProperty("--what-width", `${11 + grouped(run.n_merges).length}ch`);
    const scrub = this.find(".scrub");
    scrub.max = run.n_merges;
    scrub.disabled = !run.n_merges;
  }

  /** Chooses and places the words of a moment; words that were not there before fade in. */
  lay(step, fade = 0) {
    const run = this.run;
    const columns = this.root.clientWidth <= 640 ? 1 : 2;
    const least = Math.ceil(Math.max(this.frequent.length, 1) / columns);
    const mode = this.shownMode(step);
    const own = mode === "yours";
    const rows = own ? ROWS - 1 : Math.max(3, Math.min(ROWS, columns === 1 ? 2 * least : least + 4));
    this.root.classList.toggle("yours", own);
    this.find(".words").style.setProperty("--rows", rows);
    this.scene = null;
    let words = own ? this.own.words : this.frequent;
    const block = mode === "touched" && run.n_merges ? blockAt(run, step) : undefined;
    if (block) {
      const merge = Math.min(step, run.n_merges - 1);
      // Words that later merges touch would tell which those are.
      this.scene = this.guessing.on ? sceneOf(block, merge) : sceneAt(this.scenesFor(block, columns, rows), merge);
      words = Array.from(this.scene.words, (word) => block.words[word]);
    }
    const from = this.scene ? this.scene.from : 0;
    this.shown = this.grid.lay(run, words, { columns, rows, from, inOrder: own, fade });
  }

  /** Scenes change with the number of cells alone. */
  scenesFor(block, columns, rows) {
    const room = `${columns} ${rows}`;
    if (block.scenesRoom !== room) {
      const inOneCell = columns === 1 ? 12 : 10;
      const cellsOf = (word) => {
        const length = Math.min(block.words[word].base.length, LONGEST_WORD);
        return length <= inOneCell ? 1 : columns * Math.ceil(length / (columns === 1 ? 12 : 24));
      };
      block.scenes = scenesOf(block, columns * rows, cellsOf);
      block.scenesRoom = room;
    }
    return block.scenes;
  }

  drawPlaying(playing) {
    this.root.classList.toggle("playing", playing);
    const button = this.find("[data-act=play]");
    button.querySelector("span").textContent = playing ? "Pause" : "Play";
    button.title = playing ? "Pause (space)" : "Play (space)";
  }

  drawPosition(step) {
    const { run } = this;
    const scrub = this.find(".scrub");
    scrub.value = step;
    scrub.style.setProperty("--done", `${run.n_merges ? (100 * step) / run.n_merges : 0}%`);
    scrub.setAttribute("aria-valuetext", `${grouped(step)} of ${counted(run.n_merges, "merge")}`);
    this.find(".position b").textContent = grouped(step);
    this.find(".position span").textContent = ` of ${counted(run.n_merges, "merge")}`;
  }

  drawStatus(step) {
    const { run } = this;
    this.drawPosition(step);
    const atStart = step === 0;
    const atEnd = step >= run.n_merges;
    for (const [name, off] of Object.entries({ first: atStart, back: atStart, forward: atEnd, last: atEnd, play: !run.n_merges })) {
      const button = this.find(`[data-act=${name}]`);
      // A button that goes dead must not take the keyboard with it.
      if (off && button === this.root.getRootNode().activeElement) this.root.focus({ preventScroll: true });
      button.disabled = off;
    }
    const asking = this.guessing.isAsking(run, step);
    this.drawGuessing(step, asking);
    if (asking) writeQuestion(this.find(".sentence"), run, step);
    else writeSentence(this.find(".sentence"), run, step);
    const pairs = raceAt(run, step);
    this.root.classList.toggle("fetching", !pairs && !mergesSaved(run));
    const hides = this.guessing.on && !atEnd;
    if (!pairs && mergesSaved(run)) this.race.show(run, []);
    else if (pairs && !asking) this.race.show(run, hides ? this.guessing.visible(pairs, step) : pairs);
    this.find(".race-note").textContent = hides ? HIDDEN_PAIRS : raceNote(run, pairs, atEnd);
    this.drawReason(step, pairs, asking);
    this.find(".words-part h2").textContent = this.title();
    this.find(".note").textContent = this.note(step);
  }

  drawGuessing(step, asking) {
    const { guessing, run } = this;
    this.root.classList.toggle("asking", asking);
    this.root.classList.toggle("guessing", guessing.on);
    if (asking) writeCandidates(this.find(".candidates"), run, step, this.choose);
    else this.find(".candidates").textContent = "";
    writeVerdict(this.find(".verdict [role=status]"), run, step, guessing);
    this.find(".score").textContent = guessing.on ? guessing.score() : "";
  }

  /** Outlines the two tiles that a click at the pointer would name; gives their pair, or null. */
  point(step, event) {
    for (const tile of this.root.querySelectorAll(".pointed")) tile.classList.remove("pointed");
    if (!event || !this.guessing.isAsking(this.run, step)) return null;
    const cell = this.grid.cells.find(({ box }) => box.contains(event.target));
    const pair = cell ? tilesAround(cell, event.clientX, event.clientY) : null;
    for (const tile of pair?.tiles ?? []) tile.classList.add("pointed");
    return pair;
  }

  drawReason(step, pairs, asking) {
    const { run } = this;
    const hides = this.guessing.on;
    const known = pairs !== null && step < run.n_merges && !asking;
    const write = (selector, act) => {
      const element = this.find(selector);
      if (known) act(element);
      else element.textContent = element.tagName === "DD" ? "–" : "";
    };
    write(".because", (element) => writeReason(element, run, step, pairs, hides));
    this.ties.show(run, step, hides ? "Not said while you guess." : "");
    if (!known) this.find(".because").textContent = asking ? "First your guess, then the counts." : whyNothing(run, pairs);
    write(".margin", (element) => writeMargin(element, run, step, pairs, hides));
    write(".n-words", (element) => {
      element.textContent = "";
      append(element, `${grouped(traced(run, "n_words", step))} `, muted(`of ${grouped(run.n_pretokens)}`));
    });
    write(".overlaps", (element) => {
      const overlaps = traced(run, "n_overlapping", step);
      element.textContent = overlaps ? grouped(overlaps) : "none";
    });
    write(".occurrences", (element) => (element.textContent = grouped(pairs[0].count)));
    write(".gave", (element) => writeGiven(element, run, step));
    write(".risen", (element) => (hides ? writeUnsaid(element) : writeChanges(element, run, step, "risen", "+")));
    write(".fallen", (element) => writeChanges(element, run, step, "fallen", "−"));
  }

  /** Which words stand there: with a scene, those of all its merges. */
  title() {
    if (this.mode !== "touched" || !this.scene) return "Words";
    const { from, to } = this.scene;
    if (to - from === 1) return `Words of merge ${grouped(to)}`;
    return `Words of merges ${grouped(from + 1)} to ${grouped(to)}`;
  }

  note(step) {
    const { run, shown } = this;
    const learn = "A tile earns its colour with its first merge.";
    const mode = this.shownMode(step);
    if (mode !== this.mode) return "Some of the most frequent words. Those that the merge touches come after your guess.";
    if (mode === "yours") {
      if (this.own.problem) return this.own.problem;
      if (!this.own.words.length) return "Type above. The merges of this run play on your words.";
      const cut = shown < this.own.words.length ? `The first ${shown} of ${this.own.words.length} pre-tokens. ` : "";
      const missing = this.own.words.some((word) => word.base.some((id) => typeof id === "string"));
      return cut + (missing ? "Dashed: not in the alphabet of this run." : "No merge crosses a gap.");
    }
    if (mode === "frequent" || (!this.scene && mergesSaved(run))) {
      return `The ${grouped(shown)} most frequent of ${counted(run.n_pretokens, "word")}, those of a single symbol left out. ${learn}`;
    }
    if (!this.scene) return "";
    const { from, to } = this.scene;
    if (to - from > 1) {
      return `${counted(shown, "word")}, with ${shown === 1 ? "its count" : "their counts"}. ${learn}`;
    }
    const all = traced(run, "n_words", from);
    return all === 1 ? `1 word, with its count. ${learn}` : `${grouped(shown)} of ${grouped(all)} words, with their counts. ${learn}`;
  }
}

function whyNothing(run, pairs) {
  const saved = mergesSaved(run);
  if (pairs === null && saved) {
    return `To stay small, this file holds the race and the reasons of merges ${grouped(saved.start + 1)} to ${grouped(saved.stop)} alone.`;
  }
  if (pairs === null) return "Fetching the merges around this one …";
  return run.n_merges ? "Nothing is next. Step back to see why each pair was chosen." : "Nothing is next.";
}

function raceNote(run, pairs, atEnd) {
  if (!pairs) return "";
  if (!pairs.length) return "No pair is left: each word is one symbol.";
  return atEnd ? "The most frequent pairs that were left when training stopped." : "";
}
