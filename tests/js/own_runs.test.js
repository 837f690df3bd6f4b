// What the site makes of a run that was trained there, of texts and of figures is what the app makes of them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { engineAt } from "../../static_site/browser/engine/engine.js";
import serve from "../../static_site/browser/engine/worker.js";
import { blockStarts, openingStep, stopSentence } from "../../static_site/browser/own_run/replaying.js";
import { divide, neededMemory, readText } from "../../static_site/browser/own_run/own_text.js";
import { byHeartSentence, findInterval, judge, methodSentence, resultSentence, rivalRow } from "../../static_site/browser/own_run/verdict_words.js";
import { decodeBase64, engineInNode, fromOwnRuns, wasmKernels } from "./python.js";

const { data, runs, verdicts, files } = fromOwnRuns();
const wasm = wasmKernels();
const engine = await engineInNode(data, wasm);

/** @returns A run as the engine returns it. */
function asRun({ letters, wordCounts, merges, counts, tokensAfter, joinedAt, ...rest }) {
  return {
    ...rest,
    merges: Int32Array.from(merges),
    counts: Float64Array.from(counts),
    tokensAfter: Float64Array.from(tokensAfter),
    joinedAt: Int32Array.from(joinedAt),
    words: { letters: decodeBase64(letters), counts: Float64Array.from(wordCounts) },
  };
}

/** @returns A message's header, and its bytes after the header. */
function opened(message) {
  const size = new DataView(message.buffer, message.byteOffset).getUint32(0, true);
  return [JSON.parse(new TextDecoder().decode(message.subarray(4, 4 + size))), Buffer.from(message.subarray(4 + size))];
}

test("runs are packed byte for byte as the app packs them", async () => {
  for (const { run, ribbon, player } of runs) {
    const made = asRun(run);
    const opening = await openingStep(made, (start, stop) => engine.packMerges(made, start, stop, "own"));
    const more = { player: "own", opening, starts: blockStarts(made), ending: stopSentence(made), end: { ribbon } };
    assert.deepEqual(opened(await engine.packRun(made, more)), opened(decodeBase64(player)));
  }
  const [header] = opened(decodeBase64(runs.at(-1).player));
  assert.ok(header.block_starts.length > 3);
});

test("a run's sentences are the app's", () => {
  for (const { run, result, byHeart } of runs) {
    const made = asRun(run);
    assert.equal(resultSentence(made), result);
    for (const [gap, sentence] of byHeart) assert.equal(byHeartSentence(made.counts, gap), sentence);
  }
});

test("verdicts have the app's figures and words", () => {
  const sentences = new Set();
  for (const { own, other, heldOut, counts, interval: ends, sentence, remedy, row } of verdicts) {
    const interval = ends && { low: ends[0], high: ends[1] };
    const found = judge(own, other, heldOut, interval);
    assert.deepEqual(found.sentence, sentence);
    if (remedy) assert.equal(found.aside, remedy);
    assert.deepEqual(rivalRow(own, other, 1, interval), { ...row, facts: "Byte-level BPE, encoded in this tab." });
    sentences.add(sentence.map(([text]) => text).join(""));
    const drawn = findInterval(...counts);
    assert.equal(drawn === null, ends === null);
    if (!drawn) continue;
    // The app draws with other random numbers.
    const near = Math.max(0.1 * (ends[1] - ends[0]), 1e-9);
    assert.ok(Math.abs(drawn.low - ends[0]) <= near && Math.abs(drawn.high - ends[1]) <= near, `${drawn.low} to ${drawn.high}, not ${ends}`);
  }
  const all = [...sentences].join("\n");
  for (const words of ["about as many tokens as", "95% interval from", "95% interval 1", "as many tokens as"]) assert.ok(all.includes(words), words);
  assert.ok(sentences.size > 30);
});

