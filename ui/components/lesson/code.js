// The source of functions, the call that was made, and its result, as plain text, folded until it is asked
// for; the next step remembers that.

import { remembered } from "../merge_player/remembered.js";
import { addPart } from "../shared/elements.js";

/** @import { Component } from "../shared/component.js" */

/** A line of source in pieces, each with its kind: keyword, name, text, comment, or nothing.
    @typedef {[string, string][]} Line */

/** @typedef {object} CodeData
    @property {{ name: string, path: string, lines: Line[] }[]} pieces
    @property {string} call
    @property {string} printed
    @property {string} note */

const OPEN = "lesson-code";

/** @param {Component<CodeData>} component */
export default function mountCode({ data, parentElement }) {
  parentElement.querySelector(".code")?.remove();
  const root = addPart(parentElement, "details", "code");
  root.open = remembered.get(OPEN) === "yes";
  root.addEventListener("toggle", () => remembered.set(OPEN, root.open ? "yes" : "no"));
  addPart(root, "summary", "", "Show the code");
  const source = addPart(root, "div", "source");
  for (const { name, path, lines } of data.pieces) {
    const piece = addPart(source, "div", "piece");
    const head = addPart(piece, "div", "head");
    addPart(head, "b", "", name);
    addPart(head, "span", "", path);
    const pre = addRegion(piece, `Source of ${name}`);
    for (const line of lines) {
      // The rest of a wrapped line is indented further than its start.
      const first = line[0]?.[0] ?? "";
      const part = addPart(pre, "span", "line");
      part.style.setProperty("--indent", `${first.length - first.trimStart().length + 4}ch`);
      for (const [text, kind] of line) {
        if (kind) addPart(part, "span", kind, text);
        else part.append(text);
      }
      if (!line.length) part.append("\n");
    }
  }
  const ran = addPart(root, "div", "ran");
  addPart(addPart(ran, "div", "head"), "span", "", "Run now, on these words");
  const pre = addRegion(ran, "The call and its result");
  addPart(pre, "span", "call", data.call);
  pre.append("\n", data.printed);
  if (data.note) addPart(ran, "p", "note", data.note);
  return () => root.remove();
}

/** Add code that may be longer than its box, and can be scrolled by keyboard.
    @param {HTMLElement} parent
    @param {string} name */
function addRegion(parent, name) {
  const pre = addPart(parent, "pre", "");
  pre.tabIndex = 0;
  pre.setAttribute("role", "region");
  pre.setAttribute("aria-label", name);
  return pre;
}
