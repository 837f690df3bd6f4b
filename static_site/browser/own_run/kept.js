// What the visitor trained here, kept in this browser until it is deleted.

/** @import { Run } from "../engine/training.js"
    @import { HeldOut } from "./own_text.js" */

/** @typedef {{ name: string, bytes: Uint8Array }} OwnDocument */

/** @typedef {object} Settings
    @property {number} vocabSize
    @property {string} cut
    @property {number} minFrequency */

/** @typedef {object} KeptRun
    @property {string} id Of the press that began the training.
    @property {string} title
    @property {Run} run
    @property {Ribbon} ribbon
    @property {HeldOut} heldOut
    @property {number} nHeldOut The tokens of the held-out text. */

/** The beginning of a text with its tokens, as the player's last frame draws them.
    @typedef {{ text: string, ids: number[], lengths: number[] }} Ribbon */

/** @typedef {{ id: string, documents: OwnDocument[], settings: Settings }} KeptText What was trained on last. */

const STORE = "kept";

/** @returns {Promise<IDBDatabase>} */
async function opened() {
  const asked = indexedDB.open(`bpe-explorer ${new URL("./", window.location.href).href}`, 1);
  asked.addEventListener("upgradeneeded", () => asked.result.createObjectStore(STORE));
  return finished(asked);
}

/** @template Result
    @param {IDBRequest<Result>} asked
    @returns {Promise<Result>} */
function finished(asked) {
  return new Promise((resolve, reject) => {
    asked.addEventListener("success", () => resolve(asked.result));
    asked.addEventListener("error", () => reject(asked.error));
  });
}

/** Wait until what was written stays, even if the tab is closed.
    @param {IDBTransaction} writing
    @returns {Promise<unknown>} */
function written(writing) {
  return new Promise((resolve, reject) => {
    writing.addEventListener("complete", resolve);
    writing.addEventListener("abort", () => reject(writing.error));
  });
}

/** Keep a run or a text; return whether this browser could.
    @param {{ run: KeptRun } | { text: KeptText }} what */
export async function keep(what) {
  const [[name, value]] = Object.entries(what);
  try {
    const database = await opened();
    const writing = database.transaction(STORE, "readwrite");
    writing.objectStore(STORE).put(value, name);
    await written(writing);
    database.close();
    return true;
  } catch {
    return false;
  }
}

/** @returns {Promise<KeptRun | undefined>} */
export function keptRun() {
  return read("run");
}

/** @returns {Promise<KeptText | undefined>} */
export function keptText() {
  return read("text");
}

/** @param {string} name
    @returns {Promise<any>} Undefined if there is none, or if this browser keeps nothing. */
async function read(name) {
  try {
    const database = await opened();
    const found = await finished(database.transaction(STORE).objectStore(STORE).get(name));
    database.close();
    return found;
  } catch {
    return undefined;
  }
}

/** Delete the run and its text. */
export async function forget() {
  const database = await opened().catch(() => undefined);
  if (!database) return; // This browser keeps nothing.
  const writing = database.transaction(STORE, "readwrite");
  writing.objectStore(STORE).clear();
  await written(writing);
  database.close();
}
