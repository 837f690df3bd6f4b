// Draw the figures of a corpus.

import { addPart, find } from "../shared/elements.js";

/** @import { Component } from "../shared/component.js" */

/** @param {Component<{ figures: { value: string, name: string }[] }>} component */
export default function mountCorpusStrip({ data, parentElement }) {
  const root = find(parentElement, ".corpus", HTMLElement);
  root.textContent = "";
  const figures = addPart(root, "dl", "figures");
  for (const { value, name } of data.figures) {
    const cell = addPart(figures, "div", "");
    addPart(cell, "dt", "", name);
    addPart(cell, "dd", "", value);
  }
}
