// Typed text is sent to Python after a pause, and Python's answer never overwrites newer typing.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { withLineEnds } from "../../ui/components/live_text/line_ends.js";
import { TypedText } from "../../ui/components/live_text/typed_text.js";
import { endsOfLengths, lengthsField, Query, sortedBy } from "../../ui/components/vocabulary/query.js";
import { TypedPrefix } from "../../ui/components/vocabulary/typed_prefix.js";
import { FakeClock } from "./fake_clock.js";

const PAUSE_MS = 101; // the pause for a short text: 100 ms and a little for its length

function typedText() {
  const clock = new FakeClock();
  const sent = [];
  const warned = [];
  const typed = new TypedText({ send: (text) => sent.push(text), warn: (problem) => warned.push(problem) }, clock);
  typed.receive("old");
  return { clock, sent, warned, typed };
}

suite("typed text", () => {
  test("is sent in its latest form once typing pauses", () => {
    const { clock, sent, typed } = typedText();
    for (const text of ["a", "ab", "abc"]) {
      typed.type(text);
      clock.pass(90);
    }
    assert.deepEqual(sent, []);
    clock.pass(PAUSE_MS);
    assert.deepEqual(sent, ["abc"]);
    assert.equal(clock.nWaiting, 0);
  });

  test("is sent after a longer pause if it is long, up to a limit", () => {
    for (const [length, ms] of [[100_000, 350], [5_000_000, 1500]]) {
      const { clock, sent, typed } = typedText();
      typed.type("x".repeat(length));
      clock.pass(ms - 1);
      assert.equal(sent.length, 0);
      clock.pass(1);
      assert.equal(sent.length, 1);
    }
  });

  test("waits while Python reads the previous text, but at most a second", () => {
    const { clock, sent, typed } = typedText();
    typed.type("a");
    clock.pass(PAUSE_MS);
    typed.type("ab");
    clock.pass(800);
    assert.deepEqual(sent, ["a"]);
    clock.pass(300);
    assert.deepEqual(sent, ["a", "ab"]);
  });

  test("is sent immediately when the field loses focus, and after the usual pause when Python has answered", () => {
    const { clock, sent, typed } = typedText();
    typed.type("a");
    clock.pass(PAUSE_MS);
    typed.type("ab");
    assert.ok(!typed.receive("a"));
    clock.pass(PAUSE_MS);
    assert.deepEqual(sent, ["a", "ab"]);
    typed.type("abc");
    typed.leave();
    assert.deepEqual(sent, ["a", "ab", "abc"]);
    typed.leave();
    assert.equal(sent.length, 3);
  });

  test("is not overwritten by its echo from Python", () => {
    const { clock, typed } = typedText();
    typed.type("a");
    clock.pass(PAUSE_MS);
    typed.type("ab");
    clock.pass(1100);
    assert.ok(!typed.receive("a"));
    assert.ok(!typed.receive("ab"));
    assert.ok(!typed.receive("ab"));
  });

  test("is replaced by a text from elsewhere, and is then no longer sent", () => {
    const { clock, sent, warned, typed } = typedText();
    typed.type("a");
    assert.ok(typed.receive("from a file"));
    clock.pass(10_000);
    assert.deepEqual(sent, []);
    assert.equal(warned.at(-1), "");
    typed.leave();
    assert.deepEqual(sent, []);
  });

  test("is not sent while it contains half a character, and a warning is shown", () => {
    const { clock, sent, warned, typed } = typedText();
    typed.type("ab\ud83e");
    clock.pass(PAUSE_MS);
    assert.deepEqual(sent, []);
    assert.match(warned.at(-1), /^Half a character at position 3 .*U\+D83E.* Remove it to see the tokens\.$/);
    typed.type("ab🧩");
    clock.pass(PAUSE_MS);
    assert.deepEqual(sent, ["ab🧩"]);
    assert.equal(warned.at(-1), "");
  });

  test("is cleared immediately by starting over", () => {
    const { sent, typed } = typedText();
    typed.receive("one\r\ntwo");
    assert.ok(typed.hasCarriageReturns);
    typed.startOver("");
    assert.deepEqual(sent, [""]);
    assert.ok(!typed.hasCarriageReturns);
  });

  test("keeps its carriage returns through several edits", () => {
    const { clock, sent, typed } = typedText();
    typed.receive("one\r\ntwo\r\n");
    for (const text of ["one!\ntwo\n", "one!\ntwo\nthree\n", "two\nthree\n"]) {
      typed.type(text);
      clock.pass(1200);
    }
    assert.deepEqual(sent, ["one!\r\ntwo\r\n", "one!\r\ntwo\r\nthree\r\n", "two\r\nthree\r\n"]);
  });
});

