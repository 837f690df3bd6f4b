// Presses that Streamlit's page would lose or misread.

const FARTHEST_PX = 10;

/** @param {Window} window */
export function keepPresses(window) {
  /** @type {HTMLButtonElement | null} */
  let pressed = null;
  let [x, y] = [0, 0];

  window.addEventListener("pointerdown", (event) => {
    pressed = event.target instanceof Element ? event.target.closest("button") : null;
    [x, y] = [event.clientX, event.clientY];
  }, true);
  window.addEventListener("click", (event) => {
    const button = pressed;
    pressed = null;
    const isFar = Math.hypot(event.clientX - x, event.clientY - y) > FARTHEST_PX;
    // If the page was redrawn meanwhile, another element is below the pointer.
    if (button?.isConnected && event.isTrusted && !isFar && !event.composedPath().includes(button)) {
      event.preventDefault();
      event.stopImmediatePropagation();
      button.click();
    }
  }, true);
  // The help of a switch is part of its label, on which Streamlit listens to presses of any kind.
  for (const type of ["pointerdown", "mousedown", "touchstart", "keydown", "click"]) {
    window.addEventListener(type, (event) => { if (isHelp(event.target)) event.stopPropagation(); }, true);
  }
}

/** Return whether a press is on the help within a label.
    @param {EventTarget | null} target */
function isHelp(target) {
  return target instanceof Element && target.closest('label [data-testid="stTooltipIcon"]') !== null;
}
