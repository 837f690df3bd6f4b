// Guessing the next pair: which guesses are right, what is scored, stored and kept hidden.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { candidatesAt, Guesses, judgeGuess, nearestBorder } from "../../ui/components/merge_player/guesses.js";
import { keepBlocks, raceAt, unpackBlock, unpackRun } from "../../ui/components/merge_player/run.js";
import { decodeBase64, fromPython } from "./python.js";

const messages = fromPython("runs");

function opened(name) {
  const run = unpackRun(decodeBase64(messages[name].message));
  for (const block of messages[name].blocks) keepBlocks(run, unpackBlock(decodeBase64(block)));
  return run;
}

function memory() {
  const kept = new Map();
  return { get: (name) => kept.get(name) ?? null, set: (name, text) => void kept.set(name, text), kept };
}

const tied = opened("smallest-pair");
const steps = messages["smallest-pair"].steps;
const stepWhere = (holds) => steps.findIndex(holds);
const asPair = ([left, right]) => ({ left, right });
const guessing = (store = memory()) => new Guesses(store, "a", { on: true });

suite("a question", () => {
  test("is asked while guessing is on, until the visitor guesses a pair", () => {
    const guesses = guessing();
    assert.ok(guesses.isAsking(tied, 0));
    guesses.answer(tied, 0, asPair(steps[0].winner));
    assert.ok(!guesses.isAsking(tied, 0));
    assert.ok(guesses.isAsking(tied, 1));
    guesses.on = false;
    assert.ok(!guesses.isAsking(tied, 1));
  });

  test("is not asked after the last merge, nor while the merges are missing", () => {
    assert.ok(!guessing().isAsking(tied, tied.n_merges));
    assert.ok(!guessing().isAsking(unpackRun(decodeBase64(messages.hug.message)), 0));
  });

  test("offers the pairs in the race, in an order that does not reveal their counts", () => {
    const candidates = candidatesAt(tied, 0).map(({ left, right }) => [left, right].join());
    const race = raceAt(tied, 0).map(({ left, right }) => [left, right].join());
    assert.deepEqual(candidates.toSorted(), race.toSorted());
    assert.notDeepEqual(candidates, race);
    assert.deepEqual(Object.keys(candidatesAt(tied, 0)[0]), ["left", "right"]);
    assert.deepEqual(raceAt(tied, 0).map(({ left, right }) => [left, right].join()), race);
  });
});

suite("a guess", () => {
  const verdict = (step, pair, run = tied) => {
    const guesses = guessing();
    guesses.answer(run, step, pair);
    const verdict = judgeGuess(run, step, guesses);
    return { right: guesses.right, text: `${verdict.before}#${verdict.after}`, pair: verdict.pair };
  };

  test("of the only winner is right, with its lead", () => {
    const step = stepWhere(({ tied, race }) => tied.length === 1 && race.length > 1);
    const { winner, race } = steps[step];
    const { right, text, pair } = verdict(step, asPair(winner));
    assert.equal(right, 1);
    assert.deepEqual(pair, asPair(winner));
    assert.match(text, new RegExp(`^Right\\.# occurs .+, ${race[0][2] - race[1][2]} more than the next\\.$`));
  });

  test("of any pair in a tie is right, and the rule is named", () => {
    const step = stepWhere(({ tied }) => tied.length === 2);
    const [first, second] = steps[step].tied.map(asPair);
    assert.match(verdict(step, first).text, /as often as any\. Of the 2 that tie, it goes first: the lower ids win\.$/);
    assert.match(verdict(step, second).text, /as often as any\. Another goes first: the lower ids win\.$/);
    assert.equal(verdict(step, second).right, 1);
  });

  test("of a tied pair that is too low in the order for the race is right", () => {
    const step = stepWhere(({ tied }) => tied.length > 10);
    assert.ok(step >= 0);
    const far = asPair(steps[step].tied.at(-1));
    assert.ok(!raceAt(tied, step).some(({ left, right }) => left === far.left && right === far.right));
    assert.equal(verdict(step, far).right, 1);
  });

  test("of another racing pair is wrong, with the difference in counts", () => {
    const step = stepWhere(({ race }) => race.at(-1)[2] < race[0][2]);
    const [left, right, count] = steps[step].race.at(-1);
    const judged = verdict(step, { left, right });
    assert.equal(judged.right, 0);
    assert.match(judged.text, new RegExp(`^Not this one\\.# occurs .+, ${steps[step].race[0][2] - count} fewer\\.$`));
  });

  test("of a pair outside the race is wrong, without its count", () => {
    const nowhere = { left: 0, right: 9999 };
    const full = stepWhere(({ race, tied }) => race.length === 10 && tied.length < 10);
    assert.equal(verdict(full, nowhere).text, "Not this one.# is not among the top 10.");
    const hug = opened("hug");
    const last = hug.n_merges - 1;
    assert.ok(raceAt(hug, last).length < 10);
    assert.equal(verdict(last, nowhere, hug).text, "Not this one.# cannot be merged within any word now.");
  });

  test("under the other tie rule names that rule", () => {
    const run = opened("first-seen");
    const step = messages["first-seen"].steps.findIndex(({ tied }) => tied.length === 2);
    const second = asPair(messages["first-seen"].steps[step].tied[1]);
    assert.match(verdict(step, second, run).text, /the pair seen first wins\.$/);
  });

  test("has no verdict if none was made or guessing is off", () => {
    const guesses = guessing();
    assert.equal(judgeGuess(tied, 0, guesses), null);
    guesses.giveUp(0);
    assert.equal(judgeGuess(tied, 0, guesses), null);
    guesses.answer(tied, 1, asPair(steps[1].winner));
    guesses.on = false;
    assert.equal(judgeGuess(tied, 1, guesses), null);
  });
});

