// One text under one tokenizer, as coloured tokens: the whole text is in the page at once, in blocks;
// the tokens of a block are drawn when it comes near the window. A million tokens stay quick that
// way, and searching and copying keep working.

import { addPart } from "../shared/elements.js";
import { BlockPainter } from "./painter.js";
import { PaneSelection } from "./selection.js";

const MOST_DRAWN_TOKENS = 20000;
const FEW_DRAWN_TOKENS = 12000;
// To lay out 300 tokens takes half of a frame. What is scrolled past sooner stays plain text.
const TOKENS_A_FRAME = 300;
// So fast a line is in the window for a frame or two: nothing is drawn until the text slows down.
const FLYING_PX_A_FRAME = 500;
// The browser looks at each thing it may leave out at every frame: for 5,000 blocks that took 29 ms,
// for their sections, with only the blocks of the near ones watched, 2.
const BLOCKS_A_SECTION = 40;
const NEAR = "1000px 0px";
const NEAR_SECTION = "2000px 0px";
const ROOM_AROUND = 36;
const LINE_HEIGHT = 42;

export class TokenPane {
  /** Draws into `scroller`. `cuts` are the first tokens of its blocks; `spans`, where given, are
      the disagreements: {start, end} in bytes, and only what is in one of them is coloured. */
  constructor(scroller, tokens, cuts, { spans = null, onPoint = () => {}, onChoose = () => {}, onSpan = () => {} } = {}) {
    Object.assign(this, { scroller, tokens, cuts, onPoint, onChoose, onSpan });
    this.root = scroller.getRootNode();
    this.drawnTokens = 0;
    this.drawn = new Set();
    this.waiting = new Set();
    this.frame = 0;
    this.top = 0;
    this.painter = new BlockPainter(tokens, spans);
    this.selection = new PaneSelection(this);
    this.abort = new AbortController();
    this.#build();
    this.#listen();
  }

  destroy() {
    this.abort.abort();
    cancelAnimationFrame(this.frame);
    this.observer.disconnect();
    this.sectionObserver.disconnect();
    this.scroller.textContent = "";
  }

  /** Makes the block of a token drawn, and gives the token's first element. */
  element(index) {
    const block = this.blockOf(index);
    this.#draw(block);
    return block.element.querySelector(`[data-i="${index}"]`);
  }

