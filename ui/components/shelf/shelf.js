// Cards of tokenizers; each but the first has a button that removes it.

import { seriesColour } from "../shared/colours.js";
import { addButton, addPart } from "../shared/elements.js";

/** @import { Component } from "../shared/component.js" */

/** @typedef {{ key: string, name: string, size: string, facts: string, note: string, removable: boolean }} Card */

const NOTE_LETTERS = 140;

/** @param {Component<{ cards: Card[] }>} component */
export default function mountShelf({ data, parentElement, setTriggerValue }) {
  parentElement.querySelector(".shelf")?.remove();
  const shelf = addPart(parentElement, "ul", "shelf");
  shelf.setAttribute("aria-label", "Tokenizers compared");
  data.cards.forEach((card, place) => {
    const item = addPart(shelf, "li", `card ${seriesColour(place)}`);
    const head = addPart(item, "div", "name");
    addPart(head, "i", "series-dot");
    addPart(head, "b", "", card.name).title = card.name;
    addPart(head, "span", "size", card.size);
    if (card.removable) {
      const button = addButton(head, "", "×", () => {
        for (const other of shelf.querySelectorAll("button")) other.disabled = true;
        setTriggerValue("removed", card.key);
      });
      button.setAttribute("aria-label", `Remove ${card.name}`);
    }
    addPart(item, "p", "facts", card.facts);
    if (card.note.length <= NOTE_LETTERS) addPart(item, "p", "note", card.note);
    else {
      const more = addPart(item, "details", "note");
      addPart(more, "summary", "", "Which encoder, and why");
      addPart(more, "p", "", card.note);
    }
  });
  return () => shelf.remove();
}
