// Scroll to the end of a training that the visitor has watched.

/** @import { Component } from "../shared/component.js" */

const MILLISECONDS_TO_DRAW = 250;
const HEADER = 72; // px

/** Whether the training was live when the page was last drawn. Streamlit may mount this again. */
let wasLive = false;

/** @param {Component<{ is_live: boolean, within: string }>} component */
export default function mountEndInView({ data, parentElement }) {
  const hasEnded = wasLive && !data.is_live;
  wasLive = data.is_live;
  // Once the result stands in place of the training's card.
  if (hasEnded) setTimeout(() => scrollTo(parentElement.host.closest(`.st-key-${data.within}`)), MILLISECONDS_TO_DRAW);
}

/** @param {Element | null} container */
function scrollTo(container) {
  if (!container) return;
  const { top } = container.getBoundingClientRect();
  if (top >= HEADER && top < window.innerHeight / 2) return;
  const isStill = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
  container.scrollIntoView({ behavior: isStill ? "auto" : "smooth", block: "start" });
}
