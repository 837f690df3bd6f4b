// The training words and lines that hold a token; and the ear for what is chosen in the text above,
// so that a choice sends a few numbers, and the text with its tokens stays where it is.

import { slotOf } from "../shared/colours.js";
import { addPart } from "../shared/elements.js";
import { grouped } from "../shared/numbers.js";
import { drawRunning, drawToken } from "../shared/token_drawing.js";

const PAUSE_MS = 150;
const origins = new WeakMap();

export default function mountTokenOrigin({ data, parentElement, setStateValue }) {
  let origin = origins.get(parentElement);
  if (!origin) origins.set(parentElement, (origin = listen(parentElement)));
  origin.send = (chosen) => setStateValue("chosen", chosen);
  draw(origin.root, data);
  return () => {
    origin.stop();
    origins.delete(parentElement);
  };
}

function listen(parent) {
  const root = addPart(parent, "div", "origin");
  let timer = 0;
  const hear = ({ detail }) => {
    clearTimeout(timer);
    // Whoever holds an arrow key down passes over many tokens.
    timer = setTimeout(() => origin.send(detail), PAUSE_MS);
  };
  document.addEventListener("bpe-token-chosen", hear);
  const origin = {
    root,
    send: () => {},
    stop() {
      clearTimeout(timer);
      document.removeEventListener("bpe-token-chosen", hear);
      root.remove();
    },
  };
  return origin;
}

function draw(root, { id, sentence, words, lines, note }) {
  root.textContent = "";
  root.className = `origin slot-${id < 0 ? 0 : slotOf(id)}`;
  addPart(root, "p", "sentence", sentence);
  if (words.length) {
    const list = addPart(root, "ul", "words");
    list.setAttribute("aria-label", "Training words that hold it");
    for (const { pieces, count, kept } of words) {
      const item = addPart(list, "li", kept ? "kept" : "");
      const word = addPart(item, "span", "word");
      for (const [piece, inside] of pieces) drawToken(addPart(word, "span", inside ? "hit" : ""), piece);
      addPart(item, "span", "count", `${grouped(count)}×`);
    }
  }
  if (lines.length) {
    const list = addPart(root, "ol", "lines");
    list.setAttribute("aria-label", "Training lines that hold it");
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
