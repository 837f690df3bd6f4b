// Starts the engine for a page, in a worker that is made of stored data: a page that was opened from a folder
// may load no other files.

import { Engine } from "./engine/engine.js";
import { loadData } from "./stored_data.js";

/** Return the engine, ready to train and to encode. Throws an Error with a sentence if this browser cannot run it. */
export async function startEngine() {
  if (typeof WebAssembly === "undefined") {
    throw new Error("This browser has no WebAssembly, or it is switched off, so nothing can be computed here. Use a current browser, or the app.");
  }
  const { worker, wasm, data, failed } = await loadWorker();
  return Promise.race([Engine.start(worker, wasm, JSON.parse(new TextDecoder().decode(data))), failed]);
}

/** Return the engine as far as it needs no kernels: to replay runs. */
export async function startReplay() {
  const { worker } = await loadWorker();
  return new Engine(worker);
}

async function loadWorker() {
  const [script, wasm, data] = await loadData("engine");
  const blocked = "This browser blocked the worker that computes here. Allow workers for this page, or use the app.";
  const address = URL.createObjectURL(new Blob([/** @type {BlobPart} */ (script)], { type: "text/javascript" }));
  try {
    const worker = new Worker(address);
    /** @type {Promise<never>} */
    const failed = new Promise((_, reject) => worker.addEventListener("error", () => reject(new Error(blocked))));
    failed.catch(() => {});
    return { worker, wasm: /** @type {BufferSource} */ (wasm), data, failed };
  } catch {
    throw new Error(blocked);
  }
}
