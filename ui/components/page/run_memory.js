// Keep the ids of the visitor's runs and corpus in the browser's storage, and the keys of the runs trained
// here. Send the server those it does not know: after a reload, or in another tab. If storage is blocked,
// nothing is kept.

import { askUntilAnswered } from "../shared/asking.js";
import { onLeaving } from "../shared/leaving.js";

/** @import { Component } from "../shared/component.js" */

/** `runs` are the ids that the server knows, `forgotten` those of runs that it no longer has. `corpus` is
    the corpus given last, empty for none, and null if the server does not know. `keys` are those that it
    knows.
    @typedef {{ runs: string[], forgotten: string[], most: number, keys: string[], most_keys: number,
      corpus: string | null }} Data */

const KEY = "bpe-explorer.runs";
const KEYS_KEY = "bpe-explorer.keys";
const CORPUS_KEY = "bpe-explorer.corpus";
const ID = /^[0-9a-f]{32}$/;
const MILLISECONDS_UNTIL_ASKED_AGAIN = [1500, 6000, 20_000];

/** @type {WeakMap<ShadowRoot, () => void>} */
const stops = new WeakMap();

/** @param {Component<Data>} component */
export default function mountRunMemory({ data, parentElement, setStateValue }) {
  const forgotten = new Set(data.forgotten);
  const runs = keepLatest(KEY, data.runs, data.most, (id) => !forgotten.has(id));
  const keys = keepLatest(KEYS_KEY, data.keys, data.most_keys);
  if (data.corpus !== null) keep(CORPUS_KEY, data.corpus);
  const corpus = data.corpus === null ? read(CORPUS_KEY) : "";
  const stop = () => stops.get(parentElement)?.();
  stop();
  const ids = runs.filter((id) => !data.runs.includes(id));
  const unknownKeys = keys.filter((key) => !data.keys.includes(key));
  // The answer is new data, which names each id as a run or as forgotten. No answer comes if
  // Streamlit sends this question together with another component's and redraws only that part of
  // the page, so it is asked again. It is a state, because a trigger can be lost while a page is
  // drawn (streamlit issue 16732), and has the time, because a new session ignores an old state.
  const ask = () => setStateValue("found", { ids, keys: unknownKeys, corpus, asked_at: Date.now() });
  if (ids.length > 0 || unknownKeys.length > 0 || corpus) {
    stops.set(parentElement, askUntilAnswered(ask, MILLISECONDS_UNTIL_ASKED_AGAIN));
  }
  return onLeaving(parentElement, stop);
}

/** Put the ids that the server knows before those in the storage, keep the first of all, and return them.
    @param {string} key
    @param {string[]} known
    @param {number} most
    @param {(id: string) => boolean} [isWanted] */
function keepLatest(key, known, most, isWanted = () => true) {
  const latest = [...new Set([...known, ...kept(key)])].filter(isWanted).slice(0, most);
  keep(key, latest.length > 0 ? JSON.stringify(latest) : "");
  return latest;
}

/** Return the ids in the storage; other pages of this origin may have written anything there.
    @param {string} key
    @returns {string[]} */
function kept(key) {
  try {
    const found = JSON.parse(read(key) || "[]");
    return Array.isArray(found) ? found.filter((id) => typeof id === "string" && ID.test(id)) : [];
  } catch {
    return [];
  }
}

/** @param {string} key */
function read(key) {
  try {
    return localStorage.getItem(key) ?? "";
  } catch {
    return "";
  }
}

/** @param {string} key
    @param {string} text */
function keep(key, text) {
  try {
    if (text === "") localStorage.removeItem(key);
    else if (text !== localStorage.getItem(key)) localStorage.setItem(key, text);
  } catch {
    // Blocked or full: the list lasts only as long as the page.
  }
}
