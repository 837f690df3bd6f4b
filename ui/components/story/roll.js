// A number that rolls to its next value.

import { grouped } from "../shared/numbers.js";

const ROLL = 320; // ms

/** Let the number of an element run to another; immediately if motion is not wanted.
    @param {HTMLElement} element
    @param {number} to
    @param {number} wait Milliseconds before it starts; 0 for no motion. */
export function roll(element, to, wait) {
  const from = Number(element.dataset.to ?? to);
  element.dataset.to = String(to);
  if (!wait || from === to) {
    element.textContent = grouped(to);
    return;
  }
  const start = performance.now() + wait;
  const draw = () => {
    if (element.dataset.to !== String(to)) return;
    const share = Math.min(1, Math.max(0, (performance.now() - start) / ROLL));
    element.textContent = grouped(Math.round(from + (to - from) * share));
    if (share < 1) requestAnimationFrame(draw);
  };
  requestAnimationFrame(draw);
}
