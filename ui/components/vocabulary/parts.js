// Shared by the vocabulary's components: tokens as buttons, and moving in a list by arrow keys.

import { findDirection, isSuperword, spokenToken } from "../shared/characters.js";
import { colourSlot } from "../shared/colours.js";
import { addPart, closest } from "../shared/elements.js";
import { drawToken } from "../shared/token_drawing.js";
import { findBeginning } from "./beginnings.js";

/** @import { Token } from "../shared/component.js" */

/** A token as it is drawn; `rank` is -1 if no merge makes it.
    @typedef {{ id: number, token: Token, kind: "merge" | "symbol" | "byte" | "special" | "token", rank: number }} ShownToken */

/** Draw a token into an element as a tile.
    @template {HTMLElement} Element
    @param {Element} element
    @param {Pick<ShownToken, "id" | "token" | "kind">} shown */
export function drawTile(element, { id, token, kind }, { small = false } = {}) {
  const plain = kind === "byte" ? "symbol" : kind;
  const look = kind === "merge" || kind === "token" ? `slot-${colourSlot(id)}` : plain;
  element.className = `tile ${look}${small ? " small" : ""}`;
  element.classList.toggle("superword", kind === "merge" && isSuperword(token));
  const [shown, isCut] = findBeginning(token);
  const name = addPart(element, "span", "");
  drawToken(name, shown);
  if (isCut) name.append("…");
  element.dir = findDirection(token) || "ltr";
  return element;
}

/** Make a button that shows a token and opens it.
    @param {ShownToken} shown
    @param {(id: number) => void} open */
export function tileButton(shown, open, { small = false } = {}) {
  const button = drawTile(document.createElement("button"), shown, { small });
  button.type = "button";
  button.setAttribute("aria-label", `${spokenToken(findBeginning(shown.token)[0])}, id ${shown.id}`);
  button.addEventListener("click", (event) => {
    event.stopPropagation();
    open(shown.id);
  });
  return button;
}

/** Let the arrow keys, Home and End move the focus between the elements that match a selector.
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
