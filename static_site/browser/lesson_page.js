// A lesson: one step at a time, each with a question whose answer shows the rest.

import mountClaims from "../../ui/components/lesson/claims.js";
import mountCode from "../../ui/components/lesson/code.js";
import mountFullScreen from "../../ui/components/lesson/full_screen.js";
import mountBars from "../../ui/components/lesson/pair_bars.js";
import mountQuestion from "../../ui/components/lesson/question.js";
import mountStrip from "../../ui/components/strips/pretoken_strip.js";
import { find } from "../../ui/components/shared/elements.js";
import mountRows from "../../ui/components/symbol_rows/symbol_rows.js";
import { startFrame } from "./page_frame.js";
import { draw } from "./stage.js";

/** @import { Component } from "../../ui/components/shared/component.js" */

const QUESTION = "bpe.question";
/** @type {Record<string, (component: Component<any>) => unknown>} */
const MOUNTS = {
  "bpe.claims": mountClaims,
  "bpe.full_screen": mountFullScreen,
  "bpe.lesson_code": mountCode,
  "bpe.pair_bars": mountBars,
  [QUESTION]: mountQuestion,
  "bpe.pretoken_strip": mountStrip,
  "bpe.symbol_rows": mountRows,
};

/** @type {{ lesson: string, number: number, steps: string[], data: unknown[] }} */
const given = JSON.parse(find(document, "#given", HTMLElement).textContent ?? "");
const steps = /** @type {HTMLElement[]} */ ([...document.querySelectorAll(".step")]);
const links = /** @type {HTMLElement[]} */ ([...document.querySelectorAll("#steps a")]);
let current = 0;

/** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-component]")).forEach((host, place) => {
  const step = host.closest(".step");
  draw(host, MOUNTS[host.dataset.component ?? ""], given.data[place], () => step?.classList.add("answered"));
});

/** Show the step that the address names, or the first. */
function showStep() {
  current = Math.max(0, steps.findIndex(({ id }) => `#${id}` === window.location.hash));
  steps.forEach((step, place) => (step.hidden = place !== current));
  links.forEach((link, place) => {
    if (place === current) link.setAttribute("aria-current", "step");
    else link.removeAttribute("aria-current");
  });
}

window.addEventListener("hashchange", () => {
  showStep();
  // A step begins at its heading, also for the keyboard.
  find(steps[current], "h2", HTMLElement).focus({ preventScroll: true });
  window.scrollTo(0, 0);
});
showStep();
startFrame(() => ["lessons", { lesson: given.lesson, [`step_of_${given.number}`]: given.steps[current] }]);
