// Long work in slices, so that the page answers in between.

import { browserClock } from "./clock.js";

/** @import { Clock } from "./clock.js" */

const SLICE = 8; // ms

/** Run a generator to its end, and return its result; it rests after each slice. Null if it was aborted.
    @template Result
    @param {Generator<undefined, Result>} work
    @param {AbortSignal} signal
    @param {Clock} clock
    @param {(clock: Clock) => Promise<unknown>} rest
    @returns {Promise<Result | null>} */
export async function inSlices(work, signal, clock = browserClock, rest = nextTask) {
  for (;;) {
    if (signal.aborted) return null;
    const until = clock.now() + SLICE;
    while (clock.now() < until) {
      const { done, value } = work.next();
      if (done) return value;
    }
    await rest(clock);
  }
}

/** Wait for a task of its own, so that the page answers first. */
export function nextTask(clock = browserClock) {
  return new Promise((resolve) => clock.after(() => resolve(null), 0));
}

/** Wait until the page has been drawn: what is written before and after is laid out in two tasks. */
export function nextPicture(clock = browserClock) {
  return new Promise((resolve) => clock.nextFrame(() => clock.after(() => resolve(null), 0)));
}
