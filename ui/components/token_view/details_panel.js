// The panel with a token's details: next to the text, or, on a phone, a popover at the token that was tapped.

import { addButton, addPart } from "../shared/elements.js";
import { placeNear } from "../shared/place_near.js";

const PHONE = 640; // px, as in the stylesheet

export class DetailsPanel {
  /** @param {HTMLElement} parent
      @param {HTMLElement} root The view, by whose width the panel is placed.
      @param {AbortSignal} signal Ends all listening. */
  constructor(parent, root, signal) {
    this.element = addPart(parent, "aside", "details");
    this.element.setAttribute("aria-label", "The token");
    addButton(this.element, "close", "Close", () => this.element.hidePopover());
    this.content = addPart(this.element, "div", "");
    /** @type {HTMLElement | null} */
    this.token = null;
    const choose = () => (this.element.popover = root.clientWidth <= PHONE ? "auto" : null);
    choose(); // The observer reports a frame later, in which the panel would push the ids away.
    const observer = new ResizeObserver(choose);
    observer.observe(root);
    signal.addEventListener("abort", () => observer.disconnect());
    window.addEventListener("scroll", (event) => {
      if (!event.composedPath().includes(this.element)) this.#place();
    }, { capture: true, signal });
  }

  /** Show the panel if it is a popover.
      @param {HTMLElement | null} token */
  showAt(token) {
    this.token = token;
    if (!token || !this.element.popover) return;
    this.element.showPopover();
    this.element.scrollTop = 0;
    this.#place();
  }

  #place() {
    if (!this.token || !this.element.matches(":popover-open")) return;
    const box = this.token.getBoundingClientRect();
    const isInWindow = this.token.isConnected && box.bottom > 0 && box.top < window.innerHeight;
    if (isInWindow) placeNear(this.element, box);
    else this.element.hidePopover();
  }
}
