// The scenes below the start page's first screen: what they compute, against bpe_core.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { countsByStep, tokensAt } from "../../ui/components/shared/bars.js";
import { utf8 } from "../../ui/components/shared/characters.js";
import { byteSymbols, joinsOfText, learnMerges, replayMerges } from "../../ui/components/shared/merging.js";
import { inSlices, nextPicture } from "../../ui/components/shared/slices.js";
import { cutText } from "../../ui/components/story/cuts.js";
import { FakeClock } from "./fake_clock.js";
import { CUTS, learnCut, seamSentence, spansWords, spokenRow } from "../../ui/components/story/cut.js";
import { bytesPerToken, learnFar, MIN_OWN_LENGTH, sizeSentence, spokenFar, splitOwn, whyNotOwn } from "../../ui/components/story/far.js";
import { guessLanguage, sampleLike } from "../../ui/components/shared/languages.js";
import { endOfReplay, joints, learnList, newWord, replayOn, spokenMerge, tokenOf, wordInSentence } from "../../ui/components/story/list.js";
import { lettersAsked, moreTokens, priceSentence, spokenId, sumRows } from "../../ui/components/story/model.js";
import { fromStory } from "./python.js";

const { cuts, data, learned, replayed, samples, seams, visitors } = fromStory();

const [WOODCHUCK] = visitors;

const runToEnd = (work) => {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
};

/** How a text is learned from, as bpe_core was told to. */
const ruleOf = ({ text, base, most, min }) => {
  const alphabet = [...new Set(text)].sort((a, b) => a.codePointAt(0) - b.codePointAt(0));
  const toCharacters = (word) => Array.from(word, (character) => alphabet.indexOf(character));
  const rule = { minCount: min, most: most ?? Infinity };
  return base === "bytes"
    ? { toSymbols: byteSymbols, rule: { ...rule, nBase: 256 } }
    : { toSymbols: toCharacters, rule: { ...rule, nBase: alphabet.length } };
};

suite("cutting a text", () => {
  test("gives the pieces of bpe_core's pre-tokenizers, which together are the text", () => {
    assert.ok(cuts.length > 2_000);
    for (const [text, ...pieces] of cuts) {
      CUTS.forEach((name, i) => assert.deepEqual(cutText(text, name), pieces[i], `${name} on ${JSON.stringify(text.slice(0, 80))}`));
    }
  });
});

