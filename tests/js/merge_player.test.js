// The player's parts except runs and playback: finding a merge, keys, layout, notes, spoken text.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { findMerge } from "../../ui/components/merge_player/jump.js";
import { actOfKey, actOnPage } from "../../ui/components/merge_player/keys.js";
import { doneSentence, formatNote, raceNote, formatTitle, whyNothing, savedSentences, spokenQuestion, spokenState } from "../../ui/components/merge_player/notes.js";
import { keepBlocks, touchedIn, unpackBlock, unpackRun } from "../../ui/components/merge_player/run.js";
import { cellsOfWord, sceneAt, findScene, placeScenes, lineCount, placeWords, sizeOfWord } from "../../ui/components/merge_player/word_layout.js";
import { placeCounted } from "../../ui/components/merge_player/sentence.js";
import { roomFor, shortText, shortToken, spokenPair, spokenSymbol } from "../../ui/components/merge_player/token_names.js";
import { decodeBase64, fromPython } from "./python.js";

const messages = fromPython("runs");
const open = (name, options) => unpackRun(decodeBase64(messages[name].message), options);
const unpackBlocks = (name) => messages[name].blocks.map((block) => unpackBlock(decodeBase64(block)));

function filled(name, options) {
  const run = open(name, options);
  for (const block of unpackBlocks(name)) keepBlocks(run, block);
  return run;
}

suite("a merge can be found", () => {
  const sample = open("sample");
  const made = new Map(messages.sample.made.map(([rank, hex]) => [Buffer.from(hex, "hex").toString(), rank]));
  const hug = open("hug");

  test("by its number, counted from 1, however it is written", () => {
    for (const [text, step] of [["1", 0], ["3,839", 3838], ["3839", 3838], ["#46", 45], ["  7 ", 6]]) {
      assert.deepEqual(findMerge(sample, text), { step });
    }
  });

  test("by the token that it made, with or without its leading space", () => {
    assert.deepEqual(findMerge(sample, "function"), { step: made.get("function") });
    assert.deepEqual(findMerge(sample, " function"), { step: made.get(" function") });
    const spaced = [...made.keys()].find((token) => /^ [a-z]+$/.test(token) && !sample.tokens.includes(token.trim()));
    assert.deepEqual(findMerge(sample, spaced.trim()), { step: made.get(spaced) });
  });

  test("by its token without the end-of-word marker", () => {
    const whole = hug.tokens.findIndex((token, id) => typeof token === "string" && token.endsWith("</w>") && hug.isLearned(id));
    const bare = hug.tokens[whole].slice(0, -4);
    const without = hug.tokens.findIndex((token, id) => token === bare && hug.isLearned(id));
    assert.deepEqual(findMerge(hug, bare), { step: hug.firstMade.get(without >= 0 ? without : whole) });
  });

  test("by a token in quotes, which may be a number", () => {
    assert.deepEqual(findMerge(sample, '" function"'), { step: made.get(" function") });
    assert.deepEqual(findMerge(sample, "“function”"), { step: made.get("function") });
  });

  test("or else the reason is returned", () => {
    for (const [text, problem] of [
      ["zyzzyva", "No merge made “zyzzyva”."],
      ["q", "“q” is a base symbol: no merge made it."],
      ["<|endoftext|>", "“<|endoftext|>” was in the vocabulary from the start: no merge made it."],
      ["99999", "Merges go from 1 to 3,839."],
      ["0", "Merges go from 1 to 3,839."],
      ["", "Type a number or a token."],
      ["x".repeat(60), `No merge made “${"x".repeat(23)}…”.`],
    ]) assert.deepEqual(findMerge(sample, text), { problem });
    assert.equal(findMerge({ ...hug, n_merges: 0 }, "5").problem, "This run has no merges.");
    assert.equal(findMerge({ ...hug, n_merges: 1 }, "5").problem, "This run has one merge, number 1.");
  });
});

