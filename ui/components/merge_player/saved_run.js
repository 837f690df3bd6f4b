// The player of a run that is saved as a whole, without Python behind it.

import { find } from "../shared/elements.js";
import mountPlayer from "./player.js";
import { unpackRun } from "./run.js";

/** @typedef {object} SavedRun
    @property {Uint8Array} run
    @property {Uint8Array} merges As one block.
    @property {number} step Where it opens.
    @property {string} text The visitor's own words, as typed,
    @property {(number | string)[][]} words and as split for the run.
    @property {boolean} [ownsPage] Whether there is nothing else on the page, as there is in a notebook. */

/** Draw the player into a root that has its HTML; return the function that ends it.
    @param {ShadowRoot} root
    @param {SavedRun} saved */
export function playSaved(root, { run, merges, step, text, words, ownsPage = false }) {
  const own = find(root, ".own-words input", HTMLInputElement);
  own.readOnly = true;
  if (!words.length) root.querySelector("input[value=yours]")?.closest("label")?.remove();
  const end = mountPlayer({ parentElement: root, data: run, step, ownsPage });
  own.value = text;
  for (const detail of [{ player: unpackRun(run).player, words, problem: "" }, merges]) {
    document.dispatchEvent(new CustomEvent("bpe-player-message", { detail }));
  }
  return end;
}
