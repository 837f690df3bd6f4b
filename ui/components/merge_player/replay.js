// The player in a saved replay, which gets its data from the page instead of from Python.

import { unzip } from "../shared/base64.js";
import { find } from "../shared/elements.js";
import { playSaved } from "./saved_run.js";

async function openReplay() {
  const saved = find(document, "#run", HTMLElement);
  const run = await unzip(saved.textContent ?? "");
  const merges = await unzip(find(document, "#merges", HTMLElement).textContent ?? "");
  const root = find(document, "#player", HTMLElement).shadowRoot;
  if (!root) throw new Error("it knows no declarative shadow roots");
  const { step, text = "", words = "[]" } = saved.dataset;
  playSaved(root, { run, merges, step: Number(step), text, words: JSON.parse(words), ownsPage: true });
}

openReplay().catch((error) => {
  find(document, "#problem", HTMLElement).textContent = `This browser cannot play the replay: ${error.message}`;
});
