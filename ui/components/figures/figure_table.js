// Rows of figures; the best of a row are bold with a dot. Pressing a name shows its explanation, if any.

import { addPart } from "../shared/elements.js";
import { scrollByKeyboard } from "../shared/scroll_by_keyboard.js";

/** @import { Component } from "../shared/component.js" */

/** A name, its figures, and the places of the better ones; `meanings` of a table stand for its rows.
    @typedef {[string, string[], number[]]} Row */

/** @param {Component<{ caption: string, columns: string[], rows: Row[], meanings: string[] }>} component */
export default function mountFigureTable({ data, parentElement }) {
  parentElement.querySelector(".room")?.remove();
  const room = addPart(parentElement, "div", "room");
  room.setAttribute("role", "group");
  room.setAttribute("aria-label", data.caption);
  const watch = scrollByKeyboard(room);
  const table = addPart(room, "table", "");
  addPart(table, "caption", "", data.caption);
  const columns = addPart(addPart(table, "thead", ""), "tr", "");
  for (const name of ["", ...data.columns]) {
    const cell = addPart(columns, name ? "th" : "td", "", name);
    if (!name) continue;
    cell.scope = "col";
    // Long names wrap; short ones take only their own width.
    cell.style.minWidth = `min(var(--least), ${name.length + 1}ch + var(--beside))`;
  }
  const body = addPart(table, "tbody", "");
  data.rows.forEach(([name, figures, better], place) => {
    const row = addPart(body, "tr", "");
    const head = addPart(row, "th", "");
    head.scope = "row";
    if (data.meanings[place]) {
      const fold = addPart(head, "details", "");
      addPart(fold, "summary", "", name);
      addPart(fold, "p", "", data.meanings[place]);
    } else head.textContent = name;
    figures.forEach((figure, k) => {
      const isBetter = better.includes(k);
      const cell = addPart(row, "td", isBetter ? "better" : "", figure);
      if (isBetter) addPart(cell, "span", "visually-hidden", ", better");
    });
  });
  return () => {
    watch.disconnect();
    room.remove();
  };
}
