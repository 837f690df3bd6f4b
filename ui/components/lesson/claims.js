// Claims of a source, each next to the result computed here, and how it was computed.

import { addPart } from "../shared/elements.js";

/** @import { Component } from "../shared/component.js" */

/** @typedef {{ stated: string, found: string, how: string }} Claim */

/** @param {Component<{ claims: Claim[] }>} component */
export default function mountClaims({ data, parentElement }) {
  for (const one of parentElement.querySelectorAll(".claim")) one.remove();
  for (const { stated, found, how } of data.claims) {
    const root = addPart(parentElement, "div", "claim");
    root.setAttribute("role", "note");
    for (const [part, label, text] of [["stated", "It says", stated], ["found", "Computed here", found]]) {
      const box = addPart(root, "div", part);
      addPart(box, "div", "label", label);
      addPart(box, "p", "", text);
    }
    if (how) addPart(root, "div", "how", how);
  }
}
