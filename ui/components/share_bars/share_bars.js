// Draw a bar of shares for each of several texts, with one legend.

import { addPart, find } from "../shared/elements.js";
import { listParts, percent } from "./shares.js";

/** @import { Component } from "../shared/component.js"
    @import { Part, Share } from "./shares.js"
    @typedef {{ text: string, shares: Share[] }} Bar
    @typedef {{ title: string, bars: Bar[] }} Group */

const MAX_TONES = 5;

/** @param {Component<{ groups: Group[] }>} component */
export default function mountShareBars({ data, parentElement }) {
  const root = find(parentElement, ".groups", HTMLElement);
  root.textContent = "";
  for (const group of data.groups) {
    const parts = listParts(group.bars.map((bar) => bar.shares));
    if (parts.length) addGroup(root, group, parts, data.groups.length > 1);
  }
}

/** @param {HTMLElement} root
    @param {Group} group
    @param {Part[]} parts
    @param {boolean} isTitled */
function addGroup(root, { title, bars }, parts, isTitled) {
  const section = addPart(root, "section", "group");
  section.setAttribute("aria-label", title);
  if (isTitled) addPart(section, "p", "title", title);
  const rows = addPart(section, "div", "rows");
  rows.setAttribute("aria-hidden", "true");
  bars.forEach(({ text }, n) => {
    if (bars.length > 1) addPart(rows, "span", "text", text);
    const bar = addPart(rows, "div", "bar");
    parts.forEach((part, i) => {
      const share = part.shares[n] ?? 0;
      if (share) addPart(bar, "div", `part ${pickTone(part, i)}`).style.flex = `${share} 1 0`;
    });
  });
  const key = addPart(section, "ul", "key");
  parts.forEach((part, i) => {
    const entry = addPart(key, "li", "");
    addPart(entry, "span", `swatch ${pickTone(part, i)}`);
    addPart(entry, "span", "", part.name);
    bars.forEach(({ text }, n) => {
      const share = percent(part.shares[n] ?? 0);
      if (n === 0) addPart(entry, "b", "", share);
      else addPart(entry, "span", "other", `${share} ${text.toLowerCase()}`);
    });
  });
}

/** @param {Part} part
    @param {number} i */
function pickTone(part, i) {
  return part.rest ? "tone-rest" : `tone-${Math.min(i, MAX_TONES - 1)}`;
}
