// The merge player: connects the run, its view, playback and controls.

import { find } from "../shared/elements.js";
import { onLeaving } from "../shared/leaving.js";
import { addressParameter, addressWithStep, stepOfAddress } from "./address.js";
import { listenToControls } from "./controls.js";
import { Link } from "./link.js";
import { BEATS, Playback } from "./playback.js";
import { remembered } from "./remembered.js";
import { blockAt, blockNumber, keepBlocks, sameBytes, unpackBlock, unpackRun } from "./run.js";
import { spokenQuestion, spokenState } from "./notes.js";
import { PlayerView } from "./view.js";

/** @import { Component } from "../shared/component.js"
    @import { Mode } from "./notes.js"
    @import { Block, Pair, Run } from "./run.js" */

/** The arguments of a mount. A saved replay has no Python behind it, so it has no `setStateValue`; `step`
    is where it starts. A player that owns its page also takes keys that are pressed outside of it.
    @typedef {Pick<Component<Uint8Array>, "data" | "parentElement">
      & { setStateValue?: (name: string, value: unknown) => void, step?: number, ownsPage?: boolean }} Mounted */

/** A visitor's words, for the player with the key `player`.
    @typedef {{ player: string, words: (number | string)[][], problem: string }} OwnWords */

const MAX_OWN_WORDS_LENGTH = 200; // characters
const REST_BEFORE_SPEAKING = 500; // ms

/** @type {WeakMap<ShadowRoot, Player>} */
const players = new WeakMap();

/** @param {Mounted} component */
export default function mountPlayer(component) {
  const root = component.parentElement;
  const player = players.get(root);
  if (player) player.update(component);
  else players.set(root, new Player(component));
  return onLeaving(root, () => {
    players.get(root)?.destroy();
    players.delete(root);
  });
}

export class Player {
  /** @param {Mounted} component */
  constructor(component) {
    const { parentElement, data, setStateValue, step } = component;
    this.ownsPage = component.ownsPage ?? Boolean(setStateValue);
    this.root = find(parentElement, ".player", HTMLElement);
    this.message = data;
    /** @type {Run} */
    this.run = unpackRun(data, { isSaved: !setStateValue });
    // Replaced, not pushed, so that Back leads to the previous page and not through every step.
    this.link = new Link((step) =>
      window.history.replaceState(window.history.state, "", addressWithStep(window.location.href, step)));
    this.view = new PlayerView(this.root, this.run, (pair, byKey) => this.guess(pair, byKey));
    this.playback = new Playback(this, window.matchMedia("(prefers-reduced-motion: reduce)"));
    this.ending = new AbortController();
    this.byKey = false;
    this.speakTimer = 0;
    const { signal } = this.ending;
    listenToControls(this, signal);
    document.addEventListener("bpe-player-message", (event) => {
      this.take(/** @type {CustomEvent<Uint8Array | OwnWords>} */ (event).detail);
    }, { signal });
    document.fonts.addEventListener("loadingdone", () => this.resize(), { signal });
    // The observer also reports the first width, which `show` draws for, and every other height.
    this.observer = new ResizeObserver(() => {
      if (this.view.grid.list.clientWidth !== this.view.grid.width) this.resize();
    });
    this.observer.observe(this.view.grid.list);
    this.playback.setPlaying(false);
    this.begin(step ?? this.run.opening_step);
    this.show(component);
  }

  /** Take the data of a rerun: a new run, or the same one.
      @param {Mounted} component */
  update(component) {
    // A change of theme passes the same data again.
    if (sameBytes(this.message, component.data)) return;
    this.message = component.data;
    this.run = unpackRun(component.data, { isSaved: !component.setStateValue });
    this.view.setRun(this.run);
    this.playback.step = Math.min(this.playback.step, this.run.n_merges);
    this.show(component);
  }

  /** @param {Mounted} component */
  show({ setStateValue }) {
    const { playback } = this;
    this.link.connect(this.run, playback.step, setStateValue ?? null);
    document.dispatchEvent(new CustomEvent("bpe-player-messages-wanted"));
    if (!playback.playing) playback.rest();
    else playback.resume();
  }

  /** @param {number} step Where to start if the address has no step. */
  begin(step) {
    const { search } = window.location;
    const words = addressParameter(search, "words");
    this.playback.step = Math.min(stepOfAddress(search, this.run.n_merges) ?? step, this.run.n_merges);
    this.playback.speed = this.check("speed", remembered.get("speed") ?? "1");
    const mode = words === null ? remembered.get("mode") ?? "touched" : "yours";
    this.view.mode = /** @type {Mode} */ (this.check("mode", mode));
    find(this.root, ".own-words input", HTMLInputElement).value = (words ?? "").slice(0, MAX_OWN_WORDS_LENGTH);
    const guessing = remembered.get("guess") === "on";
    this.view.guesses.on = find(this.root, ".guess input", HTMLInputElement).checked = guessing;
  }

