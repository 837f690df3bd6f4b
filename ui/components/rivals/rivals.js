// A row for each other tokenizer: its size and tokens, and how many fewer the first one needs, with an interval.

import { seriesColour } from "../shared/colours.js";
import { addButton, addPart } from "../shared/elements.js";
import { addHelp } from "../shared/terms.js";
import { positions, makeScale } from "./scale.js";

/** @import { Component } from "../shared/component.js"
    @import { Rival } from "./scale.js" */

/** @param {Component<{ rows: Rival[], name: string, chosen: number }>} component */
export default function mountRivals({ data, parentElement, setTriggerValue }) {
  parentElement.querySelector(".rivals")?.remove();
  const table = addPart(parentElement, "table", "rivals");
  table.setAttribute("aria-label", `Other tokenizers against ${data.name}`);
  const heads = addPart(addPart(table, "thead", ""), "tr", "");
  for (const [name, kind] of [["against", ""], ["vocabulary", "number wide"], ["tokens", "number"]]) {
    addPart(heads, "th", kind, name).scope = "col";
  }
  const ends = addPart(heads, "th", "track");
  ends.scope = "col";
  addPart(ends, "span", "", "more ←");
  addPart(ends, "span", "", "→ fewer");
  addPart(heads, "th", "", `${data.name} needs`).scope = "col";
  addPart(heads, "td", "last", "");
  const body = addPart(table, "tbody", "");
  const scale = makeScale(data.rows);
  for (const rival of data.rows) {
    const isChosen = rival.place === data.chosen;
    const row = addPart(body, "tr", `${seriesColour(rival.place)}${isChosen ? " chosen" : ""}`);
    const head = addPart(row, "th", "");
    head.scope = "row";
    const title = addPart(head, "div", "title", "");
    const button = addButton(title, "name", "", () => {
      if (!isChosen) setTriggerValue("against", rival.place);
    });
    addPart(button, "i", "series-dot");
    addPart(button, "b", "", rival.name);
    button.title = rival.name;
    button.setAttribute("aria-pressed", String(isChosen));
    addHelp(title, [[rival.name, rival.facts]]);
    addPart(row, "td", "number wide", rival.vocabulary);
    addPart(row, "td", "number", rival.tokens);
    drawInterval(addPart(addPart(row, "td", "track"), "div", "line"), rival, scale);
    const words = addPart(row, "td", "words");
    addPart(words, "span", "figure", rival.figure);
    if (rival.interval) addPart(words, "span", "interval", ` ${rival.interval}`);
    const remove = addButton(addPart(row, "td", "last"), "remove", "×", () => {
      for (const other of body.querySelectorAll("button")) other.disabled = true;
      setTriggerValue("removed", rival.place);
    });
    remove.setAttribute("aria-label", `Remove ${rival.name}`);
  }
  return () => table.remove();
}

/** @param {HTMLElement} line
    @param {Rival} rival
    @param {[number, number]} scale */
function drawInterval(line, rival, scale) {
  line.setAttribute("aria-hidden", "true");
  const { zero, dot, start, width } = positions(rival, scale);
  addPart(line, "i", "zero").style.left = `${zero}%`;
  if (width !== null) {
    const bar = addPart(line, "i", "bar");
    bar.style.left = `${start}%`;
    bar.style.width = `${width}%`;
  }
  if (dot !== null) addPart(line, "i", `dot${width === null ? " hollow" : ""}`).style.left = `${dot}%`;
}
