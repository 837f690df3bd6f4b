// Texts as Python packs them: token positions, blocks, the facts shown, and what is copied.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { SUPERWORD_LEGEND } from "../../ui/components/shared/characters.js";
import { blockPieces } from "../../ui/components/token_view/block_pieces.js";
import { findBlock, guessHeight, lastAbove, planBlocks, planSections } from "../../ui/components/token_view/blocks.js";
import { knownIds, pythonCode, pythonLiteral, tokenList } from "../../ui/components/token_view/exports.js";
import { costliestWord, countTokens, cutToShow, listFacts, factsOfCut, listFigures, listRemarks, unknownReason } from "../../ui/components/token_view/facts.js";
import { lineNeighbour } from "../../ui/components/token_view/line_neighbour.js";
import { hasSpelling } from "../../ui/components/token_view/marks.js";
import { blockCuts, cutCharacters, isEmpty, placeTokens, readTokens, unpackNumbers, utf8Size } from "../../ui/components/token_view/reading.js";
import { findOffset, selectedPart } from "../../ui/components/token_view/selected_text.js";
import { findNeighbour, partsOfSpan, readSpans, spansByToken, tokenAtByte } from "../../ui/components/token_view/spans.js";
import { fromPython, valuesOfLiterals } from "./python.js";

const texts = fromPython("texts");
const readings = texts.read.map(({ text, packed, segments }) => ({ text, segments, tokens: readTokens(text, packed) }));
const utf8 = new TextEncoder();

/** A reading of a text split into tokens of the given byte lengths. */
function cutEvery(text, size) {
  const nBytes = utf8.encode(text).length;
  const n = Math.ceil(nBytes / size);
  const lengths = Array.from({ length: n }, (_, i) => Math.min(size, nBytes - i * size));
  return { text, n, ids: Int32Array.from(lengths, (_, i) => i), ...placeTokens(text, lengths) };
}

suite("tokens", () => {
  test("have the ids and positions that Python finds", () => {
    for (const { text, segments, tokens } of readings) {
      assert.equal(tokens.n, segments.length);
      assert.equal(tokens.at[tokens.n], text.length);
      segments.forEach(({ id, start, byte_start, byte_end }, i) => {
        assert.equal(tokens.ids[i], id);
        assert.equal(tokens.at[i], start);
        assert.equal(tokens.byteAt[i], byte_start);
        assert.equal(tokens.byteAt[i + 1], byte_end);
      });
    }
  });

  test("know how many bytes of a character precede them", () => {
    for (const { text, tokens } of readings) {
      for (let i = 0; i <= tokens.n; i++) {
        assert.equal(tokens.byteAt[i], utf8.encode(text.slice(0, tokens.at[i])).length + tokens.into[i]);
      }
    }
  });

  test("are numbered, skipping text in no token", () => {
    const { tokens } = readings.find(({ text }) => text === "hug p Ω");
    const uncovered = [...tokens.ids].filter((id) => id < 0).length;
    assert.ok(uncovered);
    assert.equal(Math.max(...tokens.order), tokens.n - uncovered);
    assert.ok([...tokens.ids].every((id, i) => (tokens.order[i] > 0) === (id >= 0)));
  });

  test("are marked if they are special, or contain the end-of-word marker", () => {
    const special = readings.find(({ text }) => text.includes("<|endoftext|>")).tokens;
    assert.deepEqual([...special.ids].map((id) => special.about.get(id).special), [false, true, false]);
    const { tokens } = readings.find(({ text }) => text === "hug p Ω");
    const about = [...tokens.ids].flatMap((id) => (id < 0 ? [] : [tokens.about.get(id)]));
    assert.ok(about.some(({ ends, marker }) => ends && !marker));
    assert.ok(about.some(({ marker }) => marker));
    assert.ok([...tokens.ids].some((id, i) => isEmpty(tokens, i) && tokens.about.get(id).marker));
  });

  test("are marked if they start a pre-token", () => {
    const { tokens } = readings.find(({ text }) => text.includes("<|endoftext|>"));
    assert.deepEqual([0, 1, 2].map(tokens.startsPretoken), [true, true, true]);
    const long = readings.find(({ text }) => text.startsWith("0: the café"));
    const starts = Array.from({ length: long.tokens.n }, (_, i) => long.tokens.startsPretoken(i));
    assert.ok(starts.includes(true) && starts.includes(false));
  });

  test("numbers of each width are unpacked", () => {
    assert.deepEqual([...unpackNumbers({ type: "Uint8Array", data: "AQL/" })], [1, 2, 255]);
    assert.deepEqual([...unpackNumbers({ type: "Uint16Array", data: "AQH//w==" })], [257, 65535]);
    assert.deepEqual([...unpackNumbers({ type: "Uint32Array", data: "/////w==" })], [4294967295]);
  });

  test("a character has one to four bytes", () => {
    assert.deepEqual(["a", "é", "日", "🧩"].map((character) => utf8Size(character, 0)), [1, 2, 3, 4]);
  });
});

