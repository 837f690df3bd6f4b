// The tokens of a block as elements: their colours and rings, and characters that boundaries cut.

import { hasBidiControl, hexByte, utf8 } from "../shared/characters.js";
import { addPart } from "../shared/elements.js";
import { drawRunning } from "../shared/token_drawing.js";
import { isEmpty, utf8Size } from "./reading.js";

export class BlockPainter {
  /** `spans`, where given, are the disagreements: only what is in an active one is coloured. */
  constructor(tokens, spans) {
    this.tokens = tokens;
    this.spanOf = spans ? spansByToken(tokens, spans) : null;
    this.activeSpans = null;
    this.focusedSpan = -1;
  }

  /** The tokens from `start` to before `end`, to be put into the page. */
  paint(start, end) {
    const page = document.createDocumentFragment();
    let ring = null;
    let cut = null;
    const home = (span) => {
      if (span < 0 || !this.#isActive(span)) {
        ring = null;
        return page;
      }
      if (ring === null || Number(ring.dataset.span) !== span) {
        ring = addPart(page, "span", span === this.focusedSpan ? "ring focused" : "ring");
        ring.dataset.span = span;
      }
      return ring;
    };
    const { text, at, into } = this.tokens;
    for (let i = start; i < end; i++) {
      let from = at[i];
      const span = this.spanOf ? this.spanOf[i] : -1;
      if (isEmpty(this.tokens, i)) {
        this.#addMarker(home(span), i);
        continue;
      }
      if (into[i] > 0) {
        const within = at[i + 1] === from;
        this.#addBytes(cut, i, from, into[i], within ? into[i + 1] : utf8Size(text, from));
        if (within) continue;
        from += utf8Size(text, from) === 4 ? 2 : 1;
      }
      if (from < at[i + 1]) this.#addPiece(home(span), i, text.slice(from, at[i + 1]));
      if (into[i + 1] > 0) {
        cut = this.#addCut(home(this.#spanOfCut(i)), at[i + 1]);
        this.#addBytes(cut, i, at[i + 1], 0, into[i + 1]);
      }
    }
    return page;
  }

  #isActive(span) {
    return !this.activeSpans || this.activeSpans.has(span);
  }

  /** A cut character is ringed whole where any of its bytes is in a ring. */
  #spanOfCut(i) {
    if (!this.spanOf) return -1;
    let span = this.spanOf[i];
    for (let j = i + 1; j < this.tokens.n && this.tokens.into[j] > 0 && span < 0; j++) span = this.spanOf[j];
    return span;
  }

  #makeToken(i) {
    const { ids, about, slots, startsPretoken } = this.tokens;
    const element = document.createElement("span");
    const id = ids[i];
    const known = about.get(id);
    element.dataset.i = i;
    element.className = "token";
    if (id < 0) element.classList.add("none");
    else {
      element.dataset.id = id;
      const coloured = !this.spanOf || (this.spanOf[i] >= 0 && this.#isActive(this.spanOf[i]));
      element.classList.add(known.special ? "special" : coloured ? `slot-${slots[i]}` : "agreed");
    }
    if (startsPretoken(i)) element.classList.add("starts");
    return element;
  }

  #addPiece(parent, i, piece) {
    const element = this.#makeToken(i);
    const known = this.tokens.about.get(this.tokens.ids[i]);
    if (!known && /\S/.test(piece)) element.classList.add("unknown");
    if (hasBidiControl(piece)) element.classList.add("isolated");
    if (known?.ends && !known.marker && this.tokens.marker) {
      element.classList.add("ends");
      element.dataset.marker = this.tokens.marker;
    }
    drawRunning(element, piece);
    parent.append(element);
  }

  #addMarker(parent, i) {
    const element = this.#makeToken(i);
    element.classList.add("marker");
    const token = this.tokens.about.get(this.tokens.ids[i])?.token;
    element.dataset.marker = typeof token === "string" ? token : "";
    parent.append(element);
  }

  #addCut(parent, at) {
    const cut = addPart(parent, "span", "cut");
    drawRunning(addPart(cut, "span", "whole"), String.fromCodePoint(this.tokens.text.codePointAt(at)));
    return addPart(cut, "span", "bytes");
  }

  #addBytes(bytes, i, at, from, to) {
    const element = this.#makeToken(i);
    const values = utf8(String.fromCodePoint(this.tokens.text.codePointAt(at)));
    element.dataset.hex = [...values.slice(from, to)].map(hexByte).join(" ");
    if (from > 0) element.classList.remove("starts");
    bytes.append(element);
  }
}

/** For each token the number of the span that its first byte is in; -1 for none. */
function spansByToken(tokens, spans) {
  const of = new Int32Array(tokens.n).fill(-1);
  let k = 0;
  for (let i = 0; i < tokens.n; i++) {
    while (k < spans.length && spans[k].end <= tokens.byteAt[i]) k++;
    if (k < spans.length && spans[k].start <= tokens.byteAt[i]) of[i] = k;
  }
  return of;
}
