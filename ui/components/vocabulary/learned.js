// What a vocabulary learned: its longest words, and its families. Pressing a token opens its card.

import { SUPERWORD_LEGEND } from "../shared/characters.js";
import { addPart, keepKeys } from "../shared/elements.js";
import { grouped } from "../shared/numbers.js";
import { tileButton } from "./parts.js";

/** @import { Component } from "../shared/component.js"
    @import { ShownToken } from "./parts.js" */

/** A row of tokens: what they are, the token that all are built on, and how many more there are.
    @typedef {{ name: string, root: ShownToken | null, tokens: ShownToken[], more: number }} LearnedRow */

/** @type {WeakMap<ShadowRoot, string>} */
const drawn = new WeakMap();

/** @param {Component<{ rows: LearnedRow[] }>} component */
export default function mountLearned({ data, parentElement, setTriggerValue }) {
  const now = JSON.stringify(data);
  if (drawn.get(parentElement) === now) return;
  drawn.set(parentElement, now);
  for (const old of parentElement.querySelectorAll("dl, .legend")) old.remove();
  const list = addPart(parentElement, "dl", "learned");
  keepKeys(list);
  const open = (/** @type {number} */ id) => setTriggerValue("opened", id);
  for (const { name, root, tokens, more } of data.rows) {
    const label = addPart(list, "dt", "", name);
    if (root) label.append(" ", tileButton(root, open, { small: true }));
    const row = addPart(list, "dd", "");
    for (const token of tokens) row.append(tileButton(token, open, { small: true }), " ");
    if (more) addPart(row, "span", "muted", `and ${grouped(more)} more`);
  }
  if (list.querySelector(".superword")) addPart(parentElement, "p", "muted legend", SUPERWORD_LEGEND);
}