suite("keys", () => {
  const press = (key, kind, held = {}) => actOfKey({ key, ctrlKey: false, metaKey: false, altKey: false, ...held }, kind);

  test("step, play, and jump to either end", () => {
    assert.deepEqual(
      [" ", "ArrowRight", "ArrowLeft", "Home", "End", "r"].map((key) => press(key, "DIV")),
      ["play", "forward", "back", "first", "last", undefined],
    );
  });

  test("change the speed and fill the screen, where a presenter's remote control steps", () => {
    assert.deepEqual(["+", "=", "-", "f", "F"].map((key) => press(key, "BUTTON")), ["faster", "faster", "slower", "full", "full"]);
    const inFull = (key) => actOfKey({ key, ctrlKey: false, metaKey: false, altKey: false }, "DIV", true);
    assert.deepEqual(["PageDown", "PageUp", "r"].map(inFull), ["forward", "back", undefined]);
    assert.equal(press("PageDown", "DIV"), undefined);
  });

  test("typed into a field do not move the player", () => {
    for (const key of [" ", "ArrowLeft", "Home", "End", "-", "f"]) {
      assert.equal(press(key, "text"), undefined);
      assert.equal(press(key, "radio"), undefined);
    }
  });

  test("that the focused control handles are left to it", () => {
    assert.equal(press("ArrowRight", "range"), undefined);
    assert.equal(press(" ", "range"), "play");
    for (const kind of ["BUTTON", "SUMMARY", "checkbox"]) {
      assert.equal(press(" ", kind), undefined);
      assert.equal(press("ArrowRight", kind), "forward");
    }
  });

  test("pressed outside of the player do the same, but those that scroll the page there", () => {
    const onPage = (key, held = {}) => actOnPage({ key, ctrlKey: false, metaKey: false, altKey: false, ...held });
    assert.deepEqual(
      [" ", "f", "F", "ArrowRight", "ArrowLeft", "+", "-"].map((key) => onPage(key)),
      ["play", "full", "full", "forward", "back", "faster", "slower"],
    );
    // Streamlit's shortcuts are r and c.
    for (const key of ["Home", "End", "PageDown", "ArrowDown", "Enter", "Tab", "r", "c"]) assert.equal(onPage(key), undefined);
    assert.equal(onPage("f", { ctrlKey: true }), undefined);
  });

  test("with Ctrl, Alt or Command are left to the browser", () => {
    for (const held of ["ctrlKey", "altKey", "metaKey"]) assert.equal(press("ArrowLeft", "DIV", { [held]: true }), undefined);
  });
});

suite("scenes", () => {
  const [block] = unpackBlocks("sample");
  const countCells = (word) => cellsOfWord(block.words[word].base.length, 2);
  const scenes = placeScenes(block, 16, countCells);

  test("cover all merges of a block in order", () => {
    assert.equal(scenes[0].from, block.start);
    assert.equal(scenes.at(-1).to, block.stop);
    for (let k = 1; k < scenes.length; k++) assert.equal(scenes[k].from, scenes[k - 1].to);
    assert.ok(scenes.some(({ from, to }) => to - from > 1));
  });

  test("contain exactly the words of their merges, and no more than fit", () => {
    for (const { from, to, words } of scenes) {
      const touched = new Set();
      for (let step = from; step < to; step++) for (const word of touchedIn(block, step)) touched.add(word);
      assert.deepEqual(words, touched);
      const cells = [...words].reduce((sum, word) => sum + countCells(word), 0);
      assert.ok(to - from === 1 || cells <= 16);
    }
  });

  test("can be found by any of their steps", () => {
    for (const scene of scenes) {
      for (const step of [scene.from, scene.to - 1]) assert.equal(sceneAt(scenes, step), scene);
    }
    assert.equal(sceneAt(scenes, block.stop), null);
    assert.equal(sceneAt([], 0), null);
  });

  test("of a single merge contain only its words", () => {
    assert.deepEqual(findScene(block, 300), { from: 300, to: 301, words: new Set(touchedIn(block, 300)) });
  });

  test("need more cells for a longer word, up to the length that is drawn", () => {
    assert.deepEqual([1, 10, 11, 24, 25, 40, 400].map((length) => cellsOfWord(length, 2)), [1, 1, 2, 2, 4, 4, 4]);
    assert.deepEqual([12, 13, 40].map((length) => cellsOfWord(length, 1)), [1, 2, 4]);
  });
});

