// Draw pre-tokens in a row, each in a box.

import { spokenToken } from "../shared/characters.js";
import { addPart, find } from "../shared/elements.js";
import { makeTile } from "../shared/token_drawing.js";

/** @import { Component } from "../shared/component.js" */

/** @param {Component<{ pretokens: string[] }>} component */
export default function mountPretokenStrip({ data, parentElement }) {
  const strip = find(parentElement, ".strip", HTMLElement);
  strip.textContent = "";
  for (const pretoken of data.pretokens) {
    const tile = makeTile(pretoken, 0, { symbol: true });
    tile.setAttribute("role", "listitem");
    tile.setAttribute("aria-label", spokenToken(pretoken));
    strip.append(tile);
  }
  if (!data.pretokens.length) addPart(strip, "span", "none", "No pre-token in this line.");
}
