// Scroll to the end of a training that the visitor has watched.

import { onLeaving } from "../shared/leaving.js";
import { Watch } from "./watch.js";

/** @import { Component } from "../shared/component.js" */

const MILLISECONDS_TO_DRAW = 250;
const HEADER = 72; // px

const watch = new Watch();

/** @param {Component<{ is_live: boolean, within: string }>} component */
export default function mountEndInView({ data, parentElement }) {
  const hasEnded = watch.seesEnd(data.is_live, performance.now());
  // Once the result stands in place of the training's card.
  if (hasEnded) setTimeout(() => scrollTo(parentElement.host.closest(`.st-key-${data.within}`)), MILLISECONDS_TO_DRAW);
  return onLeaving(parentElement, () => watch.pause(performance.now()));
}

/** @param {Element | null} container */
function scrollTo(container) {
  if (!container) return;
  const { top } = container.getBoundingClientRect();
  if (top >= HEADER && top < window.innerHeight / 2) return;
  const isStill = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
  container.scrollIntoView({ behavior: isStill ? "auto" : "smooth", block: "start" });
}
