// A component as an anywidget, in its own shadow root, whose styles are the app's.

import { addPart } from "../shared/elements.js";
import { followTheme } from "./theme.js";

/** What Python sends, by name: "css", perhaps "html", and what the component is drawn from.
    @typedef {Record<string, Uint8Array>} Parts */

/** Draw a component into a root that has its styles and HTML; return the function that ends it.
    @typedef {(root: ShadowRoot, parts: Parts) => () => void} Draw */

/** What an anywidget is drawn from.
    @typedef {object} Widget
    @property {{ get: (name: "parts") => Record<string, ArrayBufferView> }} model
    @property {HTMLElement} el */

/** Return the function that draws a component as an anywidget.
    @param {Draw} draw
    @returns {(widget: Widget) => () => void} */
export function makeRender(draw) {
  return ({ model, el }) => {
    const parts = Object.fromEntries(Object.entries(model.get("parts")).map(([name, part]) =>
      [name, new Uint8Array(/** @type {ArrayBuffer} */ (part.buffer), part.byteOffset, part.byteLength)]));
    const host = addPart(el, "div", "");
    const root = host.attachShadow({ mode: "open" });
    addPart(root, "style", "", readText(parts.css));
    if (parts.html) {
      const page = new DOMParser().parseFromString(readText(parts.html), "text/html");
      root.append(...page.body.childNodes);
    }
    const stopFollowing = followTheme(host, el);
    const end = draw(root, parts);
    return () => {
      stopFollowing();
      host.remove();
      end();
    };
  };
}

/** @param {Uint8Array} bytes */
export function readText(bytes) {
  return new TextDecoder().decode(bytes);
}