  destroy() {
    this.ending.abort();
    this.observer.disconnect();
    this.playback.clearTimer();
    this.link.close();
    this.view.end.destroy();
    clearTimeout(this.speakTimer);
  }

  /** Check the radio button of a group with a value, or else the first; return its value.
      @param {string} name
      @param {string} value */
  check(name, value) {
    const group = `input[name=${name}]`;
    const wanted = `${group}[value="${CSS.escape(value)}"]`;
    const radio = find(this.root, this.root.querySelector(wanted) ? wanted : group, HTMLInputElement);
    radio.checked = true;
    return radio.value;
  }

  /** Choose the next faster speed, or the next slower one.
      @param {1 | -1} by */
  changeSpeed(by) {
    const speeds = /** @type {NodeListOf<HTMLInputElement>} */ (this.root.querySelectorAll("input[name=speed]"));
    speeds[[...speeds].findIndex((speed) => speed.checked) + by]?.click();
  }

  /** @param {string} name
      @param {string} value */
  choose(name, value) {
    remembered.set(name, value);
    if (name === "speed") {
      this.playback.speed = value;
      if (this.playback.playing && !this.isAsking()) this.playback.play();
      return;
    }
    this.playback.redo(() => (this.view.mode = /** @type {Mode} */ (value)));
    if (value === "yours") find(this.root, ".own-words input", HTMLElement).focus();
  }

  // --- what comes from Python ------------------------------------------------------------------

  /** Take traced merges as bytes, or a visitor's words.
      @param {Uint8Array | OwnWords} message */
  take(message) {
    const content = message instanceof Uint8Array ? unpackBlock(message) : message;
    if (content.player !== this.run.player) return;
    if ("start" in content) this.takeBlock(content);
    else this.takeOwnWords(content);
  }

  /** @param {Block} block */
  takeBlock(block) {
    this.link.answered(block);
    if (block.start === block.stop || this.run.blocks.has(blockNumber(this.run, block.start))) return;
    const here = () => blockAt(this.run, this.playback.step);
    const lacked = !here();
    keepBlocks(this.run, block);
    if (lacked && here()) this.playback.resume();
    else if (this.playback.phase === "rest") this.link.want(this.playback.step);
  }

  /** @param {OwnWords} own */
  takeOwnWords(own) {
    this.view.setOwnWords(own);
    if (this.view.mode === "yours") this.playback.redo();
  }

  // --- guessing --------------------------------------------------------------------------------

  isAsking() {
    return this.view.guesses.isAsking(this.run, this.playback.step);
  }

  /** Give up the open question, if there is one, so that its answer is shown; return whether there was one. */
  showsUnasked() {
    const asking = this.isAsking();
    if (asking) this.view.guesses.giveUp(this.playback.step);
    return asking;
  }

  /** @param {boolean} on */
  setGuessing(on) {
    remembered.set("guess", on ? "on" : "off");
    this.view.guesses.on = on;
    this.playback.goTo(this.playback.step);
  }

  /** @param {Pair} pair
      @param {boolean} byKey */
  guess(pair, byKey) {
    if (!this.isAsking()) return;
    this.view.guesses.answer(this.run, this.playback.step, pair);
    this.answered(byKey);
  }

  /** Show the winner without a guess.
      @param {boolean} byKey */
  skip(byKey) {
    if (this.showsUnasked()) this.answered(byKey);
  }

  /** @param {boolean} byKey */
  answered(byKey) {
    this.byKey = byKey;
    this.playback.reveal({ fade: this.playback.calm.matches ? 0 : BEATS.gather });
    if (byKey) (this.playback.playing ? this.root : this.view.button("forward")).focus({ preventScroll: true });
  }

  /** Move the focus to a question that came up, if the visitor last used the keyboard. */
  asks() {
    if (this.byKey) find(this.root, ".candidate", HTMLElement).focus();
  }

  // --- drawing ---------------------------------------------------------------------------------

  draw({ slide = 0, fade = 0 } = {}) {
    const { step, playing, speed } = this.playback;
    this.view.lay(step, fade);
    this.view.grid.draw(step, { marked: !(playing && speed === "max") && !this.isAsking(), slide });
    this.view.drawStatus(step);
  }

  /** Handle the cursor coming to rest, which may be a wait for merges. */
  rested() {
    const { step, playing } = this.playback;
    this.link.want(step);
    if (playing && !this.isAsking()) this.link.stayQuiet();
    else this.link.report(step);
    clearTimeout(this.speakTimer);
    this.speakTimer = setTimeout(() => {
      const spoken = this.isAsking() ? spokenQuestion : spokenState;
      find(this.root, ".spoken", HTMLElement).textContent = spoken(this.run, step);
    }, REST_BEFORE_SPEAKING);
  }

  resize() {
    if (!this.view.grid.list.clientWidth || this.playback.phase !== "rest") return;
    this.view.grid.widths.clear();
    this.view.race.forgetWidth();
    this.draw();
  }
}
