// Long work in slices, so that the page answers in between.

import { browserClock } from "./clock.js";

/** @import { Clock } from "./clock.js" */

const SLICE = 8; // ms

/** Run a generator to its end, and return its result; it rests after each slice. Null if it was aborted.
    @template Result
    @param {Generator<undefined, Result>} work
    @param {AbortSignal} signal
    @param {Clock} clock
    @returns {Promise<Result | null>} */
export async function inSlices(work, signal, clock = browserClock) {
  for (;;) {
    if (signal.aborted) return null;
    const until = clock.now() + SLICE;
    while (clock.now() < until) {
      const { done, value } = work.next();
      if (done) return value;
    }
    await nextTask(clock);
  }
}

/** Wait for a task of its own, so that the page answers first. */
export function nextTask(clock = browserClock) {
  return new Promise((resolve) => clock.after(() => resolve(null), 0));
}