suite("cut characters", () => {
  const tokens = cutEvery("x🧩é日", 3);

  test("are found with the tokens that share them", () => {
    assert.deepEqual(cutCharacters(tokens), [
      { at: 1, start: 0, end: 2 },
      { at: 3, start: 1, end: 3 },
      { at: 4, start: 2, end: 4 },
    ]);
    assert.deepEqual(cutCharacters(cutEvery("🧩", 1)), [{ at: 0, start: 0, end: 4 }]);
    assert.deepEqual(cutCharacters(cutEvery("plain", 2)), []);
  });

  test("the one under the pointer is shown, or else the one cut into most pieces", () => {
    const cuts = [{ at: 0, start: 0, end: 2 }, { at: 9, start: 5, end: 9 }];
    assert.equal(cutToShow(cuts, 1), cuts[0]);
    assert.equal(cutToShow(cuts, 3), cuts[1]);
    assert.equal(cutToShow([], 0), null);
  });

  test("each token is listed with its bytes of the character and its other contents", () => {
    const read = { ...tokens, about: new Map() };
    const [first] = cutCharacters(tokens);
    const facts = factsOfCut(read, first);
    assert.equal(facts.title, "A character split in two");
    assert.equal(facts.character, "🧩");
    assert.deepEqual(facts.owners, [{ token: 0, hex: "F0 9F" }, { token: 1, hex: "A7 A9" }]);
    assert.equal(facts.sentence, "U+1F9E9 is four bytes. The first token also holds text before it. The last token also holds bytes after it.");
    const alone = cutEvery("日", 1);
    assert.equal(factsOfCut(alone, cutCharacters(alone)[0]).sentence, "U+65E5 is three bytes.");
  });
});

