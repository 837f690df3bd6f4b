// Modules that all components share: numbers, characters, colours, searching, echoes.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { suite, test } from "node:test";
import { bytesFromBase64 } from "../../ui/components/shared/base64.js";
import { lastThat } from "../../ui/components/shared/binary_search.js";
import { codePointName, findDirection, halfCharacter, hasBidiControl, hexByte, isPlain, isSuperword, splitPieces, spokenToken, utf8, wholeAndPartial } from "../../ui/components/shared/characters.js";
import { runningSlots, seriesColour, colourSlot } from "../../ui/components/shared/colours.js";
import { Echoes } from "../../ui/components/shared/python_echoes.js";
import { counted, grouped, times } from "../../ui/components/shared/numbers.js";
import { isBlank } from "../../ui/components/shared/white_space.js";
import { unbrokenPieces } from "../../ui/components/shared/unbroken.js";
import { findDirections, sharedCharacters, unfinishedCharacters } from "../../ui/components/shared/word_tiles.js";

suite("numbers", () => {
  test("have thousands separators, and their noun is singular or plural", () => {
    assert.equal(grouped(1234567), "1,234,567");
    assert.equal(counted(1, "merge"), "1 merge");
    assert.equal(counted(1379, "merge"), "1,379 merges");
    assert.equal(counted(0, "character is", "characters are"), "0 characters are");
    assert.deepEqual([1, 2, 3, 1000].map(times), ["once", "twice", "3 times", "1,000 times"]);
  });
});

suite("white space", () => {
  test("is folded if a token has at least three characters, all of them white space", () => {
    assert.deepEqual(["   ", "\n\n\t", " ".repeat(26)].map(isBlank), [true, true, true]);
    assert.deepEqual(["", "  ", "  a", "---", [0x20, 0x20, 0x20, 0xc3]].map(isBlank), [false, false, false, false, false]);
  });
});

suite("words as tiles", () => {
  const bytes = (text) => [...utf8(text)];
  const cut = (text, ...at) => {
    const all = bytes(text);
    return [0, ...at].map((from, k) => all.slice(from, at[k] ?? all.length));
  };

  test("run in the direction of their first letter, even where a token has only its first byte", () => {
    assert.deepEqual(["hug", " שלום", "سلام", "می‌روم", "नमस्ते", "日本", "42%", "__"].map(findDirection), ["ltr", "rtl", "rtl", "rtl", "ltr", "ltr", "ltr", ""]);
    assert.deepEqual(["123שלום", "١٢٣", " (abc"].map(findDirection), ["rtl", "ltr", "ltr"]);
    assert.deepEqual([[0x20, 0xd7], [0x91, 0xd7], [0xd9], [0xe0, 0xa4], [0xe6, 0x97], [0x91]].map(findDirection), ["rtl", "rtl", "rtl", "", "", ""]);
  });

  test("turn what runs the other way, and leave the marker at their end", () => {
    const turned = (...tokens) => {
      const { direction, turned } = findDirections(tokens);
      return [direction, tokens.map((_, i) => (turned[i] ? "<" : ".")).join("")];
    };
    assert.deepEqual(turned(" ", "ש", "לום", "</w>"), ["rtl", "...."]);
    assert.deepEqual(turned("ילד", "1", ".", "2", "</w>"), ["rtl", ".<<<."]);
    assert.deepEqual(turned("a", "ש", "-", "ם", "!"), ["ltr", ".<<<."]);
    assert.deepEqual(turned(...cut("aש", 1, 2)), ["ltr", ".<<"]);
    assert.deepEqual(turned("_", "!"), ["", ".."]);
    assert.deepEqual(findDirections([" ", "h", "i"], "rtl"), { direction: "rtl", turned: [false, true, true] });
  });

  test("have an ellipsis above the bytes of each character that they do not complete", () => {
    const found = (...tokens) => unfinishedCharacters(tokens, sharedCharacters(tokens)).map(({ character, from, to }) => [character, from, to]);
    assert.deepEqual(found([0xe0], [0xa4]), [["…", 0, 2]]);
    assert.deepEqual(found(" ", [0xd7]), [["…", 1, 2]]);
    assert.deepEqual(found([0xa5], [0xe6]), [["…", 0, 1], ["…", 1, 2]]);
    assert.deepEqual(found(...cut(" של", 2), [0xd7]), [["…", 5, 6]]);
    assert.deepEqual(found(...cut("ש", 1)), []);
  });

  test("have a frame for each character that their tokens share", () => {
    const found = (...tokens) => sharedCharacters(tokens).map(({ character, from, to }) => [character, from, to]);
    assert.deepEqual(found(...cut(" שלום", 2, 4)), [["ש", 1, 3], ["ל", 3, 5]]);
    assert.deepEqual(found(...cut("日本", 1, 2, 3, 6)), [["日", 0, 3]]);
    assert.deepEqual(found(...cut("🧩", 2)), [["🧩", 0, 4]]);
    assert.deepEqual(found("ab", "日本", bytes("é")), []);
    assert.deepEqual(found([0xe6], [0x97]), []);
  });

  test("show the whole characters of a token that splits others", () => {
    assert.deepEqual(wholeAndPartial([0x20, 0xd7]), [" ", [0xd7]]);
    assert.deepEqual(wholeAndPartial([0x91, 0xd7]), [[0x91], [0xd7]]);
    assert.deepEqual(wholeAndPartial([0x9c, 0xd7, 0x99, 0xd7]), [[0x9c], "י", [0xd7]]);
    assert.deepEqual(wholeAndPartial([0xef, 0xbb, 0xbf, 0x97, 0xa5]), ["\ufeff", [0x97, 0xa5]]);
    assert.equal(spokenToken([0x20, 0xd7]), "space, bytes D7");
  });
});

