// Full screen, for a projector: all of the player grows until its words and the race fill the screen.

import { find } from "../shared/elements.js";

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