suite("the rows of a cut", () => {
  const rowOf = (text, cut) => runToEnd(learnCut(text, cut));
  const rowsOf = (text) => Object.fromEntries(CUTS.map((cut) => [cut, rowOf(text, cut)]));

  test("have the tokens that bpe_core has after 10 merges at most, and its pieces", () => {
    const expected = learned.filter(({ base }) => base === "characters");
    assert.ok(expected.length > 20);
    for (const { text, cut, tokens_after } of expected) assert.equal(rowOf(text, cut).nTokens, tokens_after.at(-1), `${cut}: ${text}`);
    const figures = data.languages.map(({ name, text }) => [name, ...CUTS.map((cut) => rowOf(text, cut).nTokens)]);
    assert.deepEqual(figures, [
      ["English", 21, 28, 28], ["Hindi", 16, 32, 20], ["Turkish", 19, 25, 25], ["Thai", 18, 33, 21], ["Chinese", 11, 11, 11],
    ]);
    const pieces = CUTS.map((cut) => rowOf(data.languages[1].text, cut).pieces.length);
    assert.deepEqual(pieces, [1, 26, 8]);
  });

  test("name the pair that a cut parts most often, and how often it stands in the text", () => {
    for (const [text, cut, pairs] of seams) {
      const { seam } = rowOf(text, cut);
      const most = Math.max(0, ...Object.values(pairs).map(([parted]) => parted));
      assert.equal(seam?.cut ?? 0, most, `${cut}: ${text}`);
      if (seam) assert.deepEqual([seam.cut, seam.count], pairs[seam.left + seam.right]);
      assert.equal(seam?.pieces.length ?? 0, most);
    }
  });

  test("say what may not join, and what may again", () => {
    const said = (text, cut) => {
      const sentence = seamSentence(rowsOf(text), cut);
      return sentence && sentence.pair.join(" + ") + sentence.rest;
    };
    const [english, hindi, , thai] = data.languages.map(({ text }) => text);
    assert.equal(said(hindi, "gpt2"), "म + े occurs 4 times, may not join");
    assert.equal(said(hindi, "o200k"), "म + े may join: 12 tokens fewer than with GPT-2");
    assert.equal(said(thai, "gpt2"), "ฉ + ั occurs 4 times, may not join");
    assert.equal(said(hindi, "none"), null);
    for (const cut of CUTS) assert.equal(said(english, cut), null);
    // A contraction is one piece.
    assert.equal(said("''s ''s x's", "gpt2"), "' + s is cut 2 of 3 times: there it may not join");
  });

  test("show without a cut a token that reaches across words", () => {
    const { longest } = rowOf(data.languages[0].text, "none");
    assert.equal(longest, "me my ");
    assert.ok(spansWords("e my") && !spansWords(" my "));
    const across = data.languages.map(({ text }) => rowOf(text, "none").longest).filter(spansWords);
    assert.ok(across.length > 0);
    for (const token of across) assert.equal(data.languages.filter(({ text }) => text.includes(token)).length, 1, token);
    assert.ok(data.languages.every(({ text }) => !spansWords(rowOf(text, "gpt2").longest)));
  });

  test("are said to a screen reader in one sentence", () => {
    assert.equal(spokenRow(rowOf(data.languages[1].text, "gpt2")), "26 pieces, 32 tokens of 35 characters");
    assert.equal(spokenRow(rowOf("a", "none")), "1 piece, 1 token of 1 character");
  });

  test("have the language that their script tells", () => {
    const tags = ["hug", "यह किताब", "ที่นี่", "بسم", "我的名字", "日本の", "köyüm adım", "🧩"].map(guessLanguage);
    assert.deepEqual(tags, ["", "hi", "th", "ar", "zh", "ja", "tr", ""]);
  });

  test("lead to a sample in that language, or with some of it", () => {
    const texts = ["hug, hugs 🧩", "我的名字", "日本の", "यह किताब", "بسم", "köyüm adım", "mein Häuschen", "ma forêt", "zażółć"];
    const many = "multilingual";
    assert.deepEqual(texts.map(sampleLike), ["alice", "kong-yiji", many, many, many, many, "rotkaeppchen", "chaperon-rouge", many]);
    assert.ok(texts.every((text) => samples.includes(sampleLike(text))));
  });
});

suite("learning merges in the browser", () => {
  test("gives the merges of bpe_core, with their counts, from bytes and from characters", () => {
    for (const expected of learned) {
      const { toSymbols, rule } = ruleOf(expected);
      const { merges } = runToEnd(learnMerges(cutText(expected.text, expected.cut), toSymbols, rule));
      assert.deepEqual(merges.map(({ left, right, id, count }) => [left, right, id, count]), expected.merges, `${expected.base}, ${expected.cut}: ${expected.text.slice(0, 60)}`);
    }
  });

  test("gives the tokens at every step, of the text and of one that it never saw", () => {
    for (const expected of learned.filter(({ base }) => base === "bytes")) {
      const { toSymbols, rule } = ruleOf(expected);
      const keys = cutText(expected.text, expected.cut);
      const { merges, words } = runToEnd(learnMerges(keys, toSymbols, rule));
      const unseenKeys = cutText(expected.unseen, expected.cut);
      const joined = [
        [utf8(expected.text).length, joinsOfText(keys, words)],
        [utf8(expected.unseen).length, joinsOfText(unseenKeys, replayMerges(unseenKeys, toSymbols, merges))],
      ];
      assert.deepEqual([...countsByStep(...joined[0], merges.length)], expected.tokens_after);
      for (const [step, ...ends] of expected.ends) {
        joined.forEach((text, i) => assert.deepEqual(tokensAt(...text, step).map(({ end }) => end), ends[i]));
      }
    }
  });
});