suite("line ends", () => {
  const mixed = "one\r\ntwo\rthree\nfour\r\n";

  test("are kept before and after an edit", () => {
    assert.equal(withLineEnds(mixed, "one\ntwo!\nthree\nfour\n"), "one\r\ntwo!\rthree\nfour\r\n");
    assert.equal(withLineEnds(mixed, "one\nfour\n"), "one\r\nfour\r\n");
    assert.equal(withLineEnds(mixed, "one\ntwo\nthree\nfour\n"), mixed);
  });

  test("of new lines match all the others, or are line feeds if these differ", () => {
    assert.equal(withLineEnds(mixed, "one\ntwo\n2\nthree\nfour\n"), "one\r\ntwo\r2\nthree\nfour\r\n");
    assert.equal(withLineEnds("one\r\nfour\r\n", "one\nnew\nfour\n"), "one\r\nnew\r\nfour\r\n");
    assert.equal(withLineEnds("a\rb", "all\nnew\n"), "all\rnew\r");
  });

  test("of a text without carriage returns are as typed", () => {
    assert.equal(withLineEnds("a\nb", "a\nb\nc"), "a\nb\nc");
    assert.equal(withLineEnds("", "a\n"), "a\n");
  });

  test("do not combine when the text between them is deleted", () => {
    assert.equal(withLineEnds("b\rc\nd", "b\n\nd"), "b\r\n\nd");
    assert.equal(withLineEnds("b\r\nc\nd", "b\n\nd"), "b\r\n\nd");
    assert.equal(withLineEnds("b\rc\rd", "b\n\nd"), "b\r\rd");
  });

  test("are kept whatever part of the text is deleted", () => {
    const text = "a\r\nb\rc\nd\r\n\r\n";
    const plain = text.replace(/\r\n?/g, "\n");
    for (let from = 0; from <= plain.length; from++) {
      for (let to = from; to <= plain.length; to++) {
        const kept = withLineEnds(text, plain.slice(0, from) + plain.slice(to));
        assert.equal(kept.replace(/\r\n?/g, "\n"), plain.slice(0, from) + plain.slice(to));
      }
    }
  });
});

const NOTHING = { find: "", by: "", finding: "", script: "", space: "", partial: "", special: "", bytes: "", sort: "", page: "" };

function query(record = NOTHING) {
  const clock = new FakeClock();
  const sent = [];
  const refused = [];
  return { clock, sent, refused, query: new Query({ ...record }, { onChange: (one) => sent.push(one), refuse: (problem) => refused.push(problem) }, clock) };
}

