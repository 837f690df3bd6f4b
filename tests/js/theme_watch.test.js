// Python is asked to draw the page for another theme once per switch, and again if that was lost.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { MILLISECONDS_BETWEEN_CHECKS, Switches } from "../../ui/components/page/switches.js";

/** Return the milliseconds of the requests, of a page shown and drawn for these themes. */
function requests(switches, shown, drawnFor, ms) {
  const times = [];
  for (let now = 0; now < ms; now += MILLISECONDS_BETWEEN_CHECKS) {
    if (switches.needRequest(shown, drawnFor)) times.push(now);
  }
  return times;
}

suite("a switch of the theme", () => {
  test("is asked for once", () => {
    const switches = new Switches();
    assert.deepEqual(requests(switches, "light", "light", 1000), []);
    assert.deepEqual(requests(switches, "dark", "light", 1000), [0]);
    assert.deepEqual(requests(switches, "dark", "dark", 1000), []);
    assert.deepEqual(requests(switches, "light", "dark", 1000), [0]);
  });

  test("and back before the page is drawn again needs no request", () => {
    const switches = new Switches();
    assert.deepEqual(requests(switches, "dark", "light", 250), [0]);
    assert.deepEqual(requests(switches, "light", "light", 250), []);
    assert.deepEqual(requests(switches, "dark", "light", 250), [0]);
  });

  test("is asked for again, ever more rarely, while the page stays as it was", () => {
    const switches = new Switches();
    assert.deepEqual(requests(switches, "dark", "light", 60_000), [0, 5000, 15_000, 35_000]);
    // The next switch has the usual patience.
    assert.deepEqual(requests(switches, "dark", "dark", 250), []);
    assert.deepEqual(requests(switches, "light", "dark", 6000), [0, 5000]);
  });
});
