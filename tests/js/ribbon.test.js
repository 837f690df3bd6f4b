// The ribbon of a text: its tokens at each step, and the bars that are drawn of them.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { countsByStep, joinsOfTokens, NEVER, rowPaths, tokensAt } from "../../ui/components/shared/bars.js";

// "hugs hug", after h+u, hu+g.
const JOINED_AT = [1, 2, NEVER, NEVER, NEVER, 1, 2];
const N_BYTES = 8;

suite("a ribbon", () => {
  test("has a token between any two bytes that are not joined yet, with the merge that made it", () => {
    const spans = (step) => tokensAt(N_BYTES, JOINED_AT, step).map(({ start, end, merge }) => [start, end, merge]);
    assert.deepEqual(spans(0), Array.from({ length: 8 }, (_, i) => [i, i + 1, 0]));
    assert.deepEqual(spans(1), [[0, 2, 1], [2, 3, 0], [3, 4, 0], [4, 5, 0], [5, 7, 1], [7, 8, 0]]);
    assert.deepEqual(spans(2), [[0, 3, 2], [3, 4, 0], [4, 5, 0], [5, 8, 2]]);
    assert.deepEqual(tokensAt(0, [], 5), []);
  });

  test("counts its tokens at each step as they are listed", () => {
    const counts = countsByStep(N_BYTES, JOINED_AT, 3);
    assert.deepEqual([...counts], [8, 6, 4, 4]);
    counts.forEach((count, step) => assert.equal(tokensAt(N_BYTES, JOINED_AT, step).length, count));
    assert.deepEqual([...countsByStep(0, [], 0)], [0]);
  });

  test("shows the tokens of a tokenizer whose merges it does not know", () => {
    const tokens = tokensAt(6, joinsOfTokens([3, 1, 2]), 0);
    assert.deepEqual(tokens.map(({ start, end }) => [start, end]), [[0, 3], [3, 4], [4, 6]]);
  });

  test("draws a token that is broken at the end of a row in both rows, without a tick between", () => {
    const tokens = tokensAt(N_BYTES, JOINED_AT, 2);
    const rows = rowPaths(tokens, N_BYTES, 6, ({ merge }) => merge);
    assert.equal(rows.length, 2);
    assert.equal(rows[0].fills[2], "M0 0h3v18h-3zM5 0h1v18h-1z");
    assert.equal(rows[1].fills[2], "M0 0h2v18h-2z");
    assert.equal(rows[0].paper, "M3 0h1v18h-1zM4 0h1v18h-1z");
    assert.equal(rows[0].ticks, "M0 0v18M3 0v18M4 0v18M5 0v18");
    assert.equal(rows[1].ticks, "M2 0v18");
  });

  test("has a tick where a token ends with its row, and bars that together are the text at any width", () => {
    assert.equal(rowPaths(tokensAt(8, JOINED_AT, 2), 8, 4, () => 0)[0].ticks, "M0 0v18M3 0v18M4 0v18");
    for (const perRow of [1, 3, 8, 100]) {
      const rows = rowPaths(tokensAt(8, JOINED_AT, 1), 8, perRow, () => 5);
      const widths = rows.map(({ fills, paper }) => [...(fills.join("") + paper).matchAll(/h(\d+)/g)].reduce((sum, [, w]) => sum + Number(w), 0));
      assert.equal(widths.reduce((sum, width) => sum + width, 0), 8);
      assert.ok(widths.every((width) => width <= perRow));
    }
  });
});
