// A sentence with bold parts, and an aside.

import { addPart } from "../shared/elements.js";
import { addHelp } from "../shared/terms.js";
import { addText } from "../shared/unbroken.js";

/** @import { Component } from "../shared/component.js"
    @import { Term } from "../shared/terms.js" */

/** `sentence` is a list of pieces, each with whether it is bold.
    @param {Component<{ sentence: [string, boolean][], aside: string, terms: Term[] }>} component */
export default function mountVerdict({ data, parentElement }) {
  parentElement.querySelector(".verdict")?.remove();
  const root = addPart(parentElement, "div", "verdict");
  const sentence = addPart(root, "p", "");
  for (const [text, bold] of data.sentence) {
    addText(bold ? addPart(sentence, "b", "") : sentence, text);
  }
  sentence.append(" ");
  addHelp(sentence, data.terms);
  if (data.aside) addText(addPart(root, "p", "aside"), data.aside);
  return () => root.remove();
}
