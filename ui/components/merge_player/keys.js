// What keys do to the player.

const ACTS = new Map([[" ", "play"], ["ArrowRight", "forward"], ["ArrowLeft", "back"], ["Home", "first"], ["End", "last"]]);

/** Return what a key asks of the player; undefined where the element that has the keyboard takes the
    key itself, or it is for the browser.
    @param {{ key: string, ctrlKey: boolean, metaKey: boolean, altKey: boolean }} event
    @param {string} kind The type of an input, or the tag of another element. */
export function actOfKey({ key, ctrlKey, metaKey, altKey }, kind) {
  if (ctrlKey || metaKey || altKey) return undefined;
  if (kind === "text" || kind === "radio") return undefined;
  if (key === " " && ["BUTTON", "SUMMARY", "checkbox"].includes(kind)) return undefined;
  if (key !== " " && kind === "range") return undefined;
  return ACTS.get(key);
}
