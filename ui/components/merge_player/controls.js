// The player's controls: buttons, keys, the scrub bar, fields and switches; and full screen, for a projector:
// all of the player grows until its words and the race fill the screen.

import { find } from "../shared/elements.js";
import { stepOfAddress } from "./address.js";
import { findMerge } from "./jump.js";
import { isByKey } from "./keys.js";
import { listenToKeys, listenToPage } from "./press_key.js";

/** @import { Player } from "./player.js" */

// What the controls, the sentence, the words and the race take, in px.
const WIDTH = 1240;
const HEIGHT = 680;

/** Return the factor by which the player grows on a screen of this size.
    @param {number} width
    @param {number} height */
function screenFactor(width, height) {
  return Math.max(1, Math.min(width / WIDTH, height / HEIGHT));
}

export class FullScreen {
  /** @param {HTMLElement} root
      @param {AbortSignal} signal Ends all listening. */
  constructor(root, signal) {
    this.root = root;
    find(root, "[data-act=full]", HTMLElement).hidden = !document.fullscreenEnabled;
    document.addEventListener("fullscreenchange", () => this.#draw(), { signal });
    window.addEventListener("resize", () => this.#draw(), { signal });
  }

  get isOn() {
    return this.root.matches(":fullscreen");
  }

  toggle() {
    if (this.isOn) document.exitFullscreen();
    else if (document.fullscreenEnabled) this.root.requestFullscreen().then(() => this.root.focus());
  }

  #draw() {
    this.root.style.zoom = this.isOn ? String(screenFactor(window.innerWidth, window.innerHeight)) : "";
  }
}

/** @param {Player} player
    @param {AbortSignal} signal Ends all listening. */
export function listenToControls(player, signal) {
  const { root, playback, link, view } = player;
  const full = new FullScreen(root, signal);
  const buttons = {
    first: () => playback.goTo(0),
    back: () => playback.back(),
    play: () => playback.toggle(),
    forward: () => playback.forward(),
    last: () => playback.goTo(player.run.n_merges),
    full: () => full.toggle(),
  };
  /** @type {Record<string, () => void>} */
  const acts = { ...buttons, faster: () => player.changeSpeed(1), slower: () => player.changeSpeed(-1) };
  for (const [name, act] of Object.entries(buttons)) {
    view.button(name).addEventListener("click", (event) => {
      player.byKey = isByKey(event);
      act();
    }, { signal });
  }
  const listening = { acts, before: () => (player.byKey = true) };
  listenToKeys(root, listening, signal);
  if (player.ownsPage) listenToPage(root, listening, signal);
  find(root, ".skip", HTMLElement).addEventListener("click", (event) => player.skip(isByKey(event)), { signal });
  const scrub = find(root, ".scrub", HTMLInputElement);
  scrub.addEventListener("input", () => playback.goTo(Number(scrub.value)), { signal });
  for (const radio of root.querySelectorAll("input")) {
    if (radio.type !== "radio") continue;
    const label = /** @type {HTMLElement} */ (radio.nextElementSibling);
    label.dataset.text = label.textContent ?? "";
    radio.addEventListener("change", () => player.choose(radio.name, radio.value), { signal });
  }
  listenToJump(player, signal);
  const own = find(root, ".own-words input", HTMLInputElement);
  own.addEventListener("input", () => link.reportWords(own.value), { signal });
  const guess = find(root, ".guess input", HTMLInputElement);
  guess.addEventListener("change", () => player.setGuessing(guess.checked), { signal });
  view.ties.details.addEventListener("toggle", () => view.ties.drawAll(), { signal });
  view.ties.box.addEventListener("scroll", () => view.ties.drawSeen(), { signal });
  const words = view.grid.list;
  words.addEventListener("pointermove", (event) => view.point(playback.step, event), { signal });
  words.addEventListener("pointerleave", () => view.point(playback.step, null), { signal });
  words.addEventListener("click", (event) => {
    const pair = view.point(playback.step, event);
    if (pair) player.guess(pair, false);
  }, { signal });
  window.addEventListener("popstate", () => {
    const step = stepOfAddress(window.location.search, player.run.n_merges);
    if (step !== null && step !== playback.step) playback.goTo(step);
  }, { signal });
}

/** @param {Player} player
    @param {AbortSignal} signal */
function listenToJump(player, signal) {
  const jump = find(player.root, ".jump", HTMLFormElement);
  const field = find(jump, "input", HTMLInputElement);
  const problem = find(player.root, ".jump-problem", HTMLElement);
  jump.addEventListener("submit", (event) => {
    event.preventDefault();
    const found = findMerge(player.run, field.value);
    problem.textContent = found.problem ?? "";
    if (found.step !== undefined) player.playback.goTo(found.step);
  }, { signal });
  jump.addEventListener("input", () => (problem.textContent = ""), { signal });
}
