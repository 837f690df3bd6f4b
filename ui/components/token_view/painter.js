// Draw the tokens of a block: colours, rings, and characters split by boundaries.

import { hasBidiControl, hexByte, isRightToLeft, utf8 } from "../shared/characters.js";
import { addPart } from "../shared/elements.js";
import { drawRunning } from "../shared/token_drawing.js";
import { blockPieces } from "./block_pieces.js";
import { markNote, shownSpelling, spelledUnlike } from "./marks.js";
import { spansByToken } from "./spans.js";

/** @import { BlockPiece } from "./block_pieces.js"
    @import { Tokens } from "./reading.js"
    @import { Span } from "./spans.js" */

export class BlockPainter {
  /** @param {Tokens} tokens
      @param {Span[] | null} spans The disagreements, where given: only what is in an active one is
      coloured. */
  constructor(tokens, spans) {
    this.tokens = tokens;
    this.spanByToken = spans ? spansByToken(tokens, spans) : null;
    /** Null if all are active.
        @type {Set<number> | null} */
    this.activeSpans = null;
    this.focusedSpan = -1;
  }

  /** Make the elements of the tokens from `start` to before `end`.
      @param {number} start
      @param {number} end */
  paint(start, end) {
    const page = document.createDocumentFragment();
    /** @type {HTMLElement | null} */
    let ring = null;
    for (const piece of blockPieces(this.tokens, start, end, this.spanByToken)) {
      const { span } = piece;
      if (span < 0 || !this.#isActive(span)) ring = null;
      else if (ring?.dataset.span !== String(span)) {
        ring = addPart(page, "span", span === this.focusedSpan ? "ring focused" : "ring");
        ring.dataset.span = String(span);
      }
      this.#addPiece(ring ?? page, piece);
    }
    return page;
  }

  /** @param {number} span */
  #isActive(span) {
    return !this.activeSpans || this.activeSpans.has(span);
  }

  /** @param {ParentNode} parent
      @param {BlockPiece} piece */
  #addPiece(parent, piece) {
    if (piece.kind === "text") this.#addText(parent, piece.token, piece.text);
    else if (piece.kind === "marker") this.#addMarker(parent, piece.token);
    else {
      // To the browser, a split character is a picture without a direction.
      const around = isRightToLeft(piece.character) ? addPart(parent, "span", "right-to-left") : parent;
      const cut = addPart(around, "span", "cut");
      drawRunning(addPart(cut, "span", "whole"), piece.character);
      const bytes = addPart(cut, "span", "bytes");
      const values = utf8(piece.character);
      for (const { token, from, to } of piece.bytes) {
        const element = this.#addToken(bytes, token);
        this.#noteSpelling(element, token, "");
        element.dataset.hex = [...values.slice(from, to)].map(hexByte).join(" ");
        if (from > 0) element.classList.remove("starts");
      }
    }
  }

  /** @param {ParentNode} parent
      @param {number} i */
  #addToken(parent, i) {
    const { ids, about, slots, startsPretoken, superwords, unsettled } = this.tokens;
    const element = addPart(parent, "span", "token");
    const id = ids[i];
    element.dataset.i = String(i);
    if (id < 0) element.classList.add("none");
    else {
      element.dataset.id = String(id);
      const coloured = !this.spanByToken || (this.spanByToken[i] >= 0 && this.#isActive(this.spanByToken[i]));
      if (superwords.has(id)) element.classList.add("superword");
      element.classList.add(about.get(id)?.special ? "special" : coloured ? `slot-${slots[i]}` : "agreed");
    }
    if (startsPretoken(i)) element.classList.add("starts");
    if (i >= unsettled) element.classList.add("unsettled");
    return element;
  }

  /** @param {ParentNode} parent
      @param {number} i
      @param {string} text */
  #addText(parent, i, text) {
    const element = this.#addToken(parent, i);
    const known = this.tokens.about.get(this.tokens.ids[i]);
    if (!known && /\S/.test(text)) element.classList.add("unknown");
    if (hasBidiControl(text)) element.classList.add("isolated");
    if (known?.ends && !known.marker && this.tokens.marker) {
      element.classList.add("ends");
      element.dataset.marker = this.tokens.marker;
    }
    // The text stays in the page, to be found and copied; style shows the file's spelling instead.
    drawRunning(this.#noteSpelling(element, i, text) ? addPart(element, "span", "as-typed") : element, text);
  }

  /** @param {HTMLElement} element
      @param {number} i
      @param {string} text */
  #noteSpelling(element, i, text) {
    const written = spelledUnlike(this.tokens.about.get(this.tokens.ids[i]), text);
    if (written !== null) element.dataset.written = shownSpelling(written);
    return written !== null;
  }

  /** @param {ParentNode} parent
      @param {number} i */
  #addMarker(parent, i) {
    const element = this.#addToken(parent, i);
    element.classList.add("marker");
    const known = this.tokens.about.get(this.tokens.ids[i]);
    const written = known?.written ?? known?.token;
    element.dataset.marker = typeof written === "string" ? shownSpelling(written) : "";
    if (known) element.title = markNote(known, null);
  }
}
