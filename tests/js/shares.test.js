// Shares of two texts, as parts that have the same place in both bars.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { partsOf, percent } from "../../ui/components/share_bars/shares.js";

const shares = (...found) => found.map(([name, share]) => ({ name, share }));

suite("parts of the bars of two texts", () => {
  test("a part has the share of each text, in the order of the first", () => {
    const training = shares(["Latin letters", 0.7], ["white space", 0.2], ["punctuation", 0.1]);
    const heldOut = shares(["Latin letters", 0.6], ["punctuation", 0.25], ["white space", 0.15]);
    assert.deepEqual(
      partsOf([training, heldOut]).map(({ name, shares: of }) => [name, ...of]),
      [["Latin letters", 0.7, 0.6], ["white space", 0.2, 0.15], ["punctuation", 0.1, 0.25]],
    );
  });

  test("a part that the second text lacks has a share of zero there", () => {
    const [, letters] = partsOf([shares(["Latin letters", 0.9], ["Greek letters", 0.1]), shares(["Latin letters", 1])]);
    assert.deepEqual(letters, { name: "Greek letters", shares: [0.1, 0], rest: false });
  });

  test("small parts are together, with those that only the second text has", () => {
    const training = shares(...[..."abcdefgh"].map((name, i) => [name, (8 - i) / 36]));
    const parts = partsOf([training, shares(["a", 0.5], ["z", 0.5])]);
    assert.deepEqual(parts.map((part) => part.name), ["a", "b", "c", "d", "e", "4 more"]);
    const rest = parts[5];
    assert.ok(rest.rest);
    assert.ok(Math.abs(rest.shares[0] - 6 / 36) < 1e-9);
    assert.equal(rest.shares[1], 0.5);
  });

  test("a text alone has its parts, and no text none", () => {
    assert.deepEqual(partsOf([shares(["a", 1])]), [{ name: "a", shares: [1], rest: false }]);
    assert.deepEqual(partsOf([[]]), []);
  });
});

test("percents are rounded to a tenth, and tiny shares are not shown as none", () => {
  assert.deepEqual([0, 0.0001, 0.0006, 0.4567, 1].map(percent), ["0.0%", "< 0.1%", "0.1%", "45.7%", "100.0%"]);
});
