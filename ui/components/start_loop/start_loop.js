// The merge loop of the visitor's own sentence: learned in the browser at each key press.

import { addressParameter, addressWith } from "../merge_player/address.js";
import { isByKey } from "../merge_player/keys.js";
import { Playback } from "../merge_player/playback.js";
import { listenToKeys, listenToPage } from "../merge_player/press_key.js";
import { remembered } from "../merge_player/remembered.js";
import { carry } from "../shared/carried.js";
import { find } from "../shared/elements.js";
import { onLeaving } from "../shared/leaving.js";
import { sampleLike } from "../shared/languages.js";
import { writeDoors } from "./doors.js";
import { learn } from "./learn.js";
import { LoopView } from "./loop_view.js";
import { cutSentence, orderNote } from "./sentences.js";
import { stepOfTurn, Turn } from "./turn.js";

/** @import { Pair } from "../merge_player/run.js"
    @import { Component } from "../shared/component.js"
    @import { Door } from "./doors.js"
    @import { LearnedRun } from "./learn.js" */

/** @typedef {{ sentence: string, longest: number, doors: Door[] }} Given */

const PARAMETER = "sentence";
const MAX_CARRIED = 5000; // UTF-16 units, to the scenes below
const SPEED = "1.5";
const HOLDS = [2500, 2500, 2500, 1600, 1000, 600]; // ms to read each of the first merges
const REST_BEFORE_PLAYING = 900; // ms without a key press
const REST_BEFORE_KEEPING = 400; // ms: browsers limit how often the address may change
const REST_BEFORE_SPEAKING = 500; // ms

/** @type {WeakMap<ShadowRoot, StartLoop>} */
const loops = new WeakMap();

/** What a visitor left: Streamlit may mount the loop again while the page is drawn. A draft was typed
    so shortly before that the address does not have it yet; `caret` is -1 unless the field had the focus.
    @typedef {{ sentence: string, step: number, isDraft: boolean, caret: number }} Left */

/** @type {Left | undefined} */
let left;

/** @param {Component<Given>} component */
export default function mountStartLoop({ data, parentElement, setTriggerValue }) {
  // A rerun brings the same data: what the visitor typed stays.
  const loop = loops.get(parentElement) ?? new StartLoop(parentElement, data);
  loops.set(parentElement, loop);
  writeDoors(find(parentElement, ".doors", HTMLElement), data.doors, (path) =>
    setTriggerValue("door", { path, sentence: loop.text, sample: sampleLike(loop.text) }));
  return onLeaving(parentElement, () => {
    loops.get(parentElement)?.destroy();
    loops.delete(parentElement);
  });
}

class StartLoop {
  /** @param {ShadowRoot} parent
      @param {Given} given */
  constructor(parent, given) {
    this.given = given;
    this.root = find(parent, ".loop", HTMLElement);
    this.field = find(this.root, ".field input", HTMLInputElement);
    this.limit = find(this.root, ".limit", HTMLElement);
    this.text = "";
    this.run = learn("");
    this.view = new LoopView(this.root, this.run, (pair, byKey) => this.#guess(pair, byKey));
    this.link = { want() {}, wantAhead() {} };
    this.playback = new Playback(this, window.matchMedia("(prefers-reduced-motion: reduce)"));
    this.playback.speed = SPEED;
    this.playback.holds = HOLDS;
    this.stepOfTurn = -1;
    this.byKey = false;
    this.takeTimer = this.playTimer = this.keepTimer = this.speakTimer = 0;
    this.spoken = "";
    this.isHandled = false;
    this.isDraft = false;
    this.ending = new AbortController();
    this.#listen(this.ending.signal);
    this.observer = new ResizeObserver(() => this.#resize());
    this.observer.observe(this.view.grid.list);
    // Also a draft: what was typed before this module had loaded.
    const draft = this.field.value || (left?.isDraft ? left.sentence : null);
    this.field.value =
      draft ?? addressParameter(window.location.search, PARAMETER) ?? (remembered.get(PARAMETER) || given.sentence);
    this.take();
    if (left) this.#resume(left);
    left = undefined;
  }

  /** Learn the sentence in the field, and play it from its characters on. */
  take() {
    this.#place(this.#learn());
    this.#begin();
  }

  #learn() {
    const { text, note } = cutSentence(this.field.value, this.given.longest);
    return { text, note, run: learn(text, this.run.slots) };
  }

  /** @param {{ text: string, note: string, run: LearnedRun }} learned */
  #place({ text, note, run }) {
    this.limit.textContent = [note, orderNote(text)].filter(Boolean).join(" ");
    clearTimeout(this.playTimer);
    this.playback.stop();
    this.playback.step = 0; // of the words before
    this.text = text;
    this.run = run;
    this.stepOfTurn = stepOfTurn(this.run);
    this.view.setRun(this.run, this.field.matches(":dir(rtl)"));
  }

  /** Carry the sentence to the scenes below, and play it from its characters on. */
  #begin() {
    const { text } = this;
    carry({ text: this.field.value.slice(0, MAX_CARRIED), run: this.run });
    const { calm } = this.playback;
    this.playback.goTo(calm.matches ? Math.ceil(this.run.n_merges / 2) : 0);
    if (!calm.matches) this.playTimer = setTimeout(() => this.playback.play(), REST_BEFORE_PLAYING);
    clearTimeout(this.keepTimer);
    this.keepTimer = setTimeout(() => this.#keep(text), REST_BEFORE_KEEPING);
  }

