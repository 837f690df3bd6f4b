// The ways on from the start page, which take the visitor's sentence or its language along.

import { withQuery, withSameFrame } from "./links.js";

/** @typedef {{ path: string, sentence: string, sample: string }} OpenedDoor */

/** @param {OpenedDoor} door */
export function openDoor({ path, sentence, sample }) {
  const address = withSameFrame(new URL(path, window.location.href).href, window.location.search);
  /** @type {Record<string, Record<string, string>>} */
  const queries = { "token-boundaries.html": { text: sentence }, "merge-loop.html": { run: sample } };
  window.location.href = withQuery(address, queries[path] ?? {});
}
