// Pairs as two tiles with a bar for their count; the next pair is vermilion.

import { spokenToken } from "../shared/characters.js";
import { addPart } from "../shared/elements.js";
import { grouped } from "../shared/numbers.js";
import { makeTile } from "../shared/token_drawing.js";
import { layTiles } from "../shared/word_tiles.js";

/** @import { Component, Token } from "../shared/component.js" */

/** A pair; an id below 0 is a symbol. `mark` is shown after it.
    @typedef {{ tokens: Token[], ids: number[], count: number, mark: string }} Bar */

/** @param {Component<{ caption: string, bars: Bar[] }>} component */
export default function mountPairBars({ data, parentElement }) {
  parentElement.querySelector("ol")?.remove();
  const list = addPart(parentElement, "ol", "");
  list.setAttribute("aria-label", data.caption);
  const most = Math.max(1, ...data.bars.map((bar) => bar.count));
  for (const { tokens, ids, count, mark } of data.bars) {
    const item = addPart(list, "li", mark);
    const names = addPart(item, "span", "names");
    names.setAttribute("role", "img");
    names.setAttribute("aria-label", tokens.map(spokenToken).join(", "));
    layTiles(addPart(names, "span", "couple"), tokens.map((token, k) => makeTile(token, ids[k], { symbol: ids[k] < 0, small: true })), tokens);
    addPart(addPart(item, "span", "bar"), "i", "").style.setProperty("--share", String(count / most));
    addPart(item, "span", "number", grouped(count));
    addPart(item, "em", "", mark);
  }
  return () => list.remove();
}
