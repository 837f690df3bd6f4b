// Texts as ribbons, each under its name with its size in bytes and in tokens.

import { joinsOfTokens } from "../shared/bars.js";
import { utf8 } from "../shared/characters.js";
import { colourSlot } from "../shared/colours.js";
import { addPart } from "../shared/elements.js";
import { onLeaving } from "../shared/leaving.js";
import { counted } from "../shared/numbers.js";
import { Ribbon } from "../shared/ribbon.js";

/** @import { Component } from "../shared/component.js" */

/** A text and its tokens; `made` says which of them a merge made, and text in no token has the id -1.
    @typedef {{ name: string, text: string, ids: number[], lengths: number[], made: boolean[] }} NamedText */

/** @type {WeakMap<ShadowRoot, { data: unknown, ribbons: Ribbon[] }>} */
const drawn = new WeakMap();

/** @param {Component<{ texts: NamedText[] }>} component */
export default function mountRibbons({ data, parentElement }) {
  const before = drawn.get(parentElement);
  if (before?.data !== data) {
    for (const ribbon of before?.ribbons ?? []) ribbon.destroy();
    parentElement.querySelector(".ribbons")?.remove();
    const root = addPart(parentElement, "div", "ribbons");
    drawn.set(parentElement, { data, ribbons: data.texts.map((text) => drawText(root, text)) });
  }
  return onLeaving(parentElement, () => {
    for (const ribbon of drawn.get(parentElement)?.ribbons ?? []) ribbon.destroy();
    drawn.delete(parentElement);
    parentElement.querySelector(".ribbons")?.remove();
  });
}

/** @param {HTMLElement} root
    @param {NamedText} named */
function drawText(root, { name, text, ids, lengths, made }) {
  const bytes = utf8(text);
  const n = ids.filter((id) => id >= 0).length;
  const head = addPart(root, "p", "head");
  addPart(head, "b", "", name);
  const size = addPart(head, "span", "", `${counted(bytes.length, "byte")} → `);
  addPart(size, "b", "", counted(n, "token"));
  const slots = new Map();
  let start = 0;
  lengths.forEach((length, i) => {
    slots.set(start, made[i] ? colourSlot(ids[i]) : -1);
    start += length;
  });
  const ribbon = new Ribbon(root);
  ribbon.label = `${name}: ${counted(bytes.length, "byte")} in ${counted(n, "token")}`;
  ribbon.setText({ bytes, joinedAt: joinsOfTokens(lengths), findSlot: (token) => slots.get(token.start) });
  return ribbon;
}
