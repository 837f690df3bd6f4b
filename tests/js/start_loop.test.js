// The loop of the start page: what it learns from a sentence, and how it describes that.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { candidatesAt, Guesses, judgeGuess } from "../../ui/components/merge_player/guesses.js";
import { raceAt } from "../../ui/components/merge_player/run.js";
import { chosenIn, symbolsAt } from "../../ui/components/merge_player/symbols.js";
import { learn, splitWords } from "../../ui/components/start_loop/learn.js";
import { cutSentence, endSentence, legend, lengthSentence, mergeSentence, orderNote, wantsRepeating } from "../../ui/components/start_loop/sentences.js";
import { guessLabel, HINT, stepOfTurn, TIE_RULE, Turn } from "../../ui/components/start_loop/turn.js";
import { fromPython } from "./python.js";

const sentences = fromPython("sentences");
const SHELLS = "she sells sea shells by the sea shore";

const countPairs = (words) => {
  const counts = {};
  for (const word of words) word.slice(1).forEach((right, i) => (counts[[word[i], right]] = (counts[[word[i], right]] ?? 0) + 1));
  return counts;
};

const listMerges = (run) =>
  Array.from(run.merge_id, (id, i) => [run.merge_left[i], run.merge_right[i], id, run.merge_count[i]]);

suite("learning from a sentence", () => {
  test("cuts it into the words of the reference, which together are the sentence", () => {
    for (const { text, words } of sentences) {
      assert.deepEqual(splitWords(text), words);
      assert.equal(splitWords(text).join(""), text);
    }
  });

  test("gives the tokens and merges of the reference, in its order, with its counts", () => {
    for (const { text, tokens, merges } of sentences) {
      const run = learn(text);
      assert.deepEqual(run.tokens, tokens, text.slice(0, 80));
      assert.deepEqual(listMerges(run), merges, text.slice(0, 80));
    }
    assert.ok(sentences.filter(({ merges }) => merges.length > 5).length >= 10);
  });

  test("counts the tokens after each merge, the ties and the pairs left as the reference does", () => {
    for (const { text, n_tokens, tied, n_left } of sentences) {
      const run = learn(text);
      assert.deepEqual([run.n_tokens, run.tied, run.n_left], [n_tokens, tied, n_left], text.slice(0, 80));
    }
  });

  test("starts from one token for each character, whatever its size in UTF-16", () => {
    assert.equal(learn("🧩🧩é").n_tokens[0], 3);
  });

  test("counts overlapping pairs, and joins them from the left without overlap", () => {
    const run = learn("aaa");
    assert.deepEqual(listMerges(run), [[0, 0, 1, 2]]);
    assert.deepEqual(run.n_tokens, [3, 2]);
  });

  test("takes half a character for one of its own", () => {
    const run = learn("\ud83e!\ud83e!");
    assert.equal(run.n_tokens[0], 4);
    assert.equal(run.n_merges, 1);
  });

  test("gives a run from which the tiles of any step are drawn", () => {
    for (const { text } of sentences.filter(({ text }) => text.length < 400)) {
      const run = learn(text);
      for (let step = 0; step <= run.n_merges; step++) {
        const words = run.frequent.map(({ base }) => symbolsAt(run, base, step));
        assert.equal(words.flat().length, run.n_tokens[step]);
        assert.equal(words.flat().map(({ id }) => run.tokens[id]).join(""), text);
        const ringed = words.reduce((sum, word) => sum + chosenIn(run, word, step).size, 0);
        assert.equal(ringed, step < run.n_merges ? run.n_tokens[step] - run.n_tokens[step + 1] : 0);
      }
    }
  });
});

suite("the pairs of a sentence", () => {
  const run = learn(SHELLS);

  test("are ordered by count, the next to merge first, at each step and after the last", () => {
    for (let step = 0; step < run.n_merges; step++) {
      const race = raceAt(run, step);
      assert.deepEqual([race[0].left, race[0].right, race[0].count], [run.merge_left[step], run.merge_right[step], run.merge_count[step]]);
      assert.deepEqual(race.map(({ count }) => count), race.map(({ count }) => count).toSorted((a, b) => b - a));
      assert.equal(race.filter(({ next, tied }) => next || tied).length, run.tied[step]);
    }
    assert.ok(raceAt(run, run.n_merges).every(({ count }) => count === 1));
  });

  test("to choose from are the winner, one tie, and then less frequent ones", () => {
    const many = learn("how much wood would a woodchuck chuck if a woodchuck could chuck wood");
    assert.equal(many.tied[0], 4);
    const counts = candidatesAt(many, 0, 4).map((pair) => raceAt(many, 0).find(({ left, right }) => left === pair.left && right === pair.right).count);
    assert.equal(counts.length, 4);
    assert.equal(counts.filter((count) => count === many.merge_count[0]).length, 2);
  });
});

