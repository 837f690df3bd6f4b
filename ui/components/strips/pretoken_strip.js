// Draw pre-tokens in a row in their reading direction, each in a box.

import { spokenToken } from "../shared/characters.js";
import { addPart, find } from "../shared/elements.js";
import { makeTile } from "../shared/token_drawing.js";
import { layTiles } from "../shared/word_tiles.js";

/** @import { Component } from "../shared/component.js" */

/** @param {Component<{ pretokens: string[] }>} component */
export default function mountPretokenStrip({ data, parentElement }) {
  const strip = find(parentElement, ".strip", HTMLElement);
  strip.textContent = "";
  const tiles = data.pretokens.map((pretoken) => {
    const tile = makeTile(pretoken, 0, { symbol: true });
    tile.setAttribute("role", "listitem");
    tile.setAttribute("aria-label", spokenToken(pretoken));
    return tile;
  });
  layTiles(strip, tiles, data.pretokens);
  if (!data.pretokens.length) addPart(strip, "span", "none", "No pre-token in this line.");
}