suite("characters", () => {
  const kinds = (text) => [...splitPieces(text)].map(({ kind, text }) => [kind, text]);

  test("the pieces of a text add up to the text", () => {
    const texts = ["", "plain", "\ufeffa\tb  c\r\nd\re\x00\u202ef\u2028 日本 🧩👩\u200d👩\u200d👧 e\u0301 נ\n\n", " \u0301x", "\r\n\r\r\n\n", "🏳️\u200d🌈 \u200d"];
    for (const text of texts) assert.equal(kinds(text).map(([, piece]) => piece).join(""), text);
  });

  test("white space has glyphs, and invisible characters their code points", () => {
    assert.deepEqual(kinds("a b\t\n"), [["text", "a"], ["space", " "], ["text", "b"], ["tab", "\t"], ["newline", "\n"]]);
    assert.deepEqual(kinds("\r\n"), [["code", "\r"], ["newline", "\n"]]);
    assert.deepEqual(kinds("a\u202e\u00a0"), [["text", "a"], ["code", "\u202e"], ["code", "\u00a0"]]);
  });

  test("a joiner inside an emoji belongs to the emoji; on its own it is drawn as a code point", () => {
    assert.deepEqual(kinds("👩\u200d👧"), [["text", "👩\u200d👧"]]);
    assert.deepEqual(kinds("\u200d"), [["code", "\u200d"]]);
  });

  test("a combining mark at the start of a text is a piece of its own kind", () => {
    assert.deepEqual(kinds("\u0301x"), [["mark", "\u0301x"]]);
    assert.deepEqual(kinds("e\u0301"), [["text", "e\u0301"]]);
  });

  test("text is plain if it is drawn as a single piece", () => {
    for (const text of ["plain", "日本", "e\u0301", "🧩"]) assert.ok(isPlain(text), text);
    for (const text of ["a b", "\u0301", "\u200d", "a\n", "\u00a0"]) assert.ok(!isPlain(text), text);
  });

  test("have names by code point and by byte, and bidi controls are recognised", () => {
    assert.equal(codePointName("\u202e"), "U+202E");
    assert.equal(codePointName("🧩"), "U+1F9E9");
    assert.equal(hexByte(10), "0A");
    assert.deepEqual([...utf8("é")], [0xc3, 0xa9]);
    assert.ok(hasBidiControl("a\u2066b"));
    assert.ok(!hasBidiControl("שלום"));
  });

  test("an error names the position of half a character", () => {
    assert.equal(halfCharacter("whole 🧩"), "");
    assert.equal(halfCharacter("ab\ud83e"), "Half a character at position 3 (U+D83E, a lone surrogate)");
    assert.match(halfCharacter("\udde9🧩"), /^Half a character at position 1 .*U\+DDE9/);
  });

  test("a screen reader hears white space by name", () => {
    assert.equal(spokenToken(" the"), "space the");
    assert.equal(spokenToken(" "), "space");
    assert.equal(spokenToken("\n\n\t"), "newline newline tab");
    assert.equal(spokenToken("a\u202e"), "aU+202E");
    assert.equal(spokenToken([0xe6, 0x97]), "bytes E6 97");
  });
});