suite("blocks", () => {
  test("contain each character of the text once, even if tokens cut it", () => {
    const texts = [...readings.map(({ text }) => text), "🧩é日a".repeat(5)];
    const cut = texts.flatMap((text) => [1, 2, 3, 5].map((size) => cutEvery(text, size)));
    for (const tokens of [...readings.map((reading) => reading.tokens), ...cut]) {
      const pieces = blockPieces(tokens, 0, tokens.n, null);
      assert.equal(pieces.map(({ text, character }) => text ?? character ?? "").join(""), tokens.text);
    }
  });

  test("assign each byte of a cut character to one token", () => {
    for (const { tokens } of readings) {
      for (const { kind, character, bytes } of blockPieces(tokens, 0, tokens.n, null)) {
        if (kind !== "cut") continue;
        let end = 0;
        for (const { from, to } of bytes) {
          assert.equal(from, end);
          assert.ok(to > from);
          end = to;
        }
        assert.equal(end, utf8.encode(character).length);
      }
    }
  });

  test("contain each token at least once, including markers", () => {
    for (const { tokens } of readings) {
      const drawn = new Set(blockPieces(tokens, 0, tokens.n, null).flatMap(({ token, bytes }) => bytes?.map((one) => one.token) ?? [token]));
      assert.equal(drawn.size, tokens.n);
    }
  });

  test("a cut character is in a disagreement if any of its bytes is", () => {
    const tokens = cutEvery("a🧩b", 2);
    const spans = (of) => blockPieces(tokens, 0, tokens.n, of).map(({ kind, span }) => [kind, span]);
    assert.deepEqual(spans([-1, 0, -1]), [["text", -1], ["cut", 0], ["text", -1]]);
    assert.deepEqual(spans([-1, -1, -1]), [["text", -1], ["cut", -1], ["text", -1]]);
  });

  test("end at the same places in all readings, never inside a character", () => {
    const text = readings.find(({ text }) => text.startsWith("0: the café")).text.repeat(6);
    for (const sizes of [[3], [3, 4], [1, 2, 7]]) {
      const all = sizes.map((size) => cutEvery(text, size));
      const cuts = blockCuts(all);
      assert.ok(cuts.length > 3, String(sizes));
      for (const cut of cuts) {
        const places = all.map((tokens, k) => [tokens.at[cut[k]], tokens.into[cut[k]]].join());
        assert.equal(new Set(places).size, 1);
        assert.match(places[0], /,0$/);
      }
      assert.deepEqual(cuts[0], sizes.map(() => 0));
      assert.deepEqual(cuts.at(-1), all.map(({ n }) => n));
    }
  });

  test("of prose end at line ends and have a few hundred tokens", () => {
    const { tokens } = readings.find(({ text }) => text.startsWith("0: the café"));
    const cuts = blockCuts([tokens]).map(([cut]) => cut);
    for (let b = 1; b + 1 < cuts.length; b++) {
      assert.equal(tokens.text[tokens.at[cuts[b]] - 1], "\n");
      assert.ok(cuts[b] - cuts[b - 1] >= 200 && cuts[b] - cuts[b - 1] < 2000);
    }
  });

  test("of text without line ends have two thousand tokens", () => {
    const cuts = blockCuts([cutEvery("x".repeat(9000), 1)]).map(([cut]) => cut);
    assert.deepEqual(cuts, [0, 2000, 4000, 6000, 8000, 9000]);
  });

  test("do not exist for an empty text", () => {
    const tokens = cutEvery("", 1);
    assert.deepEqual(planBlocks(tokens, blockCuts([tokens]).map(([cut]) => cut), 80), []);
  });

  test("can be found by any of their tokens", () => {
    const blocks = planBlocks(cutEvery("x".repeat(9000), 1), [0, 2000, 4000, 9000], 80);
    assert.deepEqual(blocks.map(({ start, end }) => [start, end]), [[0, 2000], [2000, 4000], [4000, 9000]]);
    for (const [index, start] of [[0, 0], [1999, 0], [2000, 2000], [8999, 4000]]) assert.equal(findBlock(blocks, index).start, start);
  });

  test("have an estimated height, from their lines", () => {
    assert.equal(guessHeight("a\nb\n", 80), 2 * 42);
    assert.equal(guessHeight("x".repeat(161), 80), 3 * 42);
    assert.equal(guessHeight("\n\n", 80), 2 * 42);
    assert.equal(guessHeight("", 80), 0);
  });

  test("are grouped into sections of forty", () => {
    assert.deepEqual(planSections(90), [{ first: 0, last: 40 }, { first: 40, last: 80 }, { first: 80, last: 90 }]);
    assert.deepEqual(planSections(0), []);
    const things = [0, 100, 200].map((offsetTop) => ({ element: { offsetTop } }));
    assert.equal(lastAbove(things, 0, 3, 150), things[1]);
    assert.equal(lastAbove(things, 1, 3, 0), things[1]);
    assert.equal(lastAbove([], 0, 0, 10), undefined);
  });
});

suite("the selection", () => {
  const tokens = { text: "one\ntwo 🧩", at: Uint32Array.from([0, 4, 8, 10]) };
  const end = (start, before) => ({ block: { start }, before });

  test("is given by offsets in its first and last block", () => {
    assert.equal(findOffset(tokens, end(1, 2)), 6);
    const { start, end: last } = selectedPart(tokens, end(0, 1), end(2, 2));
    assert.equal(tokens.text.slice(start, last), "ne\ntwo 🧩");
  });

  test("extends to the start or end of the text if one end is outside the pane", () => {
    assert.deepEqual(selectedPart(tokens, null, end(1, 3)), { start: 0, end: 7 });
    assert.deepEqual(selectedPart(tokens, end(1, 0), null), { start: 4, end: 10 });
  });

  test("is null if both ends are outside the pane, or at the same place", () => {
    assert.equal(selectedPart(tokens, null, null), null);
    assert.equal(selectedPart(tokens, end(1, 0), end(1, 0)), null);
    assert.equal(selectedPart(tokens, end(2, 0), end(0, 1)), null);
  });
});