suite("the layout of words", () => {
  const room = { columns: 2, rows: 8, width: 600, count: 40 };

  test("tiles wrap into lines", () => {
    assert.equal(lineCount([], 100), 1);
    assert.equal(lineCount([50, 47], 100), 1);
    assert.equal(lineCount([50, 48], 100), 2);
    assert.equal(lineCount([300, 10], 100), 2);
  });

  test("a word takes one cell if it fits, or else whole rows, as many as it needs", () => {
    assert.deepEqual(sizeOfWord([50, 50], false, room), { span: 1, lines: 1 });
    assert.deepEqual(sizeOfWord([200, 60], false, room), { span: 2, lines: 1 });
    assert.deepEqual(sizeOfWord([300, 300, 300], false, room), { span: 2, lines: 3 });
    assert.deepEqual(sizeOfWord(new Array(20).fill(300), false, room), { span: 2, lines: 8 });
    assert.deepEqual(sizeOfWord([230], false, room), { span: 1, lines: 1 });
    assert.deepEqual(sizeOfWord([230], true, room), { span: 2, lines: 1 });
    assert.deepEqual(sizeOfWord([50], false, { ...room, columns: 1 }), { span: 1, lines: 1 });
  });

  const sizes = [1, 2, 1, 1, 2, 1].map((span, word) => ({ word, span, lines: 1 }));
  const listPlaces = (grid, words = sizes) => placeWords(words, { columns: 2, rows: 8, ...grid }).map(({ word, row, column }) => [word, row, column]);

  test("short words are side by side above the wide ones", () => {
    assert.deepEqual(listPlaces({ inOrder: false }), [[0, 0, 0], [2, 0, 1], [3, 1, 0], [5, 1, 1], [1, 2, 0], [4, 3, 0]]);
  });

  test("the visitor's own words keep their order, each in the first free cell", () => {
    assert.deepEqual(listPlaces({ inOrder: true }), [[0, 0, 0], [1, 1, 0], [2, 0, 1], [3, 2, 0], [4, 3, 0], [5, 2, 1]]);
  });

  test("no two words share a cell, and words without room are left out", () => {
    const words = Array.from({ length: 40 }, (_, word) => ({ word, span: 1 + (word % 3 === 0), lines: 1 + (word % 5 === 0) }));
    for (const inOrder of [true, false]) {
      const placed = placeWords(words, { columns: 2, rows: 8, inOrder });
      const cells = placed.flatMap(({ row, column, span, lines }) =>
        Array.from({ length: span * lines }, (_, k) => `${row + Math.floor(k / span)} ${column + (k % span)}`));
      assert.equal(new Set(cells).size, cells.length);
      assert.ok(placed.length < words.length);
      assert.ok(placed.every(({ row, lines }) => row + lines <= 8));
    }
  });
});

suite("the note on the words shown", () => {
  const run = filled("sample");
  const own = { words: [], problem: "" };
  const shown = { mode: "touched", shownMode: "touched", scene: { from: 999, to: 1002, words: new Set() }, n: 13, own };
  const coloured = "Tiles are coloured once merged.";

  test("names the merges of the scene", () => {
    assert.equal(formatTitle(shown), "Words of merges 1,000 to 1,002");
    assert.equal(formatTitle({ ...shown, scene: { ...shown.scene, to: 1000 } }), "Words of merge 1,000");
    assert.equal(formatTitle({ ...shown, mode: "frequent" }), "Words");
    assert.equal(formatTitle({ ...shown, scene: null }), "Words");
  });

  test("counts the words", () => {
    assert.equal(formatNote(run, shown), `13 words, with their counts. ${coloured}`);
    assert.equal(formatNote(run, { ...shown, n: 1 }), `1 word, with its count. ${coloured}`);
    assert.match(formatNote(run, { ...shown, scene: { from: 0, to: 1 } }), /^13 of [0-9,]+ words, with their counts\./);
    assert.match(formatNote(run, { ...shown, mode: "frequent", shownMode: "frequent" }), /^The 13 most frequent of [0-9,]+ words, /);
    assert.equal(formatNote(run, { ...shown, scene: null }), "");
  });

  test("says where words may join", () => {
    const joining = { ...run, joins_words: true };
    assert.match(formatNote(joining, shown), /^13 pieces of text, with their counts\. Words may join: .* A double line below marks a superword/);
    assert.match(formatNote(joining, { ...shown, mode: "frequent", shownMode: "frequent" }), /^The 13 most frequent of [0-9,]+ pieces of text\./);
  });

  test("names the place where pairs are counted", () => {
    const places = [{ ...run, joins_words: true }, { ...run, languages: ["de"] }, run].map(placeCounted);
    assert.deepEqual(places, ["in the text", "in all languages", "within pieces"]);
  });

  test("does not reveal the answer while a question is asked", () => {
    assert.match(formatNote(run, { ...shown, shownMode: "frequent" }), /are shown after your guess\.$/);
  });

  test("reports words that are missing, left out or invalid", () => {
    const mine = { ...shown, mode: "yours", shownMode: "yours", scene: null, n: 1 };
    const word = (base) => ({ key: "", base, count: null, cut: false });
    assert.match(formatNote(run, mine), /^Type above to see the merges/);
    assert.equal(formatNote(run, { ...mine, own: { words: [word([1])], problem: "" } }), "No merge crosses a gap.");
    assert.match(formatNote(run, { ...mine, own: { words: [word([1, "🧩"])], problem: "" } }), /^Dashed: not in the alphabet/);
    assert.match(formatNote(run, { ...mine, own: { words: [word([1]), word([2])], problem: "" } }), /^The first 1 of 2 pre-tokens\. /);
    assert.equal(formatNote(run, { ...mine, own: { words: [], problem: "Too long." } }), "Too long.");
  });
});

