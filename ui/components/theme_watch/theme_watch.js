// Compare the browser's theme with the one that the page was drawn for. Streamlit calls a component
// before its styles have changed, and not at all for a switch before it is mounted, so the theme is
// polled, which takes microseconds.

import { onLeaving } from "../shared/leaving.js";

/** @import { Component } from "../shared/component.js" */

/** `asked` is the theme that a rerun was last requested for.
    @typedef {{ timer: number, asked?: string }} Watch */

const MILLISECONDS_BETWEEN_CHECKS = 250;

/** @type {WeakMap<ShadowRoot, Watch>} */
const watches = new WeakMap();

/** @param {Component<{ drawn_for: string }>} component */
export default function mountThemeWatch({ data, parentElement, setTriggerValue }) {
  const before = watches.get(parentElement);
  clearInterval(before?.timer);
  /** @type {Watch} */
  const watch = { timer: 0, asked: before?.asked };
  watch.timer = setInterval(() => {
    const scheme = getComputedStyle(parentElement.host).colorScheme;
    if (scheme === data.drawn_for) watch.asked = undefined;
    // Ask once per switch, even if Python goes on drawing for the old theme.
    else if (scheme !== watch.asked) {
      watch.asked = scheme;
      setTriggerValue("theme", scheme);
    }
  }, MILLISECONDS_BETWEEN_CHECKS);
  watches.set(parentElement, watch);
  return onLeaving(parentElement, () => clearInterval(watches.get(parentElement)?.timer));
}
