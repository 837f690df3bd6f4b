// The cursor (the number of merges done) and how it moves: by step, in beats, or at full speed.

import { browserClock } from "../shared/clock.js";
import { isTraced, lastReady, mergesSaved } from "./run.js";

/** @import { Clock } from "../shared/clock.js"
    @import { Run } from "./run.js"
    @import { WordGrid } from "./word_grid.js"
    @import { WordMotion } from "./word_motion.js" */

/** What is drawn of a run while its cursor moves.
    @typedef {object} Drawn
    @property {Pick<WordGrid, "draw">} grid
    @property {Pick<WordMotion, "gather" | "fuse" | "settle" | "still">} motion
    @property {{ forgetWidth: () => void }} race
    @property {{ on: boolean }} guesses Whether the visitor guesses the merges.
    @property {(step: number, fade?: number) => void} lay
    @property {(playing: boolean) => void} drawPlaying
    @property {(duration: number) => void} drawMoving
    @property {(step: number) => void} drawPosition
    @property {(step: number) => void} drawStatus */

/** What plays: it draws, holds the merges, and asks for the visitor's guess.
    @typedef {object} Playable
    @property {Run} run
    @property {Drawn} view
    @property {{ want: (step: number) => void, wantAhead: (step: number) => void }} link
    @property {(how?: { slide?: number, fade?: number }) => void} draw
    @property {() => void} rested
    @property {() => boolean} isAsking
    @property {() => boolean} showsUnasked
    @property {() => void} asks */

const FULL_SPEED_SECONDS = 9; // a whole run at full speed
const MIN_PER_SECOND = 120; // merges at full speed, however short the run
const STATUS_INTERVAL = 100; // ms between two sentences at full speed
// Milliseconds at speed 1.
export const BEATS = { gather: 260, hold: 100, fuse: 320, settle: 320 };
const FAST_BEATS = { gather: 0, hold: 0, fuse: 80, settle: 45 };
const STILL_BEAT = 600; // with reduced motion: the ring, this long, then the new state
const STEP_BACK = 160;
const REVEAL = 2000; // to read the answer to a question before its merge plays, at speed 1
const MIN_REVEAL = 700;

export class Playback {
  /** @param {Playable} player
      @param {{ matches: boolean }} calm Whether the visitor wants reduced motion.
      @param {Clock} clock */
  constructor(player, calm, clock = browserClock) {
    this.player = player;
    this.calm = calm;
    this.clock = clock;
    this.step = 0;
    this.playing = false;
    /** @type {"rest" | "reveal" | "gather" | "fuse" | "settle" | "hurry"} */
    this.phase = "rest";
    this.speed = "1";
    /** How long the first merges rest before they fuse while playing, in milliseconds.
        @type {number[]} */
    this.holds = [];
    this.timer = 0;
    this.frame = 0;
  }

  get run() {
    return this.player.run;
  }

  get view() {
    return this.player.view;
  }

  get atEnd() {
    return this.step >= this.run.n_merges;
  }

  /** Return whether the next merge can be played now. A saved replay never waits. */
  isReady() {
    return this.atEnd || mergesSaved(this.run) !== null || isTraced(this.run, this.step);
  }

  /** @param {number} step */
  goTo(step) {
    this.stop();
    this.step = Math.max(0, Math.min(step, this.run.n_merges));
    this.view.race.forgetWidth();
    this.rest();
  }

  back() {
    const before = this.phase === "fuse" ? this.step : this.step - 1;
    this.stop();
    if (before < 0) return;
    this.step = before;
    this.rest({ slide: this.calm.matches ? 0 : STEP_BACK });
  }

  forward() {
    this.stop();
    if (this.atEnd || this.player.showsUnasked()) return this.rest();
    this.player.draw();
    this.fuse();
  }

  play() {
    if (!this.run.n_merges) return;
    this.stop();
    if (this.atEnd) this.step = 0;
    this.setPlaying(true);
    if (this.player.isAsking()) return this.ask();
    this.player.draw();
    if (!this.isReady()) return this.player.link.want(this.step);
    this.player.link.wantAhead(this.step);
    if (this.speed === "max" && !this.view.guesses.on) this.hurry();
    else this.gather();
  }

