// Runs unpacked from Python's messages: the player's figures at any step match the core and a recount.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { Guesses } from "../../ui/components/merge_player/guesses.js";
import { explainMargin, formatProduct, explainStep } from "../../ui/components/merge_player/reasons.js";
import {
  blockAt, blockNumber, givenAt, isTraced, keepBlocks, lastReady, mergesSaved, raceAt, sameBytes, tableRow, tiesAt,
  touchedIn, traced, unpackBlock, unpackRun, widthOfRace,
} from "../../ui/components/merge_player/run.js";
import { chosenIn, symbolsAround, symbolsAt } from "../../ui/components/merge_player/symbols.js";
import { decodeBase64, fromPython } from "./python.js";

const runs = fromPython("runs");

function opened(name, { isSaved = false } = {}) {
  const run = unpackRun(decodeBase64(runs[name].message), { isSaved });
  for (const block of runs[name].blocks) keepBlocks(run, unpackBlock(decodeBase64(block)));
  return run;
}

const toPair = ({ left, right }) => [left, right];
const toRow = ({ left, right, count }) => [left, right, count];
const listIds = (symbols) => symbols.map(({ id }) => id);

for (const name of ["smallest-pair", "first-seen"]) {
  suite(`a run full of ties, ${name}`, () => {
    const run = opened(name);
    const { steps } = runs[name];

    test("has a trace of each merge and no others", () => {
      assert.equal(run.n_merges, steps.length);
      assert.ok(steps.every((_, step) => isTraced(run, step)));
      assert.ok(!isTraced(run, steps.length));
    });

    test("has the core's most frequent pairs in its race, the next to merge first", () => {
      steps.forEach(({ winner, race, tied }, step) => {
        const pairs = raceAt(run, step);
        assert.deepEqual(pairs.map(toRow), race);
        assert.deepEqual(toPair(pairs[0]), winner);
        assert.deepEqual(pairs.map((pair) => pair.next), race.map((_, place) => place === 0));
        assert.equal(pairs.filter((pair) => pair.tied).length, Math.min(tied.length, race.length) - 1);
      });
    });

    test("ends with the remaining pairs", () => {
      assert.deepEqual(raceAt(run, run.n_merges).map(toRow), runs[name].last);
      assert.ok(raceAt(run, run.n_merges).every((pair) => !pair.next && !pair.tied));
    });

    test("lists all tied pairs in the order of the tie rule", () => {
      steps.forEach(({ tied }, step) => {
        assert.equal(traced(run, "n_tied", step), tied.length);
        assert.deepEqual(tiesAt(run, step).map(toPair), tied.length > 1 ? tied : []);
      });
    });

    test("counts the words and overlaps of each merge, and lists the words that contribute most", () => {
      steps.forEach(({ given, n_words, n_overlapping, winner }, step) => {
        assert.equal(traced(run, "n_words", step), n_words);
        assert.equal(traced(run, "n_overlapping", step), n_overlapping);
        const found = givenAt(run, step).map(({ word, given }) => [given, symbolsAt(run, word.base, step)]);
        assert.deepEqual(found.map(([times, symbols]) => [times, listIds(symbols)]), given);
        for (const [, symbols] of found) {
          for (const at of chosenIn(run, symbols, step)) assert.deepEqual([symbols[at].id, symbols[at + 1].id], winner);
          assert.ok(chosenIn(run, symbols, step).size);
        }
      });
    });

    test("lists the pairs that rise and fall most", () => {
      const listRows = (table, step) => tableRow(run, table, step, "by").map((pair) => [pair.count, toPair(pair)]);
      steps.forEach(({ risen, fallen }, step) => {
        assert.deepEqual(listRows("risen", step), risen);
        assert.deepEqual(listRows("fallen", step), fallen);
      });
    });

    test("explains the winner by its count, its rivals and the tie rule", () => {
      steps.forEach(({ winner, count, tied, others }, step) => {
        const parts = explainStep(run, step, raceAt(run, step), false);
        assert.deepEqual(toPair(parts[0].pair), winner);
        const text = parts.map((part) => (typeof part === "string" ? part : part.pair ? "#" : part.bold)).join("");
        const often = count === 1 ? "once" : count === 2 ? "twice" : `${count.toLocaleString("en-US")} times`;
        assert.ok(text.includes(often), text);
        assert.equal(text.includes("The tie rule decides"), tied.length > 1, text);
        assert.equal(text.includes(`other ${others.toLocaleString("en-US")} pairs`), others > 1, text);
        const named = tied.length === 1 ? [winner] : tied.slice(0, 2);
        assert.deepEqual(parts.flatMap((part) => (part.pair ? [toPair(part.pair)] : [])), named);
        const rule = name === "smallest-pair" ? "the lower ids win" : "the pair seen first wins";
        assert.equal(text.includes(rule), tied.length > 1);
        if (tied.length === 2) assert.match(text, /^# and # both occur/);
        if (tied.length === 3) assert.match(text, /^#, # and one other pair all occur/);
        if (tied.length > 3) assert.ok(text.startsWith(`#, # and ${tied.length - 2} other pairs all occur`), text);
      });
    });

    test("states the lead over the next pair, which is 0 over a pair that ties", () => {
      steps.forEach(({ count, next_count, tied }, step) => {
        const pairs = raceAt(run, step);
        const { lead, over, rival } = explainMargin(run, step, pairs, false);
        if (tied.length > 1) {
          assert.deepEqual([lead, over, toPair(rival)], ["0", "ties with ", tied[1]]);
          const others = tied.length === 2 ? "one other pair" : `${tied.length - 1} other pairs`;
          assert.deepEqual(explainMargin(run, step, pairs, true), { lead: "0", over: `ties with ${others}` });
        } else if (next_count === null) assert.equal(lead, "no rival");
        else {
          assert.equal(lead, (count - next_count).toLocaleString("en-US"));
          assert.equal(over, rival ? "over " : "over the next");
          assert.equal(rival?.count, pairs.some((pair) => pair.count === next_count) ? next_count : undefined);
        }
      });
    });

    test("names no rival while the visitor guesses", () => {
      steps.forEach(({ winner, tied }, step) => {
        const pairs = raceAt(run, step);
        const parts = explainStep(run, step, pairs, true);
        assert.deepEqual(parts.flatMap((part) => (part.pair ? [toPair(part.pair)] : [])), [winner]);
        assert.ok(!parts.some((part) => typeof part === "string" && part.includes(" before ")));
        if (tied.length === 2) assert.equal(parts[1], " and one other pair");
        assert.equal(explainMargin(run, step, pairs, true).rival, undefined);
      });
    });

    test("merges each word as the reference does at any step", () => {
      for (const [base, step, ids] of runs[name].symbols) assert.deepEqual(listIds(symbolsAt(run, base, step)), ids);
    });
  });
}

suite("the sample run", () => {
  const run = opened("sample");

  test("has the core's most frequent pairs in its race", () => {
    for (const { step, race } of runs.sample.steps) assert.deepEqual(raceAt(run, step).map(toRow), race);
  });

  test("merges frequent words as the reference does", () => {
    assert.ok(runs.sample.symbols.length > 500);
    for (const [base, step, ids] of runs.sample.symbols) assert.deepEqual(listIds(symbolsAt(run, base, step)), ids);
  });

  test("has the start and length of each symbol of a word", () => {
    for (const { base } of run.frequent) {
      const symbols = symbolsAt(run, base, run.n_merges);
      assert.equal(symbols.reduce((end, { start, length }) => (assert.equal(start, end), end + length), 0), base.length);
    }
  });

  test("lists its most frequent words first, with their counts", () => {
    const counts = run.frequent.map((word) => word.count);
    assert.equal(counts.length, 60);
    assert.deepEqual(counts, counts.toSorted((one, other) => other - one));
    assert.equal(new Set(run.frequent.map((word) => word.key)).size, 60);
  });

  test("lists the words that a merge changes", () => {
    const block = blockAt(run, 200);
    const touched = touchedIn(block, 200);
    assert.ok(touched.length > 3);
    for (const word of touched) {
      const { base } = block.words[word];
      assert.notDeepEqual(symbolsAt(run, base, 200), symbolsAt(run, base, 201));
    }
  });

  test("knows which merge made a token first", () => {
    const [rank] = runs.sample.made.at(-1);
    assert.equal(run.firstMade.get(run.merge_id[rank]), rank);
    assert.ok(run.isLearned(run.merge_id[0]));
    assert.ok(!run.isLearned(run.merge_left[0]));
  });
});

suite("blocks of merges", () => {
  test("each merge is in one block, and the end of the run in the last", () => {
    const run = opened("smallest-pair");
    for (let step = 0; step < run.n_merges; step++) assert.equal(blockNumber(run, step), Math.floor(step / 20));
    assert.equal(blockNumber(run, run.n_merges), blockNumber(run, run.n_merges - 1));
  });

  test("a message can contain several, and missing merges are recognised", () => {
    const run = unpackRun(decodeBase64(runs["smallest-pair"].message));
    assert.equal(raceAt(run, 0), null);
    assert.throws(() => traced(run, "n_tied", 0), /Merge 1 is not loaded; check isTraced first/);
    keepBlocks(run, unpackBlock(decodeBase64(runs["smallest-pair"].blocks[1])));
    assert.deepEqual([19, 20, 39, 40].map((step) => isTraced(run, step)), [false, true, true, false]);
    keepBlocks(run, { ...blockAt(run, 20), start: 0, stop: 40 });
    assert.ok(isTraced(run, 0));
  });

  test("full speed waits at the last merge that has arrived", () => {
    const run = unpackRun(decodeBase64(runs["smallest-pair"].message));
    keepBlocks(run, unpackBlock(decodeBase64(runs["smallest-pair"].blocks[0])));
    assert.equal(lastReady(run, 5, 12), 12);
    assert.equal(lastReady(run, 5, 30), 19);
    for (const block of runs["smallest-pair"].blocks) keepBlocks(run, unpackBlock(decodeBase64(block)));
    assert.equal(lastReady(run, 5, 10_000), run.n_merges);
  });

  test("a saved replay plays past the merges whose trace it has", () => {
    const run = unpackRun(decodeBase64(runs["smallest-pair"].message), { isSaved: true });
    assert.equal(mergesSaved(run), null);
    keepBlocks(run, unpackBlock(decodeBase64(runs["smallest-pair"].blocks[1])));
    assert.equal(mergesSaved(run).start, 20);
    assert.equal(lastReady(run, 0, 45), 45);
    assert.equal(mergesSaved(opened("smallest-pair")), null);
  });
});

suite("words with characters outside the alphabet", () => {
  const run = opened("hug");
  const [word] = runs.hug.own_words;

  test("keep these characters as text and merge around them", () => {
    const missing = word.filter((id) => typeof id === "string");
    assert.deepEqual(missing, ["🧩"]);
    const ids = listIds(symbolsAt(run, word, run.n_merges));
    assert.ok(ids.includes("🧩"));
    assert.ok(ids.length < word.length);
  });
});

test("a long word shows the symbols around the pair", () => {
  assert.deepEqual(symbolsAround(5, new Set([1]), 12, 4), { from: 0, to: 5 });
  assert.deepEqual(symbolsAround(40, new Set([20, 30]), 12, 4), { from: 16, to: 28 });
  assert.deepEqual(symbolsAround(40, new Set([39]), 12, 4), { from: 28, to: 40 });
  assert.deepEqual(symbolsAround(40, new Set([2]), 12, 4), { from: 0, to: 12 });
});

test("the share of a word that has the pair twice is shown as a product", () => {
  assert.equal(formatProduct(10, 5), "2 × 5 = ");
  assert.equal(formatProduct(5, 5), "");
  assert.equal(formatProduct(6000, 2000), "3 × 2,000 = ");
});

test("byte arrays are equal if their contents are", () => {
  const message = decodeBase64(runs.hug.message);
  assert.ok(sameBytes(message, Uint8Array.from(message)));
  assert.ok(!sameBytes(message, decodeBase64(runs.sample.message)));
  assert.ok(!sameBytes(message, message.with(9, 0)));
});

test("the race has room for ten pairs", () => {
  assert.equal(widthOfRace(opened("hug"), 0), 10);
});

test("a run that takes tokens out again has each word's symbols, placed, at every step", () => {
  const run = opened("picky");
  const { bases, rows, widths, removed } = runs.picky;
  assert.ok(removed.flat().length > 5);
  rows.forEach((row, step) => {
    assert.deepEqual(run.removals.filter(({ done }) => done === step).map(({ id }) => id), removed[step]);
    row.forEach((expected, word) => {
      const symbols = symbolsAt(run, bases[word], step);
      assert.deepEqual(listIds(symbols), expected);
      let start = 0;
      for (const symbol of symbols) {
        assert.deepEqual([symbol.start, symbol.length], [start, widths[symbol.id]]);
        start += symbol.length;
      }
    });
  });
});

suite("a run whose first merges make a term", () => {
  const run = opened("terms");
  const { merges, n_for_terms: n } = runs.terms;
  const readText = (parts) => parts.map((part) => (typeof part === "string" ? part : part.pair ? "#" : part.bold)).join("");

  test("has the pair that is merged first in the race, whatever its count", () => {
    assert.equal(n, 2);
    merges.forEach((merge, step) => assert.deepEqual(toRow(raceAt(run, step)[0]), merge));
    const [first, second] = raceAt(run, 0);
    assert.ok(first.next && !second.next);
    assert.ok(first.count < second.count);
    assert.ok(raceAt(run, 0).every((pair) => !pair.tied));
    assert.equal(tiesAt(run, 0).length, 0);
    assert.equal(tiesAt(run, n).length, 2);
  });

  test("says which language picked a pair, or that all did", () => {
    const shared = { ...run, languages: ["de", "en"], picked: Int16Array.of(1, -1) };
    const reasons = [0, 1].map((step) => readText(explainStep(shared, step, raceAt(run, step), false)));
    assert.match(reasons[0], /times in all text\. en picked it, whose text was the longest in tokens\.$/);
    assert.match(reasons[1], /times in all text\. All languages picked it together\.$/);
  });

  test("says that a term is why, and names no rival", () => {
    for (let step = 0; step < n; step++) {
      const pairs = raceAt(run, step);
      assert.equal(readText(explainStep(run, step, pairs, false)), "# occurs 4 times. It is merged first because it is part of a token that was asked for.");
      assert.deepEqual(explainMargin(run, step, pairs, false), { lead: "none", over: "" });
    }
    assert.match(readText(explainStep(run, n, raceAt(run, n), false)), /^# and # both occur 9 times/);
  });

  test("is not guessed at before the merges that win by their counts", () => {
    const guesses = new Guesses({ get: () => null, set: () => undefined }, "a", { on: true });
    assert.deepEqual(merges.map((_, step) => guesses.isAsking(run, step)), merges.map((_, step) => step >= n));
  });
});