suite("the list", () => {
  test("replays its merges in their order on new words, as the reference does", () => {
    assert.ok(replayed.length > 30);
    for (const { sentence, word, cut, n_merges, fired, tokens } of replayed) {
      const list = learnList(sentence);
      assert.deepEqual([list?.cut, list?.nMerges], [cut, n_merges], sentence);
      if (!list) continue;
      const replay = replayOn(list, wordInSentence(word));
      assert.deepEqual(replay.fired, fired, `${word} after ${sentence}`);
      assert.deepEqual(replay.left.map(({ id }) => tokenOf(list.run, id)), tokens, `${word} after ${sentence}`);
      // Each symbol stands until another has used it up.
      for (let step = 0; step <= list.nMerges; step++) {
        const there = replay.fallen.filter(({ from, until }) => from <= step && step < until);
        assert.equal(there.reduce((sum, { length }) => sum + length, 0), replay.length);
      }
    }
  });

  const list = learnList(WOODCHUCK);
  const spell = (said) => {
    const { before, end } = joints(said);
    return said.letters.map((letter, i) => before[i] + letter).join("") + end + said.rest;
  };
  const ending = (word) => {
    const { count, endings } = endOfReplay(list, replayOn(list, wordInSentence(word)));
    return `${count} ${endings.map(spell).join(" ")}`;
  };

  test("of the woodchuck has 13 merges, and on woodchucks 1 to 8 and 13 fire", () => {
    assert.equal(list.nMerges, 13);
    assert.deepEqual(replayOn(list, " woodchucks").fired, [1, 2, 3, 4, 5, 6, 7, 8, 13]);
    assert.equal(spokenMerge(list.run, 13, true), "merge 13: space wood + chuck, fired");
    assert.equal(spokenMerge(list.run, 9, false), "merge 9: space + a");
  });

  test("ends with the tokens, and with what stays on its own", () => {
    assert.equal(ending("woodchucks"), "2 tokens. s is in no merge: it stays a letter.");
    assert.equal(ending("chuckle"), "3 tokens. e is in no merge: it stays a letter. l is in merges, but none joins it to a neighbour here.");
    assert.equal(ending("xyz"), "4 tokens. No merge fits.");
    assert.equal(ending("woodchuck"), "1 token. The whole word is one.");
    assert.equal(ending("woodl"), "2 tokens. l is in merges, but none joins it to a neighbour here.");
    assert.equal(ending("wood🧩5"), "3 tokens. 🧩 and 5 are in no merge: they stay alone.");
    assert.equal(ending("chxyzs"), "6 tokens. x, y, z and s are in no merge: they stay letters.");
    assert.equal(ending("chxyzsel"), "8 tokens. x, y, z and 2 more are in no merge: they stay letters. l is in merges, but none joins it to a neighbour here.");
    assert.equal(ending(""), " Type a word: the merges run on it.");
  });

  test("says of a letter only where it is left, since merges may join it elsewhere", () => {
    const said = (sentence, word) => {
      const own = learnList(sentence);
      return endOfReplay(own, replayOn(own, wordInSentence(word))).endings.map(spell).join(" ");
    };
    const hindi = "मेरी माँ मेरे गाँव में रहती है और मेरी बहन भी मेरे गाँव में रहती है";
    assert.equal(said(hindi, "रहतह"), "ह is in merges, but none joins it to a neighbour here.");
    assert.equal(said("abab cbabcb cbab", "ab"), "Only the space is left: no merge joins it to the word.");
    for (const sentence of visitors) {
      const own = learnList(sentence);
      if (!own) continue;
      const { run, nMerges } = own;
      const inMerges = new Set(Array.from({ length: nMerges }, (_, i) => [run.merge_left[i], run.merge_right[i]]).flat().map((id) => run.tokens[id]));
      for (const word of sentence.split(" ").map((word) => word + word)) {
        const replay = replayOn(own, wordInSentence(word));
        const { endings } = endOfReplay(own, replay);
        const left = replay.left.map(({ id }) => tokenOf(run, id));
        for (const { letters, rest } of endings) for (const letter of letters) {
          assert.ok(left.includes(letter), word);
          assert.equal(rest.includes("in no merge"), !inMerges.has(letter), `${word}: ${letter}${rest}`);
        }
        // Each letter that was typed and stayed is named or counted.
        const single = new Set(replay.left.filter(({ length, start }) => length === 1 && start > 0).map(({ id }) => tokenOf(run, id)));
        const nNamed = endings.reduce((sum, { letters, more }) => sum + letters.length + more, 0);
        if (replay.fired.length) assert.equal(nNamed, single.size, word);
        const [{ rest }] = endings;
        if (rest === "Each of them was learned.") assert.ok(left.every((token) => [...token].length > 1), word);
      }
    }
  });

  test("takes at most 16 letters, after a space", () => {
    assert.equal(wordInSentence(`  ${"🧩".repeat(20)}`), ` ${"🧩".repeat(16)}`);
    assert.equal(wordInSentence("  "), "");
  });

  test("begins with a word that the sentence does not have, on which merges fire", () => {
    assert.equal(newWord(WOODCHUCK, list), "woodchucks");
    for (const sentence of visitors) {
      const own = learnList(sentence);
      if (!own) continue;
      const word = newWord(sentence, own);
      assert.ok(!cutText(sentence, own.cut).includes(` ${word}`), word);
      assert.ok(replayOn(own, wordInSentence(word)).fired.length > 0, word);
    }
    assert.equal(learnList("Grace"), null);
  });
});

