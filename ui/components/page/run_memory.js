// Keep the ids of the visitor's runs and corpus in the browser's storage, and send the server those it
// does not know: after a reload, or in another tab. If storage is blocked, nothing is kept.

import { askUntilAnswered } from "../shared/asking.js";
import { onLeaving } from "../shared/leaving.js";

/** @import { Component } from "../shared/component.js" */

/** `runs` are the ids that the server knows, `forgotten` those of runs that it no longer has. `corpus` is
    the corpus given last, empty for none, and null if the server does not know.
    @typedef {{ runs: string[], forgotten: string[], most: number, corpus: string | null }} Data */

const KEY = "bpe-explorer.runs";
const CORPUS_KEY = "bpe-explorer.corpus";
const ID = /^[0-9a-f]{32}$/;
const MILLISECONDS_UNTIL_ASKED_AGAIN = [1500, 6000, 20_000];

/** @type {WeakMap<ShadowRoot, () => void>} */
const stops = new WeakMap();

/** @param {Component<Data>} component */
export default function mountRunMemory({ data, parentElement, setStateValue }) {
  const forgotten = new Set(data.forgotten);
  const ids = [...new Set([...data.runs, ...kept()])].filter((id) => !forgotten.has(id));
  const latest = ids.slice(0, data.most);
  keep(KEY, latest.length > 0 ? JSON.stringify(latest) : "");
  if (data.corpus !== null) keep(CORPUS_KEY, data.corpus);
  const corpus = data.corpus === null ? read(CORPUS_KEY) : "";
  const stop = () => stops.get(parentElement)?.();
  stop();
  const unknown = latest.filter((id) => !data.runs.includes(id));
  // The answer is new data, which names each id as a run or as forgotten. No answer comes if
  // Streamlit sends this question together with another component's and redraws only that part of
  // the page, so it is asked again. It is a state, because a trigger can be lost while a page is
  // drawn (streamlit issue 16732), and has the time, because a new session ignores an old state.
  const ask = () => setStateValue("found", { ids: unknown, corpus, asked_at: Date.now() });
  if (unknown.length > 0 || corpus) {
    stops.set(parentElement, askUntilAnswered(ask, MILLISECONDS_UNTIL_ASKED_AGAIN));
  }
  return onLeaving(parentElement, stop);
}

/** Return the ids in the storage; other pages of this origin may have written anything there.
    @returns {string[]} */
function kept() {
  try {
    const found = JSON.parse(read(KEY) || "[]");
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
