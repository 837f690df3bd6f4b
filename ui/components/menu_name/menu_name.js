// Name Streamlit's button for the navigation. It comes and goes with the width of the window.

import { onLeaving } from "../shared/leaving.js";

/** @import { Component } from "../shared/component.js" */

const BUTTON = '[data-testid="stExpandSidebarButton"]';

/** @type {WeakMap<ShadowRoot, MutationObserver>} */
const observers = new WeakMap();

/** @param {Component<{ name: string }>} component */
export default function mountMenuName({ data, parentElement }) {
  const page = parentElement.ownerDocument;
  const rename = () => {
    for (const button of page.querySelectorAll(BUTTON)) {
      if (button.getAttribute("aria-label") !== data.name) button.setAttribute("aria-label", data.name);
    }
  };
  observers.get(parentElement)?.disconnect();
  const observer = new MutationObserver(rename);
  observers.set(parentElement, observer);
  // The header is replaced as a whole when the window becomes narrow, so all of the page is watched,
  // but only for what is added.
  observer.observe(page.body, { childList: true, subtree: true });
  rename();
  return onLeaving(parentElement, () => observers.get(parentElement)?.disconnect());
}
