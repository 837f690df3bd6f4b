// One text under one tokenizer, as coloured tokens. The whole text is in the page, in blocks, and a
// block's tokens are drawn when it comes near the viewport. This keeps a million tokens fast, while
// search and copying still work.

import { addPart, closest } from "../shared/elements.js";
import { findBlock, lastAbove, planBlocks, planSections } from "./blocks.js";
import { BlockPainter } from "./painter.js";
import { PaneSelection } from "./selection.js";

/** @import { PlannedBlock } from "./blocks.js"
    @import { Tokens } from "./reading.js"
    @import { Span } from "./spans.js" */

/** `near` and `distance` are relative to the viewport, as last reported by the browser.
    @typedef {PlannedBlock & { element: HTMLElement, near: boolean, distance: number }} Block */

/** @typedef {{ first: number, last: number, element: HTMLElement }} Section */

/** A block, and the part of it above the upper edge of the window.
    @typedef {{ index: number, part: number }} Place */

/** @typedef {object} PaneOptions
    @property {Span[] | null} [spans] The disagreements: only what is in one of them is coloured.
    @property {(index: number | null) => void} [onPoint]
    @property {(index: number) => void} [onChoose]
    @property {(span: number) => void} [onSpan] */

const MAX_DRAWN_TOKENS = 20000;
const FEW_DRAWN_TOKENS = 12000;
// Laying out 300 tokens takes half a frame. Blocks that are scrolled past sooner stay plain text.
const TOKENS_A_FRAME = 300;
// At this speed a line is visible for a frame or two, so nothing is drawn until scrolling slows down.
const FLYING_PX_A_FRAME = 500;
const NEAR = "1000px 0px";
const NEAR_SECTION = "2000px 0px";
const ROOM_AROUND = 36;
const LETTER_WIDTH = 11.5;
const MIN_LETTERS_PER_LINE = 20;

export class TokenPane {
  /** @param {HTMLElement} scroller
      @param {Tokens} tokens
      @param {number[]} cuts The first tokens of its blocks, and how many tokens there are.
      @param {PaneOptions} options */
  constructor(scroller, tokens, cuts, { spans = null, onPoint = () => {}, onChoose = () => {}, onSpan = () => {} } = {}) {
    this.scroller = scroller;
    this.tokens = tokens;
    this.onPoint = onPoint;
    this.onChoose = onChoose;
    this.onSpan = onSpan;
    this.root = /** @type {ShadowRoot | Document} */ (scroller.getRootNode());
    this.drawnTokens = 0;
    /** @type {Set<Block>} */
    this.drawn = new Set();
    /** @type {Set<Block>} */
    this.waiting = new Set();
    this.frame = 0;
    this.top = 0;
    this.painter = new BlockPainter(tokens, spans);
    this.selection = new PaneSelection(this);
    this.abort = new AbortController();
    scroller.textContent = "";
    this.holder = addPart(scroller, "div", "text");
    this.blocks = this.#makeBlocks(cuts);
    this.sections = this.#addSections();
    this.observer = this.#watchBlocks();
    this.sectionObserver = this.#watchSections();
    // Draw the first blocks immediately, because the observers report only a frame or two later.
    if (this.blocks.length) this.#draw(this.blocks[0]);
    this.#listen();
  }

  destroy() {
    this.abort.abort();
    cancelAnimationFrame(this.frame);
    this.observer.disconnect();
    this.sectionObserver.disconnect();
    this.scroller.textContent = "";
  }

  /** Draw the block of a token, and return the token's first element.
      @param {number} index
      @returns {HTMLElement | null} */
  element(index) {
    const block = findBlock(this.blocks, index);
    this.#draw(block);
    return block.element.querySelector(`[data-i="${index}"]`);
  }

  /** Scroll a token into the window of the pane, without scrolling the page: as little as needed, or,
      with `context`, with some text above it and more below.
      @param {number} index */
  reveal(index, { context = false } = {}) {
    const element = this.element(index);
    if (!element) return;
    const room = this.scroller.getBoundingClientRect();
    const box = element.getBoundingClientRect();
    const low = Math.max(room.top, 0) + ROOM_AROUND;
    const high = Math.min(room.bottom, window.innerHeight) - ROOM_AROUND;
    if (box.top >= low && box.bottom <= high) return;
    const nearest = box.top < low ? low : high - box.height;
    this.scroller.scrollTop += box.top - (context ? low + (high - low) / 3 : nearest);
  }

  /** Return what is at the upper edge of the window; null if there is no text.
      @returns {Place | null} */
  place() {
    const top = this.scroller.scrollTop;
    const section = lastAbove(this.sections, 0, this.sections.length, top);
    if (!section) return null;
    const { offsetTop } = section.element;
    const block = lastAbove(this.blocks, section.first, section.last, top - offsetTop);
    const part = (top - offsetTop - block.element.offsetTop) / Math.max(1, block.element.offsetHeight);
    return { index: this.blocks.indexOf(block, section.first), part };
  }

  /** Scroll to a place of another pane with the same blocks.
      @param {Place} place */
  goTo({ index, part }) {
    const { element } = this.blocks[index];
    const section = /** @type {HTMLElement} */ (element.parentElement);
    this.scroller.scrollTop = section.offsetTop + element.offsetTop + part * element.offsetHeight;
  }

  /** @param {Set<number>} active
      @param {number} focused */
  showSpans(active, focused) {
    Object.assign(this.painter, { activeSpans: active, focusedSpan: focused });
    for (const block of [...this.drawn]) this.#draw(block, true);
  }

