// The game's rules: lists replayed as the specification says, and a text on which BPE can be beaten.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { compareWords, explainVerdict, findNeighbours, listOfBpe, madeBy, moved, countNeighbours, pairsToOffer, play, verdictOn, wordsOfText } from "../../ui/components/game/rules.js";
import { fromGame } from "./python.js";

const game = fromGame();
const [page, beatable] = game.data.levels;
const words = wordsOfText(page.text);
const few = beatable.counts.flatMap(([word, n]) => new Array(n).fill(word));
const joints = (...pairs) => pairs.map(([left, right]) => ({ left, right }));
const SAMPLE = joints(["t", "h"], ["th", "e"], ["i", "n"], ["e", "r"], ["o", "u"], ["a", "n"], [" ", "a"], ["r", "e"], ["in", "g"], ["h", "e"]);

/** Count the tokens of words the plain way: joins of the list, in its order of preference. */
function countPlainly(all, list) {
  let n = 0;
  for (const word of all) {
    let tokens = [...word];
    for (;;) {
      const first = list.find(({ left, right }) => tokens.some((token, i) => token === left && tokens[i + 1] === right));
      if (!first) break;
      const next = [];
      for (let i = 0; i < tokens.length; i++) {
        if (tokens[i] === first.left && tokens[i + 1] === first.right) next.push(madeBy(first)) && i++;
        else next.push(tokens[i]);
      }
      tokens = next;
    }
    n += tokens.length;
  }
  return n;
}

suite("a list", () => {
  test("is replayed as if by hand, in any order, and what it saved adds up", () => {
    for (let from = 0; from < SAMPLE.length; from++) {
      const list = moved(SAMPLE, from, 0);
      const { n, saved } = play(words, list);
      assert.equal(n, countPlainly(words, list));
      assert.equal(page.text.length - n, saved.reduce((sum, each) => sum + each, 0));
    }
  });

  test("of a lesson ends where it did, and otherwise once he comes first", () => {
    const before = play(words, SAMPLE);
    const after = play(words, moved(SAMPLE, 9, 0));
    assert.equal(before.n, 1649);
    assert.equal(after.n, 1665);
    assert.equal(after.saved[2], 0);
    const { n, more, example } = compareWords(before, after);
    assert.deepEqual([n, more], [16, 16]);
    assert.notDeepEqual(before.words.get(example).tokens, after.words.get(example).tokens);
  });
});

suite("BPE", () => {
  test("learns what bpe_core learns", () => {
    const list = listOfBpe(words, page.most);
    assert.deepEqual(list.map(({ left, right }) => [left, right]), game.bpe);
    assert.equal(play(words, list).n, game.after);
  });

  test("is beaten on the text made for it by the best list, and by no more", () => {
    const ends = [];
    const tryAll = (list) => {
      const { n, words: now } = play(few, list);
      if (list.length === beatable.most) ends.push(n);
      else for (const pair of countNeighbours(now)) tryAll([...list, pair]);
    };
    tryAll([]);
    const theirs = listOfBpe(few, beatable.most);
    assert.deepEqual(theirs[0], { left: "e", right: "r" });
    const won = play(few, joints(["r", "e"], ["h", "e"], ["he", "re"])).n;
    assert.equal(won, Math.min(...ends));
    assert.ok(won < play(few, theirs).n);
    assert.equal(verdictOn(won, play(few, theirs).n), "You win by 3 tokens.");
    assert.match(explainVerdict(won, play(few, theirs).n, false), /its first pair .* took the e/);
  });

  test("can be beaten on the first text, where its first pair took no e", () => {
    const theirs = listOfBpe(words, page.most);
    assert.deepEqual(theirs[0], { left: " ", right: "t" });
    const list = joints([" ", "t"], ["i", "t"], [" ", "h"], ["e", "n"], ["o", "u"], [" ", "a"], [" t", "h"], [" ", "w"], ["r", "e"], ["s", "t"]);
    const [yours, bpes] = [list, theirs].map((each) => play(words, each).n);
    assert.deepEqual([yours, bpes], [1568, 1572]);
    assert.equal(explainVerdict(yours, bpes, true), "You looked further ahead than BPE, which joins the most frequent pair each time.");
    assert.match(explainVerdict(bpes, bpes, true), /can be beaten, more easily on the other text/);
  });
});

suite("pairs", () => {
  test("to choose from are the most frequent, in the order of the alphabet", () => {
    const { words: now } = play(words, []);
    const most = countNeighbours(now).slice(0, 12).map(madeBy);
    const offered = pairsToOffer(now, 12).map(madeBy);
    assert.deepEqual([...offered].sort(), [...most].sort());
    assert.deepEqual(offered.map((token) => token.trim()), offered.map((token) => token.trim()).sort());
  });

  test("are found by the token that they make", () => {
    const { words: now } = play(words, joints(["t", "h"]));
    assert.deepEqual(findNeighbours(now, "the"), { left: "th", right: "e" });
    assert.equal(findNeighbours(now, "xyz"), null);
  });

  test("may share letters and differ", () => {
    const both = play(["abc", "abc", "abc"], joints(["a", "b"])).words;
    assert.deepEqual(countNeighbours(both), [{ left: "ab", right: "c", count: 3 }]);
  });
});

test("the verdict names the leader", () => {
  assert.equal(verdictOn(5, 4), "BPE leads by 1 token.");
  assert.equal(verdictOn(4, 4), "A draw.");
  assert.equal(verdictOn(3, 2003), "You win by 2,000 tokens.");
});
