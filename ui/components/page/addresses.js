// The browser's history. Streamlit adds an entry for each change of the query, so Back would undo one
// choice after another instead of leaving the page. But the steps of a lesson are read like pages.

import { leadsOn } from "./steps.js";

/** Let a new address of the page that is open replace the old one in the history, unless it is another step.
    @param {Window} window */
export function replaceWithinPages(window) {
  const { history, location } = window;
  const push = history.pushState.bind(history);
  const replace = history.replaceState.bind(history);
  // The next page may write its query before Streamlit changes the path. So the page that is left keeps the
  // address that it had when a link was pressed.
  let left = "";
  // A press leads on once: the page may write its address again for the same step, and so may a page that was
  // opened by a link or by Back.
  let isPressed = false;
  window.addEventListener("click", ({ target }) => {
    left = target instanceof Element && target.closest("a") ? location.href : "";
    isPressed = left === "";
  }, true);
  window.addEventListener("keydown", () => { isPressed = true; }, true);
  window.addEventListener("popstate", () => { isPressed = false; }, true);
  /** @type {typeof history.pushState} */
  const write = (state, unused, url) => {
    const isStep = isPressed && leadsOn(location.search, new URL(url ?? "", location.href).search);
    if (isStep) isPressed = false;
    (isStep ? push : replace)(state, unused, url);
  };
  const isSamePage = (/** @type {string | URL | null | undefined} */ url) =>
    new URL(url ?? "", location.href).pathname === location.pathname;
  history.replaceState = (state, unused, url) => (isSamePage(url) ? write : replace)(state, unused, url);
  history.pushState = (state, unused, url) => {
    if (isSamePage(url)) {
      write(state, unused, url);
      return;
    }
    if (left) replace(history.state, "", left);
    left = "";
    push(state, unused, url);
  };
}
