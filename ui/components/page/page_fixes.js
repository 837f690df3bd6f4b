// Install all fixes, once per page that the browser loads.

import { replaceWithinPages } from "./addresses.js";
import { explainLostConnection } from "./connection.js";
import { commitFields } from "./fields.js";
import { mendMenu } from "./menu.js";
import { keepPresses } from "./presses.js";

/** @import { Component } from "../shared/component.js" */

/** @type {WeakSet<Document>} */
const fixed = new WeakSet();

/** @param {Component<{ menu: string, lost: { here: string, elsewhere: string } }>} component */
export default function mountPageFixes({ data, parentElement }) {
  const page = parentElement.ownerDocument;
  if (fixed.has(page)) return;
  fixed.add(page);
  replaceWithinPages(window);
  // Fields come first, so that a press sends what was typed before it.
  commitFields(window);
  keepPresses(window);
  mendMenu(page, data.menu);
  explainLostConnection(page, data.lost);
}
