// Draw the figures of a corpus, and a bar with the shares of its scripts.

import { addPart, find } from "../shared/elements.js";
import { partsOf, percent } from "./shares.js";

/** @import { Component } from "../shared/component.js"
    @import { Share } from "./shares.js" */

const MOST_TONES = 5;

/** @param {Component<{ figures: { value: string, name: string }[], shares: Share[] }>} component */
export default function mountCorpusStrip({ data, parentElement }) {
  const root = find(parentElement, ".corpus", HTMLElement);
  root.textContent = "";
  const figures = addPart(root, "dl", "figures");
  for (const { value, name } of data.figures) {
    const cell = addPart(figures, "div", "");
    addPart(cell, "dt", "", name);
    addPart(cell, "dd", "", value);
  }
  const parts = partsOf(data.shares);
  if (!parts.length) return;
  const bar = addPart(root, "div", "bar");
  bar.setAttribute("aria-hidden", "true");
  const key = addPart(root, "ul", "key");
  parts.forEach((part, i) => {
    const rest = part.rest || part.name === "digits and other";
    const tone = rest ? "tone-rest" : `tone-${Math.min(i, MOST_TONES - 1)}`;
    addPart(bar, "div", `part ${tone}`).style.flex = `${part.share} 1 0`;
    const entry = addPart(key, "li", "");
    addPart(entry, "span", `swatch ${tone}`);
    addPart(entry, "span", "", part.name);
    addPart(entry, "b", "", percent(part.share));
  });
}
