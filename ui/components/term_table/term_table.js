// Terms under several tokenizers: counts, and the cut of each as tiles. Long tables open in steps.

import { addButton, addPart } from "../shared/elements.js";
import { grouped } from "../shared/numbers.js";
import { scrollByKeyboard } from "../shared/scroll_by_keyboard.js";
import { makeTile } from "../shared/token_drawing.js";
import { frameSharedCharacters, layTiles } from "../shared/word_tiles.js";

/** @import { Component, Token } from "../shared/component.js" */

/** A count, whether it is the best, the tokens, their ids (below 0 in no token), and how many more.
    @typedef {[string, boolean, Token[], number[], number]} Cell */

/** A term, its loss, and its cells.
    @typedef {[string, string, Cell[]]} Row */

const FIRST_ROWS = 20;
const MORE_ROWS = 100;

/** @param {Component<{ caption: string, columns: string[], term: string, loss: string, rows: Row[] }>} component */
export default function mountTermTable({ data, parentElement }) {
  parentElement.querySelector(".room")?.remove();
  const room = addPart(parentElement, "div", "room");
  room.setAttribute("role", "group");
  room.setAttribute("aria-label", data.caption);
  const wide = addPart(room, "div", "wide");
  const watch = scrollByKeyboard(wide);
  const table = addPart(wide, "table", "");
  addPart(table, "caption", "", data.caption);
  const head = addPart(addPart(table, "thead", ""), "tr", "");
  for (const name of [data.term, data.loss, ...data.columns]) addPart(head, "th", "", name).scope = "col";
  const body = addPart(table, "tbody", "");
  const foot = addPart(room, "p", "foot");
  let drawn = 0;
  const draw = (/** @type {number} */ until) => {
    for (const row of data.rows.slice(drawn, until)) addRow(body, row, data);
    drawn = Math.min(until, data.rows.length);
    foot.replaceChildren();
    const left = data.rows.length - drawn;
    if (!left) return;
    const more = Math.min(left, MORE_ROWS);
    addPart(foot, "span", "", `${grouped(drawn)} of ${grouped(data.rows.length)} rows.`);
    addButton(foot, "more", `Show ${grouped(more)} more`, () => {
      const next = body.children.length;
      draw(drawn + more);
      // The pressed button no longer exists: the first new row is where its reader goes on.
      const first = body.children[next]?.querySelector("th");
      if (first) {
        first.tabIndex = -1;
        first.focus();
      }
    });
  };
  draw(FIRST_ROWS);
  return () => {
    watch.disconnect();
    room.remove();
  };
}

/** @param {HTMLElement} body
    @param {Row} row
    @param {{ columns: string[], loss: string }} names */
function addRow(body, [term, loss, cells], names) {
  const line = addPart(body, "tr", "");
  addPart(line, "th", "", term).scope = "row";
  const lost = addPart(line, "td", "loss", loss);
  // In a narrow window the cells are stacked, each under the name of its column.
  lost.dataset.column = names.loss;
  cells.forEach(([count, isBest, tokens, ids, more], place) => {
    const box = addPart(line, "td", "cut");
    box.dataset.column = names.columns[place];
    const inside = addPart(box, "div", "cell");
    const number = addPart(inside, "span", isBest ? "count better" : "count", count);
    if (isBest) addPart(number, "span", "visually-hidden", ", fewest");
    const tiles = addPart(inside, "span", "tiles");
    const drawn = tokens.map((token, k) => makeTile(token, ids[k], { symbol: ids[k] < 0, small: true }));
    frameSharedCharacters(drawn, tokens);
    layTiles(tiles, drawn, tokens);
    if (more) addPart(tiles, "span", "rest", `and ${grouped(more)} more`);
  });
}
