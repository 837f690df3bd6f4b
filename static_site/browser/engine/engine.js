// The engine for a page: it trains and encodes in a Web Worker, with the app's own kernels.
//
//   const engine = await Engine.start(worker, wasm, data);   // a Worker of `worker.js`, the files of the engine
//   const run = await engine.train({ documents, vocabSize: 8000, cut: "gpt2" }, ({ stage, done, total }) => ...);
//   engine.cancel();                                  // the training then ends with the merges so far
//   const tokenizer = await engine.open({ run });     // or { json }, { packed }
//   const { ids } = await engine.encode(tokenizer.handle, "how much wood");
//   const { lengths, ends, startsWord } = await engine.place(tokenizer.handle, "how much wood");
//   await engine.tokenizerJson(run);                  // the file that the app would write
//   await engine.packRun(run, { player, opening, starts, ending });   // what the merge player is given
//   await engine.packMerges(run, 0, 5000, player);
//
// What these take and return is described in `training.js` (TrainingOptions, Progress, Run) and in
// `encoding.js` (Encoded). Errors have a sentence for the visitor as their message. Bytes are moved, not
// copied: the documents given to `train` can no longer be used afterwards, so give copies of what is needed
// again. A run can be stored in IndexedDB as it is.

/** @import { Encoded } from "./encoding.js"
    @import { EngineData } from "./cutting.js"
    @import { Replay } from "./replay.js"
    @import { Table } from "./tokenizer_file.js"
    @import { Progress, Run, TrainingOptions } from "./training.js"
    @import { ShownTokens } from "../pack_tokens.js" */

/** @typedef {{ handle: number, memory: number, vocabSize: number } & Pick<Table, "cut" | "special">} Opened A
    tokenizer in the engine: its number there, the bytes of memory it takes, how many tokens it has, the name of its
    cut, and its special tokens with their ids. */

const STOPPED = "The computation stopped. Reload the page, or use less text.";

export class Engine {
  #port;
  #isStopped = false;
  #nAsked = 0;
  /** @type {Map<number, { resolve: (result: any) => void, reject: (error: Error) => void, onProgress?: (progress: Progress) => void }>} */
  #waiting = new Map();

  /** @param {Worker | MessagePort} port Where `serve` of `worker.js` answers. */
  constructor(port) {
    this.#port = port;
    port.addEventListener("message", (event) => {
      const { id, result, error, progress } = /** @type {MessageEvent} */ (event).data;
      const asked = this.#waiting.get(id);
      if (progress) {
        asked?.onProgress?.(progress);
        return;
      }
      this.#waiting.delete(id);
      if (error === undefined) asked?.resolve(result);
      else asked?.reject(new Error(error));
    });
    port.addEventListener("error", () => {
      this.#isStopped = true;
      for (const { reject } of this.#waiting.values()) reject(new Error(STOPPED));
      this.#waiting.clear();
    });
    if ("start" in port) port.start();
  }

  /** Return an engine that is ready.
      @param {Worker | MessagePort} port
      @param {BufferSource} wasm The kernels, `kernels.wasm`.
      @param {EngineData} data What `engine_data.py` wrote. */
  static async start(port, wasm, data) {
    const engine = new Engine(port);
    await engine.#ask("start", { wasm, data });
    return engine;
  }

  /** @param {string} task
      @param {unknown} given
      @param {{ moved?: Transferable[], onProgress?: (progress: Progress) => void }} [more]
      @returns {Promise<any>} */
  #ask(task, given, { moved = [], onProgress } = {}) {
    if (this.#isStopped) return Promise.reject(new Error(STOPPED));
    const id = (this.#nAsked += 1);
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject, onProgress });
      this.#port.postMessage({ id, task, given }, moved);
    });
  }

  /** Train a tokenizer; `onProgress` is called about every 20 ms.
      @param {TrainingOptions} options
      @param {(progress: Progress) => void} [onProgress]
      @returns {Promise<Run>} */
  train(options, onProgress) {
    const moved = options.documents.map(({ buffer }) => /** @type {ArrayBuffer} */ (buffer));
    return this.#ask("train", options, { moved: [...new Set(moved)], onProgress });
  }

  /** End the training that is running with the merges so far. */
  cancel() {
    return this.#ask("cancel", null);
  }

  /** Open a tokenizer: the text of a tokenizer.json, what `packed_tokenizer` in `engine_data.py` wrote, or a run.
      @param {{ json: string } | { packed: ArrayBuffer } | { run: Run }} given
      @returns {Promise<Opened>} */
  open(given) {
    return this.#ask("open", given);
  }

  /** Return the ids of a text, and the bytes of memory that the tokenizer takes now.
      @param {number} handle
      @param {string} text
      @returns {Promise<{ ids: Int32Array, memory: number }>} */
  encode(handle, text) {
    return this.#ask("encode", { handle, text });
  }

  /** Return the tokens of a text and where they are in it.
      @param {number} handle
      @param {string} text
      @returns {Promise<Encoded>} */
  place(handle, text) {
    return this.#ask("place", { handle, text });
  }

  /** Return the tokens of a text, packed for the token view, and the text that they are of (see `Encoded`).
      @param {number} handle
      @param {string} text
      @returns {Promise<ShownTokens & Pick<Encoded, "text">>} */
  show(handle, text) {
    return this.#ask("show", { handle, text });
  }

  /** Return how many tokens each of some texts has.
      @param {number} handle
      @param {string[]} texts
      @returns {Promise<Float64Array>} */
  count(handle, texts) {
    return this.#ask("count", { handle, texts });
  }

  /** Free a tokenizer's memory.
      @param {number} handle
      @returns {Promise<void>} */
  close(handle) {
    return this.#ask("close", { handle });
  }

  /** Return the message of a run with which the merge player begins.
      @param {Run} run
      @param {Replay} more
      @returns {Promise<Uint8Array>} */
  packRun(run, more) {
    return this.#ask("packRun", { run, more });
  }

  /** Return the message of the merges start ... stop - 1, for the merge player.
      @param {Run} run Whose ties went to the smallest pair.
      @param {number} start
      @param {number} stop
      @param {string} player
      @returns {Promise<Uint8Array>} */
  packMerges(run, start, stop, player) {
    return this.#ask("packMerges", { run, start, stop, player });
  }

  /** Return the tokenizer.json of a run.
      @param {Run} run
      @returns {Promise<string>} */
  tokenizerJson(run) {
    return this.#ask("write", { run });
  }
}
