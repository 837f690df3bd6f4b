// The merge player: brings the run, what is shown of it, playback and controls together.

import { listenToControls } from "./controls.js";
import { spokenQuestion } from "./guess.js";
import { addressParameter, Link, remembered, stepOfAddress } from "./link.js";
import { BEATS, Playback } from "./playback.js";
import { blockAt, blockNumber, keepBlocks, sameBytes, unpack, unpackRun } from "./run.js";
import { spokenState } from "./sentence.js";
import { PlayerView } from "./view.js";

const players = new WeakMap();

export default function mountPlayer(component) {
  const root = component.parentElement;
  let player = players.get(root);
  if (!player) players.set(root, (player = new Player(root)));
  player.update(component);
  return () => {
    player.destroy();
    players.delete(root);
  };
}

class Player {
  constructor(root) {
    this.root = root.querySelector(".player");
    this.find = (selector) => this.root.querySelector(selector);
    this.run = null;
    this.link = new Link();
    this.view = new PlayerView(this.root);
    this.view.choose = (pair, byKey) => this.guess(pair, byKey);
    this.playback = new Playback(this);
    this.ending = new AbortController();
    const { signal } = this.ending;
    listenToControls(this, signal);
    document.addEventListener("bpe-player-message", ({ detail }) => this.take(detail), { signal });
    document.fonts.addEventListener("loadingdone", () => this.resize(), { signal });
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(this.find(".words"));
    this.playback.setPlaying(false);
  }

  /** New data: the first, or another run's. In a saved replay, where nobody listens, there is no
      `setStateValue`, and `step` says where to start. */
  update({ data, setStateValue, step }) {
    const { playback } = this;
    // A change of theme calls again with what is there already.
    if (this.message && sameBytes(this.message, data)) return;
    this.message = data;
    const first = this.run === null;
    this.run = unpackRun(data);
    this.run.isSaved = !setStateValue;
    this.view.setRun(this.run);
    if (first) this.begin(step);
    playback.step = Math.min(playback.step, this.run.n_merges);
    this.link.connect(this.run, playback.step, setStateValue ?? null);
    document.dispatchEvent(new CustomEvent("bpe-player-messages-wanted"));
    if (!playback.playing) playback.rest();
    else playback.resume();
  }

  begin(step) {
    const words = addressParameter("words");
    this.playback.step = stepOfAddress(this.run) ?? step ?? 0;
    this.playback.speed = this.check("speed", remembered.get("speed") ?? "1");
    this.view.mode = this.check("mode", words === null ? remembered.get("mode") ?? "touched" : "yours");
    this.find(".own-words input").value = (words ?? "").slice(0, 200);
    this.view.guessing.on = this.find(".guess input").checked = remembered.get("guess") === "on";
  }

  destroy() {
    this.ending.abort();
    this.observer.disconnect();
    this.playback.clearTimer();
    this.link.close();
    clearTimeout(this.speakTimer);
  }

  check(name, value) {
    const radio = this.find(`input[name=${name}][value="${CSS.escape(value)}"]`) ?? this.find(`input[name=${name}]`);
    radio.checked = true;
    return radio.value;
  }

  choose(name, value) {
    remembered.set(name, value);
    if (name === "speed") {
      this.playback.speed = value;
      if (this.playback.playing) this.playback.play();
      return;
    }
    this.playback.redo(() => (this.view.mode = value));
    if (value === "yours") this.find(".own-words input").focus();
  }

  // --- what comes from Python ------------------------------------------------------------------

  /** Traced merges as bytes, or a visitor's words. */
  take(message) {
    const content = message instanceof Uint8Array ? unpack(message) : message;
    if (!this.run || content.player !== this.run.player) return;
    if (content.words) this.takeOwnWords(content);
    else this.takeBlock(content);
  }

  takeBlock(block) {
    this.link.answered(block);
    if (block.start === block.stop || this.run.blocks.has(blockNumber(this.run, block.start))) return;
    const here = () => blockAt(this.run, this.playback.step);
    const lacked = !here();
    keepBlocks(this.run, block);
    if (lacked && here()) this.playback.resume();
    else if (this.playback.phase === "rest") this.link.want(this.playback.step);
  }

  takeOwnWords(own) {
    this.view.setOwnWords(own);
    if (this.view.mode === "yours") this.playback.redo();
  }

  // --- guessing --------------------------------------------------------------------------------

  isAsking() {
    return this.view.guessing.isAsking(this.run, this.playback.step);
  }

  /** Says whether the visitor, asked for a guess, went on without: then the merge is shown first. */
  showsUnasked() {
    const asking = this.isAsking();
    if (asking) this.view.guessing.giveUp(this.playback.step);
    return asking;
  }

  setGuessing(on) {
    remembered.set("guess", on ? "on" : "off");
    this.view.guessing.on = on;
    this.playback.goTo(this.playback.step);
  }

  guess(pair, byKey) {
    if (!this.isAsking()) return;
    this.guessByKey = byKey;
    this.view.guessing.answer(this.run, this.playback.step, pair);
    this.playback.rest({ fade: this.playback.calm.matches ? 0 : BEATS.gather });
    if (byKey && !this.isAsking()) this.find("[data-act=forward]").focus();
  }

  /** A question has come up in the course of playing. */
  asks() {
    if (this.guessByKey) this.find(".candidate")?.focus();
  }

  // --- drawing ---------------------------------------------------------------------------------

  draw({ slide = 0, fade = 0 } = {}) {
    const { step, playing, speed } = this.playback;
    this.view.lay(step, fade);
    this.view.grid.draw(step, { marked: !(playing && speed === "max") && !this.isAsking(), slide });
    this.view.drawStatus(step);
  }

  /** The cursor has come to rest, though it may be waiting for merges. */
  rested() {
    const { step, playing } = this.playback;
    this.link.want(step);
    if (playing) this.link.stayQuiet();
    else this.link.report(step);
    clearTimeout(this.speakTimer);
    this.speakTimer = setTimeout(() => {
      this.find(".spoken").textContent = (this.isAsking() ? spokenQuestion : spokenState)(this.run, step);
    }, 500);
  }

  resize() {
    const width = this.find(".words").clientWidth;
    if (!this.run || !width || this.playback.phase !== "rest") return;
    this.view.grid.widths.clear();
    this.view.race.forgetWidth();
    this.draw();
  }
}
