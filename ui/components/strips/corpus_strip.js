// Draw the figures of a corpus.

import { addPart, find } from "../shared/elements.js";
import { addHelp } from "../shared/terms.js";

/** @import { Component } from "../shared/component.js"
    @import { Term } from "../shared/terms.js" */

/** @param {Component<{ figures: { value: string, name: string, terms: Term[] }[], is_line: boolean }>} component */
export default function mountCorpusStrip({ data, parentElement }) {
  const root = find(parentElement, ".corpus", HTMLElement);
  root.textContent = "";
  const figures = addPart(root, "dl", data.is_line ? "figures line" : "figures");
  for (const { value, name, terms } of data.figures) {
    const cell = addPart(figures, "div", "");
    addHelp(addPart(cell, "dt", "", name), terms);
    addPart(cell, "dd", "", value);
  }
}
