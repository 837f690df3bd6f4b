// A clock that advances only when a test tells it to.

const FRAME_MS = 16;

export class FakeClock {
  #now = 0;
  #next = 1;
  #waiting = new Map();

  now = () => this.#now;

  after = (act, ms) => {
    this.#waiting.set(this.#next, { at: this.#now + ms, act });
    return this.#next++;
  };

  cancel = (timer) => void this.#waiting.delete(timer);

  nextFrame = (draw) => this.after(() => draw(this.#now), FRAME_MS - (this.#now % FRAME_MS));

  cancelFrame = this.cancel;

  /** Advance by a number of milliseconds, running due timers and frames in order. */
  pass(ms) {
    const end = this.#now + ms;
    for (;;) {
      const due = [...this.#waiting].filter(([, { at }]) => at <= end).sort((one, other) => one[1].at - other[1].at || one[0] - other[0]);
      if (!due.length) break;
      const [[timer, { at, act }]] = due;
      this.#waiting.delete(timer);
      this.#now = at;
      act();
    }
    this.#now = end;
  }

  /** Return the number of pending timers and frames. */
  get nWaiting() {
    return this.#waiting.size;
  }
}
