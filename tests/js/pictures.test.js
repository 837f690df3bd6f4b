// Trees, bars and lines of text: where each part of a picture stands.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { linesOf } from "../../ui/components/chart_pictures/text_lines.js";
import { partsOf, percent } from "../../ui/components/corpus_strip/shares.js";
import { beginningOf } from "../../ui/components/vocabulary/beginnings.js";
import { layOutTree } from "../../ui/components/vocabulary/tree_layout.js";

suite("a token's tree", () => {
  // ((a b) c): the token, its parts (ab, c), and the parts of ab.
  const tree = [{ parts: [1, 2] }, { parts: [3, 4] }, { parts: null }, { parts: null }, { parts: null }];
  const { cells, columns } = layOutTree(tree);

  test("goes from a token to its parts, left to right", () => {
    assert.deepEqual(cells.map(({ place }) => place), [0, 1, 3, 4, 2]);
  });

  test("has a column for each symbol, and a merge over all that it joined", () => {
    assert.equal(columns, 3);
    assert.deepEqual(cells.map((cell) => cell.columns), [[1, 4], [1, 3], [1, 2], [2, 3], [3, 4]]);
  });

  test("has its symbols in the bottom row, each reaching up to the merge that takes it", () => {
    assert.deepEqual(cells.map((cell) => cell.rows), [[1, 2], [2, 3], [3, 4], [3, 4], [2, 4]]);
  });

  test("of a symbol is one cell", () => {
    assert.deepEqual(layOutTree([{ parts: null }]), { cells: [{ place: 0, rows: [1, 2], columns: [1, 2] }], columns: 1 });
  });
});

suite("shares", () => {
  const shares = [0.4, 0.3, 0.1, 0.08, 0.06, 0.04, 0.02].map((share, i) => ({ name: `s${i}`, share }));

  test("that are too many are taken together, and still make the whole", () => {
    const parts = partsOf(shares);
    assert.deepEqual(parts.map(({ name }) => name), ["s0", "s1", "s2", "s3", "s4", "2 more"]);
    assert.ok(parts.at(-1).rest);
    assert.ok(Math.abs(parts.reduce((sum, { share }) => sum + share, 0) - 1) < 1e-9);
    assert.deepEqual(partsOf(shares.slice(0, 6)), shares.slice(0, 6));
  });

  test("are written with one decimal, and never as nothing", () => {
    assert.deepEqual([1, 0.1234, 0.0005, 0.0004].map(percent), ["100.0%", "12.3%", "0.1%", "< 0.1%"]);
  });
});

suite("lines of text", () => {
  const widthOf = (text) => text.length;

  test("break at spaces, and hold as much as fits", () => {
    assert.deepEqual(linesOf("one two three four", 9, widthOf), ["one two", "three", "four"]);
    assert.deepEqual(linesOf("one two", 80, widthOf), ["one two"]);
  });

  test("a word that is too long has its own", () => {
    assert.deepEqual(linesOf("a incomprehensible b", 5, widthOf), ["a", "incomprehensible", "b"]);
    assert.deepEqual(linesOf("incomprehensible", 5, widthOf), ["incomprehensible"]);
    assert.deepEqual(linesOf("", 5, widthOf), [""]);
  });
});

test("a token that is too long is shown by its beginning, in whole characters", () => {
  assert.deepEqual(beginningOf("short"), ["short", false]);
  assert.deepEqual(beginningOf("🧩".repeat(48)), ["🧩".repeat(48), false]);
  assert.deepEqual(beginningOf("🧩".repeat(49)), ["🧩".repeat(48), true]);
  assert.deepEqual(beginningOf(new Array(30).fill(1)), [new Array(24).fill(1), true]);
});
