// What the vocabulary's components share: tokens as buttons, and lists that the arrow keys walk.

import { spokenToken } from "../shared/characters.js";
import { slotOf } from "../shared/colours.js";
import { addPart, closest } from "../shared/elements.js";
import { drawToken } from "../shared/token_drawing.js";
import { beginningOf } from "./beginnings.js";

/** @import { Token } from "../shared/component.js" */

/** A token as it is drawn; `rank` is -1 where no merge makes it.
    @typedef {{ id: number, token: Token, kind: "merge" | "symbol" | "special" | "token", rank: number }} Known */

/** Draw a token as a tile into an element.
    @template {HTMLElement} Element
    @param {Element} element
    @param {Pick<Known, "id" | "token" | "kind">} known */
export function drawTile(element, { id, token, kind }, { small = false } = {}) {
  const look = kind === "merge" || kind === "token" ? `slot-${slotOf(id)}` : kind;
  element.className = `tile ${look}${small ? " small" : ""}`;
  const [shown, isCut] = beginningOf(token);
  const name = addPart(element, "span", "");
  drawToken(name, shown);
  if (isCut) name.append("…");
  return element;
}

/** Make a token a button that opens it.
    @param {Known} known
    @param {(id: number) => void} open */
export function tileButton(known, open, { small = false } = {}) {
  const button = drawTile(document.createElement("button"), known, { small });
  button.type = "button";
  button.setAttribute("aria-label", `${spokenToken(beginningOf(known.token)[0])}, id ${known.id}`);
  button.addEventListener("click", (event) => {
    event.stopPropagation();
    open(known.id);
  });
  return button;
}

/** Let the arrow keys, Home and End walk the elements of a list that a selector names.
    @param {HTMLElement} list
    @param {string} selector */
export function walkByArrows(list, selector) {
  list.addEventListener("keydown", (event) => {
    const stops = [.../** @type {NodeListOf<HTMLElement>} */ (list.querySelectorAll(selector))];
    const stop = closest(event, selector);
    const at = stops.findIndex((one) => one === stop);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: stops.length - 1 }[event.key];
    if (at < 0 || to === undefined) return;
    event.preventDefault();
    stops[Math.min(Math.max(to, 0), stops.length - 1)].focus();
  });
}
