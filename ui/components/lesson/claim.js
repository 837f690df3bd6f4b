// A claim of a source, the result computed here, and how it was computed.

import { addPart } from "../shared/elements.js";

/** @import { Component } from "../shared/component.js" */

/** @typedef {{ source: string, stated: string, label: string, found: string, how: string, agrees: boolean }} Claim */

/** @param {Component<Claim>} component */
export default function mountClaim({ data, parentElement }) {
  parentElement.querySelector(".claim")?.remove();
  const root = addPart(parentElement, "div", `claim${data.agrees ? " agrees" : ""}`);
  root.setAttribute("role", "note");
  const stated = addPart(root, "div", "stated");
  addPart(stated, "div", "label", data.source);
  addPart(stated, "p", "", data.stated);
  const found = addPart(root, "div", "found");
  addPart(found, "div", "label", data.label);
  addPart(found, "p", "", data.found);
  if (data.how) addPart(root, "div", "how", data.how);
  return () => root.remove();
}
