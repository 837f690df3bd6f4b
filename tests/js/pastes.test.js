// Large pastes are caught, measured and cut; small ones are left to the browser.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { isLarge, measure, describeOpening, sizeText, withInsertion } from "../../ui/components/live_text/pastes.js";
import { offsetWithLineEnds } from "../../ui/components/live_text/line_ends.js";

const LIMITS = { pasted: 10, edited: 20, bytes: 40, sent: 12 };

suite("a paste", () => {
  test("is large beyond its limit, or where the field's text would be too long to edit", () => {
    assert.ok(!isLarge("x".repeat(10), 20, LIMITS));
    assert.ok(isLarge("x".repeat(11), 11, LIMITS));
    assert.ok(isLarge("x", 21, LIMITS));
    assert.ok(!isLarge("", 21, LIMITS));
  });

  test("replaces what is selected, and nothing else", () => {
    assert.equal(withInsertion("abcdef", { text: "XY", start: 2, end: 4 }), "abXYef");
    assert.equal(withInsertion("abc", { text: "X", start: 3, end: 3 }), "abcX");
    assert.equal(withInsertion("abc", { text: "X", start: 0, end: 3 }), "X");
  });

  test("is sent with the text before it, its characters and its bytes", () => {
    assert.deepEqual(describeOpening("né🧩", "old", LIMITS), {
      paste: { text: "né🧩", n_characters: 3, n_bytes: 7, before: "old" },
    });
  });

  test("is sent up to the characters that are read, never half of one", () => {
    for (const text of ["🧩".repeat(9), "x".repeat(30), "x" + "é🧩".repeat(6)]) {
      const opening = describeOpening(text, "", { ...LIMITS, sent: 8 });
      assert.equal(opening.paste.text, [...text].slice(0, 8).join(""));
      assert.equal(opening.paste.n_characters, [...text].length);
      assert.equal(opening.paste.n_bytes, Buffer.byteLength(text));
    }
  });

  test("with too many bytes, or half a character, is refused with the reason", () => {
    assert.match(describeOpening("é".repeat(21), "", LIMITS).problem, /would have 42 B\. Up to 40 B/);
    assert.match(describeOpening("ab\ud83e", "", LIMITS).problem, /^Half a character at position 3 .*U\+D83E.*Nothing was pasted\.$/);
    assert.ok("paste" in describeOpening("é".repeat(20), "", LIMITS));
  });
});

suite("the measure of a text", () => {
  test("is that of UTF-8 and of its code points", () => {
    for (const text of ["", "a", "é", "日", "🧩", "a\u07ffb\u0800\uffff🧩c".repeat(5)]) {
      const { nCharacters, nBytes, end } = measure(text);
      assert.deepEqual([nCharacters, nBytes, end], [[...text].length, Buffer.byteLength(text), text.length]);
    }
  });

  test("is written with its unit", () => {
    assert.deepEqual([64, 4004, 466195, 2000000, 200000000].map(sizeText), ["64 B", "4.0 kB", "466 kB", "2.0 MB", "200 MB"]);
  });
});

suite("a place in a text with its line ends", () => {
  test("is behind both characters of each line end before it", () => {
    const text = "a\r\nb\rc\n\r\nd";
    const plain = text.replace(/\r\n?/g, "\n");
    for (let place = 0; place <= plain.length; place++) {
      const offset = offsetWithLineEnds(text, place);
      assert.equal(text.slice(0, offset).replace(/\r\n?/g, "\n"), plain.slice(0, place));
      assert.equal(text.slice(offset).replace(/\r\n?/g, "\n"), plain.slice(place));
    }
  });
});
