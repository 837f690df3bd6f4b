// A text next to its normalised form; what changed is marked in both.

import { addPart, find } from "../shared/elements.js";
import { drawToken } from "../shared/token_drawing.js";

/** @import { Component } from "../shared/component.js" */

const SIDES = ["As typed", "Normalised"];

/** @param {Component<{ pieces: [string, string][], sentence: string }>} component */
export default function mountNormalizedText({ data, parentElement }) {
  const root = find(parentElement, ".normalized", HTMLElement);
  root.textContent = "";
  addPart(root, "p", "aside", data.sentence);
  const sides = addPart(root, "div", "sides");
  SIDES.forEach((name, side) => {
    const part = addPart(sides, "section", "side");
    addPart(part, "h3", "", name);
    const text = addPart(part, "p", "text");
    for (const piece of data.pieces) {
      const changed = piece[0] !== piece[1];
      const element = addPart(text, changed ? "mark" : "span", piece[side] ? "" : "nothing");
      drawToken(element, piece[side]);
    }
  });
}
