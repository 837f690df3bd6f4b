// The engine in a Web Worker: it answers the messages of `engine.js`.

import { TokenPacker } from "../pack_tokens.js";
import { Cut } from "./cutting.js";
import { Encoder } from "./encoding.js";
import { Memory } from "./memory.js";
import { packMerges, packRun } from "./replay.js";
import { readTokenizerJson, tableOfRun, unpackTokenizer, writeTokenizerJson } from "./tokenizer_file.js";
import { train } from "./training.js";

/** @import { EngineData } from "./cutting.js" */

/** Answer the messages that arrive at a port. The first brings the compiled kernels and the tables of cuts.
    @param {{ addEventListener: any, postMessage: any }} port */
export default function serve(port) {
  /** @type {{ module: WebAssembly.Module, data: EngineData }} */
  let engine;
  /** @type {Map<number, { encoder: Encoder, memory: Memory, packer: TokenPacker }>} */
  const tokenizers = new Map();
  let isCancelled = false;

  /** @type {Record<string, (given: any, id: number) => unknown>} */
  const tasks = {
    async start({ wasm, data }) {
      engine = { module: await WebAssembly.compile(wasm), data };
    },
    async train(options, id) {
      isCancelled = false;
      const onProgress = (/** @type {unknown} */ progress) => port.postMessage({ id, progress });
      const run = await train(new Memory(engine.module), engine.data, options, onProgress, async () => {
        await otherMessages();
        return isCancelled;
      });
      return run;
    },
    cancel() {
      isCancelled = true;
    },
    open({ json, packed, run }, id) {
      const table = run ? tableOfRun(run) : packed ? unpackTokenizer(packed) : readTokenizerJson(json, engine.data);
      const memory = new Memory(engine.module);
      const encoder = new Encoder(memory, engine.data, new Cut(memory, engine.data, table.cut), table);
      tokenizers.set(id, { encoder, memory, packer: new TokenPacker(table) });
      const { starts } = table.tokens;
      const vocabSize = starts.reduce((n, start, id) => n + Number(start < starts[id + 1]), 0);
      return { handle: id, memory: memory.size, cut: table.cut, vocabSize, special: table.special };
    },
    encode({ handle, text }) {
      const { encoder, memory } = find(handle);
      return { ids: encoder.encode(text), memory: memory.size };
    },
    place({ handle, text }) {
      return find(handle).encoder.place(text);
    },
    show({ handle, text }) {
      const { encoder, packer } = find(handle);
      const placed = encoder.place(text);
      return { text: placed.text, ...packer.pack(placed) };
    },
    count({ handle, texts }) {
      const { encoder } = find(handle);
      return Float64Array.from(texts, (/** @type {string} */ text) => encoder.encode(text).length);
    },
    close({ handle }) {
      tokenizers.delete(handle);
    },
    packRun({ run, more }) {
      return packRun(run, more);
    },
    packMerges({ run, start, stop, player }) {
      return packMerges(run, start, stop, player);
    },
    write({ run }) {
      return writeTokenizerJson(run, engine.data);
    },
  };

  /** @param {number} handle */
  function find(handle) {
    const found = tokenizers.get(handle);
    if (!found) throw new Error("The tokenizer is closed.");
    return found;
  }

  port.addEventListener("message", async (/** @type {MessageEvent} */ { data: { id, task, given } }) => {
    try {
      const result = await tasks[task](given, id);
      port.postMessage({ id, result }, transferable(result));
    } catch (error) {
      port.postMessage({ id, error: String(/** @type {Error} */ (error).message) });
    }
  });
}

/** Let messages that have arrived be answered. */
function otherMessages() {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve(undefined);
    };
    port2.postMessage(null);
  });
}

/** Return the buffers of the large arrays in a result, which then are moved rather than copied.
    @param {any} result
    @returns {ArrayBuffer[]} */
function transferable(result) {
  if (ArrayBuffer.isView(result)) return [/** @type {ArrayBuffer} */ (result.buffer)];
  const values = result && typeof result === "object" ? Object.values(result) : [];
  const nested = values.flatMap((value) => (ArrayBuffer.isView(value) ? [value] : value?.letters ? [value.letters, value.counts ?? value.starts] : []));
  return nested.map(({ buffer }) => /** @type {ArrayBuffer} */ (buffer));
}
