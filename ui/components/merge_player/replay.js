// Plays a saved run in a page of its own: the player, fed from the page instead of by Python.

import { bytesFromBase64 } from "../shared/base64.js";
import mountPlayer from "./player.js";
import { unpack } from "./run.js";

async function savedBytes(element) {
  const packed = new Blob([bytesFromBase64(element.textContent)]);
  const unpacked = packed.stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(unpacked).arrayBuffer());
}

async function openReplay() {
  const saved = document.getElementById("run");
  const data = await savedBytes(saved);
  const merges = await savedBytes(document.getElementById("merges"));
  const root = document.getElementById("player").shadowRoot;
  const words = JSON.parse(saved.dataset.words);
  const own = root.querySelector(".own-words input");
  own.readOnly = true;
  if (!words.length) root.querySelector("input[value=yours]").closest("label").remove();
  mountPlayer({ parentElement: root, data, step: Number(saved.dataset.step) });
  own.value = saved.dataset.text;
  for (const detail of [{ player: unpack(data).player, words, problem: "" }, merges]) {
    document.dispatchEvent(new CustomEvent("bpe-player-message", { detail }));
  }
}

openReplay().catch((error) => {
  document.getElementById("problem").textContent = `This browser cannot play the replay: ${error.message}`;
});
