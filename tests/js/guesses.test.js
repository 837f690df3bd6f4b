// Guessing which pair comes next: what is right, what is scored, what is kept, what stays hidden.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { candidatesAt, Guesses, verdictOf } from "../../ui/components/merge_player/guesses.js";
import { nearestBorder } from "../../ui/components/merge_player/nearest_border.js";
import { keepBlocks, raceAt, unpackBlock, unpackRun } from "../../ui/components/merge_player/run.js";
import { bytesOf, fromPython } from "./python.js";

const messages = fromPython("runs");

function opened(name) {
  const run = unpackRun(bytesOf(messages[name].message));
  for (const block of messages[name].blocks) keepBlocks(run, unpackBlock(bytesOf(block)));
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
  test("is asked where the visitor guesses, until the pair is named", () => {
    const guesses = guessing();
    assert.ok(guesses.isAsking(tied, 0));
    guesses.answer(tied, 0, asPair(steps[0].winner));
    assert.ok(!guesses.isAsking(tied, 0));
    assert.ok(guesses.isAsking(tied, 1));
    guesses.on = false;
    assert.ok(!guesses.isAsking(tied, 1));
  });

  test("is not asked after the last merge, nor where the merges have not come", () => {
    assert.ok(!guessing().isAsking(tied, tied.n_merges));
    assert.ok(!guessing().isAsking(unpackRun(bytesOf(messages.hug.message)), 0));
  });

  test("offers the pairs that race, in an order that tells nothing of their counts", () => {
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
    const said = verdictOf(run, step, guesses);
    return { right: guesses.right, text: `${said.before}#${said.after}`, pair: said.pair };
  };

  test("of the one winner is right, with its lead", () => {
    const step = stepWhere(({ tied, race }) => tied.length === 1 && race.length > 1);
    const { winner, race } = steps[step];
    const { right, text, pair } = verdict(step, asPair(winner));
    assert.equal(right, 1);
    assert.deepEqual(pair, asPair(winner));
    assert.match(text, new RegExp(`^Right\\.# occurs .+, ${race[0][2] - race[1][2]} more than the next\\.$`));
  });

  test("of any pair of a tie is right, and the rule is said", () => {
    const step = stepWhere(({ tied }) => tied.length === 2);
    const [first, second] = steps[step].tied.map(asPair);
    assert.match(verdict(step, first).text, /as often as any\. Of the 2 that tie, it goes first: the lower ids win\.$/);
    assert.match(verdict(step, second).text, /as often as any\. Another goes first: the lower ids win\.$/);
    assert.equal(verdict(step, second).right, 1);
  });

  test("of a pair that ties too far down to race is right", () => {
    const step = stepWhere(({ tied }) => tied.length > 10);
    assert.ok(step >= 0);
    const far = asPair(steps[step].tied.at(-1));
    assert.ok(!raceAt(tied, step).some(({ left, right }) => left === far.left && right === far.right));
    assert.equal(verdict(step, far).right, 1);
  });

  test("of another that races is wrong, with what it lacks", () => {
    const step = stepWhere(({ race }) => race.at(-1)[2] < race[0][2]);
    const [left, right, count] = steps[step].race.at(-1);
    const told = verdict(step, { left, right });
    assert.equal(told.right, 0);
    assert.match(told.text, new RegExp(`^Not this one\\.# occurs .+, ${steps[step].race[0][2] - count} fewer\\.$`));
  });

  test("of a pair that does not race is wrong, as far as is known", () => {
    const nowhere = { left: 0, right: 9999 };
    const full = stepWhere(({ race, tied }) => race.length === 10 && tied.length < 10);
    assert.equal(verdict(full, nowhere).text, "Not this one.# is not among the 10 that lead.");
    const hug = opened("hug");
    const last = hug.n_merges - 1;
    assert.ok(raceAt(hug, last).length < 10);
    assert.equal(verdict(last, nowhere, hug).text, "Not this one.# cannot merge in the corpus now.");
  });

  test("by the other rule says that rule", () => {
    const run = opened("first-seen");
    const step = messages["first-seen"].steps.findIndex(({ tied }) => tied.length === 2);
    const second = asPair(messages["first-seen"].steps[step].tied[1]);
    assert.match(verdict(step, second, run).text, /the pair seen first wins\.$/);
  });

  test("has no verdict where none was made, or the visitor does not guess now", () => {
    const guesses = guessing();
    assert.equal(verdictOf(tied, 0, guesses), null);
    guesses.giveUp(0);
    assert.equal(verdictOf(tied, 0, guesses), null);
    guesses.answer(tied, 1, asPair(steps[1].winner));
    guesses.on = false;
    assert.equal(verdictOf(tied, 1, guesses), null);
  });
});

suite("the score", () => {
  test("counts guesses, and no merge that was shown without one", () => {
    const guesses = guessing();
    assert.equal(guesses.score(), "");
    guesses.giveUp(0);
    assert.equal(guesses.score(), "");
    assert.ok(!guesses.isAsking(tied, 0));
    guesses.answer(tied, 1, asPair(steps[1].winner));
    guesses.answer(tied, 2, { left: 0, right: 9999 });
    assert.equal(guesses.score(), "1 of 2 right");
  });

  test("outlives a refresh, with all that was guessed, for its run alone", () => {
    const store = memory();
    const before = guessing(store);
    before.answer(tied, 0, asPair(steps[0].winner));
    before.giveUp(1);
    const after = guessing(store);
    assert.equal(after.score(), "1 of 1 right");
    assert.deepEqual([0, 1, 2].map((step) => after.isAsking(tied, step)), [false, false, true]);
    assert.equal(verdictOf(tied, 0, after).before, "Right.");
    assert.equal(new Guesses(store, "another").score(), "");
    assert.equal(new Guesses(store, "another", after).on, true);
  });

  test("begins anew where what was kept cannot be read", () => {
    for (const text of ["", "{", "null", "[]"]) {
      const store = memory();
      store.set("guesses-a", text);
      assert.equal(guessing(store).score(), "");
    }
  });
});

test("after a guess only the winner and the pair guessed may be seen", () => {
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

  test("are on the pointer's line, unless it is far from there", () => {
    assert.equal(nearestBorder(boxes, 60, 10), 2);
    assert.equal(nearestBorder(boxes, 60, 45), 3);
  });

  test("are none where there are no two", () => {
    assert.equal(nearestBorder(boxes.slice(0, 1), 10, 10), null);
    assert.equal(nearestBorder([], 0, 0), null);
  });
});
