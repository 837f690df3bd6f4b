// Draw a text area that sends the typed text after a pause, and an opened text with its name and size.

import { onInsertion } from "./insertions.js";
import { isLarge, describeOpening, sizeText, withInsertion } from "./pastes.js";
import { addButton, addPart, keepKeys } from "../shared/elements.js";
import { onLeaving } from "../shared/leaving.js";
import { offsetWithLineEnds } from "./line_ends.js";
import { TypedText } from "./typed_text.js";

/** @import { Insertion, PasteLimits } from "./pastes.js"
    @import { Component } from "../shared/component.js" */

/** `excerpt_note` says why the text cannot be edited, and is empty where it can be. `opened` is the name
    and the size of a text that was opened as a whole.
    @typedef {{ text: string, label: string, lines: number, excerpt_note: string,
      opened: [string, string] | null, limits: PasteLimits }} LiveTextData */

// An answer takes a second or two. If none comes, because the connection broke, the field opens again.
const MAX_WAIT_MS = 30000;

/** @type {WeakMap<ShadowRoot, LiveText>} */
const fields = new WeakMap();

/** @param {Component<LiveTextData>} component */
export default function mountLiveText({ data, parentElement, setTriggerValue }) {
  const field = fields.get(parentElement) ?? new LiveText(parentElement);
  fields.set(parentElement, field);
  field.setTriggerValue = setTriggerValue;
  field.receive(data);
  return onLeaving(parentElement, () => {
    field.stop();
    fields.delete(parentElement);
  });
}

class LiveText {
  /** @param {ShadowRoot} parent */
  constructor(parent) {
    /** @type {(name: string, value: unknown) => void} */
    this.setTriggerValue = () => {};
    /** @type {PasteLimits | null} */
    this.limits = null;
    this.isExcerpt = false;
    this.wait = 0;
    this.root = addPart(parent, "div", "field");
    this.label = addPart(this.root, "label", "");
    this.opened = addPart(this.root, "p", "opened");
    this.openedName = addPart(this.opened, "b", "");
    this.openedSize = addPart(this.opened, "span", "");
    addButton(this.opened, "", "Close", () => this.setTriggerValue("closed", true));
    this.area = addPart(this.root, "textarea", "");
    this.note = addPart(this.root, "p", "note", "This text has carriage returns (U+000D). Typing keeps them.");
    this.pastedNote = addPart(this.root, "p", "note", "The pasted text has carriage returns (U+000D), which a browser’s text field turns into line feeds. To keep them, open the text as a file on Token boundaries.");
    this.pastedNote.hidden = true;
    this.excerptNote = addPart(this.root, "p", "note");
    this.status = addPart(this.root, "p", "note");
    this.status.setAttribute("role", "status");
    this.problem = addPart(this.root, "p", "note problem");
    this.problem.setAttribute("role", "alert");
    this.#warn("");
    this.area.id = "text";
    this.label.htmlFor = "text";
    this.area.spellcheck = false;
    this.area.setAttribute("autocomplete", "off");
    this.typed = new TypedText({
      send: (text) => this.setTriggerValue("typed", text),
      warn: (problem) => this.#warn(problem),
    });
    keepKeys(this.area);
    this.area.addEventListener("input", () => this.typed.type(this.area.value));
    this.area.addEventListener("blur", () => this.typed.leave());
    this.abort = new AbortController();
    onInsertion(this.area, () => true, (insertion) => this.#take(insertion), this.abort.signal);
  }

  /** @param {LiveTextData} data */
  receive({ text, label, lines, excerpt_note: aboutExcerpt, opened, limits }) {
    this.limits = limits;
    this.label.textContent = label;
    this.area.style.setProperty("--lines", String(lines));
    this.excerptNote.textContent = aboutExcerpt;
    this.excerptNote.hidden = !aboutExcerpt;
    this.opened.hidden = !opened;
    [this.openedName.textContent, this.openedSize.textContent] = opened ?? ["", ""];
    this.isExcerpt = Boolean(aboutExcerpt);
    this.#stopWaiting();
    this.note.hidden = this.area.readOnly || !text.includes("\r");
    if (!this.typed.receive(text)) return;
    this.pastedNote.hidden = true;
    this.area.value = text;
    if (!opened) return;
    this.area.setSelectionRange(0, 0);
    this.area.scrollTop = 0;
  }

  stop() {
    this.typed.stop();
    this.#stopWaiting();
    this.abort.abort();
    this.root.remove();
  }

  /** Take what is pasted or dropped; return whether the browser must not insert it.
      @param {Insertion} insertion */
  #take(insertion) {
    if (!this.limits || this.wait) return true;
    const { text: pasted, start, end } = insertion;
    const { value } = this.area;
    const replacesAll = start === 0 && end === value.length;
    if (this.isExcerpt && !replacesAll) {
      this.#warn("This text cannot be edited. Close it first, or select all of it to replace it.");
      return true;
    }
    this.#warn("");
    if (!isLarge(pasted, value.length - (end - start) + pasted.length, this.limits)) {
      if (this.isExcerpt) {
        this.#startOver(pasted);
        return true;
      }
      if (pasted.includes("\r") && !this.typed.hasCarriageReturns) this.pastedNote.hidden = false;
      return false;
    }
    const before = this.typed.current;
    const [from, to] = [start, end].map((place) => offsetWithLineEnds(before, place));
    this.#open(replacesAll ? pasted : withInsertion(before, { text: pasted, start: from, end: to }), before);
    return true;
  }

  /** Send a large text to Python, and wait until it comes back as an opened one.
      @param {string} text
      @param {string} before */
  #open(text, before) {
    const opening = describeOpening(text, before, /** @type {PasteLimits} */ (this.limits));
    if ("problem" in opening) {
      this.#warn(opening.problem);
      return;
    }
    this.typed.stop();
    this.area.readOnly = true;
    this.status.hidden = false;
    this.status.textContent = `Opening the pasted text, ${sizeText(opening.paste.n_bytes)} …`;
    this.wait = setTimeout(() => this.#stopWaiting(), MAX_WAIT_MS);
    this.setTriggerValue("pasted", opening.paste);
  }

  #stopWaiting() {
    clearTimeout(this.wait);
    this.wait = 0;
    this.status.textContent = "";
    this.status.hidden = true;
    this.area.readOnly = this.isExcerpt;
  }

  /** @param {string} text */
  #startOver(text) {
    this.isExcerpt = false;
    this.#stopWaiting();
    this.area.value = text;
    this.typed.startOver(text);
  }

  /** @param {string} problem */
  #warn(problem) {
    this.problem.hidden = !problem;
    this.problem.textContent = problem;
  }
}