suite("a search of the vocabulary", () => {
  test("is sent after a pause while typing, and immediately for a choice", () => {
    const { clock, sent, query: searched } = query();
    searched.change({ find: "t" }, { atOnce: false });
    clock.pass(100);
    searched.change({ find: "th" }, { atOnce: false });
    clock.pass(149);
    assert.deepEqual(sent, []);
    clock.pass(1);
    assert.deepEqual(sent, [{ ...NOTHING, find: "th" }]);
    searched.change({ script: "Han" });
    assert.deepEqual(sent.at(-1), { ...NOTHING, find: "th", script: "Han" });
  });

  test("includes the typed text when a choice is made during the pause", () => {
    const { clock, sent, query: searched } = query();
    searched.change({ find: "th" }, { atOnce: false });
    searched.change({ space: "yes" });
    clock.pass(1000);
    assert.deepEqual(sent, [{ ...NOTHING, find: "th", space: "yes" }]);
  });

  test("returns to the first page when it changes", () => {
    const { sent, query: searched } = query({ ...NOTHING, page: "7" });
    searched.change({ by: "bytes" });
    assert.equal(sent[0].page, "");
  });

  test("keeps the typed text when an answer arrives, and shows a search from elsewhere", () => {
    const { clock, query: searched } = query();
    searched.change({ find: "t" });
    searched.change({ find: "th" });
    assert.ok(!searched.receive({ ...NOTHING, find: "t" }));
    assert.equal(searched.record.find, "th");
    assert.ok(searched.receive({ ...NOTHING, finding: "unused" }));
    assert.deepEqual(searched.record, { ...NOTHING, finding: "unused" });
    searched.change({ find: "x" }, { atOnce: false });
    assert.ok(!searched.receive({ ...NOTHING }));
    clock.pass(150);
    assert.ok(!searched.receive({ ...NOTHING, finding: "unused", find: "x" }));
  });

  test("is cleared immediately", () => {
    const { sent, query: searched } = query({ ...NOTHING, find: "th", sort: "-use", page: "3" });
    searched.clear();
    assert.deepEqual(sent, [NOTHING]);
  });

  test("is refused if it contains half a character", () => {
    const { sent, refused, query: searched } = query();
    searched.change({ find: "\ud83e" });
    assert.deepEqual(sent, []);
    assert.match(refused[0], /^Half a character at position 1 .*U\+D83E.* Remove it to search\.$/);
  });

  test("turns pages up to the first and the last", () => {
    const { sent, query: searched } = query();
    assert.ok(!searched.turn(-1, 1, 3));
    assert.ok(!searched.turn(1, 3, 3));
    assert.ok(searched.turn(1, 1, 3));
    assert.ok(searched.turn(-1, 2, 3));
    assert.deepEqual(sent.map(({ page }) => page), ["2", ""]);
  });

  test("sorts a column descending first, ids ascending first, and then reverses", () => {
    assert.equal(sortedBy("use", ""), "-use");
    assert.equal(sortedBy("use", "-use"), "use");
    assert.equal(sortedBy("use", "use"), "-use");
    assert.equal(sortedBy("id", "-use"), "");
    assert.equal(sortedBy("id", ""), "-id");
    assert.equal(sortedBy("id", "-id"), "");
    const { sent, query: searched } = query({ ...NOTHING, sort: "-length" });
    searched.sort("length");
    assert.equal(sent[0].sort, "length");
  });

  test("converts lengths to a field of the record and back", () => {
    for (const [low, high, field] of [["", "", ""], ["3", "3", "3"], ["2", "5", "2-5"], ["2", "", "2-"], ["", "5", "0-5"]]) {
      assert.equal(lengthsField(low, high), field);
      assert.deepEqual(endsOfLengths(field), [low, high]);
    }
    assert.deepEqual(endsOfLengths("0"), ["0", "0"]);
  });
});

suite("a typed prefix", () => {
  function typedPrefix() {
    const clock = new FakeClock();
    const sent = [];
    return { clock, sent, typed: new TypedPrefix((text, problem) => sent.push([text, problem]), clock) };
  }

  test("is sent after a pause", () => {
    const { clock, sent, typed } = typedPrefix();
    for (const text of [" ", " t", " th"]) typed.type(text);
    clock.pass(150);
    assert.deepEqual(sent, [[" th", ""]]);
  });

  test("stays in the field when its answer arrives, and is replaced by another node", () => {
    const { clock, typed } = typedPrefix();
    typed.type(" t");
    assert.ok(!typed.receive(""));
    clock.pass(150);
    assert.ok(!typed.receive(" t"));
    assert.ok(typed.receive(" the"));
    typed.type("x");
    clock.pass(150);
    typed.forget();
    assert.ok(typed.receive("x"));
  });

  test("is refused if it contains half a character", () => {
    const { clock, sent, typed } = typedPrefix();
    typed.type("\ud83e");
    clock.pass(150);
    assert.match(sent[0][1], /^Half a character at position 1 .*U\+D83E.*\. Remove it to search\.$/);
    assert.ok(typed.receive("\ud83e"));
  });
});
