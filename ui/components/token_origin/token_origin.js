// The training words and lines that contain a token. It listens for the token chosen in the text above,
// so that a choice sends only a few numbers and the text is not sent again.

import { colourSlot } from "../shared/colours.js";
import { addPart } from "../shared/elements.js";
import { onLeaving } from "../shared/leaving.js";
import { grouped } from "../shared/numbers.js";
import { drawRunning, drawToken } from "../shared/token_drawing.js";

/** @import { Component, Token } from "../shared/component.js" */

/** Pieces of a word or line, each with whether it is the token.
    @template Text
    @typedef {[Text, boolean][]} Pieces */

/** `id` is below 0 if no token is chosen.
    @typedef {object} OriginData
    @property {number} id
    @property {string} sentence
    @property {{ pieces: Pieces<Token>, count: number, kept: boolean }[]} words
    @property {{ place: string, pieces: Pieces<string>, before: boolean, after: boolean }[]} lines
    @property {string} note */

const PAUSE_MS = 150;

/** @type {WeakMap<ShadowRoot, Origin>} */
const origins = new WeakMap();

/** @param {Component<OriginData>} component */
export default function mountTokenOrigin({ data, parentElement, setStateValue }) {
  const origin = origins.get(parentElement) ?? new Origin(parentElement);
  origins.set(parentElement, origin);
  origin.send = (chosen) => setStateValue("chosen", chosen);
  draw(origin.root, data);
  return onLeaving(parentElement, () => {
    origin.stop();
    origins.delete(parentElement);
  });
}

class Origin {
  /** @param {ShadowRoot} parent */
  constructor(parent) {
    this.root = addPart(parent, "div", "origin");
    this.ending = new AbortController();
    this.timer = 0;
    /** @type {(chosen: unknown) => void} */
    this.send = () => {};
    document.addEventListener("bpe-token-chosen", (event) => {
      const { detail } = /** @type {CustomEvent} */ (event);
      clearTimeout(this.timer);
      // Wait, because a held arrow key passes over many tokens.
      this.timer = setTimeout(() => this.send(detail), PAUSE_MS);
    }, { signal: this.ending.signal });
  }

  stop() {
    clearTimeout(this.timer);
    this.ending.abort();
    this.root.remove();
  }
}

/** @param {HTMLElement} root
    @param {OriginData} data */
function draw(root, { id, sentence, words, lines, note }) {
  root.textContent = "";
  root.className = `origin slot-${id < 0 ? 0 : colourSlot(id)}`;
  addPart(root, "p", "sentence", sentence);
  if (words.length) {
    const list = addPart(root, "ul", "words");
    list.setAttribute("aria-label", "Training words that contain it");
    for (const { pieces, count, kept } of words) {
      const item = addPart(list, "li", kept ? "kept" : "");
      const word = addPart(item, "span", "word");
      for (const [piece, inside] of pieces) drawToken(addPart(word, "span", inside ? "hit" : ""), piece);
      addPart(item, "span", "count", `${grouped(count)}×`);
    }
  }
  if (lines.length) {
    const list = addPart(root, "ol", "lines");
    list.setAttribute("aria-label", "Training lines that contain it");
    for (const { place, pieces, before, after } of lines) {
      const item = addPart(list, "li", "");
      addPart(item, "span", "place", place);
      const line = addPart(item, "span", "line");
      if (before) addPart(line, "span", "more", "… ");
      for (const [piece, inside] of pieces) drawRunning(addPart(line, "span", inside ? "hit" : ""), piece);
      if (after) addPart(line, "span", "more", " …");
    }
  }
  if (note) addPart(root, "p", "note", note);
}
