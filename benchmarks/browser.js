// The engine of the browser, gpt-tokenizer and tokenizers.js, in Node or in a page: does what `browser.py` asks.

import { connect } from "../static_site/browser/engine/engine.js";
import serve from "../static_site/browser/engine/worker.js";

const IS_NODE = typeof process !== "undefined";
const PLAIN = { allowedSpecial: new Set(), disallowedSpecial: new Set() };

/** Return a function that does a task.
    @param {string} address Where the files of `browser.py` are.
    @param {string} packages Where npm's packages are. */
export async function begin(address, packages) {
  // A file that is written anew within a second would come from a browser's cache.
  const load = (/** @type {string} */ name) => fetch(`${address}/${name}`, { cache: "no-store" });
  const read = async (/** @type {string} */ name) => new Uint8Array(await (await load(name)).arrayBuffer());
  const readText = async (/** @type {string} */ name) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(await read(name));
  const engine = await connect(port(address), await read("kernels.wasm"), JSON.parse(await readText("data.json")));
  let text = "";
  /** @type {ArrayLike<number>} */
  let found = [];
  /** @type {Record<string, (text: string) => ArrayLike<number>>} */
  const peers = {};

  const tasks = {
    async train({ name, vocabSize }) {
      const documents = [await read(name)];
      const started = performance.now();
      found = (await engine.train({ documents, vocabSize, cut: "gpt2" })).merges;
      return { seconds: (performance.now() - started) / 1000 };
    },
    async open({ name }) {
      return engine.open({ packed: (await read(name)).buffer });
    },
    close: ({ handle }) => engine.close(handle),
    async openPeer({ peer, encoding, file }) {
      if (peer === "gpt-tokenizer") {
        const { encode } = await import(`${packages}/gpt-tokenizer/esm/encoding/${encoding}.js`);
        peers[peer] = (given) => encode(given, PLAIN);
      } else {
        const { Tokenizer } = await import(`${packages}/@huggingface/tokenizers/dist/tokenizers.mjs`);
        const tokenizer = new Tokenizer(JSON.parse(await readText(file)), {});
        peers[peer] = (given) => tokenizer.encode(given, { add_special_tokens: false }).ids;
      }
    },
    async read({ name }) {
      text = await readText(name);
    },
    async encode({ handle }) {
      const { ids, memory } = await engine.encode(handle, text);
      found = ids;
      return { memory };
    },
    encodeByPeer({ peer }) {
      found = peers[peer](text);
    },
    /** Return SHA-256 of what was found last, as hexadecimal digits. */
    async digest() {
      const bytes = await crypto.subtle.digest("SHA-256", Int32Array.from(found));
      return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");
    },
  };
  return async (/** @type {keyof typeof tasks} */ task, /** @type {any} */ given) => (await tasks[task](given)) ?? null;
}

/** @param {string} address */
function port(address) {
  if (!IS_NODE) return new globalThis.Worker(`${address}/repository/static_site/browser/engine_worker.js`, { type: "module" });
  const { port1, port2 } = new MessageChannel();
  serve(port1);
  port1.start();
  return port2;
}

if (IS_NODE) {
  // Each line of JSON is answered by one.
  const { createInterface } = await import("node:readline");
  const [address, packages] = process.argv.slice(2);
  const ask = await begin(address, packages);
  for await (const line of createInterface({ input: process.stdin })) console.log(JSON.stringify(await ask(...JSON.parse(line))));
  process.exit();
}
