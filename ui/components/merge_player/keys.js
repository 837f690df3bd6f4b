// The player's keys.

const ACTS = new Map([
  [" ", "play"], ["ArrowRight", "forward"], ["ArrowLeft", "back"], ["Home", "first"], ["End", "last"],
  ["+", "faster"], ["=", "faster"], ["-", "slower"], ["f", "full"],
]);
// A presenter's remote control sends these. Outside full screen they scroll the page.
const FULL_SCREEN_ACTS = new Map([["PageDown", "forward"], ["PageUp", "back"]]);

/** Return the action of a key; undefined if the focused element or the browser handles the key.
    @param {{ key: string, ctrlKey: boolean, metaKey: boolean, altKey: boolean }} event
    @param {string} kind The type of an input, or the tag of another element.
    @param {boolean} [isFull] Whether the player fills the screen. */
export function actOfKey({ key, ctrlKey, metaKey, altKey }, kind, isFull = false) {
  if (ctrlKey || metaKey || altKey) return undefined;
  if (kind === "text" || kind === "radio") return undefined;
  if (key === " " && ["BUTTON", "SUMMARY", "checkbox"].includes(kind)) return undefined;
  if (key !== " " && kind === "range") return undefined;
  return ACTS.get(lower(key)) ?? (isFull ? FULL_SCREEN_ACTS.get(key) : undefined);
}

/** Return the action of a key that is pressed outside of the player; undefined if it scrolls the page there.
    @param {{ key: string, ctrlKey: boolean, metaKey: boolean, altKey: boolean }} event */
export function actOnPage(event) {
  return event.key === "Home" || event.key === "End" ? undefined : actOfKey(event, "");
}

/** "F" -> "f", which caps lock makes of it; the names of other keys as they are.
    @param {string} key */
function lower(key) {
  return key.length === 1 ? key.toLowerCase() : key;
}

/** Return whether a click was made by a key: a browser gives it a `detail` of 0.
    @param {MouseEvent} event */
export function isByKey(event) {
  return event.detail === 0;
}