  /** @param {number} focused */
  focusSpan(focused) {
    this.painter.focusedSpan = focused;
    for (const ring of this.scroller.querySelectorAll(".ring")) {
      ring.classList.toggle("focused", /** @type {HTMLElement} */ (ring).dataset.span === String(focused));
    }
  }

  /** @param {number[]} cuts
      @returns {Block[]} */
  #makeBlocks(cuts) {
    // Read the width once: after each added block the browser would lay out all of them again.
    const perLine = Math.max(MIN_LETTERS_PER_LINE, this.scroller.clientWidth / LETTER_WIDTH);
    return planBlocks(this.tokens, cuts, perLine).map((planned) => {
      const element = document.createElement("div");
      element.className = "block";
      element.textContent = this.#readText(planned);
      element.style.containIntrinsicSize = `auto ${planned.height}px`;
      return { ...planned, element, near: false, distance: 0 };
    });
  }

  /** @returns {Section[]} */
  #addSections() {
    const sections = planSections(this.blocks.length);
    return sections.map(({ first, last }) => {
      const element = addPart(this.holder, "div", sections.length > 1 ? "section far" : "section");
      const blocks = this.blocks.slice(first, last);
      element.append(...blocks.map((block) => block.element));
      const height = blocks.reduce((sum, block) => sum + block.height, 0);
      element.style.containIntrinsicSize = `auto ${height}px`;
      return { first, last, element };
    });
  }

  /** @param {PlannedBlock} block */
  #readText({ start, end }) {
    return this.tokens.text.slice(this.tokens.at[start], this.tokens.at[end]);
  }

  #watchBlocks() {
    const blockAt = new Map(this.blocks.map((block) => [/** @type {Element} */ (block.element), block]));
    return new IntersectionObserver(
      (entries) => {
        for (const { target, isIntersecting, boundingClientRect: box, rootBounds } of entries) {
          const block = blockAt.get(target);
          if (!block) continue;
          block.near = isIntersecting;
          block.distance = rootBounds ? Math.abs(box.top + box.bottom - rootBounds.top - rootBounds.bottom) : 0;
          if (isIntersecting && !this.drawn.has(block)) this.waiting.add(block);
        }
        this.#drawSoon();
      },
      { root: this.scroller, rootMargin: NEAR },
    );
  }

  #watchSections() {
    const sectionAt = new Map(this.sections.map((section) => [/** @type {Element} */ (section.element), section]));
    const observer = new IntersectionObserver(
      (entries) => {
        for (const { target, isIntersecting } of entries) {
          const section = sectionAt.get(target);
          for (const block of this.blocks.slice(section?.first, section?.last)) {
            if (isIntersecting) this.observer.observe(block.element);
            else {
              this.observer.unobserve(block.element);
              block.near = false;
            }
          }
        }
      },
      { root: this.scroller, rootMargin: NEAR_SECTION },
    );
    for (const { element } of this.sections) observer.observe(element);
    return observer;
  }

  #drawSoon() {
    if (this.frame || !this.waiting.size) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      const { scrollTop } = this.scroller;
      const flies = Math.abs(scrollTop - this.top) > FLYING_PX_A_FRAME;
      this.top = scrollTop;
      if (flies) {
        this.#drawSoon();
        return;
      }
      let room = TOKENS_A_FRAME;
      for (const block of [...this.waiting].sort((one, other) => one.distance - other.distance)) {
        if (room <= 0) break;
        this.waiting.delete(block);
        if (!block.near || this.drawn.has(block)) continue;
        this.#draw(block);
        room -= block.end - block.start;
      }
      this.#forget();
      this.#drawSoon();
    });
  }

  /** @param {Block} block */
  #draw(block, again = false) {
    if (this.drawn.has(block) && !again) return;
    if (!this.drawn.has(block)) this.drawnTokens += block.end - block.start;
    this.drawn.add(block);
    block.element.classList.add("drawn");
    const page = this.painter.paint(block.start, block.end);
    this.selection.keep(block, () => block.element.replaceChildren(page));
  }

  /** Turn far blocks back into plain text if too many tokens are drawn. */
  #forget() {
    if (this.drawnTokens <= MAX_DRAWN_TOKENS) return;
    if (this.selection.get() && !this.selection.isAll) return;
    for (const block of this.drawn) {
      if (block.near || block === this.selection.anchor) continue;
      block.element.classList.remove("drawn");
      block.element.textContent = this.#readText(block);
      this.drawn.delete(block);
      this.drawnTokens -= block.end - block.start;
      if (this.drawnTokens <= FEW_DRAWN_TOKENS) return;
    }
  }

  #listen() {
    const { signal } = this.abort;
    this.scroller.addEventListener("pointerover", (event) => this.onPoint(findToken(event)), { signal });
    this.scroller.addEventListener("pointerleave", () => this.onPoint(null), { signal });
    this.scroller.addEventListener("click", (event) => {
      const span = closest(event, ".ring")?.dataset.span;
      if (span !== undefined) this.onSpan(Number(span));
      const index = findToken(event);
      if (index !== null && !this.selection.get()) this.onChoose(index);
    }, { signal });
    document.addEventListener("selectionchange", () => this.selection.onBrowserSelects(), { signal });
    this.scroller.addEventListener("copy", (event) => {
      const range = this.selection.get();
      if (!range) return;
      event.clipboardData?.setData("text/plain", this.tokens.text.slice(range.start, range.end));
      event.preventDefault();
      event.stopPropagation();
    }, { signal });
  }
}

/** Return the token at an event, of a cut character the first; null if there is none.
    @param {Event} event */
function findToken(event) {
  const token = closest(event, ".token") ?? closest(event, ".cut")?.querySelector(".token");
  return token instanceof HTMLElement ? Number(token.dataset.i) : null;
}
