// What is selected in a pane, as offsets in its text: what is copied is cut from the text itself,
// since markers, code points and bytes are drawn by style alone.

export class PaneSelection {
  constructor(pane) {
    this.pane = pane;
    this.anchor = null;
  }

  /** Selects the whole text. To the browser it's one block, the anchor: a million tokens, which it
      would lay out, take it up to a minute. Style shows that all are selected. */
  selectAll() {
    const place = this.pane.place();
    if (!place) return;
    this.anchor = this.pane.blocks[place.index];
    this.#selection().selectAllChildren(this.anchor.element);
    this.pane.holder.classList.add("all-selected");
  }

  get isAll() {
    return this.anchor !== null;
  }

  /** Where the browser has come to have something else selected, that counts. */
  onBrowserSelects() {
    if (!this.isAll) return;
    const { at } = this.pane.tokens;
    const selected = this.#ofBrowser();
    if (selected?.start === at[this.anchor.start] && selected.end === at[this.anchor.end]) return;
    this.anchor = null;
    this.pane.holder.classList.remove("all-selected");
  }

  /** {start, end} in UTF-16 units; null where nothing is selected. A selection that goes on outside
      the pane ends with its text. */
  get() {
    this.onBrowserSelects(); // which it tells a little later
    return this.isAll ? { start: 0, end: this.pane.tokens.text.length } : this.#ofBrowser();
  }

  /** Draws a block anew; a selection that begins or ends in it does so afterwards, too. */
  keep(block, redraw) {
    const range = this.#range();
    const inBlock = (node) => node !== block.element && block.element.contains(node);
    if (!range || !(inBlock(range.startContainer) || inBlock(range.endContainer))) {
      redraw();
      return;
    }
    const selection = this.#selection();
    const isBackward = selection.direction === "backward";
    const ends = [
      [range.startContainer, range.startOffset],
      [range.endContainer, range.endOffset],
    ].map(([node, offset]) => (inBlock(node) ? this.#offsetOf(node, offset) : [node, offset]));
    redraw();
    const [start, end] = ends.map((at) => (typeof at === "number" ? this.#pointAt(block, at) : at));
    const [base, extent] = isBackward ? [end, start] : [start, end];
    selection.setBaseAndExtent(...base, ...extent);
  }

  #ofBrowser() {
    const range = this.#range();
    if (!range) return null;
    const [startsHere, endsHere] = [range.startContainer, range.endContainer].map((node) => this.pane.holder.contains(node));
    if (!startsHere && !endsHere) return null;
    const start = startsHere ? this.#offsetOf(range.startContainer, range.startOffset) : 0;
    const end = endsHere ? this.#offsetOf(range.endContainer, range.endOffset) : this.pane.tokens.text.length;
    return start < end ? { start, end } : null;
  }

  #selection() {
    return this.pane.root.getSelection?.() ?? document.getSelection();
  }

  #range() {
    const selection = this.#selection();
    if (!selection?.rangeCount) return null;
    // Where the shadow root has a selection of its own, it says so without laying the page out.
    if (this.pane.root.getSelection && selection.isCollapsed) return null;
    const range = selection.getComposedRanges
      ? selection.getComposedRanges({ shadowRoots: [this.pane.root] })[0]
      : selection.getRangeAt(0);
    return !range || range.collapsed ? null : range;
  }

  #offsetOf(node, offset) {
    const { blocks, tokens } = this.pane;
    let [low, high] = [0, blocks.length - 1];
    const point = document.createRange();
    point.setStart(node, offset);
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (point.comparePoint(blocks[middle].element, 0) <= 0) low = middle;
      else high = middle - 1;
    }
    const block = blocks[low];
    const before = document.createRange();
    before.setStart(block.element, 0);
    if (point.comparePoint(block.element, 0) <= 0) before.setEnd(node, offset);
    return tokens.at[block.start] + before.toString().length;
  }

  #pointAt(block, offset) {
    let left = offset - this.pane.tokens.at[block.start];
    const walker = document.createTreeWalker(block.element, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (left <= node.length) return [node, left];
      left -= node.length;
    }
    return [block.element, block.element.childNodes.length];
  }
}
