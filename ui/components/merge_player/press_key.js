// A key press in a player, or elsewhere on the page that it has to itself: what it does, and that nobody else
// hears of it, unless Ctrl, Alt or ⌘ is held.

import { actOfKey, actOnPage } from "./keys.js";

/** What presses on a page may do, and what comes before.
    @typedef {{ acts: Record<string, () => void>, before?: () => void }} Listening */

/** Listen to the keys pressed in a player.
    @param {HTMLElement} root
    @param {Listening} listening
    @param {AbortSignal} signal */
export function listenToKeys(root, { acts, before }, signal) {
  root.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    // Streamlit has its own shortcuts on plain letters.
    event.stopPropagation();
    const { target } = event;
    const kind = target instanceof HTMLInputElement ? target.type : /** @type {Element} */ (target).tagName;
    press(event, acts[actOfKey(event, kind, root.matches(":fullscreen")) ?? ""], before);
  }, { signal });
}

/** Listen to the keys pressed elsewhere on a page with no other player, where nothing else takes them.
    @param {HTMLElement} root
    @param {Listening} listening
    @param {AbortSignal} signal */
export function listenToPage(root, { acts, before }, signal) {
  const tree = root.getRootNode();
  const host = tree instanceof ShadowRoot ? tree.host : root;
  document.addEventListener("keydown", (event) => {
    const [target] = event.composedPath();
    // The focus is nowhere, on a part of the page that the player is in, or on a link, such as the one that
    // led here.
    if (!(target instanceof Element) || !(target.contains(host) || target.closest("a[href]"))) return;
    press(event, acts[actOnPage(event) ?? ""], before);
  }, { signal });
}

/** @param {KeyboardEvent} event
    @param {(() => void) | undefined} act
    @param {() => void} [before] */
function press(event, act, before) {
  if (!act || event.defaultPrevented) return;
  before?.();
  act();
  event.preventDefault();
}
