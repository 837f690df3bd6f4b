// Starts the engine for a page, in a worker that is made of stored data: a page that was opened from a folder
// may load no other files.

import { connect } from "./engine/engine.js";
import { loadData } from "./stored_data.js";

/** Return the engine, ready to train and to encode. Throws an Error with a sentence if this browser cannot run it. */
export async function startEngine() {
  if (typeof WebAssembly === "undefined") {
    throw new Error("This browser has no WebAssembly, or it is switched off, so nothing can be computed here. Use a current browser, or the app.");
  }
  const [script, wasm, data] = await loadData("engine");
  const blocked = "This browser blocked the worker that computes here. Allow workers for this page, or use the app.";
  const address = URL.createObjectURL(new Blob([/** @type {BlobPart} */ (script)], { type: "text/javascript" }));
  /** @type {Worker} */
  let worker;
  try {
    worker = new Worker(address);
  } catch {
    throw new Error(blocked);
  }
  const failed = /** @type {Promise<never>} */ (new Promise((_, reject) => worker.addEventListener("error", () => reject(new Error(blocked)))));
  const started = connect(worker, /** @type {BufferSource} */ (wasm), JSON.parse(new TextDecoder().decode(data)));
  return Promise.race([failed, started]);
}
