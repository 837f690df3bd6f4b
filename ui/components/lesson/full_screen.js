// A lesson in full screen, as on a projector: a button, and the keys of a presenter's remote control.

import { addButton } from "../shared/elements.js";
import { onLeaving } from "../shared/leaving.js";
import { actOfKey } from "../merge_player/keys.js";

/** @import { Component } from "../shared/component.js" */

/** The selectors of what leads a step on and back, and of what scrolls the page.
    @typedef {{ forward: string, back: string, scroller: string }} Ways */

const SHARE = 0.9; // of the window that a page key scrolls by
const OWN_KEYS = "textarea, select, [role=radiogroup], [role=slider]"; // what answers to these keys itself
const OUTLINE = "M3 3h6v2H5v4H3zM17 17h-6v-2h4v-4h2zM11 3h6v6h-2V5h-4zM9 17H3v-6h2v4h4z";

/** @type {WeakSet<ShadowRoot>} */
const mounted = new WeakSet();

/** @param {Component<Ways>} component */
export default function mountFullScreen({ data, parentElement }) {
  const ending = new AbortController();
  const end = onLeaving(parentElement, () => ending.abort());
  if (mounted.has(parentElement)) return end;
  mounted.add(parentElement);
  const page = document.documentElement;
  const button = addButton(parentElement, "full", undefined, () => {
    if (page.matches(":fullscreen")) document.exitFullscreen();
    else page.requestFullscreen();
  });
  button.hidden = !document.fullscreenEnabled;
  button.title = "Full screen; arrow and page keys then take a step";
  button.setAttribute("aria-label", "Full screen");
  const icon = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  icon.setAttribute("viewBox", "0 0 20 20");
  icon.append(document.createElementNS(icon.namespaceURI, "path"));
  icon.firstElementChild?.setAttribute("d", OUTLINE);
  button.append(icon);
  // Before the parts of the page, which keep the keys that they hear to themselves.
  document.addEventListener("keydown", (event) => {
    if (page.matches(":fullscreen")) takeStep(event, data);
  }, { signal: ending.signal, capture: true });
  return end;
}

/** @param {KeyboardEvent} event
    @param {Ways} ways */
function takeStep(event, { forward, back, scroller }) {
  const [target] = event.composedPath();
  if (!(target instanceof Element) || target.closest(OWN_KEYS)) return;
  const act = actOfKey(event, target instanceof HTMLInputElement ? target.type : target.tagName, true);
  if (act !== "forward" && act !== "back") return;
  event.preventDefault();
  const way = act === "forward" ? 1 : -1;
  const box = document.querySelector(scroller);
  // A page key first shows the rest of a long step.
  if (box && event.key.startsWith("Page") && leftToScroll(box, way)) return box.scrollBy(0, way * SHARE * box.clientHeight);
  const button = document.querySelector(act === "forward" ? forward : back);
  if (!(button instanceof HTMLElement)) return;
  button.click();
  box?.scrollTo(0, 0);
}

/** @param {Element} box
    @param {number} way 1 for down, -1 for up. */
function leftToScroll({ scrollTop, clientHeight, scrollHeight }, way) {
  return way > 0 ? scrollTop + clientHeight < scrollHeight - 2 : scrollTop > 2;
}
