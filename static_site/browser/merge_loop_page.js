// The merge loop of a recorded run, or of the visitor's own. This page answers the player as Python does in the app.

import mountPlayer from "../../ui/components/merge_player/player.js";
import { stepOfAddress } from "../../ui/components/merge_player/address.js";
import { blockNumber, unpackRun } from "../../ui/components/merge_player/run.js";
import { find } from "../../ui/components/shared/elements.js";
import { halfCharacter } from "../../ui/components/shared/characters.js";
import { keptRun } from "./own_run/kept.js";
import { blockStarts, openingStep, stopSentence } from "./own_run/replaying.js";
import { ownWords } from "./own_words.js";
import { startFrame } from "./page_frame.js";
import { draw, nextTask } from "./stage.js";
import { startReplay } from "./start_engine.js";
import { loadData } from "./stored_data.js";

/** @import { KeptRun } from "./own_run/kept.js" */

/** A run for the player: its first message, and what returns the messages of its blocks.
    @typedef {{ message: Uint8Array, merges: (start: number, stop: number) => Promise<Uint8Array> }} Played */

const OWN = "own";
const host = find(document, "[data-component]", HTMLElement);
const asked = new URLSearchParams(window.location.search).get("run");
const choices = /** @type {HTMLAnchorElement[]} */ ([...document.querySelectorAll("#runs a")]);

async function start() {
  const kept = await keptRun();
  if (asked === OWN && !kept) tell("No run of yours is kept in this browser: it was deleted, or trained in another one. Train again, or watch a recorded one.");
  const link = choices.find(({ dataset }) => dataset.run === OWN);
  if (link && kept) {
    link.hidden = false;
    link.dataset.about = kept.title;
  }
  const chosen = choices.find(({ dataset, hidden }) => dataset.run === asked && !hidden) ?? choices[0];
  chosen.setAttribute("aria-current", "true");
  find(document, "#about-run", HTMLElement).textContent = chosen.dataset.about ?? "";
  const run = chosen.dataset.run ?? "";
  const [played, [pattern]] = await Promise.all([
    run === OWN && kept ? replayed(kept) : recorded(run),
    loadData("gpt2-pattern"),
  ]);
  await play(played, pattern);
}

/** @param {string} run
    @returns {Promise<Played>} */
async function recorded(run) {
  const [message, merges] = await loadData(`run-${run}`);
  return { message, merges: async () => merges };
}

/** @param {KeptRun} kept
    @returns {Promise<Played>} */
async function replayed({ run, ribbon }) {
  const engine = await startReplay();
  const merges = (/** @type {number} */ start, /** @type {number} */ stop) => engine.packMerges(run, start, stop, OWN);
  const opening = await openingStep(run, merges);
  const more = { player: OWN, opening, starts: blockStarts(run), ending: stopSentence(run), end: { ribbon } };
  return { message: await engine.packRun(run, more), merges };
}

/** @param {Played} played
    @param {Uint8Array} pattern */
async function play({ message: data, merges }, pattern) {
  const unpacked = unpackRun(data, { isSaved: false });
  const cut = new RegExp(new TextDecoder().decode(pattern), "gu");
  const send = (/** @type {unknown} */ detail) => document.dispatchEvent(new CustomEvent("bpe-player-message", { detail }));
  const sendWords = (/** @type {string} */ text) => {
    const half = halfCharacter(text);
    const words = half ? [] : ownWords(text, unpacked, cut);
    send({ player: unpacked.player, words, problem: half && `${half}, which UTF-8 cannot encode.` });
  };
  const { block_starts: starts, n_merges: nMerges } = unpacked;
  const sendBlocks = async (/** @type {number} */ first, /** @type {number} */ last) =>
    send(await merges(starts[first], starts[last + 1] ?? nMerges));
  draw(host, mountPlayer, data, (name, value) => {
    if (name === "block" && Array.isArray(value)) sendBlocks(value[0], value[1]);
    if (name === "words" && typeof value === "string") {
      sendWords(value);
      const url = new URL(window.location.href);
      if (value) url.searchParams.set("words", value);
      else url.searchParams.delete("words");
      window.history.replaceState(window.history.state, "", url);
    }
  });
  await nextTask();
  const opened = stepOfAddress(window.location.search, nMerges) ?? unpacked.opening_step;
  const number = blockNumber(unpacked, opened);
  await sendBlocks(number, number);
  sendWords(new URLSearchParams(window.location.search).get("words") ?? "");
}

/** @param {string} problem */
function tell(problem) {
  find(document, "#problem", HTMLElement).textContent = problem;
}

start().catch((error) => tell(error.message));
startFrame(() => ["merge_loop", {}]);