suite("the score", () => {
  test("counts guesses, but not merges shown without one", () => {
    const guesses = guessing();
    assert.equal(guesses.score(), "");
    guesses.giveUp(0);
    assert.equal(guesses.score(), "");
    assert.ok(!guesses.isAsking(tied, 0));
    guesses.answer(tied, 1, asPair(steps[1].winner));
    guesses.answer(tied, 2, { left: 0, right: 9999 });
    assert.equal(guesses.score(), "1 of 2 right");
  });

  test("survives a refresh, with all guesses, for its own run only", () => {
    const store = memory();
    const before = guessing(store);
    before.answer(tied, 0, asPair(steps[0].winner));
    before.giveUp(1);
    const after = guessing(store);
    assert.equal(after.score(), "1 of 1 right");
    assert.deepEqual([0, 1, 2].map((step) => after.isAsking(tied, step)), [false, false, true]);
    assert.equal(judgeGuess(tied, 0, after).before, "Right.");
    assert.equal(new Guesses(store, "another").score(), "");
    assert.equal(new Guesses(store, "another", after).on, true);
  });

  test("starts over if the stored guesses cannot be read", () => {
    for (const text of ["", "{", "null", "[]"]) {
      const store = memory();
      store.set("guesses-a", text);
      assert.equal(guessing(store).score(), "");
    }
  });
});

test("after a guess only the winner and the guessed pair are visible", () => {
  const guesses = guessing();
  const step = stepWhere(({ race }) => race.length > 3);
  const pairs = raceAt(tied, step);
  guesses.answer(tied, step, pairs[2]);
  assert.deepEqual(guesses.visible(pairs, step), [pairs[0], pairs[2]]);
  const other = guessing();
  other.giveUp(step);
  assert.deepEqual(other.visible(pairs, step), [pairs[0]]);
});

suite("two tiles of a word", () => {
  const boxes = [[0, 0], [20, 0], [40, 0], [0, 30], [20, 30]].map(([left, top]) => ({ right: left + 20, top, bottom: top + 20 }));

  test("are those whose border is nearest to the pointer", () => {
    assert.equal(nearestBorder(boxes, 19, 10), 0);
    assert.equal(nearestBorder(boxes, 33, 10), 1);
    assert.equal(nearestBorder(boxes, 18, 40), 3);
  });

  test("are on the pointer's line, unless they are far away", () => {
    assert.equal(nearestBorder(boxes, 60, 10), 2);
    assert.equal(nearestBorder(boxes, 60, 45), 3);
  });

  test("are null without two tiles", () => {
    assert.equal(nearestBorder(boxes.slice(0, 1), 10, 10), null);
    assert.equal(nearestBorder([], 0, 0), null);
  });

  test("of a word from right to left is at the left of its tiles", () => {
    const boxes = [40, 20, 0].map((left) => ({ left, right: left + 18, top: 0, bottom: 30 }));
    assert.equal(nearestBorder(boxes, 39, 10, true), 0);
    assert.equal(nearestBorder(boxes, 19, 10, true), 1);
    assert.equal(nearestBorder([boxes[0], boxes[2], { left: 40, right: 58, top: 40, bottom: 70 }], 1, 10, true), 1);
  });
});
