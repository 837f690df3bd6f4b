// Draws the views in a cell's saved HTML over their still pictures. It needs no kernel: each view
// brings its anywidget with it.

import { unzip } from "../shared/base64.js";

async function drawAll() {
  // A cell's output can be in a page twice, and each has a script that draws both.
  for (const element of document.querySelectorAll("[data-bpe-view]")) {
    if (!(element instanceof HTMLElement)) continue;
    delete element.dataset.bpeView;
    const parts = await unzipParts(element);
    const url = URL.createObjectURL(new Blob([parts.script], { type: "text/javascript" }));
    const { default: makeWidget } = await import(url);
    URL.revokeObjectURL(url);
    element.textContent = "";
    makeWidget().render({ model: { get: () => parts }, el: element });
  }
}

/** @param {HTMLElement} element
    @returns {Promise<Record<string, Uint8Array<ArrayBuffer>>>} */
async function unzipParts(element) {
  /** @type {NodeListOf<HTMLElement>} */
  const saved = element.querySelectorAll("script[data-part]");
  const unzipped = Array.from(saved, async (script) => [script.dataset.part, await unzip(script.textContent ?? "")]);
  return Object.fromEntries(await Promise.all(unzipped));
}

drawAll().catch((error) => console.error(error)); // the still picture remains
