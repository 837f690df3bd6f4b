// Where the marks of each other tokenizer stand.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { positions, makeScale } from "../../ui/components/rivals/scale.js";

const rival = (percent, low = null, high = null) => ({ percent, low, high });

suite("the marks of rivals", () => {
  test("stand on one scale, with 0 between the ends", () => {
    const rows = [rival(1.6, -1.3, 4.3), rival(25, 23.6, 26.2)];
    const scale = makeScale(rows);
    assert.ok(scale[0] < -1.3 && scale[1] > 26.2);
    const [first, second] = rows.map((row) => positions(row, scale));
    assert.equal(first.zero, second.zero);
    assert.ok(first.start < first.zero && first.zero < first.dot);
    assert.ok(first.start + first.width > first.dot);
    assert.ok(second.start > second.zero);
    assert.ok(second.start + second.width < 100);
  });

  test("have no bar without an interval, and no dot where nothing can be compared", () => {
    const rows = [rival(-12), rival(null)];
    const scale = makeScale(rows);
    assert.equal(positions(rows[0], scale).width, null);
    assert.ok(positions(rows[0], scale).dot < positions(rows[0], scale).zero);
    assert.equal(positions(rows[1], scale).dot, null);
  });

  test("stay within the track if a tokenizer needs many times the tokens", () => {
    const row = rival(-900, -950, -850);
    const found = positions(row, makeScale([row]));
    assert.ok(found.dot >= 0 && found.start >= 0 && found.start + found.width <= 100);
  });
});
