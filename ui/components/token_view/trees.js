// One word under several tokenizers: the tokens of each, and the merges that built them.

import { seriesColour } from "../shared/colours.js";
import { addPart } from "../shared/elements.js";
import { counted } from "../shared/numbers.js";
import { drawToken } from "../shared/token_drawing.js";
import { drawTree } from "./merge_tree.js";
import { readTokens } from "./reading.js";

/** @import { Component } from "../shared/component.js"
    @import { PackedTokens } from "./reading.js" */

/** @param {Component<{ text: string, readings: { name: string, packed: PackedTokens }[] }>} component */
export default function mountTrees({ data, parentElement }) {
  parentElement.querySelector(".trees")?.remove();
  const n = data.readings.length;
  const root = addPart(parentElement, "div", "trees");
  root.classList.toggle("many", n > 2);
  root.classList.toggle("five", n === 5);
  root.classList.toggle("strip", n > 5);
  if (n > 2) {
    root.tabIndex = 0;
    root.setAttribute("role", "group");
    root.setAttribute("aria-label", "The word under each tokenizer");
  }
  data.readings.forEach(({ name, packed }, k) => {
    const tokens = readTokens(data.text, packed);
    const side = addPart(root, "section", `word ${seriesColour(k)}`);
    const title = addPart(side, "h3", "");
    addPart(title, "i", "series-dot");
    addPart(title, "b", "", name);
    addPart(title, "span", "aside", counted(tokens.ids.filter((id) => id >= 0).length, "token"));
    for (let i = 0; i < tokens.n; i++) {
      const known = tokens.about.get(tokens.ids[i]);
      if (known) drawTree(side, tokens, known);
      else {
        const lost = addPart(side, "p", "lost");
        drawToken(addPart(lost, "span", ""), tokens.text.slice(tokens.at[i], tokens.at[i + 1]));
        addPart(lost, "span", "aside", "in no token");
      }
    }
    if (tokens.nMerges === null) addPart(side, "p", "aside", "Encoded by another library: its merges are not available.");
  });
  return () => root.remove();
}
