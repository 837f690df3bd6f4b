// The engine of the browser in Node, and gpt-tokenizer: answers each line of JSON with one, for `browser.py`.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { Engine } from "../static_site/browser/engine/engine.js";
import serve from "../static_site/browser/engine/worker.js";

const [wasm, data, peer] = process.argv.slice(2);
const { port1, port2 } = new MessageChannel();
serve(port1);
port1.start();
const engine = await Engine.start(port2, readFileSync(wasm), JSON.parse(readFileSync(data, "utf-8")));
const theirs = peer ? await import(peer) : null;

const digest = (/** @type {ArrayLike<number>} */ numbers) => createHash("sha256").update(Int32Array.from(numbers)).digest("hex");

const tasks = {
  async train({ path, vocabSize }) {
    const documents = [new Uint8Array(readFileSync(path))];
    const started = performance.now();
    const run = await engine.train({ documents, vocabSize, cut: "gpt2" });
    return { seconds: (performance.now() - started) / 1000, result: digest(run.merges) };
  },
  async open({ path }) {
    const packed = new Uint8Array(readFileSync(path)).buffer;
    const started = performance.now();
    const { handle } = await engine.open({ packed });
    return { seconds: (performance.now() - started) / 1000, handle };
  },
  async encode({ path, handle }) {
    const text = readFileSync(path, "utf-8");
    const started = performance.now();
    const { ids, memory } = await engine.encode(handle, text);
    return { seconds: (performance.now() - started) / 1000, result: digest(ids), memory };
  },
  async close({ handle }) {
    await engine.close(handle);
    return {};
  },
  async peer({ path }) {
    const text = readFileSync(path, "utf-8");
    const started = performance.now();
    const ids = theirs.encode(text, { allowedSpecial: new Set(), disallowedSpecial: new Set() });
    return { seconds: (performance.now() - started) / 1000, result: digest(ids) };
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { task, ...given } = JSON.parse(line);
  console.log(JSON.stringify(await tasks[task](given)));
}
process.exit();
