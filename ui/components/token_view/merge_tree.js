// The merges that built a token, as nested lists, and the tiles in them.

import { addPart } from "../shared/elements.js";
import { grouped } from "../shared/numbers.js";
import { makeTile } from "../shared/token_drawing.js";
import { layTiles } from "../shared/word_tiles.js";
import { isBlank } from "../shared/white_space.js";

/** @import { Known, Tokens } from "./reading.js" */

const MAX_TREE_ROWS = 48;
const MAX_LETTERS_IN_TILE = 64;

/** @param {Known} known
    @param {{ small?: boolean, slot?: number }} look */
export function makeKnownTile(known, { small = false, slot } = {}) {
  const token = known.written ?? known.token;
  const long = typeof token === "string" && token.length > MAX_LETTERS_IN_TILE;
  const shown = long ? [...token].slice(0, MAX_LETTERS_IN_TILE).join("") : token;
  const tile = makeTile(shown, known.id, { symbol: known.rank < 0 && !known.special, small, slot });
  if (known.special) tile.className = `tile special${small ? " small" : ""}`;
  if (long) tile.append("…");
  return tile;
}

/** Draw the merges that built a token; two base symbols share one line.
    @param {HTMLElement} panel
    @param {Tokens} tokens
    @param {Known} known */
export function drawTree(panel, tokens, known) {
  let rows = 0;
  let left = 0;
  /** @param {HTMLElement} parent
      @param {Known} node */
  const add = (parent, node) => {
    if (rows >= MAX_TREE_ROWS) {
      left++;
      return;
    }
    rows++;
    const item = addPart(parent, "li", "");
    item.append(makeKnownTile(node, { small: true }));
    if (node.rank < 0) return;
    // The parts of a white space token only repeat it.
    if (node !== known && isBlank(node.token)) {
      addPart(item, "span", "from", "folded");
      return;
    }
    const parts = [node.left, node.right].map((id) => /** @type {Known} */ (tokens.about.get(id)));
    if (parts.every((part) => part.rank < 0)) {
      addPart(item, "span", "from", "from");
      layTiles(addPart(item, "span", "parts"), parts.map((part) => makeKnownTile(part, { small: true })), parts.map(({ token }) => token));
      return;
    }
    const list = addPart(item, "ul", "");
    for (const part of parts) add(list, part);
  };
  add(addPart(panel, "ul", "tree"), known);
  if (left) addPart(panel, "p", "aside", `and ${grouped(left)} more ${left === 1 ? "part" : "parts"}`);
}