suite("the legend", () => {
  test("says at once where words themselves are cut", () => {
    const cutOff = ["मेरी माँ मेरे गाँव में रहती है", "ฉันชื่อ", "cafe\u0301 cafe\u0301"];
    const whole = [SHELLS, "我的名字", "بسم الله", "🧩 1 2", "", "köyüm adım"];
    for (const text of cutOff) assert.match(legend(learn(text)), /cuts off vowel signs and other marks/, text);
    for (const text of whole) assert.match(legend(learn(text)), /cuts the text into pieces: no/, text);
  });
});

suite("the visitor's turn", () => {
  const run = learn(SHELLS);

  test("comes at the last three merges, after some were watched", () => {
    assert.equal(stepOfTurn(run), run.n_merges - 3);
    assert.equal(stepOfTurn(learn("Ada Ada")), -1);
  });

  test("asks for the next three merges, or for the last ones", () => {
    assert.deepEqual([0, 2, 4, 5, 6].map((step) => guessLabel(run, step)), [
      "Guess the next three merges", "Guess the next three merges", "Guess the next two merges",
      "Guess the next merge", "Guess the last three merges",
    ]);
    assert.equal(guessLabel(learn("Ada Ada"), 2), "Guess the last two merges");
    assert.equal(guessLabel(learn("x"), 0), "");
    const { from, until } = new Turn(run, run.n_merges);
    assert.deepEqual([from, until], [3, 6]);
  });

  test("counts each tied pair as right, and says the tie rule without ids, as it holds", () => {
    assert.match(HINT, /If several tie, each of them is right\.$/);
    assert.match(TIE_RULE, /the earlier left token wins; if equal, the earlier right one\. Characters come first, in Unicode’s order, then merged tokens, oldest first/);
    let nTies = 0;
    for (const { text } of sentences.filter(({ text }) => text.length < 400)) {
      const own = learn(text);
      for (let step = 0; step < own.n_merges; step++) {
        if (own.tied[step] < 2) continue;
        nTies++;
        const tied = raceAt(own, step).filter(({ next, tied: ties }) => next || ties);
        const made = [...own.merge_id].map((id) => own.tokens[id]);
        const place = (id) => {
          const token = own.tokens[id];
          return [...token].length === 1 ? token.codePointAt(0) : 2 ** 21 + made.indexOf(token);
        };
        const ordered = tied.toSorted((one, other) => place(one.left) - place(other.left) || place(one.right) - place(other.right));
        assert.deepEqual([ordered[0].left, ordered[0].right], [own.merge_left[step], own.merge_right[step]], text);
        for (const pair of tied) {
          const guesses = new Guesses({ get: () => null, set() {} }, "", { on: true });
          guesses.answer(own, step, pair);
          const { before, after } = judgeGuess(own, step, guesses, TIE_RULE);
          assert.equal(before, "Right.");
          assert.ok(after.endsWith(`goes first: ${TIE_RULE}.`), after);
        }
      }
    }
    assert.ok(nTies > 10);
  });

  test("asks once for each merge, and ends with the score", () => {
    const turn = new Turn(run, 3);
    assert.deepEqual([2, 3, 5, 6].map((step) => turn.isAsking(step)), [false, true, true, false]);
    assert.equal(turn.title(3), "Your turn, 1 of 3.");
    assert.equal(turn.score(), "");
    turn.guesses.answer(run, 3, { left: run.merge_left[3], right: run.merge_right[3] });
    turn.guesses.giveUp(4);
    assert.deepEqual([3, 4, 5].map((step) => turn.isAsking(step)), [false, false, true]);
    assert.equal(turn.score(), "1 of 1 right.");
  });
});

suite("colours", () => {
  const slots = (run) => Array.from(run.merge_id, (id) => run.findSlot(id));

  test("are different for as many tokens as there are colours", () => {
    for (const { text } of sentences) {
      const run = learn(text);
      if (run.n_merges <= 8) assert.equal(new Set(slots(run)).size, run.n_merges, text.slice(0, 80));
    }
  });

  test("are different for all tokens that stand together, if there are enough", () => {
    for (const { text } of sentences.filter(({ text }) => text.length < 400)) {
      const run = learn(text);
      for (let step = 0; step <= run.n_merges; step++) {
        const ids = new Set(run.frequent.flatMap(({ base }) => symbolsAt(run, base, step).map(({ id }) => id)));
        const learned = [...ids].filter((id) => run.isLearned(id));
        if (learned.length <= 8) assert.equal(new Set(learned.map(run.findSlot)).size, learned.length, text);
      }
    }
  });

  test("belong to the token, whatever its id, also when more is typed", () => {
    const run = learn(SHELLS);
    const more = learn(`${SHELLS} xylo`, run.slots);
    const colour = (run, token) => run.findSlot(run.tokens.indexOf(token));
    assert.notEqual(run.tokens.indexOf("he"), more.tokens.indexOf("he"));
    for (const token of ["he", " se", "lls"]) assert.equal(colour(more, token), colour(run, token), token);
  });
});

