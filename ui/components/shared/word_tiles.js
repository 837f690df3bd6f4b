// The tiles of a word: the direction in which they stand, and the characters whose bytes they share.

import { tokenBytes, findDirection, sizeOfCharacter, wholeAndPartial } from "./characters.js";
import { addPart } from "./elements.js";
import { drawToken } from "./token_drawing.js";

/** @import { Token } from "./component.js" */

/** @typedef {"ltr" | "rtl" | ""} Direction */

const MARKER = /^<[^<>\s]+>$/;

/** Return whether any token holds bytes of a character that is not whole.
    @param {Token[]} tokens */
export function splitsCharacters(tokens) {
  return tokens.some((token) => typeof token !== "string");
}

/** Return the direction of a word, and which of its tokens run the other way. A token without a direction
    goes with its neighbours if both agree.
    @param {Token[]} tokens
    @param {Direction} around The direction of the line of the word; "" if the word is on its own.
    @returns {{ direction: Direction, turned: boolean[] }} */
export function findDirections(tokens, around = "") {
  const direction = around || directionOfAll(tokens);
  const other = direction === "rtl" ? "ltr" : "rtl";
  const own = directionsOfTokens(tokens);
  const turned = own.map((one, i) => {
    if (one) return one === other;
    const before = own.slice(0, i).findLast(Boolean);
    const after = own.slice(i + 1).find(Boolean);
    return before === other && after === other;
  });
  return { direction, turned: direction ? turned : tokens.map(() => false) };
}

/** Return the direction of tokens one after another; "" if they have none.
    @param {Token[]} tokens
    @returns {Direction} */
export function directionOfAll(tokens) {
  return findDirection(splitsCharacters(tokens) ? tokens.flatMap(tokenBytes) : tokens.join(""));
}

/** Return the direction of each token; bytes of a character have the direction of that character.
    @param {Token[]} tokens
    @returns {Direction[]} */
function directionsOfTokens(tokens) {
  const shared = splitsCharacters(tokens) ? sharedCharacters(tokens) : [];
  let first = 0;
  return tokens.map((token) => {
    const size = tokenBytes(token).length;
    const character = shared.find(({ from, to }) => from < first + size && first < to)?.character ?? "";
    first += size;
    // An end-of-word marker on its own stands where the word ends.
    return typeof token === "string" && MARKER.test(token) ? "" : findDirection(token) || findDirection(character);
  });
}

/** A character that no token of a word holds whole, and the range of its bytes in the word.
    @typedef {{ character: string, from: number, to: number }} SharedCharacter */

/** Return the characters of a word that are split between its tokens.
    @param {Token[]} tokens
    @returns {SharedCharacter[]} */
export function sharedCharacters(tokens) {
  const bytes = tokens.flatMap(tokenBytes);
  const ends = new Set();
  let end = 0;
  for (const token of tokens) ends.add((end += tokenBytes(token).length));
  const shared = [];
  for (let from = 0; from < bytes.length; ) {
    const to = from + Math.max(1, sizeOfCharacter(bytes[from]));
    const [character] = wholeAndPartial(bytes.slice(from, to));
    const isSplit = bytes.slice(from + 1, to).some((_, i) => ends.has(from + 1 + i));
    if (isSplit && typeof character === "string") shared.push({ character, from, to });
    from = to;
  }
  return shared;
}

/** Return the runs of bytes in a word that no character of it has, each with an ellipsis.
    @param {Token[]} tokens
    @param {SharedCharacter[]} shared
    @returns {SharedCharacter[]} */
export function unfinishedCharacters(tokens, shared) {
  /** @type {SharedCharacter[]} */
  const runs = [];
  let from = 0;
  for (const piece of tokens.flatMap((token) => (typeof token === "string" ? [token] : wholeAndPartial(token)))) {
    const to = from + tokenBytes(piece).length;
    const isShared = shared.some((one) => one.from <= from && from < one.to);
    const last = runs.at(-1);
    if (typeof piece !== "string" && !isShared) {
      // A byte that starts a character starts a run.
      if (last?.to === from && !sizeOfCharacter(piece[0])) last.to = to;
      else runs.push({ character: "…", from, to });
    }
    from = to;
  }
  return runs;
}

/** Draw each character that the tiles of a word share, in a frame above its bytes. An ellipsis stands for a
    character that the tokens do not complete.
    @param {HTMLElement[]} tiles One for each token, or for the first of them.
    @param {Token[]} tokens */
export function frameSharedCharacters(tiles, tokens) {
  if (!splitsCharacters(tokens)) return;
  /** @type {Map<number, HTMLElement>} */
  const byteAt = new Map();
  let first = 0;
  tokens.forEach((token, i) => {
    if (typeof token !== "string" && tiles[i]) {
      tiles[i].classList.add("shares");
      noteBytes(byteAt, tiles[i], token, first);
    }
    first += tokenBytes(token).length;
  });
  const shared = sharedCharacters(tokens);
  for (const { character, from, to } of [...shared, ...unfinishedCharacters(tokens, shared)]) {
    for (let at = from; at < to; at++) {
      const byte = byteAt.get(at);
      byte?.classList.add("framed");
      byte?.classList.toggle("first", at === from);
      byte?.classList.toggle("last", at === to - 1);
    }
    // The middle of an even number of bytes is the border before this one.
    const middle = byteAt.get(from + ((to - from) >> 1));
    if (!middle) continue;
    const holder = addPart(middle, "span", (to - from) % 2 ? "character" : "character between");
    drawToken(addPart(holder, "span", ""), character);
  }
}

/** Note the elements that show the bytes of a token, by the place of the byte in the word.
    @param {Map<number, HTMLElement>} byteAt
    @param {HTMLElement} tile
    @param {number[]} token
    @param {number} first */
function noteBytes(byteAt, tile, token, first) {
  const elements = /** @type {NodeListOf<HTMLElement>} */ (tile.querySelectorAll(":scope > .byte"));
  let place = 0;
  let at = first;
  for (const piece of wholeAndPartial(token)) {
    if (typeof piece === "string") at += tokenBytes(piece).length;
    else for (let k = 0; k < piece.length; k++) byteAt.set(at++, elements[place++]);
  }
}

/** Append tiles to the box of a word in its direction: tiles that run the other way stand in a box of
    their own, and each group of tiles in the element that is made for it.
    @param {HTMLElement} box
    @param {HTMLElement[]} tiles
    @param {Token[]} tokens
    @param {Direction} [around] The direction of the line of the word.
    @param {[number, number][]} [groups] The first tile of each group, and the one after its last.
    @param {(parent: HTMLElement, group: number) => HTMLElement} [addGroup] */
export function layTiles(box, tiles, tokens, around = "", groups = [], addGroup = (parent) => parent) {
  const { direction, turned } = findDirections(tokens, around);
  const other = direction === "rtl" ? "ltr" : "rtl";
  box.dir = direction;
  /** @type {HTMLElement | null} */
  let run = null;
  for (let i = 0; i < tiles.length; ) {
    const group = groups.findIndex(([from]) => from === i);
    const next = group < 0 ? i + 1 : Math.min(groups[group][1], tiles.length);
    const isTurned = turned.slice(i, next).every(Boolean);
    if (!isTurned) run = null;
    else if (!run) {
      run = addPart(box, "span", "turned");
      run.dir = other;
    }
    const parent = run ?? box;
    const into = group < 0 ? parent : addGroup(parent, group);
    for (; i < next; i++) {
      // A token without a direction, such as a space, is drawn as its word runs.
      if (!findDirection(tokens[i])) tiles[i].removeAttribute("dir");
      into.append(tiles[i]);
    }
  }
}
