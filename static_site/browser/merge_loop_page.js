// The merge loop of a recorded run. This page answers the player as Python does in the app.

import mountPlayer from "../../ui/components/merge_player/player.js";
import { unpackRun } from "../../ui/components/merge_player/run.js";
import { find } from "../../ui/components/shared/elements.js";
import { halfCharacter } from "../../ui/components/shared/characters.js";
import { ownWords } from "./own_words.js";
import { startFrame } from "./page_frame.js";
import { draw, nextTask } from "./stage.js";
import { loadData } from "./stored_data.js";

const host = find(document, "[data-component]", HTMLElement);
const asked = new URLSearchParams(window.location.search).get("run");
const choices = /** @type {HTMLAnchorElement[]} */ ([...document.querySelectorAll("#runs a")]);
const chosen = choices.find((link) => link.dataset.run === asked) ?? choices[0];
chosen.setAttribute("aria-current", "true");
find(document, "#about-run", HTMLElement).textContent = chosen.dataset.about ?? "";

/** @param {string} run */
async function play(run) {
  const [[data, merges], [pattern]] = await Promise.all([loadData(`run-${run}`), loadData("gpt2-pattern")]);
  const unpacked = unpackRun(data, { isSaved: false });
  const cut = new RegExp(new TextDecoder().decode(pattern), "gu");
  const send = (/** @type {unknown} */ detail) => document.dispatchEvent(new CustomEvent("bpe-player-message", { detail }));
  const sendWords = (/** @type {string} */ text) => {
    const half = halfCharacter(text);
    const words = half ? [] : ownWords(text, unpacked, cut);
    send({ player: unpacked.player, words, problem: half && `${half}, which UTF-8 cannot encode.` });
  };
  draw(host, mountPlayer, data, (name, value) => {
    if (name === "words" && typeof value === "string") {
      sendWords(value);
      const url = new URL(window.location.href);
      if (value) url.searchParams.set("words", value);
      else url.searchParams.delete("words");
      window.history.replaceState(window.history.state, "", url);
    }
  });
  await nextTask();
  send(merges);
  sendWords(new URLSearchParams(window.location.search).get("words") ?? "");
}

play(chosen.dataset.run ?? "").catch((error) => {
  find(document, "#problem", HTMLElement).textContent = error.message;
});
startFrame(() => ["merge_loop", {}]);
