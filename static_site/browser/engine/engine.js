// The engine for a page: it trains and encodes in a Web Worker, with the app's own kernels.
//
//   const engine = await connect(worker, wasm, data);   // a Worker of `worker.js`, the files of the engine
//   const run = await engine.train({ documents, vocabSize: 8000, cut: "gpt2" }, ({ stage, done, total }) => ...);
//   engine.cancel();                                  // the training then ends with the merges so far
//   const tokenizer = await engine.open({ run });     // or { json }, { packed }
//   const { ids } = await engine.encode(tokenizer.handle, "how much wood");
//
// The engine has a method for each of the tasks in `worker.js`, which describes them. Errors have a sentence for
// the visitor as their message. Bytes are moved, not copied: the documents given to `train` can no longer be used
// afterwards, so give copies of what is needed again. A run can be stored in IndexedDB as it is.

/** @import { EngineData } from "./cutting.js"
    @import { Tasks } from "./worker.js" */

/** @typedef {{ [Name in keyof Tasks]: (...given: Parameters<Tasks[Name]>) => Promise<Awaited<ReturnType<Tasks[Name]>>> }} Engine */

/** @typedef {{ resolve: (result: any) => void, reject: (error: Error) => void, onProgress: any }} Asked */

const STOPPED = "The computation stopped. Reload the page, or use less text.";

/** Return an engine that is ready.
    @param {Worker | MessagePort} port Where `serve` of `worker.js` answers.
    @param {BufferSource} wasm The kernels, `kernels.wasm`.
    @param {EngineData} data What `engine_data.py` wrote. */
export async function connect(port, wasm, data) {
  const engine = engineAt(port);
  await engine.start(wasm, data);
  return engine;
}

/** Return an engine that has not been started.
    @param {Worker | MessagePort} port
    @returns {Engine} */
export function engineAt(port) {
  let isStopped = false;
  let nAsked = 0;
  /** @type {Map<number, Asked>} */
  const waiting = new Map();
  port.addEventListener("message", (event) => {
    const { id, result, error, progress } = /** @type {MessageEvent} */ (event).data;
    const asked = waiting.get(id);
    if (progress) return asked?.onProgress?.(progress);
    waiting.delete(id);
    if (error === undefined) asked?.resolve(result);
    else asked?.reject(new Error(error));
  });
  port.addEventListener("error", () => {
    isStopped = true;
    for (const { reject } of waiting.values()) reject(new Error(STOPPED));
    waiting.clear();
  });
  if ("start" in port) port.start();

  /** @param {string} task
      @param {any[]} given Functions stay here: they are called with the progress of the task. */
  const ask = (task, given) => {
    if (isStopped) return Promise.reject(new Error(STOPPED));
    const id = (nAsked += 1);
    const [onProgress] = given.filter((each) => typeof each === "function");
    const sent = given.filter((each) => typeof each !== "function");
    const moved = new Set((sent[0]?.documents ?? []).map((/** @type {Uint8Array} */ { buffer }) => buffer));
    return new Promise((resolve, reject) => {
      waiting.set(id, { resolve, reject, onProgress });
      port.postMessage({ id, task, given: sent }, /** @type {Transferable[]} */ ([...moved]));
    });
  };
  // Without `then`, since a promise of the engine would take it for another promise.
  const methods = { get: (/** @type {object} */ _, /** @type {string} */ task) => (task === "then" ? undefined : (/** @type {any[]} */ ...given) => ask(task, given)) };
  return /** @type {Engine} */ (new Proxy({}, methods));
}
