// Streamlit's fields send their text only when they are left. Here they also send it after a pause in
// typing, and right after a paste.

const TEXT = '[data-testid="stTextArea"] textarea, [data-testid="stTextInput"] input';
const FIELD = `${TEXT}, [data-testid="stNumberInput"] input`;
const PAUSE_MS = 400;
const PASTES = ["insertFromPaste", "insertFromDrop"];

/** @param {Window} window */
export function commitFields(window) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let pause;
  /** @type {Element | null} */
  let left = null; // the field that a press is about to leave
  let isDown = false;

  /** Make Streamlit send the text of a field, as if it was left. @param {Element} field */
  const commit = (field) => field.dispatchEvent(new FocusEvent("focusout", { bubbles: true, composed: true }));

  window.addEventListener("input", (event) => {
    const { target, inputType, isComposing } = /** @type {InputEvent} */ (event);
    // A half typed number would be judged, so numbers wait until their field is left.
    if (!(target instanceof Element) || !target.matches(TEXT) || isComposing) return;
    clearTimeout(pause);
    pause = setTimeout(() => commit(target), PASTES.includes(inputType) ? 0 : PAUSE_MS);
  });

  // A press leaves the field before the button hears of it. What the field sends then may move the
  // button away from the pointer, so the text is sent at the end of the press, together with it.
  window.addEventListener("pointerdown", () => { isDown = true; }, true);
  window.addEventListener("focusout", (event) => {
    if (!isDown || !event.isTrusted || !(event.target instanceof Element) || !event.target.matches(FIELD)) return;
    event.stopImmediatePropagation();
    left = event.target;
  }, true);
  const onReleased = () => {
    isDown = false;
    if (left) commit(left);
    left = null;
  };
  for (const type of ["pointerup", "pointercancel", "dragend"]) window.addEventListener(type, onReleased, true);
}