suite("disagreements", () => {
  const compared = texts.compared.map(({ text, packed, spans, disagreements }) => ({
    readings: packed.map((one) => readTokens(text, one)), spans: readSpans(spans), disagreements,
  }));

  test("match those that Python finds, with the tokens of each side", () => {
    assert.ok(compared.some(({ disagreements }) => disagreements.length > 20));
    for (const { readings, spans, disagreements } of compared) {
      assert.deepEqual(spans.map(({ start, end }) => [start, end]), disagreements.map(({ start, end }) => [start, end]));
      spans.forEach((span, k) => {
        disagreements[k].tokens.forEach(([first, last], side) => {
          const tokens = Array.from({ length: last - first }, (_, i) => ({ token: first + i }));
          assert.deepEqual(partsOfSpan(readings[side], span), tokens);
        });
      });
    }
  });

  test("contain exactly their own tokens", () => {
    for (const { readings, spans, disagreements } of compared) {
      readings.forEach((tokens, side) => {
        const of = new Int32Array(tokens.n).fill(-1);
        disagreements.forEach(({ tokens }, k) => of.fill(k, ...tokens[side]));
        assert.deepEqual(spansByToken(tokens, spans), of);
      });
    }
  });

  test("are marked if they are only white space", () => {
    const all = compared.flatMap(({ spans, readings: [{ text }] }) => spans.map((span) => ({ ...span, bytes: utf8.encode(text).slice(span.start, span.end) })));
    assert.ok(all.some(({ hasText }) => hasText));
    for (const { hasText, bytes } of all) {
      const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
      if (/^[ \n\t]*$/.test(text)) assert.ok(!hasText);
      if (/[a-z]/.test(text)) assert.ok(hasText);
    }
  });

  test("show text in no token as one piece", () => {
    const tokens = { ...cutEvery("ab zzz c", 1), ids: Int32Array.from([1, 2, -1, -1, -1, -1, -1, 3]) };
    assert.deepEqual(partsOfSpan(tokens, { start: 1, end: 8 }), [{ token: 1 }, { uncovered: " zzz " }, { token: 7 }]);
    assert.deepEqual(partsOfSpan(tokens, { start: 2, end: 4 }), [{ uncovered: " z" }]);
  });

  test("wrap around from the last to the first, and back", () => {
    assert.equal(findNeighbour([2, 5, 9], 5, 1), 9);
    assert.equal(findNeighbour([2, 5, 9], 9, 1), 2);
    assert.equal(findNeighbour([2, 5, 9], 2, -1), 9);
    assert.equal(findNeighbour([2], 2, 1), 2);
  });

  test("each byte is in exactly one token", () => {
    const tokens = cutEvery("abcdefg", 3);
    assert.deepEqual([0, 2, 3, 6].map((byte) => tokenAtByte(tokens, byte)), [0, 0, 1, 2]);
  });
});