suite("what is said", () => {
  const said = (run, step) => {
    const { name, occurs, count, rest, why } = mergeSentence(run, step);
    return `${name} ${run.tokens[run.merge_left[step]]} + ${run.tokens[run.merge_right[step]]} ${occurs}${count}${rest} ${why}`;
  };
  const length = (run, step) => Object.values(lengthSentence(run, step)).join("");

  test("of the next merge: the pair, its count, and that none is more frequent", () => {
    assert.equal(said(learn(SHELLS), 5), "Merge 6: ll + s occur together 2 times within pieces. No other pair occurs as often.");
  });

  test("of a tie: how many pairs it has", () => {
    const run = learn(SHELLS);
    assert.equal(run.tied[1], sentences.find(({ text }) => text === SHELLS).tied[1]);
    assert.equal(said(run, 1), "Merge 2: h + e occur together 3 times within pieces. 2 pairs tie: a fixed rule picks one.");
  });

  test("holds where its pairs are counted again, within the words if it says so, or else across them", () => {
    let onlyWithin = 0;
    for (const { text } of sentences.filter(({ text }) => text.length < 400)) {
      const run = learn(text);
      for (let step = 0; step <= run.n_merges; step++) {
        const words = run.frequent.map(({ base }) => symbolsAt(run, base, step).map(({ id }) => id));
        const counted = (said) => countPairs(/within pieces/.test(said) ? words : [words.flat()]);
        if (step === run.n_merges) {
          const said = endSentence(run);
          if (said.includes("only once")) {
            assert.ok(Object.values(counted(said)).every((count) => count === 1), text);
            onlyWithin += Object.values(countPairs([words.flat()])).some((count) => count > 1);
          } else if (text) assert.ok(words.every((word) => word.length === 1), text);
          continue;
        }
        const { count, rest, why } = mergeSentence(run, step);
        const own = counted(rest)[[run.merge_left[step], run.merge_right[step]]];
        assert.equal(count, `${own.toLocaleString("en-US")} times`, text);
        const asOften = Object.values(counted(rest + why)).filter((other) => other >= own).length;
        assert.equal(why.startsWith("No other pair") ? 1 : Number.parseInt(why), asOften, text);
      }
    }
    assert.ok(onlyWithin > 5);
  });

  test("of the length: the characters, and the tokens that they are now", () => {
    const run = learn(SHELLS);
    assert.equal(length(run, 0), "37 characters, now 37 tokens");
    assert.equal(length(run, 5), "37 characters, now 22 tokens");
    assert.equal(length(learn("aa"), 0), "2 characters, now 2 tokens");
    assert.equal(length(learn("a"), 0), "1 character, now 1 token");
  });

  test("at the end: nothing is left to learn, and why", () => {
    assert.equal(endSentence(learn(SHELLS)), "Nothing is left to learn: within pieces, every pair of neighbours occurs only once.");
    assert.equal(endSentence(learn("ab1ab1")), "Nothing is left to learn: every piece is one token.");
    assert.equal(endSentence(learn("Maria")), "Nothing to learn yet: within pieces, every pair of neighbours occurs only once.");
    assert.equal(endSentence(learn("M")), "Nothing to learn yet: a character alone has no neighbour in its piece.");
    assert.match(endSentence(learn("")), /^Type your name/);
  });

  test("a sentence that teaches nothing can be written twice, and then it does", () => {
    assert.ok(wantsRepeating(learn("Maria")));
    assert.ok(learn("Maria Maria").n_merges > 0);
    for (const text of ["", "M", SHELLS]) assert.ok(!wantsRepeating(learn(text)));
  });
});

suite("an invisible character that changes the order on the screen", () => {
  test("is named next to the sentence, by its code point", () => {
    assert.equal(
      orderNote("a\u202eb\u202ec"),
      "Your sentence has an invisible character that changes the order on the screen: U+202E.",
    );
    assert.ok(orderNote("\u2069a\u202e").endsWith("invisible characters that change the order on the screen: U+202E, U+2069."));
  });

  test("is not a letter of a right-to-left script, nor a mark among them", () => {
    assert.equal(orderNote("שלום \u200f, hug"), "");
  });
});

suite("a long sentence", () => {
  test("is cut between characters, and the rest is named", () => {
    const { text, note } = cutSentence("🧩".repeat(301), 300);
    assert.equal(text, "🧩".repeat(300));
    assert.equal(note, "Only the first 300 characters are used here. Train takes longer texts.");
    assert.equal(cutSentence("x".repeat(10_000_000), 300).text, "x".repeat(300));
  });

  test("is whole up to the limit", () => {
    for (const text of ["", "🧩".repeat(300), "x".repeat(300)]) {
      assert.deepEqual(cutSentence(text, 300), { text, note: "" });
    }
  });

  test("has spaces for line breaks", () => {
    assert.equal(cutSentence("one\r\ntwo", 300).text, "one two");
  });
});
