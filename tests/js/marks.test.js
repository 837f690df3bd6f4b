// The marks of other libraries' files: how they are shown and explained.

import { strict as assert } from "node:assert";
import { suite, test } from "node:test";

import { listFacts, listRemarks } from "../../ui/components/token_view/facts.js";
import { hasSpelling, describeLegend, markNote, shownSpelling, spelledUnlike } from "../../ui/components/token_view/marks.js";

/** Tokens, each given as its file writes it and as it stands in the text. */
function read(...pairs) {
  const at = [0];
  for (const [, piece] of pairs) at.push(at[at.length - 1] + piece.length);
  const about = new Map(pairs.map(([written], id) => [id, { id, token: written, written, special: false, marker: false }]));
  return { text: pairs.map(([, piece]) => piece).join(""), at, ids: pairs.map((_, id) => id), n: pairs.length, about };
}

suite("the marks of another library's file", () => {
  const known = { id: 7, token: " the", written: "▁the", special: false, marker: false };
  const about = (...written) => new Map(written.map((text, id) => [id, { ...known, id, written: text }]));

  test("are shown where they differ from the text, except in special tokens", () => {
    assert.equal(spelledUnlike(known, " the"), "▁the");
    assert.equal(spelledUnlike({ ...known, written: "the" }, "the"), null);
    assert.equal(spelledUnlike({ ...known, written: "hello" }, "Hello"), "hello");
    assert.equal(spelledUnlike({ ...known, special: true }, " the"), null);
    assert.equal(spelledUnlike({ ...known, written: null }, " the"), null);
    assert.equal(spelledUnlike(undefined, "Ω"), null);
    assert.equal(shownSpelling("▁a b\n\u202e"), "▁a bU+000AU+202E");
  });

  test("are offered only where a file writes tokens", () => {
    assert.ok(hasSpelling(about(null, "a")));
    assert.ok(!hasSpelling(about(null)));
  });

  test("are explained, those that occur", () => {
    assert.equal(describeLegend(read(["a", "a"], ["##", "##"], ["<0xZZ>", "x"])), "");
    assert.equal(describeLegend(read(["▁the", " the"], ["<0xE2>", "�"])), "▁ stands for a space. <0x…> is one byte of a character that no token spells.");
    assert.equal(describeLegend(read(["the", "the"], ["##ing", "ing"])), "## means that the word continues.");
    assert.match(markNote(known, " the"), /^▁ stands for a space, U\+0020\.$/);
    assert.match(markNote(known, null), /nothing in your text/);
    assert.match(markNote({ ...known, written: "##ing" }, "ing"), /^## means/);
    assert.match(markNote({ ...known, written: "<0xE2>" }, ""), /^A byte/);
    assert.equal(markNote({ ...known, written: "the" }, "The"), "");
    assert.equal(markNote({ ...known, marker: true }, null), "");
    const none = { tokens: 0, bytes: 0, uncovered: 0, unknown: 0, dropped: 0 };
    assert.match(listRemarks(none, 0, "", { nMerges: null, normalizes: false, superwords: new Set() }, describeLegend(read(["▁", " "]))), /^▁ stands for a space\. Another library/);
  });
});

suite("text that looks like a mark", () => {
  const heading = { id: 1, token: "###", written: "###", left: -1, right: -1, rank: -1, special: false, marker: false, ends: false };

  test("has no legend, no note, and no mark among its characters", () => {
    assert.equal(describeLegend(read(["###", "###"], ["<0x41>", "<0x41>"], ["▁", "▁"])), "");
    assert.equal(markNote(heading, "###"), "");
    const theirs = { ids: [], marker: null, nMerges: null };
    assert.equal(Object.fromEntries(listFacts(theirs, heading, "###")).characters, "3");
    assert.match(Object.fromEntries(listFacts(theirs, heading, "#")).characters, /the ## a mark/);
  });

  test("does not hide a mark of the same spelling elsewhere", () => {
    assert.equal(describeLegend({ ...read(["####", "####"], ["####", "##"]), ids: [0, 0] }), "## means that the word continues.");
  });
});

suite("a ▁ for which no space stands in the text", () => {
  const note = (written, piece) => markNote({ id: 1, token: "", written, special: false, marker: false }, piece);

  test("is said to be added by the tokenizer", () => {
    assert.equal(note("▁Un", "Un"), "The tokenizer adds the ▁: your text has no space here.");
    assert.match(note("▁▁x", " x"), /^▁ stands for a space, U\+0020\. The tokenizer adds one/);
    assert.equal(note("▁▁x", "  x"), "▁ stands for a space, U+0020.");
  });

  test("is named where it stands for other white space", () => {
    assert.equal(note("▁x", "\u00a0x"), "▁ stands for white space, here U+00A0.");
  });
});
