// Tokens as tiles of different sizes, and the text between them.

import { findDirection, isSuperword, spokenToken } from "../shared/characters.js";
import { makeTile } from "../shared/token_drawing.js";
import { directionOfAll, frameSharedCharacters } from "../shared/word_tiles.js";
import { shortToken, spokenPair } from "./token_names.js";

/** @import { Pair, Run } from "./run.js" */

/** @param {Run} run
    @param {number} id
    @param {number} most Characters that are shown. */
export function smallTile(run, id, most) {
  return tileOfLength(run, id, most, { symbol: !run.isLearned(id), small: true });
}

/** @param {Run} run
    @param {number} id
    @param {"chosen" | "made"} role
    @param {number} most */
export function bigTile(run, id, role, most) {
  const tile = tileOfLength(run, id, most, { symbol: role !== "made" && !run.isLearned(id) });
  tile.classList.add("big", role);
  return tile;
}

/** Make a tile that shows as much of a token as fits, with the whole token as its title.
    @param {Run} run
    @param {number} id
    @param {number} most
    @param {{ symbol?: boolean, small?: boolean }} look */
export function tileOfLength(run, id, most, look) {
  const token = run.tokens[id];
  const short = shortToken(token, most);
  const tile = makeTile(short, id, { slot: run.findSlot(id), ...look });
  tile.classList.toggle("superword", !look.symbol && isSuperword(token));
  if (short !== token) tile.title = spokenToken(token);
  return tile;
}

/** Make two small tiles that stay on one line, each truncated to its share of characters.
    @param {Run} run
    @param {Pair} pair */
export function couple(run, { left, right }, [leftMost, rightMost] = [14, 14]) {
  const pair = makeCouple(smallTile(run, left, leftMost), smallTile(run, right, rightMost), run, { left, right });
  pair.setAttribute("role", "img");
  pair.setAttribute("aria-label", spokenPair(run, { left, right }));
  return pair;
}

/** Put the tiles of a pair next to each other as they stand in a word: from right to left in Hebrew, and a
    letter that they share above its bytes.
    @param {HTMLElement} left
    @param {HTMLElement} right
    @param {Run} run
    @param {Pair} ids */
export function makeCouple(left, right, run, ids) {
  const pair = document.createElement("span");
  pair.className = "couple";
  const tokens = [run.tokens[ids.left], run.tokens[ids.right]];
  pair.dir = directionOfAll(tokens) || "ltr";
  const tiles = [left, right];
  frameSharedCharacters(tiles, tokens);
  tokens.forEach((token, i) => {
    // A byte of a letter stands as the letter does.
    if (!findDirection(token)) tiles[i].removeAttribute("dir");
  });
  pair.append(...tiles);
  return pair;
}

/** @param {string} text */
export function bold(text) {
  const element = document.createElement("b");
  element.textContent = text;
  return element;
}

/** @param {string} text */
export function muted(text) {
  const element = document.createElement("span");
  element.className = "muted";
  element.textContent = text;
  return element;
}
