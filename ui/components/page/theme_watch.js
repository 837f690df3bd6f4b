// Compare the browser's theme with the one that the page was drawn for. Streamlit calls a component
// before its styles have changed, and not at all for a switch before it is mounted, so the theme is
// polled, which takes microseconds.

import { onLeaving } from "../shared/leaving.js";
import { MILLISECONDS_BETWEEN_CHECKS, Switches } from "./switches.js";

/** @import { Component } from "../shared/component.js" */

/** @type {WeakMap<ShadowRoot, { timer: number, switches: Switches }>} */
const watches = new WeakMap();

/** @param {Component<{ drawn_for: string }>} component */
export default function mountThemeWatch({ data, parentElement, setTriggerValue }) {
  const watch = watches.get(parentElement) ?? { timer: 0, switches: new Switches() };
  watches.set(parentElement, watch);
  clearInterval(watch.timer);
  watch.timer = setInterval(() => {
    const scheme = getComputedStyle(parentElement.host).colorScheme;
    if (watch.switches.needRequest(scheme, data.drawn_for)) setTriggerValue("theme", scheme);
  }, MILLISECONDS_BETWEEN_CHECKS);
  return onLeaving(parentElement, () => clearInterval(watch.timer));
}