suite("colours", () => {
  test("an id always has the same one of eight slots", () => {
    const slots = Array.from({ length: 5000 }, (_, id) => colourSlot(id));
    assert.deepEqual([...new Set(slots)].sort(), [0, 1, 2, 3, 4, 5, 6, 7]);
    assert.deepEqual(slots, Array.from({ length: 5000 }, (_, id) => colourSlot(id)));
  });

  test("neighbouring tokens never have similar colours", () => {
    const ids = Array.from({ length: 20000 }, (_, i) => Math.imul(i, 40503) % 977);
    const slots = runningSlots(ids);
    const alike = new Set(["4 5", "5 4", "5 7", "7 5"]);
    for (let i = 1; i < ids.length; i++) {
      assert.notEqual(slots[i], slots[i - 1]);
      assert.ok(!alike.has(`${slots[i - 1]} ${slots[i]}`));
    }
  });

  test("text in no token has no colour and does not affect its neighbours", () => {
    assert.deepEqual([...runningSlots([7, -1, 7])], [colourSlot(7), 0, colourSlot(7)]);
  });

  test("the ninth tokenizer reuses the first colour, with a ring instead of a dot", () => {
    assert.equal(seriesColour(0), "series-0");
    assert.equal(seriesColour(8), "series-0 again");
    assert.equal(seriesColour(16), "series-0");
  });
});

test("base64 is decoded to bytes", () => {
  assert.deepEqual([...bytesFromBase64("AQL/")], [1, 2, 255]);
  assert.deepEqual([...bytesFromBase64("")], []);
});

test("a binary search returns the last place for which the condition holds, or else the first", () => {
  for (let n = 1; n < 20; n++) {
    for (let last = 0; last < n; last++) assert.equal(lastThat(0, n - 1, (i) => i <= last), last);
  }
  assert.equal(lastThat(3, 9, () => false), 3);
});

suite("echoes", () => {
  test("a text sent from here is an echo; after it, texts sent earlier are not", () => {
    const echoes = new Echoes();
    for (const text of ["a", "ab", "abc"]) echoes.expect(text);
    assert.ok(echoes.isEcho("ab"));
    assert.ok(!echoes.isEcho("a"));
    assert.ok(echoes.isEcho("abc"));
    assert.ok(!echoes.isEcho("from a file"));
    assert.equal(echoes.last, "abc");
  });

  test("the echo of a text sent twice is that of the later one", () => {
    const echoes = new Echoes();
    for (const text of ["a", "ab", "a"]) echoes.expect(text);
    assert.ok(echoes.isEcho("a"));
    assert.ok(!echoes.isEcho("ab"));
  });

  test("at most sixteen are remembered, and none after they are cleared", () => {
    const echoes = new Echoes();
    for (let n = 0; n < 20; n++) echoes.expect(String(n));
    assert.ok(!echoes.isEcho("3"));
    assert.ok(echoes.isEcho("4"));
    echoes.forget();
    assert.ok(!echoes.isEcho("19"));
    assert.equal(echoes.last, undefined);
  });
});

test("a short name or range with a digit next to its hyphen stays on one line", () => {
  const text = "yours needs more than GPT-2 (95% interval 320.2–325.9%), on held-out text";
  const pieces = unbrokenPieces(text);
  assert.equal(pieces.map(([piece]) => piece).join(""), text);
  assert.deepEqual(
    pieces.filter(([, isUnbroken]) => isUnbroken).map(([piece]) => piece),
    ["GPT-2", "320.2–325.9%),"],
  );
  assert.ok(unbrokenPieces("unigram-german-english-32k.json").every(([, unbroken]) => !unbroken));
});

suite("superwords", () => {
  /** @type {[any, boolean][]} The library's `is_superword` is tested with the same tokens. */
  const cases = JSON.parse(readFileSync("tests/superwords.json", "utf-8"));
  for (const [token, expected] of cases) {
    test(`${JSON.stringify(token)} is ${expected ? "one" : "none"}`, () => assert.equal(isSuperword(token), expected));
  }
});