suite("without a next pair, the note explains that", () => {
  test("merges are being fetched, or are not in a saved replay", () => {
    assert.equal(whyNothing(open("sample"), null), "Fetching the merges around this one …");
    assert.match(whyNothing(filled("sample", { isSaved: true }), null), /the reasons only for merges 1 to 3,839\.$/);
  });

  test("all merges are done", () => {
    assert.match(whyNothing(open("sample"), []), /^No merges are left\. Step back/);
    assert.equal(whyNothing({ ...open("hug"), n_merges: 0 }, []), "There are no merges.");
    assert.deepEqual([0, 1, 3839].map(doneSentence), ["No merges were learned", "The one merge is done", "All 3,839 merges are done"]);
  });

  test("pairs were left when training stopped, or none are left", () => {
    const run = open("hug");
    assert.equal(raceNote(run, 0, null), "");
    assert.equal(raceNote(run, 10, []), "No pairs are left: every word is a single symbol.");
    assert.match(raceNote(run, 10, [{}]), /left when training stopped\.$/);
    assert.equal(raceNote(run, 1, [{}]), "");
  });

  test("the run opens at this step", () => {
    const run = open("hug");
    const { opening_step } = run;
    assert.equal(raceNote(run, opening_step, [{}]), `The run opens here, after ${opening_step} merge${opening_step === 1 ? "" : "s"}.`);
    // ह is E0 A4 B9: a letter itself is joined from bytes first.
    const hindi = {
      ...{ n_merges: 9, opening_step: 3, tokens: [[0xe0], [0xa4], [0xb9], "a", "b", [0xe0, 0xa4], "ह", "ab"] },
      ...{ merge_left: [0, 5, 3], merge_right: [1, 2, 4] },
    };
    assert.equal(raceNote(hindi, 3, [{}]), "The run opens here, after 3 merges: 2 of them join bytes, since each character beyond ASCII is several.");
    assert.equal(raceNote({ ...run, opening_step: 0 }, 0, [{}]), "");
  });
});

suite("the last frame", () => {
  test("says what the merges that saved most saved together", () => {
    const { end, n_merges } = open("hug");
    const saved = end.savers.reduce((sum, [, n]) => sum + n, 0);
    assert.equal(savedSentences(end, n_merges).note, `They are the first ${end.savers.length}: ${saved} of the ${end.before - end.after} tokens saved, with ${end.savers.length} of ${n_merges} merges.`);
    const few = { before: 9, after: 4, savers: [[3, 4]] };
    assert.deepEqual(savedSentences(few, 4), { heading: "The merge that saved most", note: "4 of the 5 tokens saved, with 1 of 4 merges." });
    const ten = { before: 99, after: 4, savers: Array.from({ length: 10 }, (_, i) => [i + 1, 5]) };
    assert.deepEqual(savedSentences(ten, 40), { heading: "Ten merges that saved most", note: "50 of the 95 tokens saved, with 10 of 40 merges." });
  });
});

suite("the text for screen readers", () => {
  const run = open("hug");

  test("states the step and the next merge", () => {
    assert.match(spokenState(run, 0), /^0 of 10 merges\. Next: \S+ and \S+ become \S+; [0-9]+ times\.$/);
    const { before, after } = run.end;
    assert.equal(spokenState(run, 10), `10 of 10 merges. ${run.ending} ${before} tokens have become ${after}.`);
    assert.equal(spokenState({ ...run, end: undefined }, 10), `10 of 10 merges. ${run.ending}`);
    assert.equal(spokenQuestion(run, 3), "3 of 10 merges. Which pair comes next?");
  });

  test("names pairs and symbols", () => {
    assert.equal(spokenPair(run, { left: run.tokens.indexOf("u"), right: run.tokens.indexOf("g") }), "u, g");
    assert.equal(spokenSymbol(run, "🧩"), "🧩");
    assert.equal(spokenSymbol(run, run.tokens.indexOf("u")), "u");
  });
});

test("text tokens are truncated by characters, and byte tokens by bytes", () => {
  assert.equal(shortText("🧩🧩🧩", 3), "🧩🧩🧩");
  assert.equal(shortText("🧩🧩🧩🧩", 3), "🧩🧩…");
  assert.deepEqual(shortToken([1, 2, 3, 4], 3), [1, 2, 3]);
  assert.equal(shortToken("hug", 3), "hug");
});

test("the longer of two tokens gets the space that the shorter one leaves", () => {
  assert.deepEqual(roomFor(3, 30), [6, 10]);
  assert.deepEqual(roomFor(30, 30), [6, 6]);
  assert.deepEqual(roomFor(2, 4, 14), [10, 12]);
});