suite("how far to go", () => {
  const far = runToEnd(learnFar(data.seen, data.unseen));

  test("has the figures of bpe_core: the text is learned by heart, the unseen text is not", () => {
    const expected = learned.find(({ text }) => text === data.seen);
    assert.equal(far.nMerges, expected.merges.length);
    assert.deepEqual([...far.seen.counts], expected.tokens_after);
    for (const [step, , ends] of expected.ends) assert.equal(far.unseen.counts[step], ends.length);
    assert.deepEqual([far.nMerges, far.seen.bytes.length, far.unseen.bytes.length], [462, 1800, 400]);
    assert.deepEqual([far.seen, far.unseen].map((text) => [text.counts[462], bytesPerToken(text, 462).toFixed(2)]), [[470, "3.83"], [230, "1.74"]]);
  });

  test("knows from which merge on every pair occurs once", () => {
    const expected = learned.find(({ text }) => text === data.seen);
    const counts = expected.merges.map(([, , , count]) => count);
    assert.ok(counts.slice(far.onceFrom).every((count) => count === 1));
    assert.ok(counts[far.onceFrom - 1] > 1);
    assert.equal(far.onceFrom, 195);
    assert.equal(spokenFar(far, 195), "195 merges: seen 737 tokens, unseen 254");
  });

  test("says where the slider stands: too small, too large or between, with what merges save", () => {
    assert.deepEqual([0, 41, 100, 194, 195, 196, 205, 461, 462].map((step) => sizeSentence(far, step)), [
      "Too small: the next 195 merges save 1,063 tokens seen, 146 unseen.",
      "Too small: the next 154 merges save 490 tokens seen, 67 unseen.",
      "More merges still help: the next 95 merges save 206 tokens seen, 29 unseen.",
      "Large enough: the next merge saves 2 tokens seen, 0 unseen.",
      "Large enough: the next 267 merges save 267 tokens seen, 24 unseen.",
      "Not too large yet: the last merge saves 1 token seen, 1 unseen.",
      "Too large: the last 10 merges save 10 tokens seen, 1 unseen.",
      "Too large: the last 266 merges save 266 tokens seen, 24 unseen.",
      "Too large: the last 267 merges save 267 tokens seen, 24 unseen.",
    ]);
  });

  // Words of three letters, of which some occur again.
  const words = (alphabet) => {
    const letters = [...alphabet];
    return Array.from({ length: 320 }, (_, i) => [i * i * 7, i * 5, i * i].map((at) => letters[at % 89 % letters.length]).join("")).join(" ");
  };

  test("says so with the counts of every step, in each language", () => {
    const long = [
      "मेरी माँ मेरे गाँव में रहती है, और वह नमस्ते दुनिया। ".repeat(15), "كيف الحال؟ مرحبا بالعالم ".repeat(40),
      "ที่นี่มีที่จอดรถ ดีที่สุด ".repeat(40), "我的名字，我的家。".repeat(100), "🧩🎲 👩\u200d👩\u200d👧 ".repeat(100),
      ...["कखगघचजटडतदनपबमयरलवसह", "กขคงจชดตถทนบปพมยรลวสห", "ابتثجحخدذرزسشصضطظعغفق", "我你他的了是在有不这中大来上国", "🧩🎲🎈🎁🚀🌍🐱🐶", "abcdefghij"].map(words),
    ];
    const verdicts = new Set();
    for (const text of long) {
      const { seen, unseen } = splitOwn(text);
      const own = runToEnd(learnFar(seen, unseen));
      for (let step = 0; step <= own.nMerges; step++) {
        const said = sizeSentence(own, step);
        if (step === own.nMerges && own.onceFrom === own.nMerges) {
          assert.equal(said, "No merge is left: every piece of the text seen is one token.");
          assert.equal(own.seen.counts[step], cutText(seen, "gpt2").length);
          continue;
        }
        const [, size, which, ...figures] = said.match(/^(.*): (the last|the next) (?:merge saves|([\d,]+) merges save) ([\d,]+) tokens? seen, ([\d,]+) unseen\.$/);
        const [n, seenSaved, unseenSaved] = figures.map((figure = "1") => Number(figure.replaceAll(",", "")));
        const [from, until] = which === "the last" ? [step - n, step] : [step, step + n];
        assert.ok(from === own.onceFrom || until === own.onceFrom, said);
        assert.deepEqual([seenSaved, unseenSaved], [own.seen, own.unseen].map(({ counts }) => counts[from] - counts[until]), said);
        if (/too small|still help/i.test(size)) assert.ok(unseenSaved > 0, said);
        const useful = [...own.unseen.counts.slice(from, until)].filter((count, i) => own.unseen.counts[from + i + 1] < count).length;
        if (/^too large$/i.test(size)) assert.ok(step > own.onceFrom && 2 * useful < n, said);
        verdicts.add(size);
      }
    }
    assert.equal(verdicts.size, 4, [...verdicts].join());
  });

  test("says why Shakespeare is used", () => {
    for (const text of ["", "नमस्ते", "我的名字 ".repeat(100), "🧩".repeat(599)]) {
      assert.equal(splitOwn(text), null);
      assert.equal(whyNotOwn(text), "until you type 600 characters");
    }
    assert.equal(splitOwn("我".repeat(600)), null);
    assert.equal(whyNotOwn("我".repeat(600)), "as your sentence cannot be split between two words");
  });

  test("takes a visitor's own text once it is long enough, and holds a quarter out, between two words", () => {
    assert.equal(splitOwn("x ".repeat(MIN_OWN_LENGTH / 2 - 1)), null);
    assert.equal(splitOwn("x".repeat(2000)), null);
    const text = "नमस्ते दुनिया, كيف الحال؟ 🧩 hugs ".repeat(20);
    const { seen, unseen } = splitOwn(text);
    assert.equal(seen + unseen, text);
    assert.ok(Math.abs(unseen.length / text.length - 0.25) < 0.02);
    assert.ok(cutText(text, "gpt2").join("|").startsWith(cutText(seen, "gpt2").join("|")));
  });
});

