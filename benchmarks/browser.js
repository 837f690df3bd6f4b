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

/** Return what a function returns, the seconds it took, and those of all processors. */
async function measured(work) {
  const [started, before] = [performance.now(), process.cpuUsage()];
  const found = await work();
  const { user, system } = process.cpuUsage(before);
  return { found, seconds: (performance.now() - started) / 1000, processor: (user + system) / 1e6 };
}

const tasks = {
  async train({ path, vocabSize }) {
    const documents = [new Uint8Array(readFileSync(path))];
    const { found, ...taken } = await measured(() => engine.train({ documents, vocabSize, cut: "gpt2" }));
    return { ...taken, result: digest(found.merges) };
  },
  async open({ path }) {
    const packed = new Uint8Array(readFileSync(path)).buffer;
    const { found, ...taken } = await measured(() => engine.open({ packed }));
    return { ...taken, handle: found.handle };
  },
  async encode({ path, handle }) {
    const text = readFileSync(path, "utf-8");
    const { found, ...taken } = await measured(() => engine.encode(handle, text));
    return { ...taken, result: digest(found.ids), memory: found.memory };
  },
  async close({ handle }) {
    await engine.close(handle);
    return {};
  },
  async peer({ path }) {
    const text = readFileSync(path, "utf-8");
    const nothing = { allowedSpecial: new Set(), disallowedSpecial: new Set() };
    const { found, ...taken } = await measured(() => theirs.encode(text, nothing));
    return { ...taken, result: digest(found) };
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { task, ...given } = JSON.parse(line);
  console.log(JSON.stringify(await tasks[task](given)));
}
process.exit();
