// The layout of derivation trees, and of text in lines.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { wrapLines } from "../../ui/components/chart_pictures/text_lines.js";
import { findBeginning } from "../../ui/components/vocabulary/beginnings.js";
import { layOutTree } from "../../ui/components/vocabulary/tree_layout.js";

suite("the tree of a token", () => {
  // ((a b) c): the token, its parts (ab, c), and the parts of ab.
  const tree = [{ parts: [1, 2] }, { parts: [3, 4] }, { parts: null }, { parts: null }, { parts: null }];
  const { cells, columns } = layOutTree(tree);

  test("lists a token before its parts, left to right", () => {
    assert.deepEqual(cells.map(({ place }) => place), [0, 1, 3, 4, 2]);
  });

  test("has a column for each symbol, and each merge spans the columns of its symbols", () => {
    assert.equal(columns, 3);
    assert.deepEqual(cells.map((cell) => cell.columns), [[1, 4], [1, 3], [1, 2], [2, 3], [3, 4]]);
  });

  test("has the symbols in its bottom row, each as tall as the gap to the merge that uses it", () => {
    assert.deepEqual(cells.map((cell) => cell.rows), [[1, 2], [2, 3], [3, 4], [3, 4], [2, 4]]);
  });

  test("has one cell if the token is a symbol", () => {
    assert.deepEqual(layOutTree([{ parts: null }]), { cells: [{ place: 0, rows: [1, 2], columns: [1, 2] }], columns: 1 });
  });
});

suite("lines of text", () => {
  const measureWidth = (text) => text.length;

  test("break at spaces and are filled as far as words fit", () => {
    assert.deepEqual(wrapLines("one two three four", 9, measureWidth), ["one two", "three", "four"]);
    assert.deepEqual(wrapLines("one two", 80, measureWidth), ["one two"]);
  });

  test("a word that is wider than a line has its own line", () => {
    assert.deepEqual(wrapLines("a incomprehensible b", 5, measureWidth), ["a", "incomprehensible", "b"]);
    assert.deepEqual(wrapLines("incomprehensible", 5, measureWidth), ["incomprehensible"]);
    assert.deepEqual(wrapLines("", 5, measureWidth), [""]);
  });
});

test("a long token is truncated at a character boundary", () => {
  assert.deepEqual(findBeginning("short"), ["short", false]);
  assert.deepEqual(findBeginning("🧩".repeat(48)), ["🧩".repeat(48), false]);
  assert.deepEqual(findBeginning("🧩".repeat(49)), ["🧩".repeat(48), true]);
  assert.deepEqual(findBeginning(new Array(30).fill(1)), [new Array(24).fill(1), true]);
});
