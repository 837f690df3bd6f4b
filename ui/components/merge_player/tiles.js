// Tokens as tiles of each size, and the small words around them.

import { spokenToken } from "../shared/characters.js";
import { makeTile } from "../shared/token_drawing.js";

/** A token short enough for its place: the first characters and an ellipsis. */
export function shortToken(token, most) {
  if (typeof token !== "string") {
    return token.length <= most ? token : [...token.slice(0, most)];
  }
  const characters = [...token];
  return characters.length <= most ? token : characters.slice(0, most - 1).join("") + "…";
}

/** How many characters of each of two tokens are shown, where both share the room of `all`. */
export function roomFor(left, right, all = 13) {
  const half = Math.floor(all / 2);
  return [Math.max(half, all - right), Math.max(half, all - left)];
}

export function smallTile(run, id, most) {
  const token = run.tokens[id];
  const short = shortToken(token, most);
  const tile = makeTile(short, id, { symbol: !run.isLearned(id), small: true });
  if (short !== token) tile.title = spokenToken(token);
  return tile;
}

export function bigTile(run, id, role, most) {
  const token = run.tokens[id];
  const short = shortToken(token, most);
  const tile = makeTile(short, id, { symbol: role !== "made" && !run.isLearned(id) });
  tile.classList.add("big", role);
  if (short !== token) tile.title = spokenToken(token);
  return tile;
}

export function spokenPair(run, { left, right }) {
  return `${spokenToken(run.tokens[left])}, ${spokenToken(run.tokens[right])}`;
}

/** Two small tiles that never part at the end of a line, each cut to its share of characters. */
export function couple(run, left, right, [leftMost, rightMost] = [14, 14]) {
  const pair = document.createElement("span");
  pair.className = "couple";
  pair.setAttribute("role", "img");
  pair.setAttribute("aria-label", spokenPair(run, { left, right }));
  pair.append(smallTile(run, left, leftMost), smallTile(run, right, rightMost));
  return pair;
}

export function append(parent, ...parts) {
  for (const part of parts) parent.append(part);
}

export function bold(text) {
  const element = document.createElement("b");
  element.textContent = text;
  return element;
}

export function muted(text) {
  const element = document.createElement("span");
  element.className = "muted";
  element.textContent = text;
  return element;
}
