// Compares the theme that is shown with the one that the page was drawn for. Streamlit calls a
// component while it still changes its styles, and not at all for a switch before it is mounted:
// so the theme is looked at now and then. It takes microseconds.

/** @import { Component } from "../shared/component.js" */

/** `asked` is the theme that the page was asked to be drawn for again.
    @typedef {{ timer: number, asked?: string }} Watch */

const MILLISECONDS_BETWEEN_LOOKS = 250;

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
    // Once for each switch, even where Python draws on for the theme before.
    else if (scheme !== watch.asked) {
      watch.asked = scheme;
      setTriggerValue("theme", scheme);
    }
  }, MILLISECONDS_BETWEEN_LOOKS);
  watches.set(parentElement, watch);
  return () => clearInterval(watches.get(parentElement)?.timer);
}
