// The shares of two texts, as parts of bars in the same order.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { listParts, percent } from "../../ui/components/share_bars/shares.js";

const shares = (...found) => found.map(([name, share]) => ({ name, share }));

suite("the parts of two texts' bars", () => {
  test("have the share of each text, and the order of the first text", () => {
    const training = shares(["Latin letters", 0.7], ["white space", 0.2], ["punctuation", 0.1]);
    const heldOut = shares(["Latin letters", 0.6], ["punctuation", 0.25], ["white space", 0.15]);
    assert.deepEqual(
      listParts([training, heldOut]).map(({ name, shares: of }) => [name, ...of]),
      [["Latin letters", 0.7, 0.6], ["white space", 0.2, 0.15], ["punctuation", 0.1, 0.25]],
    );
  });

  test("have a share of zero if the second text lacks them", () => {
    const [, letters] = listParts([shares(["Latin letters", 0.9], ["Greek letters", 0.1]), shares(["Latin letters", 1])]);
    assert.deepEqual(letters, { name: "Greek letters", shares: [0.1, 0], rest: false });
  });

  test("combine small ones with those that only the second text has", () => {
    const training = shares(...[..."abcdefgh"].map((name, i) => [name, (8 - i) / 36]));
    const parts = listParts([training, shares(["a", 0.5], ["z", 0.5])]);
    assert.deepEqual(parts.map((part) => part.name), ["a", "b", "c", "d", "e", "the rest"]);
    const rest = parts[5];
    assert.ok(rest.rest);
    assert.ok(Math.abs(rest.shares[0] - 6 / 36) < 1e-9);
    assert.equal(rest.shares[1], 0.5);
  });

  test("exist for a single text, but not without a text", () => {
    assert.deepEqual(listParts([shares(["a", 1])]), [{ name: "a", shares: [1], rest: false }]);
    assert.deepEqual(listParts([[]]), []);
  });
});

test("percentages are rounded to a tenth, and a tiny share is never shown as 0", () => {
  assert.deepEqual([0, 0.0001, 0.0006, 0.4567, 1].map(percent), ["0.0%", "< 0.1%", "0.1%", "45.7%", "100.0%"]);
});
