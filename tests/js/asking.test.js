// A question to Python is asked again until it is answered, a few times at most.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { askUntilAnswered } from "../../ui/components/shared/asking.js";
import { FakeClock } from "./fake_clock.js";

suite("a question to Python", () => {
  test("is asked now and after each pause", () => {
    const clock = new FakeClock();
    const times = [];
    askUntilAnswered(() => times.push(clock.now()), [1500, 6000], clock);
    clock.pass(60_000);
    assert.deepEqual(times, [0, 1500, 7500]);
  });

  test("is not asked again once it is answered", () => {
    const clock = new FakeClock();
    const times = [];
    const stop = askUntilAnswered(() => times.push(clock.now()), [1500, 6000], clock);
    clock.pass(2000);
    stop();
    clock.pass(60_000);
    assert.deepEqual(times, [0, 1500]);
    assert.equal(clock.nWaiting, 0);
  });
});
