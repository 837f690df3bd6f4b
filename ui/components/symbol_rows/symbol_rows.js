// Rows of tiles. A ring marks tiles that are joined, or that another method cuts differently.

import { SUPERWORD_LEGEND } from "../shared/characters.js";
import { addPart } from "../shared/elements.js";
import { makeTile } from "../shared/token_drawing.js";
import { frameSharedCharacters, layTiles } from "../shared/word_tiles.js";

/** @import { Component, Token } from "../shared/component.js" */

/** Tiles, and the ranges of them that are ringed; an id below 0 is a symbol.
    @typedef {{ tokens: Token[], ids: number[], rings: [number, number][], ring: string }} Tiles */

/** @typedef {{ label: string, note: string, cells: Tiles[] }} Row */

const NARROW_LABEL = 8; // in characters; on narrow screens, longer ones are above their tiles

/** @param {Component<{ caption: string, columns: string[], rows: Row[] }>} component */
export default function mountSymbolRows({ data, parentElement }) {
  for (const old of parentElement.querySelectorAll("table, .legend")) old.remove();
  const isNamed = data.rows.some((row) => row.label.length > NARROW_LABEL);
  const table = addPart(parentElement, "table", data.columns.length > 1 ? "several" : isNamed ? "named" : "");
  addPart(table, "caption", "", data.caption);
  const hasNotes = data.rows.some((row) => row.note);
  if (data.columns.length) {
    const head = addPart(addPart(table, "thead", ""), "tr", "");
    for (const name of ["", ...data.columns, ...(hasNotes ? [""] : [])]) {
      const cell = addPart(head, name ? "th" : "td", "", name);
      if (name) cell.scope = "col";
    }
  }
  const body = addPart(table, "tbody", "");
  for (const row of data.rows) {
    const line = addPart(body, "tr", "");
    addPart(line, "th", "", row.label).scope = "row";
    row.cells.forEach((cell, place) => {
      const box = addPart(line, "td", "");
      // On narrow screens the cells are stacked, each under the name of its column.
      if (data.columns.length > 1) box.dataset.column = data.columns[place];
      addTiles(box, cell);
    });
    if (hasNotes) addPart(line, "td", "note", row.note);
  }
  const joins = table.querySelector(".superword") ? [addPart(parentElement, "p", "legend", SUPERWORD_LEGEND)] : [];
  return () => [table, ...joins].forEach((part) => part.remove());
}

/** @param {HTMLElement} parent
    @param {Tiles} cell */
function addTiles(parent, cell) {
  const box = addPart(parent, "div", "tiles");
  const tiles = cell.tokens.map((token, place) => makeTile(token, cell.ids[place], { symbol: cell.ids[place] < 0 }));
  frameSharedCharacters(tiles, cell.tokens);
  layTiles(box, tiles, cell.tokens, "", cell.rings, (parent) => addPart(parent, "span", `ring ${cell.ring}`));
}
