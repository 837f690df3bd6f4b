// Draws the views in a cell's saved HTML in place of their still pictures. It needs no kernel: each view
// brings its anywidget with it.

import { unzip } from "../shared/base64.js";

/** @param {HTMLElement} element */
async function draw(element) {
  const parts = await unzipParts(element);
  const url = URL.createObjectURL(new Blob([parts.script], { type: "text/javascript" }));
  const { default: makeWidget } = await import(url);
  URL.revokeObjectURL(url);
  const { render } = makeWidget();
  element.textContent = "";
  render({ model: { get: () => parts }, el: element });
}

/** @param {HTMLElement} element
    @returns {Promise<Record<string, Uint8Array<ArrayBuffer>>>} */
async function unzipParts(element) {
  /** @type {NodeListOf<HTMLElement>} */
  const saved = element.querySelectorAll("script[data-part]");
  const unzipped = Array.from(saved, async (script) => [script.dataset.part, await unzip(script.textContent ?? "")]);
  return Object.fromEntries(await Promise.all(unzipped));
}

/** @type {HTMLElement[]} */
const waiting = Array.from(document.querySelectorAll("[data-bpe-view]"));
// At once, because the script of each output draws all that wait: there may be two of an output.
for (const element of waiting) delete element.dataset.bpeView;
// Where one cannot be drawn, its still picture remains.
for (const element of waiting) draw(element).catch((error) => console.error(error));