suite("the facts about a token", () => {
  const factsIn = ({ tokens }, piece) => {
    const i = [...tokens.ids].findIndex((id) => tokens.about.get(id)?.token === piece);
    return Object.fromEntries(listFacts(tokens, tokens.about.get(tokens.ids[i])));
  };
  const special = readings.find(({ text }) => text.includes("<|endoftext|>"));
  const long = readings.find(({ text }) => text.startsWith("0: the café"));
  const marked = readings.find(({ text }) => text === "hug p Ω");

  test("are its id, merge, bytes, characters, and number of uses", () => {
    const facts = factsIn(long, " the");
    assert.deepEqual(Object.keys(facts), ["id", "made by merge", "bytes", "characters", "in Unicode", "in this text"]);
    assert.equal(facts.bytes, "20 74 68 65");
    assert.equal(facts.characters, "4, with the leading space");
    assert.equal(facts["in Unicode"], "U+0020 U+0074 U+0068 U+0065");
    assert.equal(facts["in this text"], "120 times");
    assert.match(facts["made by merge"], /^[0-9,]+ of 50,000$/);
  });

  test("state its kind if no merge made it", () => {
    assert.equal(factsIn(special, "<|endoftext|>").kind, "special token, never merged");
    assert.equal(factsIn(special, "<|endoftext|>").characters, "13, read as one token");
    assert.equal(factsIn(special, "a").kind, "base symbol, made by no merge");
    assert.equal(factsIn(special, "a")["in this text"], "once");
    assert.equal(factsIn(marked, "</w>").kind, "end-of-word marker");
    const about = [...long.tokens.about.values()].find(({ token }) => token === " the");
    assert.equal(Object.fromEntries(listFacts(long.tokens, { ...about, rank: -1 })).kind, "found whole in the text, made by no merge");
  });

  test("exclude the end-of-word marker from the characters", () => {
    assert.equal(factsIn(marked, "hug</w>").characters, "3, and the end-of-word marker");
  });

  test("include partial characters, and truncate long values", () => {
    const known = { id: 7, token: new Array(60).fill(0xe6), left: -1, right: -1, rank: -1, special: false, ends: false, marker: false };
    const facts = Object.fromEntries(listFacts(special.tokens, known));
    assert.match(facts.bytes, /^(E6 ){48}… 60 in all$/);
    assert.match(facts.characters, /splits a character$/);
    assert.equal(facts["in Unicode"], undefined);
    assert.match(Object.fromEntries(listFacts(special.tokens, { ...known, token: "x".repeat(60) }))["in Unicode"], / …$/);
  });

  test("claim nothing about merges that another library keeps, and explain its marks", () => {
    const known = { id: 7, token: "▁the", left: -1, right: -1, rank: -1, special: false, ends: false, marker: false };
    const theirs = { ...special.tokens, nMerges: null };
    const facts = Object.fromEntries(listFacts(theirs, known));
    assert.match(facts.kind, /^token of another library/);
    assert.equal(facts.characters, "4, the first a mark of white space");
    assert.match(Object.fromEntries(listFacts(theirs, { ...known, token: "##ing" })).characters, /a mark that the word continues$/);
  });

  test("name no spelling of a file where our own tokens are plain bytes", () => {
    assert.ok(!hasSpelling(readings[0].tokens.about));
  });

  test("state why text is in no token", () => {
    const places = { text: "Ω ", at: [0, 1, 2] };
    assert.match(unknownReason(places, 0), /^This character is not in the tokenizer’s alphabet/);
    assert.match(unknownReason(places, 1), /^The pre-tokenizer drops this white space/);
  });
});

suite("the word that costs most", () => {
  /** Count the tokens with a byte in a word, the plain way. */
  function countByBytes({ ids, n, byteAt }, text, index, word) {
    const from = utf8.encode(text.slice(0, index)).length;
    const to = from + utf8.encode(word).length;
    return Array.from({ length: n }, (_, i) => i).filter((i) => ids[i] >= 0 && byteAt[i] < to && byteAt[i + 1] > from).length;
  }

  test("takes as many tokens as have a byte in it, and no word takes more", () => {
    const more = ["how much wood would a woodchuck chuck", "हिन्दी में लिखा है", "ภาษาไทยไม่เว้นวรรค", "اللغة العربية", "我们学习语言", "🧩 👩‍👩‍👧"]
      .flatMap((text) => [1, 2, 3, 7].map((size) => ({ text, tokens: cutEvery(text, size) })));
    for (const { text, tokens } of [...readings, ...more]) {
      const words = [...new Intl.Segmenter("en", { granularity: "word" }).segment(text)].filter(({ segment }) => segment.trim());
      const spelled = words.some(({ isWordLike }) => isWordLike) ? words.filter(({ isWordLike }) => isWordLike) : words;
      const costs = spelled.map(({ segment, index }) => countByBytes(tokens, text, index, segment));
      const found = costliestWord(tokens);
      if (!words.length) assert.equal(found, null);
      else assert.deepEqual(found, { word: spelled[costs.indexOf(Math.max(...costs))].segment, cost: Math.max(...costs) });
    }
    assert.ok(readings.length > 5);
  });

  test("is looked for at the beginning of a long text", () => {
    const text = "ab abc ".repeat(2_000);
    assert.deepEqual(costliestWord(cutEvery(text, 1)), { word: "abc", cost: 3 });
    assert.equal(costliestWord(cutEvery("x".repeat(9_000), 1)), null);
  });
});

