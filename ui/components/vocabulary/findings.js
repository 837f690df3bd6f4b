// The findings of an audit with their counts. Pressing one filters the table.

import { addButton, addPart, keepKeys } from "../shared/elements.js";
import { grouped } from "../shared/numbers.js";
import { walkByArrows } from "./parts.js";

/** @import { Component } from "../shared/component.js" */

/** `n` is null until it is computed.
    @typedef {{ key: string, name: string, note: string, n: number | null }} Finding */

/** @param {Component<{ findings: Finding[], chosen: string }>} component */
export default function mountFindings({ data, parentElement, setTriggerValue }) {
  const focused = /** @type {HTMLElement | null} */ (parentElement.activeElement)?.dataset.key;
  parentElement.querySelector("ul")?.remove();
  const list = addPart(parentElement, "ul", "findings");
  keepKeys(list);
  walkByArrows(list, "button");
  const most = Math.max(1, ...data.findings.map(({ n }) => n ?? 0));
  for (const { key, name, note, n } of data.findings) {
    const button = addButton(addPart(list, "li", ""), "finding", undefined, () => {
      // Python answers only later.
      for (const one of list.querySelectorAll("button")) one.setAttribute("aria-pressed", String(one === button && key !== data.chosen));
      setTriggerValue("chosen", key);
    });
    button.dataset.key = key;
    button.disabled = n === null;
    button.setAttribute("aria-pressed", String(key === data.chosen));
    addPart(button, "b", "count", n === null ? "…" : grouped(n));
    const words = addPart(button, "span", "words");
    addPart(words, "span", "name", name);
    addPart(words, "span", "muted", note);
    addPart(addPart(button, "span", "track"), "i", "").style.width = `${(100 * (n ?? 0)) / most}%`;
    if (focused === key) button.focus();
  }
  return () => list.remove();
}
