// A sentence in pieces, some of them bold, and an aside.

import { addPart } from "../shared/elements.js";

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
