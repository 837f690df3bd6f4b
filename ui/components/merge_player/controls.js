// What the visitor does to the player: buttons, keys, the scrub bar, fields and switches.

import { findMerge } from "./jump.js";
import { stepOfAddress } from "./link.js";

export function listenToControls(player, signal) {
  const { root, playback, link } = player;
  const find = (selector) => root.querySelector(selector);
  const on = (target, name, act) => target.addEventListener(name, act, { signal });
  const acts = {
    first: () => playback.goTo(0),
    back: () => playback.back(),
    play: () => playback.toggle(),
    forward: () => playback.forward(),
    last: () => playback.goTo(player.run.n_merges),
  };
  for (const [name, act] of Object.entries(acts)) on(find(`[data-act=${name}]`), "click", act);
  on(root, "keydown", (event) => pressKey(event, acts));
  const scrub = find(".scrub");
  on(scrub, "input", () => playback.goTo(Number(scrub.value)));
  for (const radio of root.querySelectorAll("input[type=radio]")) {
    radio.nextElementSibling.dataset.text = radio.nextElementSibling.textContent;
    on(radio, "change", () => player.choose(radio.name, radio.value));
  }
  const jump = find(".jump");
  const problem = find(".jump-problem");
  on(jump, "submit", (event) => {
    event.preventDefault();
    const found = findMerge(player.run, jump.querySelector("input").value);
    problem.textContent = found.problem ?? "";
    if (found.step !== undefined) playback.goTo(found.step);
  });
  on(jump, "input", () => (problem.textContent = ""));
  const own = find(".own-words input");
  on(own, "input", () => link.reportWords(own.value));
  const guess = find(".guess input");
  on(guess, "change", () => player.setGuessing(guess.checked));
  const { ties } = player.view;
  on(ties.details, "toggle", () => ties.drawAll());
  on(ties.box, "scroll", () => ties.drawSeen());
  const words = find(".words");
  on(words, "pointermove", (event) => player.view.point(playback.step, event));
  on(words, "pointerleave", () => player.view.point(playback.step, null));
  on(words, "click", (event) => {
    const pair = player.view.point(playback.step, event);
    if (pair) player.guess(pair, false);
  });
  on(window, "popstate", () => {
    const step = stepOfAddress(player.run);
    if (step !== null && step !== playback.step) playback.goTo(step);
  });
}

function pressKey(event, acts) {
  // Streamlit has shortcuts of its own on plain letters.
  event.stopPropagation();
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const target = event.target;
  const kind = target.tagName === "INPUT" ? target.type : target.tagName;
  if (kind === "text" || kind === "radio") return;
  if (event.key === " " && ["BUTTON", "SUMMARY", "checkbox"].includes(kind)) return;
  if (event.key !== " " && kind === "range") return;
  const named = { " ": "play", ArrowRight: "forward", ArrowLeft: "back", Home: "first", End: "last" };
  const act = acts[named[event.key]];
  if (!act) return;
  act();
  event.preventDefault();
}
