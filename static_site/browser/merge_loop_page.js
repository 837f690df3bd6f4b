// The merge loop of a recorded run, or of the visitor's own. This page answers the player as Python does in the app.

import mountPlayer from "../../ui/components/merge_player/player.js";
import { stepOfAddress } from "../../ui/components/merge_player/address.js";
import { blockNumber, unpackRun } from "../../ui/components/merge_player/run.js";
import { find } from "../../ui/components/shared/elements.js";
import { halfCharacter } from "../../ui/components/shared/characters.js";
import { keptRun } from "./own_run/kept.js";
import { blockStarts, openingStep, stopSentence } from "./own_run/replaying.js";
import { ownWords, pretokensOf } from "./own_words.js";
import { startFrame } from "./page_frame.js";
import { draw, nextTask } from "./stage.js";
import { startEngine } from "./start_engine.js";
import { loadData } from "./stored_data.js";

/** @import { KeptRun } from "./own_run/kept.js" */

/** A run for the player: its first message, what returns the messages of its blocks, and what cuts a text as the
    run's text was cut.
    @typedef {{ message: Uint8Array, merges: (start: number, stop: number) => Promise<Uint8Array>,
      cut: (text: string) => Promise<string[]> }} Played */

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
  await play(await (run === OWN && kept ? replayed(kept) : recorded(run)));
}

/** @param {string} run
    @returns {Promise<Played>} */
async function recorded(run) {
  const [[message, merges], [written]] = await Promise.all([loadData(`run-${run}`), loadData("gpt2-pattern")]);
  const pattern = new RegExp(new TextDecoder().decode(written), "gu");
  return { message, merges: async () => merges, cut: async (text) => text.match(pattern) ?? [] };
}

/** @param {KeptRun} kept
    @returns {Promise<Played>} */
async function replayed({ run, ribbon }) {
  const engine = await startEngine();
  const { handle } = await engine.open({ run });
  const cut = async (/** @type {string} */ text) => pretokensOf(await engine.place(handle, text));
  const merges = (/** @type {number} */ start, /** @type {number} */ stop) => engine.packMerges(run, start, stop, OWN);
  const opening = await openingStep(run, merges);
  const more = { player: OWN, opening, starts: blockStarts(run), ending: stopSentence(run), end: { ribbon } };
  return { message: await engine.packRun(run, more), merges, cut };
}

/** @param {Played} played */
async function play({ message: data, merges, cut }) {
  const unpacked = unpackRun(data, { isSaved: false });
  const send = (/** @type {unknown} */ detail) => document.dispatchEvent(new CustomEvent("bpe-player-message", { detail }));
  const sendWords = async (/** @type {string} */ text) => {
    const half = halfCharacter(text);
    const words = ownWords(await cut(half ? "" : text), unpacked); // asked even then, so that answers keep their order
    send({ player: unpacked.player, words, problem: half && `${half}, which UTF-8 cannot encode.` });
  };
  const { block_starts: starts, n_merges: nMerges } = unpacked;
  const sendBlocks = async (/** @type {number} */ first, /** @type {number} */ last) =>
    send(await merges(starts[first], starts[last + 1] ?? nMerges));
  draw(host, mountPlayer, data, (name, value) => {
    if (name === "block" && Array.isArray(value)) sendBlocks(value[0], value[1]);
    if (name === "words" && typeof value === "string") {
      sendWords(value).catch((error) => tell(error.message));
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
  await sendWords(new URLSearchParams(window.location.search).get("words") ?? "");
}

/** @param {string} problem */
function tell(problem) {
  find(document, "#problem", HTMLElement).textContent = problem;
}

start().catch((error) => tell(error.message));
startFrame(() => ["merge_loop", {}]);
