// The engine in a Web Worker: it does the tasks that `engine.js` asks for.

import { TokenPacker } from "../pack_tokens.js";
import { Cut } from "./cutting.js";
import { Encoder } from "./encoding.js";
import { Memory } from "./memory.js";
import { packMerges, packRun } from "./replay.js";
import { readTokenizerJson, tableOfRun, unpackTokenizer, writeTokenizerJson } from "./tokenizer_file.js";
import { train } from "./training.js";

/** @import { EngineData } from "./cutting.js"
    @import { Replay } from "./replay.js"
    @import { Progress, Run, TrainingOptions } from "./training.js" */

/** @typedef {ReturnType<typeof makeTasks>} Tasks What a page can ask for. */

/** Return the tasks of one engine; `start` comes first. */
function makeTasks() {
  /** @type {{ module: WebAssembly.Module, data: EngineData }} */
  let engine;
  /** @type {Map<number, { encoder: Encoder, memory: Memory, packer: TokenPacker }>} */
  const tokenizers = new Map();
  let nOpened = 0;
  let isCancelled = false;

  /** @param {number} handle */
  const find = (handle) => {
    const found = tokenizers.get(handle);
    if (!found) throw new Error("The tokenizer is closed.");
    return found;
  };

  return {
    /** @param {BufferSource} wasm
        @param {EngineData} data */
    async start(wasm, data) {
      engine = { module: await WebAssembly.compile(wasm), data };
    },
    /** Train a tokenizer; `onProgress` is called about every 20 ms.
        @param {TrainingOptions} options
        @param {(progress: Progress) => void} [onProgress] */
    async train(options, onProgress = () => {}) {
      isCancelled = false;
      return train(new Memory(engine.module), engine.data, options, onProgress, async () => {
        await otherMessages();
        return isCancelled;
      });
    },
    /** End the training that is running with the merges so far. */
    cancel() {
      isCancelled = true;
    },
    /** Open a tokenizer: the text of a tokenizer.json, what `packed_tokenizer` in `engine_data.py` wrote, or a run.
        @param {{ json?: string, packed?: ArrayBuffer, run?: Run }} given */
    open({ json = "", packed, run }) {
      const memory = new Memory(engine.module);
      const table = run ? tableOfRun(run) : packed ? unpackTokenizer(memory, packed) : readTokenizerJson(json, engine.data);
      const encoder = new Encoder(memory, engine.data, new Cut(memory, engine.data, table.cut), table);
      const handle = (nOpened += 1);
      tokenizers.set(handle, { encoder, memory, packer: new TokenPacker(table) });
      const { starts } = table.tokens;
      const vocabSize = starts.reduce((n, start, id) => n + Number(start < starts[id + 1]), 0);
      return { handle, cut: table.cut, vocabSize, special: table.special };
    },
    /** Return the ids of a text, and the bytes of memory that the tokenizer takes now.
        @param {number} handle
        @param {string} text */
    encode(handle, text) {
      const { encoder, memory } = find(handle);
      return { ids: encoder.encode(text), memory: memory.size };
    },
    /** Return the tokens of a text and where they are in it.
        @param {number} handle
        @param {string} text */
    place(handle, text) {
      return find(handle).encoder.place(text);
    },
    /** Return the tokens of a text, packed for the token view, and the text that they are of (see `Encoded`).
        @param {number} handle
        @param {string} text */
    show(handle, text) {
      const { encoder, packer } = find(handle);
      const placed = encoder.place(text);
      return { text: placed.text, ...packer.pack(placed) };
    },
    /** Return how many tokens each of some texts has.
        @param {number} handle
        @param {string[]} texts */
    count(handle, texts) {
      const { encoder } = find(handle);
      return Float64Array.from(texts, (text) => encoder.encode(text).length);
    },
    /** Free a tokenizer's memory.
        @param {number} handle */
    close(handle) {
      tokenizers.delete(handle);
    },
    /** @param {Run} run
        @param {Replay} more */
    packRun: (run, more) => packRun(new Memory(engine.module), engine.data, run, more),
    /** @param {Run} run
        @param {number} start
        @param {number} stop
        @param {string} player */
    packMerges: (run, start, stop, player) => packMerges(new Memory(engine.module), engine.data, run, start, stop, player),
    /** Return the file that the app would write.
        @param {Run} run */
    tokenizerJson(run) {
      return writeTokenizerJson(run, engine.data);
    },
  };
}

/** Answer the messages that arrive at a port.
    @param {{ addEventListener: any, postMessage: any }} port */
export default function serve(port) {
  /** @type {Record<string, (...given: any[]) => unknown>} */
  const tasks = makeTasks();
  port.addEventListener("message", async (/** @type {MessageEvent} */ { data: { id, task, given } }) => {
    try {
      const result = await tasks[task](...given, (/** @type {unknown} */ progress) => port.postMessage({ id, progress }));
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
