// A key press in the player: what it does, and that nobody else hears of it, unless Ctrl, Alt or ⌘ is held.

import { actOfKey } from "./keys.js";

/** @param {KeyboardEvent} event
    @param {Record<string, () => void>} acts
    @param {() => void} [before] Called before an act. */
export function pressKey(event, acts, before) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  // Streamlit has its own shortcuts on plain letters.
  event.stopPropagation();
  const { target } = event;
  const kind = target instanceof HTMLInputElement ? target.type : /** @type {Element} */ (target).tagName;
  const isFull = /** @type {Element} */ (event.currentTarget).matches(":fullscreen");
  const act = acts[actOfKey(event, kind, isFull) ?? ""];
  if (!act) return;
  before?.();
  act();
  event.preventDefault();
}