suite("the figures and remarks of a text", () => {
  const own = { nMerges: 7, normalizes: false, superwords: new Set() };
  const theirs = { nMerges: null, normalizes: false, superwords: new Set() };
  const { tokens } = readings.find(({ text }) => text === "hug p Ω");

  test("count bytes in no token, and say that the others are the covered ones", () => {
    const counts = countTokens(tokens);
    assert.equal(counts.bytes, 8);
    assert.equal(counts.unknown, 1);
    assert.ok(counts.dropped > 0);
    // h, u, g and p are a token each; the two spaces and the two bytes of Ω are in none.
    assert.deepEqual(listFigures(counts).map(([figure, unit]) => `${figure} ${unit}`), [
      "4 tokens", "8 bytes", "1.00 covered bytes per token", "4 bytes are in no token",
    ]);
    assert.equal(listRemarks(counts, 0, "", own), "1 character is not in the alphabet: struck out, and in no token. White space between words is in no token.");
  });

  test("use the singular for one, and are empty for an empty text", () => {
    const none = { tokens: 0, bytes: 0, uncovered: 0, unknown: 0, dropped: 0 };
    assert.deepEqual(listFigures(none), [["0", "tokens"], ["0", "bytes"]]);
    assert.deepEqual(listFigures({ ...none, tokens: 1, bytes: 1 }), [["1", "token"], ["1", "byte"], ["1.00", "bytes per token"]]);
    assert.equal(listRemarks(none, 0, "", own), "");
    assert.equal(listRemarks(none, 0, "", theirs), "Another library encodes, so pre-token borders are not known.");
    assert.equal(listRemarks(none, 0, "", { ...own, superwords: new Set([7]) }), SUPERWORD_LEGEND);
    assert.match(listRemarks(none, 0, "", { ...own, normalizes: true }), /^The text is changed before it is cut/);
    assert.equal(listRemarks(none, 2, "Special tokens are recognised.", own), "2 characters are split by a token boundary. Special tokens are recognised.");
  });
});

suite("copying", () => {
  test("gives the ids and tokens that Python has", () => {
    for (const { text, segments, tokens } of readings) {
      const ids = segments.flatMap(({ id }) => (id < 0 ? [] : [id]));
      assert.deepEqual(knownIds(tokens), ids);
      if (text.startsWith("hug")) continue;
      const bytes = tokenList(tokens).flatMap((token) => [...(typeof token === "string" ? utf8.encode(token) : token)]);
      assert.deepEqual(bytes, [...utf8.encode(text)]);
    }
  });

  test("writes a text as an ASCII Python literal with the same value", () => {
    const texts = [...readings.map(({ text }) => text), '\\"\'\n\r\t\x00\x7f\u0085\u2028\ufeff🧩{}%', "\\u0041\\"];
    const literals = texts.map(pythonLiteral);
    assert.ok(literals.every((literal) => /^[\x20-\x7e]*$/.test(literal)));
    assert.deepEqual(valuesOfLiterals(literals), texts);
  });

  test("gives Python code that reproduces the ids, without the text if it is long", () => {
    const data = { text: "hi", code: ["tokenizer = bpe.gpt2()"], code_options: "" };
    assert.equal(pythonCode(data, { ids: [1, -1, 2] }), 'import bpe_core as bpe\n\ntokenizer = bpe.gpt2()\ntext = "hi"\nids = tokenizer.encode(text)\nassert ids == [1, 2]\n');
    const long = pythonCode({ ...data, text: "x".repeat(10_001), code_options: ', allowed_special="all"' }, { ids: new Array(2001).fill(7) });
    assert.match(long, /text = open\("text\.txt"/);
    assert.match(long, /encode\(text, allowed_special="all"\)\n$/);
  });
});

suite("moving between lines", () => {
  // Three lines of boxes, the second without anything below the first box.
  const boxes = [[0, 0], [50, 0], [120, 0], [60, 42], [130, 42], [0, 84]].map(([left, top]) => ({ left, top }));
  const getBox = (i) => boxes[i];
  const go = (at, direction) => lineNeighbour(at, direction, boxes.length, getBox);

  test("an arrow key moves to the nearest token", () => {
    assert.equal(go(0, 1), 3);
    assert.equal(go(2, 1), 4);
    assert.equal(go(4, -1), 2);
    assert.equal(go(4, 1), 5);
  });

  test("an arrow key does nothing on the first or last line", () => {
    assert.equal(go(1, -1), 1);
    assert.equal(go(5, 1), 5);
    assert.equal(lineNeighbour(9, 1, 6, getBox), 9);
  });
});