test("how sure a verdict is has a sentence", () => {
  const [ends, few, many] = [["ends", 30], ["documents", 3], ["documents", 20]].map(([how, nDocuments]) => ({ how, nDocuments }));
  assert.match(methodSentence(null, ends), /^No interval: it takes 20 documents that were held out whole\. /);
  assert.match(methodSentence(null, few), /^No interval: it takes 20 documents, and 3 were held out\. /);
  assert.match(methodSentence({ low: 1, high: 2 }, many), /^95% intervals over whole documents, 2,000 resamples\. /);
  assert.equal(findInterval(Array(19).fill(1), Array(19).fill(2)), null);
  assert.equal(findInterval([...Array(19).fill(1), 0], [...Array(19).fill(2), 0]), null);
  assert.deepEqual(findInterval(Array(3_000).fill(1), Array(3_000).fill(2)), { low: 50, high: 50 });
});

test("files are read as the app reads them, or refused in its words", () => {
  for (const { bytes, text, remark, error } of files) {
    const read = () => readText(decodeBase64(bytes), "a.txt");
    if (error) {
      assert.throws(read, { message: error });
      continue;
    }
    assert.equal(new TextDecoder("utf-8", { ignoreBOM: true }).decode(read().bytes), text);
    assert.equal(read().remark, remark);
  }
});

test("about 8 % of a text is held out, at a line or a word, and whole documents of many", () => {
  const documents = (...texts) => texts.map((text, i) => ({ name: `${i}.txt`, bytes: new TextEncoder().encode(text) }));
  const lines = Array.from({ length: 200 }, (_, i) => `${i} né 日本\n`).join("");
  const decode = (parts) => parts.map((part) => new TextDecoder().decode(part));
  const one = divide(documents(lines));
  assert.equal(decode(one.training)[0] + one.heldOut.texts[0], lines);
  assert.ok(one.heldOut.texts[0].startsWith("184 "), one.heldOut.texts[0].slice(0, 20));
  const words = "größere Wörter ".repeat(50);
  const other = divide(documents(words));
  assert.equal(decode(other.training)[0] + other.heldOut.texts[0], words);
  assert.ok(other.heldOut.texts[0].startsWith(" "));
  assert.deepEqual(divide(documents("a".repeat(900), "short")).heldOut, { texts: [], nBytes: 0, how: "", nDocuments: 0 });
  const many = divide(documents(...Array.from({ length: 50 }, (_, i) => `document ${i}\n`.repeat(20))));
  assert.deepEqual([many.heldOut.how, many.heldOut.nDocuments, many.training.length], ["documents", 4, 46]);
});

test("the memory that a text needs is not less than a tab took", () => {
  for (const [megabytes, taken] of [[1, 105], [10, 161], [30, 167]]) {
    const { needed, isMuch } = neededMemory(megabytes * 1e6);
    assert.ok(needed >= taken * 1e6 && !isMuch);
  }
  assert.ok(neededMemory(50e6).isMuch);
});

test("a computation that stops tells what waits for it, and what asks later", async () => {
  const worker = Object.assign(new EventTarget(), { postMessage() {} });
  const engine = engineAt(worker);
  const waiting = [engine.encode(1, "hug"), engine.count(1, ["hug"])];
  worker.dispatchEvent(new Event("error"));
  for (const asked of [...waiting, engine.encode(1, "hug")]) await assert.rejects(asked, /The computation stopped/);
});

test("the messages of a run are moved to the page", async () => {
  const run = asRun(runs[0].run);
  const port = new EventTarget();
  const ask = (task, ...given) =>
    new Promise((resolve) => {
      port.postMessage = (...answer) => resolve(answer);
      port.dispatchEvent(new MessageEvent("message", { data: { id: 1, task, given } }));
    });
  serve(port);
  await ask("start", wasm, JSON.parse(data));
  const [{ result }, moved] = await ask("packMerges", run, 0, 1, "own");
  assert.ok(moved.length === 1 && moved[0] === result.buffer);
});
