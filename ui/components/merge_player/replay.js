// The player in a saved replay, which gets its data from the page instead of from Python.

import { bytesFromBase64 } from "../shared/base64.js";
import { find } from "../shared/elements.js";
import mountPlayer from "./player.js";
import { unpackRun } from "./run.js";

/** @param {HTMLElement} element */
async function savedBytes(element) {
  const packed = new Blob([bytesFromBase64(element.textContent ?? "")]);
  const unpacked = packed.stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(unpacked).arrayBuffer());
}

async function openReplay() {
  const saved = find(document, "#run", HTMLElement);
  const data = await savedBytes(saved);
  const merges = await savedBytes(find(document, "#merges", HTMLElement));
  const root = find(document, "#player", HTMLElement).shadowRoot;
  if (!root) throw new Error("it knows no declarative shadow roots");
  const words = JSON.parse(saved.dataset.words ?? "[]");
  const own = find(root, ".own-words input", HTMLInputElement);
  own.readOnly = true;
  if (!words.length) root.querySelector("input[value=yours]")?.closest("label")?.remove();
  mountPlayer({ parentElement: root, data, step: Number(saved.dataset.step) });
  own.value = saved.dataset.text ?? "";
  for (const detail of [{ player: unpackRun(data).player, words, problem: "" }, merges]) {
    document.dispatchEvent(new CustomEvent("bpe-player-message", { detail }));
  }
}

openReplay().catch((error) => {
  find(document, "#problem", HTMLElement).textContent = `This browser cannot play the replay: ${error.message}`;
});