suite("what a model sees", () => {
  const { readings, prices } = data;

  test("is one number for strawberry in the question", () => {
    const { letters, given } = lettersAsked(readings.letters);
    assert.equal(letters.filter(({ isAsked }) => isAsked).length, 3);
    assert.deepEqual(given, [101830]);
  });

  test("is a sum whose digits stand in tokens of three", () => {
    const rows = sumRows(readings.sum).map(({ sign, parts }) => [sign, ...parts.map(({ digits, id }) => [digits, id])]);
    assert.deepEqual(rows, [["", ["123", 7633], ["4", 19]], ["+", ["999", 9130]], ["=", ["223", 22538], ["3", 18]]]);
  });

  test("is a price in two languages, in two models", () => {
    assert.deepEqual(prices.map((price) => [price.name, price["GPT-2"], price["GPT-4o"]]), [["English", 10, 10], ["Hindi", 48, 11]]);
    assert.equal(priceSentence(prices), "One coin, one token: 4.8 times English in GPT-2, 1.1 in GPT-4o.");
  });

  test("is said with its token", () => {
    assert.equal(spokenId(" shells", 84266), "space shells: 84266");
    assert.equal(spokenId([0xe0, 0xa4], 11976), "bytes E0 A4: 11976");
    assert.equal(moreTokens(0), "");
    assert.equal(moreTokens(1), "and 1 token more");
  });
});

suite("work in slices", () => {
  test("rests after each slice, ends with its result, and stops when it is aborted", async () => {
    const clock = new FakeClock();
    let done = 0;
    const work = function* () {
      for (; done < 10; done++) {
        clock.pass(3);
        yield;
      }
      return "all";
    };
    const ending = new AbortController();
    const promise = inSlices(work(), ending.signal, clock);
    assert.equal(done, 2); // the third yield ended the slice of 8 ms
    const step = async () => {
      clock.pass(0);
      await null;
    };
    for (let i = 0; i < 8; i++) await step();
    assert.equal(await promise, "all");
    done = 0;
    const other = inSlices(work(), ending.signal, clock);
    ending.abort();
    await step();
    assert.equal(await other, null);
    assert.ok(done < 10);
  });

  test("draws in each picture what fits one slice", async () => {
    const clock = new FakeClock();
    const drawn = [];
    const rows = function* () {
      for (let row = 0; row < 4; row++) {
        drawn.push(Math.floor(clock.now() / 16));
        clock.pass(4);
        yield;
      }
      return true;
    };
    const promise = inSlices(rows(), new AbortController().signal, clock, nextPicture);
    for (let i = 0; i < 4; i++) {
      clock.pass(16);
      await null;
    }
    assert.equal(await promise, true);
    assert.deepEqual(drawn, [0, 0, 1, 1]);
  });
});
