// A sentence in pieces, some of them bold, and an aside.

import { addPart } from "../shared/elements.js";

/** @import { Component } from "../shared/component.js" */

/** `sentence` is in pieces, each with whether it is bold.
    @param {Component<{ sentence: [string, boolean][], aside: string }>} component */
export default function mountVerdict({ data, parentElement }) {
  parentElement.querySelector(".verdict")?.remove();
  const root = addPart(parentElement, "div", "verdict");
  const sentence = addPart(root, "p", "");
  for (const [text, bold] of data.sentence) {
    if (bold) addPart(sentence, "b", "", text);
    else sentence.append(text);
  }
  if (data.aside) addPart(root, "p", "aside", data.aside);
  return () => root.remove();
}
