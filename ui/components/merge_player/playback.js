// The cursor, the number of merges done, and how it moves: step by step, in beats, or in a hurry.

import { blockNumber, isTraced, mergesSaved } from "./run.js";

const FULL_SPEED_SECONDS = 9; // a whole run at full speed
const LEAST_A_SECOND = 120; // merges at full speed, however short the run
const SAYING_EVERY = 100; // ms between two sentences at full speed
// Milliseconds at speed 1.
export const BEATS = { gather: 260, hold: 100, fuse: 320, settle: 320 };
const FAST_BEATS = { gather: 0, hold: 0, fuse: 80, settle: 45 };
const STILL_BEAT = 600; // with reduced motion: the ring, this long, then the new state
const STEP_BACK = 160;

export class Playback {
  /** `player` draws, knows whether a merge is there to be played, and asks the visitor's guess. */
  constructor(player) {
    this.player = player;
    this.view = player.view;
    this.step = 0;
    this.playing = false;
    this.phase = "rest";
    this.speed = "1";
    this.calm = window.matchMedia("(prefers-reduced-motion: reduce)");
  }

  get run() {
    return this.player.run;
  }

  get atEnd() {
    return this.step >= this.run.n_merges;
  }

  /** Whether the next merge can be played now. A saved replay plays what it has. */
  isReady() {
    return this.atEnd || mergesSaved(this.run) !== null || isTraced(this.run, this.step);
  }

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
    this.player.showsUnasked();
    this.player.draw();
    if (!this.isReady()) return this.player.link.want(this.step);
    this.player.link.wantAhead(this.step);
    if (this.speed === "max" && !this.view.guessing.on) this.hurry();
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

  /** Goes on where it was, after what is on show has changed. */
  redo(change = () => {}) {
    const playing = this.playing;
    this.stop();
    change();
    this.player.draw();
    if (playing) this.play();
  }

  /** Ends motion and timers; a merge half done is done. */
  stop() {
    this.clearTimer();
    this.setPlaying(false);
    if (this.phase === "fuse") this.step++;
    this.phase = "rest";
    this.view.root.classList.remove("moving");
    this.view.motion.still();
  }

  setPlaying(playing) {
    this.playing = playing;
    this.view.drawPlaying(playing);
  }

  rest(how) {
    this.phase = "rest";
    if (this.playing && this.atEnd) this.setPlaying(false);
    this.player.draw(how);
    this.player.rested();
  }

  /** More merges have come: those at the cursor may be among them. */
  resume() {
    if (this.phase !== "rest") return;
    if (this.playing) this.play();
    else this.rest();
  }

  beat(name) {
    const speed = Number(this.speed) || 8;
    return speed >= 8 ? FAST_BEATS[name] : BEATS[name] / speed;
  }

  gather() {
    this.phase = "gather";
    this.view.lay(this.step, this.calm.matches ? 0 : this.beat("gather"));
    const duration = this.calm.matches ? 0 : this.beat("gather");
    if (duration) this.view.motion.gather(this.step, duration);
    else this.view.grid.draw(this.step, { marked: true });
    if (this.calm.matches) {
      return this.after(Math.max(STILL_BEAT / (Number(this.speed) || 8), 125), () => this.settle());
    }
    this.after(duration + this.beat("hold"), () => (this.playing ? this.fuse() : this.rest()));
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
    this.view.root.style.setProperty("--settle", `${duration}ms`);
    this.view.root.classList.toggle("moving", duration > 0);
    this.view.motion.settle(duration);
    this.view.drawStatus(this.step);
    if (!duration) this.view.grid.draw(this.step, { marked: false });
    this.after(duration, () => this.next());
  }

  next() {
    this.view.root.classList.remove("moving");
    if (this.atEnd || !this.isReady()) return this.rest();
    if (this.player.isAsking()) {
      this.setPlaying(false);
      this.rest();
      return this.player.asks();
    }
    if (!this.playing && (this.calm.matches || !this.beat("gather"))) return this.rest();
    this.player.link.wantAhead(this.step);
    return this.gather();
  }

  /** Full speed: many merges a frame, no tweens, the sentence ten times a second. */
  hurry() {
    this.phase = "hurry";
    const aMillisecond = Math.max(LEAST_A_SECOND, this.run.n_merges / FULL_SPEED_SECONDS) / 1000;
    let before = null;
    let done = this.step;
    let said = 0;
    const frame = (now) => {
      done += before === null ? 1 : (now - before) * aMillisecond;
      before = now;
      // Where merges have not come yet, it waits at the last that is there.
      done = Math.max(this.step, Math.min(done, lastReady(this.run, this.step, Math.floor(done))));
      this.step = Math.floor(done);
      if (this.atEnd) return this.rest();
      this.player.link.wantAhead(this.step);
      this.view.drawPosition(this.step);
      this.view.lay(this.step);
      this.view.grid.draw(this.step, { marked: false });
      if (now - said >= SAYING_EVERY) {
        said = now;
        this.view.drawStatus(this.step);
      }
      this.frame = requestAnimationFrame(frame);
    };
    this.frame = requestAnimationFrame(frame);
  }

  after(duration, act) {
    this.clearTimer();
    this.timer = setTimeout(act, duration);
  }

  clearTimer() {
    clearTimeout(this.timer);
    cancelAnimationFrame(this.frame);
  }
}

/** The last step from one to another up to which all merges have come. */
function lastReady(run, from, to) {
  if (mergesSaved(run)) return Math.min(to, run.n_merges);
  const last = blockNumber(run, to);
  for (let number = blockNumber(run, from); number <= last; number++) {
    if (!run.blocks.has(number)) return run.block_starts[number] - 1;
  }
  return Math.min(to, run.n_merges);
}
