// Draw a text area that sends the typed text after a pause.

import { addButton, addPart, keepKeys } from "../shared/elements.js";
import { TypedText } from "./typed_text.js";

/** @import { Component } from "../shared/component.js" */

/** `excerpt_note` says why the text cannot be edited, and is empty where it can be.
    @typedef {{ text: string, label: string, lines: number, excerpt_note: string }} LiveTextData */

/** @type {WeakMap<ShadowRoot, LiveText>} */
const fields = new WeakMap();

/** @param {Component<LiveTextData>} component */
export default function mountLiveText({ data, parentElement, setTriggerValue }) {
  const field = fields.get(parentElement) ?? new LiveText(parentElement);
  fields.set(parentElement, field);
  field.setTriggerValue = setTriggerValue;
  field.receive(data);
  return () => {
    field.stop();
    fields.delete(parentElement);
  };
}

class LiveText {
  /** @param {ShadowRoot} parent */
  constructor(parent) {
    /** @type {(name: string, value: unknown) => void} */
    this.setTriggerValue = () => {};
    this.root = addPart(parent, "div", "field");
    this.label = addPart(this.root, "label", "");
    this.area = addPart(this.root, "textarea", "");
    this.note = addPart(this.root, "p", "note", "This text has carriage returns (U+000D). Typing keeps them.");
    this.pastedNote = addPart(this.root, "p", "note", "The pasted text has carriage returns (U+000D), which a browser’s text field turns into line feeds. To keep them, open the text as a file on Token boundaries.");
    this.pastedNote.hidden = true;
    this.excerptNote = addPart(this.root, "p", "note");
    this.excerptWords = addPart(this.excerptNote, "span", "");
    addButton(this.excerptNote, "", "Write another text", () => this.#startOver());
    this.problem = addPart(this.root, "p", "note problem");
    this.problem.setAttribute("role", "alert");
    this.problem.hidden = true;
    this.area.id = "text";
    this.label.htmlFor = "text";
    this.area.spellcheck = false;
    this.area.setAttribute("autocomplete", "off");
    this.typed = new TypedText({
      send: (text) => this.setTriggerValue("typed", text),
      warn: (problem) => {
        this.problem.hidden = !problem;
        this.problem.textContent = problem;
      },
    });
    keepKeys(this.area);
    this.area.addEventListener("input", () => this.typed.type(this.area.value));
    this.area.addEventListener("blur", () => this.typed.leave());
    this.area.addEventListener("paste", (event) => {
      const pasted = event.clipboardData?.getData("text/plain") ?? "";
      if (pasted.includes("\r") && !this.typed.hasCarriageReturns) this.pastedNote.hidden = false;
    });
  }

  /** @param {LiveTextData} data */
  receive({ text, label, lines, excerpt_note: aboutExcerpt }) {
    this.label.textContent = label;
    this.area.style.setProperty("--lines", String(lines));
    this.excerptWords.textContent = aboutExcerpt;
    this.excerptNote.hidden = !aboutExcerpt;
    this.area.readOnly = Boolean(aboutExcerpt);
    this.note.hidden = this.area.readOnly || !text.includes("\r");
    if (!this.typed.receive(text)) return;
    this.pastedNote.hidden = true;
    this.area.value = text;
  }

  stop() {
    this.typed.stop();
    this.root.remove();
  }

  #startOver() {
    this.pastedNote.hidden = true;
    this.area.readOnly = false;
    this.area.value = "";
    this.area.focus();
    this.typed.startOver();
  }
}
