// Tokens as elements: as tiles, and in running text.

import { codePointName, findDirection, hexByte, isPlain, isSuperword, splitPieces, wholeAndPartial } from "./characters.js";
import { colourSlot } from "./colours.js";
import { addPart } from "./elements.js";

/** @import { Piece } from "./characters.js"
    @import { Token } from "./component.js" */

const MARKER = /(<[^<>\s]+>)/;
const RUNNING_GLYPHS = { space: "sp", tab: "tab", newline: "nl" };

/** Draw a token into an empty element: glyphs for white space, code points for
    control characters, hex for bytes that are not a whole character.
    @param {HTMLElement} element
    @param {Token} token */
export function drawToken(element, token) {
  element.textContent = "";
  if (typeof token === "string") {
    drawText(element, token);
    return;
  }
  for (const piece of wholeAndPartial(token)) {
    if (typeof piece === "string") drawText(addPart(element, "span", "whole"), piece);
    else for (const value of piece) addPart(element, "span", "byte", hexByte(value));
  }
}

/** @param {HTMLElement} element
    @param {string} token */
function drawText(element, token) {
  // In text that runs from the right, an end-of-word marker such as </w> still reads from the left.
  const parts = findDirection(token) === "rtl" ? token.split(MARKER) : [token];
  for (const part of parts) {
    if (parts.length > 1 && MARKER.test(part)) addPart(element, "span", "", part).dir = "ltr";
    else for (const piece of splitPieces(part)) drawPiece(element, piece);
  }
}

/** @param {HTMLElement} element
    @param {Piece} piece */
function drawPiece(element, { kind, text }) {
  if (kind === "text") addPart(element, "span", "", text);
  else if (kind === "mark") addPart(element, "span", "combining", text);
  else if (kind === "code") addPart(element, "span", "code-point", codePointName(text));
  else addPart(element, "i", `glyph ${kind}`);
}

/** Draw whole characters of running text: each character is in the page itself, and glyphs
    and code points are added by style, so that they are never found or copied.
    @param {HTMLElement} element
    @param {string} piece */
export function drawRunning(element, piece) {
  if (isPlain(piece)) {
    element.append(piece);
    return;
  }
  for (const { kind, text } of splitPieces(piece)) {
    if (kind === "text") element.append(text);
    else if (kind === "mark") addPart(element, "span", "loose-mark", text);
    else if (kind === "code") addPart(element, "i", "code", text).dataset.code = codePointName(text);
    else addPart(element, "i", RUNNING_GLYPHS[kind], text);
  }
}

/** Make a tile that shows a token; base symbols stay white, merged tokens have a slot's colour: that of
    their id, unless another is given.
    @param {Token} token
    @param {number} id */
export function makeTile(token, id, { symbol = false, small = false, slot = colourSlot(id) } = {}) {
  const tile = document.createElement("span");
  tile.className = `tile ${symbol ? "symbol" : "slot-" + slot}${small ? " small" : ""}${!symbol && isSuperword(token) ? " superword" : ""}`;
  drawToken(tile, token);
  tile.dir = findDirection(token) || "ltr";
  return tile;
}
