// The selection in a pane, as the browser reports it.

import { lastThat } from "../shared/binary_search.js";
import { selectedPart } from "./selected_text.js";

/** @import { Block, TokenPane } from "./pane.js"
    @import { End } from "./selected_text.js" */

/** Where a browser selection begins or ends: a node, and an offset in it.
    @typedef {[Node, number]} Point */

export class PaneSelection {
  /** @param {TokenPane} pane */
  constructor(pane) {
    this.pane = pane;
    /** @type {Block | null} */
    this.anchor = null;
  }

  /** Select the whole text. The browser selects only one block, the anchor, because laying out a
      million selected tokens takes up to a minute. CSS shows all of them as selected. */
  selectAll() {
    const place = this.pane.place();
    if (!place) return;
    this.anchor = this.pane.blocks[place.index];
    this.#selection()?.selectAllChildren(this.anchor.element);
    this.pane.holder.classList.add("all-selected");
  }

  get isAll() {
    return this.anchor !== null;
  }

  /** Drop "select all" if the browser's selection has changed since. */
  onBrowserSelects() {
    if (!this.anchor) return;
    const { at } = this.pane.tokens;
    const selected = this.#ofBrowser();
    if (selected?.start === at[this.anchor.start] && selected.end === at[this.anchor.end]) return;
    this.anchor = null;
    this.pane.holder.classList.remove("all-selected");
  }

  /** Return the selection, {start, end} in UTF-16 units; null if nothing is selected. */
  get() {
    this.onBrowserSelects(); // the browser's own event arrives a little later
    return this.isAll ? { start: 0, end: this.pane.tokens.text.length } : this.#ofBrowser();
  }

  /** Redraw a block, keeping a selection that begins or ends in it.
      @param {Block} block
      @param {() => void} redraw */
  keep(block, redraw) {
    const range = this.#range();
    const inBlock = (/** @type {Node} */ node) => node !== block.element && block.element.contains(node);
    if (!range || !(inBlock(range.startContainer) || inBlock(range.endContainer))) {
      redraw();
      return;
    }
    const selection = this.#selection();
    const isBackward = selection?.direction === "backward";
    /** @type {Point[]} */
    const points = [
      [range.startContainer, range.startOffset],
      [range.endContainer, range.endOffset],
    ];
    const ends = points.map((point) => (inBlock(point[0]) ? this.#endAt(point).before : point));
    redraw();
    const [start, end] = ends.map((end) => (typeof end === "number" ? pointAt(block, end) : end));
    const [base, extent] = isBackward ? [end, start] : [start, end];
    selection?.setBaseAndExtent(...base, ...extent);
  }

  #ofBrowser() {
    const range = this.#range();
    if (!range) return null;
    const { startContainer, startOffset, endContainer, endOffset } = range;
    const { holder, tokens } = this.pane;
    return selectedPart(
      tokens,
      holder.contains(startContainer) ? this.#endAt([startContainer, startOffset]) : null,
      holder.contains(endContainer) ? this.#endAt([endContainer, endOffset]) : null,
    );
  }

  /** @returns {Selection | null} */
  #selection() {
    const { root } = this.pane;
    // In some browsers, each shadow root has its own selection.
    if ("getSelection" in root) return /** @type {Document} */ (root).getSelection();
    return document.getSelection();
  }

  /** @returns {AbstractRange | null} */
  #range() {
    const { root } = this.pane;
    const selection = this.#selection();
    if (!selection?.rangeCount) return null;
    // A shadow root with its own selection reports this without a layout of the page.
    if ("getSelection" in root && selection.isCollapsed) return null;
    const range = "getComposedRanges" in selection && root instanceof ShadowRoot
      ? selection.getComposedRanges({ shadowRoots: [root] })[0]
      : selection.getRangeAt(0);
    return !range || range.collapsed ? null : range;
  }

  /** @param {Point} point
      @returns {End} */
  #endAt([node, offset]) {
    const { blocks } = this.pane;
    const point = document.createRange();
    point.setStart(node, offset);
    const isBehind = (/** @type {Block} */ block) => point.comparePoint(block.element, 0) <= 0;
    const block = blocks[lastThat(0, blocks.length - 1, (b) => isBehind(blocks[b]))];
    const before = document.createRange();
    before.setStart(block.element, 0);
    if (isBehind(block)) before.setEnd(node, offset);
    return { block, before: before.toString().length };
  }
}

/** Return the node and offset of a position in a block's text.
    @param {Block} block
    @param {number} offset
    @returns {Point} */
function pointAt(block, offset) {
  let left = offset;
  const walker = document.createTreeWalker(block.element, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const { length } = /** @type {Text} */ (node);
    if (left <= length) return [node, left];
    left -= length;
  }
  return [block.element, block.element.childNodes.length];
}