  pause() {
    this.stop();
    this.rest();
  }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }

  /** Change what is shown, and continue playing if it was. */
  redo(change = () => {}) {
    const playing = this.playing;
    this.stop();
    change();
    this.player.draw();
    if (playing) this.play();
  }

  /** Stop motion and timers, completing a merge that is under way. */
  stop() {
    this.clearTimer();
    this.setPlaying(false);
    if (this.phase === "fuse") this.step++;
    this.phase = "rest";
    this.view.drawMoving(0);
    this.view.motion.still();
  }

  /** @param {boolean} playing */
  setPlaying(playing) {
    this.playing = playing;
    this.view.drawPlaying(playing);
  }

  /** @param {{ slide?: number, fade?: number }} [how] */
  rest(how) {
    this.phase = "rest";
    if (this.playing && this.atEnd) this.setPlaying(false);
    this.player.draw(how);
    this.player.rested();
  }

  /** Continue after more merges have arrived, perhaps those at the cursor. */
  resume() {
    if (this.phase !== "rest") return;
    if (this.playing) this.play();
    else this.rest();
  }

  /** Wait for the visitor's guess or skip, which `reveal` follows. While playing, it goes on then. */
  ask() {
    this.rest();
    this.player.asks();
  }

  /** Show the winner; while playing, play its merge once there was time to read the answer.
      @param {{ fade?: number }} [how] */
  reveal(how) {
    this.rest(how);
    if (!this.playing) return;
    this.phase = "reveal";
    this.after(Math.max(REVEAL / (Number(this.speed) || 8), MIN_REVEAL), () => this.next());
  }

  /** @param {keyof typeof BEATS} name */
  beat(name) {
    const speed = Number(this.speed) || 8;
    return speed >= 8 ? FAST_BEATS[name] : BEATS[name] / speed;
  }

  gather() {
    this.phase = "gather";
    const duration = this.calm.matches ? 0 : this.beat("gather");
    this.view.lay(this.step, duration);
    if (duration) this.view.motion.gather(this.step, duration);
    else this.view.grid.draw(this.step, { marked: true });
    const hold = (this.playing && this.holds[this.step]) || this.beat("hold");
    if (this.calm.matches) {
      return this.after(Math.max(STILL_BEAT / (Number(this.speed) || 8), 125, hold), () => this.settle());
    }
    this.after(duration + hold, () => (this.playing ? this.fuse() : this.rest()));
  }

  fuse() {
    if (this.calm.matches) return this.settle();
    this.phase = "fuse";
    const duration = this.beat("fuse");
    this.view.motion.fuse(this.step, duration);
    this.after(duration, () => this.settle());
  }

  settle() {
    const duration = this.calm.matches ? 0 : this.beat("settle");
    this.phase = "settle";
    this.step++;
    this.view.drawMoving(duration);
    this.view.motion.settle(duration);
    this.view.drawStatus(this.step);
    if (!duration) this.view.grid.draw(this.step, { marked: false });
    this.after(duration, () => this.next());
  }

  next() {
    this.view.drawMoving(0);
    if (this.atEnd || !this.isReady()) return this.rest();
    if (this.player.isAsking()) return this.ask();
    if (!this.playing && (this.calm.matches || !this.beat("gather"))) return this.rest();
    this.player.link.wantAhead(this.step);
    return this.gather();
  }

  /** Full speed: many merges a frame, no tweens, the sentence ten times a second. */
  hurry() {
    this.phase = "hurry";
    const aMillisecond = Math.max(MIN_PER_SECOND, this.run.n_merges / FULL_SPEED_SECONDS) / 1000;
    /** @type {number | null} */
    let before = null;
    let done = this.step;
    let lastStatus = 0;
    const frame = (/** @type {number} */ now) => {
      done += before === null ? 1 : (now - before) * aMillisecond;
      before = now;
      const ready = lastReady(this.run, this.step, Math.floor(done));
      // Wait at the last merge that has arrived.
      if (ready < Math.floor(done)) done = Math.max(this.step, ready);
      this.step = Math.floor(done);
      if (this.atEnd) return this.rest();
      this.player.link.wantAhead(this.step);
      this.view.drawPosition(this.step);
      this.view.lay(this.step);
      this.view.grid.draw(this.step, { marked: false });
      if (now - lastStatus >= STATUS_INTERVAL) {
        lastStatus = now;
        this.view.drawStatus(this.step);
      }
      this.frame = this.clock.nextFrame(frame);
    };
    this.frame = this.clock.nextFrame(frame);
  }

  /** @param {number} duration
      @param {() => void} act */
  after(duration, act) {
    this.clearTimer();
    this.timer = this.clock.after(act, duration);
  }

  clearTimer() {
    this.clock.cancel(this.timer);
    this.clock.cancelFrame(this.frame);
  }
}
