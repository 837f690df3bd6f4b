// The clock that modules wait by; tests replace it with one that they advance.

/** @typedef {object} Clock
    @property {() => number} now Milliseconds since some moment.
    @property {(act: () => void, ms: number) => number} after
    @property {(timer: number) => void} cancel
    @property {(draw: (now: number) => void) => number} nextFrame
    @property {(frame: number) => void} cancelFrame */

/** @type {Clock} */
export const browserClock = {
  now: () => performance.now(),
  after: (act, ms) => setTimeout(act, ms),
  cancel: (timer) => clearTimeout(timer),
  nextFrame: (draw) => requestAnimationFrame(draw),
  cancelFrame: (frame) => cancelAnimationFrame(frame),
};