  blockOf(index) {
    let [low, high] = [0, this.blocks.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.blocks[middle].start <= index) low = middle;
      else high = middle - 1;
    }
    return this.blocks[low];
  }

  /** Brings a token into the window of the pane, never moving the page: as little as needed, or,
      with `context`, with some text above it and more below. */
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

  /** What stands at the upper edge of the window: a block, and what part of it is above the edge. */
  place() {
    const top = this.scroller.scrollTop;
    const section = lastAbove(this.sections, 0, this.sections.length, top);
    if (!section) return null;
    const { offsetTop } = section.element;
    const block = lastAbove(this.blocks, section.first, section.last, top - offsetTop);
    const part = (top - offsetTop - block.element.offsetTop) / Math.max(1, block.element.offsetHeight);
    return { index: this.blocks.indexOf(block, section.first), part };
  }

  /** Scrolls to what `place` of a pane with the same blocks has told. */
  goTo({ index, part }) {
    const { element } = this.blocks[index];
    this.scroller.scrollTop =
      element.parentElement.offsetTop + element.offsetTop + part * element.offsetHeight;
  }

  showSpans(active, focused) {
    Object.assign(this.painter, { activeSpans: active, focusedSpan: focused });
    for (const block of [...this.drawn]) this.#draw(block, true);
  }

  focusSpan(focused) {
    this.painter.focusedSpan = focused;
    for (const ring of this.scroller.querySelectorAll(".ring")) {
      ring.classList.toggle("focused", Number(ring.dataset.span) === focused);
    }
  }

  #build() {
    this.scroller.textContent = "";
    this.holder = addPart(this.scroller, "div", "text");
    this.blocks = [];
    // Asked for once: after each block that is added, the browser would lay all of them out again.
    const perLine = Math.max(20, this.scroller.clientWidth / 11.5);
    for (let b = 0; b + 1 < this.cuts.length; b++) {
      const [start, end] = [this.cuts[b], this.cuts[b + 1]];
      if (start === end) continue;
      const element = document.createElement("div");
      element.className = "block";
      const text = this.tokens.text.slice(this.tokens.at[start], this.tokens.at[end]);
      element.textContent = text;
      const height = guessHeight(text, perLine);
      element.style.containIntrinsicSize = `auto ${height}px`;
      this.blocks.push({ start, end, element, height, near: false });
    }
    this.sections = [];
    const several = this.blocks.length > BLOCKS_A_SECTION;
    for (let first = 0; first < this.blocks.length; first += BLOCKS_A_SECTION) {
      const last = Math.min(first + BLOCKS_A_SECTION, this.blocks.length);
      const element = addPart(this.holder, "div", several ? "section far" : "section");
      let height = 0;
      for (let b = first; b < last; b++) {
        element.append(this.blocks[b].element);
        height += this.blocks[b].height;
      }
      element.style.containIntrinsicSize = `auto ${height}px`;
      this.sections.push({ first, last, element });
    }
    this.#watch();
  }

  #watch() {
    const blockOf = new Map(this.blocks.map((block) => [block.element, block]));
    const sectionOf = new Map(this.sections.map((section) => [section.element, section]));
    this.observer = new IntersectionObserver(
      (entries) => {
        for (const { target, isIntersecting, boundingClientRect: box, rootBounds } of entries) {
          const block = blockOf.get(target);
          block.near = isIntersecting;
          block.distance = rootBounds ? Math.abs(box.top + box.bottom - rootBounds.top - rootBounds.bottom) : 0;
          if (isIntersecting && !this.drawn.has(block)) this.waiting.add(block);
        }
        this.#drawSoon();
      },
      { root: this.scroller, rootMargin: NEAR },
    );
    this.sectionObserver = new IntersectionObserver(
      (entries) => {
        for (const { target, isIntersecting } of entries) {
          const { first, last } = sectionOf.get(target);
          for (const block of this.blocks.slice(first, last)) {
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
    for (const { element } of this.sections) this.sectionObserver.observe(element);
    // At the first look there is colour: the observers report a frame later, or two.
    if (this.blocks.length) this.#draw(this.blocks[0]);
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
      for (const block of [...this.waiting].sort((a, b) => a.distance - b.distance)) {
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

  #draw(block, again = false) {
    if (this.drawn.has(block) && !again) return;
    if (!this.drawn.has(block)) this.drawnTokens += block.end - block.start;
    this.drawn.add(block);
    block.element.classList.add("drawn");
    const page = this.painter.paint(block.start, block.end);
    this.selection.keep(block, () => block.element.replaceChildren(page));
  }

  /** Puts far blocks back to plain text where too many tokens are drawn. */
  #forget() {
    if (this.drawnTokens <= MOST_DRAWN_TOKENS) return;
    if (this.selection.get() && !this.selection.isAll) return;
    for (const block of this.drawn) {
      if (block.near || block === this.selection.anchor) continue;
      block.element.classList.remove("drawn");
      block.element.textContent = this.tokens.text.slice(this.tokens.at[block.start], this.tokens.at[block.end]);
      this.drawn.delete(block);
      this.drawnTokens -= block.end - block.start;
      if (this.drawnTokens <= FEW_DRAWN_TOKENS) return;
    }
  }

  #listen() {
    const { signal } = this.abort;
    const indexOf = (event) => {
      const token = event.target.closest?.(".token");
      if (token) return Number(token.dataset.i);
      const first = event.target.closest?.(".cut")?.querySelector(".token");
      return first ? Number(first.dataset.i) : null;
    };
    this.scroller.addEventListener("pointerover", (event) => this.onPoint(indexOf(event)), { signal });
    this.scroller.addEventListener("pointerleave", () => this.onPoint(null), { signal });
    this.scroller.addEventListener(
      "click",
      (event) => {
        const span = event.target.closest?.(".ring")?.dataset.span;
        if (span !== undefined) this.onSpan(Number(span));
        const index = indexOf(event);
        if (index !== null && !this.selection.get()) this.onChoose(index);
      },
      { signal },
    );
    document.addEventListener("selectionchange", () => this.selection.onBrowserSelects(), { signal });
    this.scroller.addEventListener(
      "copy",
      (event) => {
        const range = this.selection.get();
        if (!range) return;
        event.clipboardData.setData("text/plain", this.tokens.text.slice(range.start, range.end));
        event.preventDefault();
        event.stopPropagation();
      },
      { signal },
    );
  }

}

/** The last of things[first:last], from top to bottom, that starts above a height. */
function lastAbove(things, first, last, height) {
  let [low, high] = [first, last - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (things[middle].element.offsetTop <= height) low = middle;
    else high = middle - 1;
  }
  return things[low];
}

/** How high a block will be, so that the scroll bar is near the truth before it is drawn. */
function guessHeight(text, perLine) {
  let lines = 0;
  for (let from = 0; from < text.length; ) {
    const feed = text.indexOf("\n", from);
    const end = feed < 0 ? text.length : feed;
    lines += Math.max(1, Math.ceil((end - from) / perLine));
    from = end + 1;
  }
  return LINE_HEIGHT * lines;
}
