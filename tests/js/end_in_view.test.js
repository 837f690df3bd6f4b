// The end of a training comes into view only for a visitor who has watched it.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { MILLISECONDS_TO_MOUNT_AGAIN, Watch } from "../../ui/components/page/watch.js";

const MINUTE = 60_000;

suite("the end of a training", () => {
  test("is seen once, however long the training was", () => {
    const watch = new Watch();
    assert.equal(watch.seesEnd(false, 0), false);
    assert.equal(watch.seesEnd(true, 10), false);
    assert.equal(watch.seesEnd(false, MINUTE), true);
    assert.equal(watch.seesEnd(false, MINUTE + 1), false);
  });

  test("is seen by a component that is mounted again", () => {
    const watch = new Watch();
    watch.seesEnd(true, 0);
    watch.pause(MINUTE);
    assert.equal(watch.seesEnd(false, MINUTE + MILLISECONDS_TO_MOUNT_AGAIN / 2), true);
  });

  test("is not seen by a visitor who was on another page", () => {
    const watch = new Watch();
    watch.seesEnd(true, 0);
    watch.pause(10);
    assert.equal(watch.seesEnd(false, MINUTE), false);
  });
});