  destroy() {
    if (this.isHandled || this.isDraft) {
      const { value: sentence, selectionStart } = this.field;
      const hasFocus = this.field.matches(":focus");
      const caret = hasFocus ? (selectionStart ?? sentence.length) : -1;
      left = { sentence, step: this.playback.step, isDraft: this.isDraft, caret };
    }
    this.ending.abort();
    this.observer.disconnect();
    this.playback.clearTimer();
    for (const timer of [this.takeTimer, this.playTimer, this.keepTimer, this.speakTimer]) clearTimeout(timer);
  }

  // --- what the playback asks for ----------------------------------------------------------------

  draw({ slide = 0 } = {}) {
    const { step } = this.playback;
    if (this.isAsking() && !this.view.turn) this.view.turn = new Turn(this.run, step);
    this.view.grid.draw(step, { marked: !this.isAsking(), slide });
    this.view.drawStatus(step);
  }

  rested() {
    clearTimeout(this.speakTimer);
    this.speakTimer = setTimeout(() => this.#speak(), REST_BEFORE_SPEAKING);
  }

  /** Return whether the next merge is the visitor's to guess: in their turn, or where it begins while playing. */
  isAsking() {
    const { step, playing } = this.playback;
    return this.view.turn ? this.view.turn.isAsking(step) : playing && step === this.stepOfTurn;
  }

  /** Give up the open question, if there is one, so that its answer is shown; return whether there was one. */
  showsUnasked() {
    const isAsking = this.isAsking();
    if (isAsking) this.view.turn?.guesses.giveUp(this.playback.step);
    return isAsking;
  }

  asks() {
    this.stepOfTurn = -1;
    this.playback.setPlaying(false);
    if (this.byKey) find(this.root, ".candidate", HTMLElement).focus();
  }

  // --- the visitor's turn ------------------------------------------------------------------------

  #beginTurn() {
    this.view.turn = new Turn(this.run, this.playback.step);
    this.playback.goTo(this.view.turn.from);
    this.playback.ask();
  }

  /** @param {Pair} pair
      @param {boolean} byKey */
  #guess(pair, byKey) {
    const { turn } = this.view;
    if (!turn?.isAsking(this.playback.step)) return;
    turn.guesses.answer(this.run, this.playback.step, pair);
    this.byKey = byKey;
    this.playback.rest();
    if (byKey) this.view.join.focus();
  }

  // --- what the visitor does ---------------------------------------------------------------------

  /** @param {AbortSignal} signal */
  #listen(signal) {
    const { root, field, playback, view } = this;
    const byHand = (/** @type {() => void} */ act) => () => {
      clearTimeout(this.playTimer);
      this.isHandled = true;
      act();
    };
    const leavingTurn = (/** @type {() => void} */ act) => byHand(() => {
      view.turn = null;
      act();
    });
    const acts = {
      first: leavingTurn(() => playback.goTo(0)),
      back: leavingTurn(() => playback.back()),
      play: leavingTurn(() => playback.toggle()),
      forward: byHand(() => playback.forward()),
      last: leavingTurn(() => playback.goTo(this.run.n_merges)),
    };
    field.addEventListener("input", () => this.#takeTyped(), { signal });
    view.play.addEventListener("click", acts.play, { signal });
    view.scrub.addEventListener("input", leavingTurn(() => playback.goTo(Number(view.scrub.value))), { signal });
    view.join.addEventListener("click", acts.forward, { signal });
    view.guess.addEventListener("click", byHand(() => this.#beginTurn()), { signal });
    root.addEventListener("click", (event) => (this.byKey = isByKey(event)), { signal, capture: true });
    view.twice.addEventListener("click", () => this.#writeTwice(), { signal });
    listenToKeys(root, { acts }, signal);
    listenToPage(root, { acts }, signal);
    document.fonts.addEventListener("loadingdone", () => this.#breakLines(), { signal });
  }

  #writeTwice() {
    const { text } = cutSentence(this.field.value, this.given.longest);
    this.field.value = `${text} ${text}`;
    this.field.focus();
    this.#takeTyped();
  }

  #takeTyped() {
    this.isDraft = true;
    // In tasks after that of the key press: its letter is drawn first, and of fast presses only the last is learned.
    clearTimeout(this.takeTimer);
    this.takeTimer = setTimeout(() => {
      const learned = this.#learn();
      this.takeTimer = setTimeout(() => {
        this.#place(learned);
        this.takeTimer = setTimeout(() => this.#begin());
      });
    });
  }

  /** @param {Left} state */
  #resume({ sentence, step, isDraft, caret }) {
    if (sentence !== this.field.value) return;
    if (!isDraft) {
      clearTimeout(this.playTimer);
      this.playback.goTo(step);
    }
    if (caret < 0) return;
    this.field.focus();
    this.field.setSelectionRange(caret, caret);
  }

  #resize() {
    const { grid } = this.view;
    if (grid.list.clientWidth && grid.list.clientWidth !== grid.width) this.#breakLines();
  }

  #breakLines() {
    this.playback.redo(() => this.view.grid.breakLines());
  }

  /** Keep the sentence in the address, without asking the server, and for as long as the tab is open.
      @param {string} text */
  #keep(text) {
    this.isDraft = false;
    const isGiven = text === this.given.sentence;
    remembered.set(PARAMETER, text);
    const address = addressWith(window.location.href, PARAMETER, isGiven ? "" : text);
    // Replaced, not pushed, so that Back leads to the previous page and not through every key press.
    if (address !== window.location.href) window.history.replaceState(window.history.state, "", address);
  }

  #speak() {
    const spoken = this.view.spoken(this.playback.step);
    // At first the visitor has done nothing yet that wants an answer.
    if (this.spoken && this.spoken !== spoken) find(this.root, ".spoken", HTMLElement).textContent = spoken;
    this.spoken = spoken;
  }
}
