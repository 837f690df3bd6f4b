// Catch large pastes into one of Streamlit's own text areas, which is found by its label.

import { askUntilAnswered } from "../shared/asking.js";
import { addPart } from "../shared/elements.js";
import { onLeaving } from "../shared/leaving.js";
import { onInsertion } from "./insertions.js";
import { isLarge, describeOpening, sizeText, withInsertion } from "./pastes.js";

/** @import { Component } from "../shared/component.js"
    @import { Insertion, PasteLimits, SentPaste } from "./pastes.js" */

/** @typedef {{ label: string, limits: PasteLimits }} CatcherData */

// The larger a paste, the longer it is on its way.
const MILLISECONDS_UNTIL_SENT_AGAIN = 3000;
const MILLISECONDS_PER_MEGABYTE = 1000;

/** @type {WeakMap<ShadowRoot, Catcher>} */
const catchers = new WeakMap();

/** @param {Component<CatcherData>} component */
export default function mountCatcher({ data, parentElement, setTriggerValue }) {
  const catcher = catchers.get(parentElement) ?? new Catcher(parentElement);
  catchers.set(parentElement, catcher);
  Object.assign(catcher, { data, setTriggerValue });
  return onLeaving(parentElement, () => {
    catcher.stop();
    catchers.delete(parentElement);
  });
}

class Catcher {
  /** @param {ShadowRoot} parent */
  constructor(parent) {
    /** @type {CatcherData | null} */
    this.data = null;
    /** @type {(name: string, value: unknown) => void} */
    this.setTriggerValue = () => {};
    this.note = addPart(parent, "p", "note");
    this.note.setAttribute("role", "status");
    /** @type {() => void} */
    this.stopSending = () => {};
    this.abort = new AbortController();
    onInsertion(document, (area) => area.ariaLabel === this.data?.label, (...what) => this.#take(...what), this.abort.signal);
  }

  // A paste that Python has opened takes the place of the text area and of its catcher.
  stop() {
    this.stopSending();
    this.abort.abort();
    this.note.remove();
  }

  /** @param {Insertion} insertion
      @param {HTMLTextAreaElement} area */
  #take(insertion, area) {
    this.note.textContent = "";
    if (!this.data) return false;
    const { limits } = this.data;
    const whole = withInsertion(area.value, insertion);
    if (!isLarge(insertion.text, whole.length, limits)) return false;
    const opening = describeOpening(whole, area.value, limits);
    if ("problem" in opening) this.note.textContent = opening.problem;
    else {
      this.note.textContent = `Opening the pasted text, ${sizeText(opening.paste.n_bytes)} …`;
      this.#send(opening.paste);
    }
    return true;
  }

  /** @param {SentPaste} paste */
  #send(paste) {
    this.stopSending();
    const pause = MILLISECONDS_UNTIL_SENT_AGAIN + (MILLISECONDS_PER_MEGABYTE * paste.n_bytes) / 1e6;
    this.stopSending = askUntilAnswered(() => this.setTriggerValue("pasted", paste), [pause, 2 * pause]);
  }
}
