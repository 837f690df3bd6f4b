// What the vocabulary's components share: tokens as buttons, and lists that the arrow keys walk.

import { spokenToken } from "../shared/characters.js";
import { slotOf } from "../shared/colours.js";
import { addPart } from "../shared/elements.js";
import { drawToken } from "../shared/token_drawing.js";

const MOST_LETTERS = 48;
const MOST_BYTES = 24;

/** The beginning of a token that would not fit, and whether there is more. */
export function beginningOf(token) {
  if (typeof token !== "string") return [token.slice(0, MOST_BYTES), token.length > MOST_BYTES];
  if (token.length <= MOST_LETTERS) return [token, false];
  return [[...token].slice(0, MOST_LETTERS).join(""), true];
}

/** Draws a token as a tile into an element; kind is "merge", "token", "symbol" or "special". */
export function drawTile(element, { id, token, kind }, { small = false } = {}) {
  const look = kind === "merge" || kind === "token" ? `slot-${slotOf(id)}` : kind;
  element.className = `tile ${look}${small ? " small" : ""}`;
  const [shown, isCut] = beginningOf(token);
  const name = addPart(element, "span", "");
  drawToken(name, shown);
  if (isCut) name.append("…");
  return element;
}

/** A token as a button that opens it. */
export function tileButton(known, open, options) {
  const button = drawTile(document.createElement("button"), known, options);
  button.type = "button";
  button.setAttribute("aria-label", `${spokenToken(beginningOf(known.token)[0])}, id ${known.id}`);
  button.addEventListener("click", (event) => {
    event.stopPropagation();
    open(known.id);
  });
  return button;
}

/** Lets the arrow keys, Home and End walk the elements of a list that a selector names. */
export function walkByArrows(list, selector) {
  list.addEventListener("keydown", (event) => {
    const stops = [...list.querySelectorAll(selector)];
    const at = stops.indexOf(event.target.closest(selector));
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: stops.length - 1 }[event.key];
    if (at < 0 || to === undefined) return;
    event.preventDefault();
    stops[Math.min(Math.max(to, 0), stops.length - 1)].focus();
  });
}
