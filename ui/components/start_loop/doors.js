// The ways on from the start page: links that take the visitor's sentence along.

import { addPart } from "../shared/elements.js";

/** A way on: its name, a sentence about it, and the path of its page.
    @typedef {{ name: string, text: string, path: string }} Door */

/** Draw the doors; a press opens one through Python, and shows at once that it does.
    @param {HTMLElement} nav
    @param {Door[]} doors
    @param {(path: string) => void} open */
export function writeDoors(nav, doors, open) {
  nav.textContent = "";
  for (const { name, text, path } of doors) {
    const door = addPart(nav, "a", "door");
    door.href = path;
    addPart(door, "h2", "", name);
    addPart(door, "p", "", text);
    door.addEventListener("click", (event) => {
      // A new tab or window opens the page by its address.
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      door.setAttribute("aria-busy", "true");
      open(path);
    });
  }
}
