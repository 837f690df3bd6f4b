// The words shown with a question: the next pair leads in them.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { countPairsIn, wordsToCount } from "../../ui/components/merge_player/countable.js";
import { keepBlocks, blockAt, tiesAt, unpackBlock, unpackRun } from "../../ui/components/merge_player/run.js";
import { symbolsAt } from "../../ui/components/merge_player/symbols.js";
import { decodeBase64, fromPython } from "./python.js";

const messages = fromPython("runs");

function opened(name) {
  const run = unpackRun(decodeBase64(messages[name].message));
  for (const block of messages[name].blocks) keepBlocks(run, unpackBlock(decodeBase64(block)));
  return run;
}

suite("the words of a question", () => {
  for (const name of Object.keys(messages)) {
    test(`of ${name} hold the answer, counted the plain way`, () => {
      const run = opened(name);
      let found = 0;
      let asked = 0;
      // Merges for terms did not win by their counts, and are not asked for.
      for (let step = run.n_for_terms; step < Math.min(run.n_merges, 60); step++) {
        const block = blockAt(run, step);
        for (const grid of [{ room: 16, columns: 2 }, { room: 8, columns: 1 }]) {
          asked++;
          const words = block && wordsToCount(run, block, step, grid);
          if (!words) continue;
          found++;
          assert.ok(words.length <= grid.room);
          assert.equal(new Set(words.map(({ key }) => key)).size, words.length);
          const plain = new Map();
          for (const { base, count } of words) {
            const ids = symbolsAt(run, base, step).map(({ id }) => id);
            for (let i = 0; i + 1 < ids.length; i++) {
              const pair = `${ids[i]} ${ids[i + 1]}`;
              plain.set(pair, (plain.get(pair) ?? 0) + count);
            }
          }
          assert.deepEqual(countPairsIn(run, words, step), plain);
          const right = new Set(tiesAt(run, step).map(({ left, right }) => `${left} ${right}`));
          const own = `${run.merge_left[step]} ${run.merge_right[step]}`;
          for (const [pair, n] of plain) if (pair !== own && !right.has(pair)) assert.ok(plain.get(own) > n);
        }
      }
      // The others have a rival in the same words, or only in words that are too long.
      assert.ok(found >= 0.9 * asked, `${found} of ${asked}`);
    });
  }
});
